#include "coordinator/suite/suite_remarks.hpp"

#include "common/defaults.hpp"
#include "common/model/metrics.hpp"
#include "common/text/joined.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace sluice {
namespace {

/// Of draft 7 and of ajv, which promptfoo asks.
constexpr std::array<std::string_view, 30> known_formats = {
    "binary",       "byte",          "date",
    "date-time",    "double",        "duration",
    "email",        "float",         "hostname",
    "idn-email",    "idn-hostname",  "int32",
    "int64",        "ipv4",          "ipv6",
    "iri",          "iri-reference", "iso-date-time",
    "iso-time",     "json-pointer",  "json-pointer-uri-fragment",
    "password",     "regex",         "relative-json-pointer",
    "time",         "uri",           "uri-reference",
    "uri-template", "url",           "uuid"};

void add_weights(const Suite& suite, std::vector<std::string>& remarks) {
  if (suite.idle_weights == 0) return;
  const bool is_one = suite.idle_weights == 1;
  remarks.push_back("\"weight\" has no effect on " + std::to_string(suite.idle_weights) +
                    (is_one ? " test without claims (" : " tests without claims (first ") +
                    suite.idle_weight +
                    "): it is for the weighted precision, recall and F1 of claims, and a pass rate counts "
                    "each test once; leave it out");
}

void add_thresholds(const Suite& suite, std::vector<std::string>& remarks) {
  const Thresholding& given = suite.thresholding;
  const auto is_scored = [](MetricId id) { return info(id).kind == MetricKind::scored; };
  if ((!given.min_floor && !given.min_score) || std::ranges::any_of(suite.metrics, is_scored)) return;
  const bool has_both = given.min_floor && given.min_score;
  const std::string keys = has_both          ? "\"min_floor\" and \"min_score\""
                           : given.min_floor ? "\"min_floor\""
                                             : "\"min_score\"";
  remarks.push_back(keys + " in settings.thresholding " + (has_both ? "have" : "has") +
                    " no effect: no test of the suite has a score, and checks pass or fail; leave " +
                    (has_both ? "them" : "it") + " out, or say \"min_pass_rate\" for a share of the tests");
}

void add_formats(const Suite& suite, std::vector<std::string>& remarks) {
  std::string unassessed;
  for (const auto& [format, place] : suite.other_formats) {
    const std::string shown = '"' + excerpt(format, defaults::max_quoted_bytes) + "\" (" + place + ')';
    if (std::ranges::find(known_formats, format) != known_formats.end()) {
      unassessed += (unassessed.empty() ? "" : ", ") + shown;
      continue;
    }
    remarks.push_back("nothing checks the format " + shown + " of a schema, which is none that is known" +
                      did_you_mean(format, known_formats));
  }
  if (unassessed.empty()) return;
  remarks.push_back(
      "nothing checks these formats of schemas: " + unassessed +
      "; only \"date\", \"time\" and \"date-time\" are checked: say what such a text looks like with "
      "\"pattern\"");
}

void add_replaced_defaults(const Suite& suite, std::vector<std::string>& remarks) {
  const std::uint64_t tests = suite.replaced_defaults;
  if (tests == 0) return;
  const std::uint64_t more = tests - suite.replaced_default.size();
  remarks.push_back("what default_test asks by a score without a name is not asked in " +
                    std::to_string(tests) + (tests == 1 ? " test" : " tests") +
                    ", whose own score of that metric replaces it and asks something else: " +
                    joined(suite.replaced_default) +
                    (more > 0 ? " and " + std::to_string(more) + " more" : std::string()) +
                    "; to keep both, give one of them a \"name\"");
}

/// A renamed score begins without a baseline, and without a word.
bool may_be_one(const NamedScore& one, const NamedScore& other) {
  if (one.id.metric != other.id.metric) return false;
  if (differ_in_writing(one.id.name, other.id.name)) return true;
  constexpr std::uint64_t rarer = 10;  // Two names that tests have alike are two on purpose.
  const auto [fewer, more] = std::minmax(one.tests, other.tests);
  return fewer * rarer <= more && differ_by_a_slip(one.id.name, other.id.name);
}

void add_alike_names(const Suite& suite, std::vector<std::string>& remarks) {
  const auto shown = [](const NamedScore& one) {
    return '"' + to_string(one.id) + "\" (" +
           (one.tests == 1 ? one.first : std::to_string(one.tests) + " tests, first " + one.first) + ')';
  };
  const auto& scores = suite.named_scores;
  for (auto one = scores.begin(); one != scores.end(); ++one) {
    for (auto other = std::next(one); other != scores.end(); ++other) {
      if (!may_be_one(*one, *other)) continue;
      remarks.push_back("the scores " + shown(*one) + " and " + shown(*other) +
                        " differ by little in their names, and each has limits, means and a baseline of its "
                        "own: if they are one quality, give them one name");
    }
  }
}

}  // namespace

std::vector<std::string> suite_remarks(const Suite& suite) {
  std::vector<std::string> remarks;
  add_weights(suite, remarks);
  add_thresholds(suite, remarks);
  add_formats(suite, remarks);
  add_replaced_defaults(suite, remarks);
  add_alike_names(suite, remarks);
  return remarks;
}

}  // namespace sluice
