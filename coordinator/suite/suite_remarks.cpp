#include "coordinator/suite/suite_remarks.hpp"

#include "common/defaults.hpp"
#include "common/model/metrics.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <array>
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

}  // namespace

std::vector<std::string> suite_remarks(const Suite& suite) {
  std::vector<std::string> remarks;
  add_weights(suite, remarks);
  add_thresholds(suite, remarks);
  add_formats(suite, remarks);
  return remarks;
}

}  // namespace sluice
