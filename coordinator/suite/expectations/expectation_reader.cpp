#include "coordinator/suite/expectations/expectation_reader.hpp"

#include "coordinator/suite/expectations/judge_reader.hpp"
#include "coordinator/suite/expectations/metric_table.hpp"
#include "coordinator/suite/expectations/metric_types.hpp"
#include "coordinator/suite/expectations/text_parameter_reader.hpp"
#include "coordinator/suite/fixtures/expected_claims.hpp"
#include "coordinator/suite/prompts/arms.hpp"
#include "coordinator/suite/score_id.hpp"
#include "coordinator/suite/test_files/test_templates.hpp"
#include "coordinator/suite/test_files/thresholding_reader.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace sluice {
namespace {

/// `expected` of a test as a whole: which metrics stand together, what they share, and their limits.
class ExpectationsReader {
 public:
  ExpectationsReader(const TestSource& source, const DocumentContext& context, Case& test,
                     std::vector<UnfilledVariable>& unfilled, std::vector<NamedTool>& tools)
      : source_(source), context_(context), test_(test), parameters_(source, context, unfilled, tools) {}

  const KnownRubric* read(const DocumentEntry& expected) {
    const DocumentNode& node = expected.value;
    if (const auto* array = std::get_if<DocumentNode::Array>(&node.value)) {
      if (array->empty()) context_.add(expected.line, "\"expected\" must name at least one metric");
      for (std::size_t i = 0; i < array->size(); ++i) {
        metric_ = i;
        read_one((*array)[i], place_of_metric(source_.metric_places, i));
      }
    } else {
      read_one(node, "expected");
    }
    check_contradictions(required_, forbidden_, context_);
    const auto is_absent = [](const Expectation& one) { return one.what.metric == MetricId::claims_absent; };
    if (!required_.empty() && std::ranges::any_of(test_.expectations, is_absent)) {
      context_.add(expected.line,
                   "claims_absent is for tests that expect no claim, and this one has \"must_contain\"");
    }
    test_.must_contain = without_places(std::move(required_));
    test_.must_not_contain = without_places(std::move(forbidden_));
    return needs_context_;
  }

 private:
  void read_one(const DocumentNode& node, const std::string& name) {
    auto metric = open_metric(node, name, context_, source_.suite);
    if (!metric) return;
    auto& [reader, type] = *metric;
    Expectation expectation;
    expectation.what.metric = type.id;
    const bool is_name_sound = !takes_name(info(type.id)) || read_score_name(reader, expectation.name);
    check_kind(reader, type);
    if (is_name_sound) check_scores(reader, type, expectation.name);
    read_parameters(reader, type, expectation);
    if (type.id == MetricId::label) check_label(reader, expectation.what.texts[1]);
    if (type.is_scored()) {
      read_limits(reader, expectation);
    } else {
      refuse_limits(reader, type);
    }
    reader.finish([](std::string_view key) {
      if (key == "weight") return std::string("it belongs to the parts of any_of and all_of");
      if (key == "metric") return std::string("a score is told apart by \"name\"");
      return std::string();
    });
    test_.expectations.push_back(std::move(expectation));
  }

  /// The same characters as in the name of an arm: both stand in reports and on command lines.
  static bool read_score_name(TableReader& reader, std::string& into) {
    const auto name = reader.word("name");
    const bool is_sound = name ? is_arm_name(*name) : reader.entry("name") == nullptr;
    if (is_sound) into = name.value_or("");
    if (name && !is_sound) reader.add_wrong("name", not_an_arm_name(*name));
    return is_sound;
  }

  /// A test makes one request, so its answer is either claims or a text.
  void check_kind(TableReader& reader, const MetricType& type) {
    const CaseKind kind = type.parameter == Parameter::claims ? CaseKind::claims : CaseKind::text;
    if (test_.expectations.empty()) {
      test_.kind = kind;
    } else if (test_.kind != kind) {
      reader.add_wrong("type", "cannot be " + std::string(type.name()) +
                                   " here: claims metrics and metrics of the answer's text "
                                   "need a test each");
    }
  }

  void check_scores(TableReader& reader, const MetricType& type, const std::string& score_name) {
    const auto [first, is_new] = seen_.emplace(ScoreId{type.id, score_name}, reader.line_of("type"));
    if (is_new || !type.is_scored()) return;
    const std::string name(type.name());
    const std::string there = " stands in the test already (line " + std::to_string(first->second) + "): ";
    if (type.parameter == Parameter::claims) {
      reader.add_wrong("type", name + there + "a test has one score of its claims");
    } else if (score_name.empty()) {
      reader.add_wrong("type", name + there +
                                   "give each a \"name\", such as \"name\": \"tone\", to tell "
                                   "their scores apart");
    } else {
      reader.add_wrong(
          "name", "\"" + score_name + "\"" + there + "give each score of " + name + " a name of its own");
    }
  }

  /// Of two at one path one always fails, and the report would count the answer twice.
  void check_label(TableReader& reader, const std::string& path) const {
    const bool is_there = std::ranges::any_of(test_.expectations, [&](const Expectation& one) {
      return one.what.metric == MetricId::label && one.what.texts[1] == path;
    });
    if (is_there) {
      reader.add_wrong("type",
                       "label stands in the test already: an answer has one label at a path; where one of "
                       "several is right, they are parts of any_of");
    }
  }

  void read_parameters(TableReader& reader, const MetricType& type, Expectation& expectation) {
    refuse_foreign_keys(reader, type);
    refuse_other_keys(reader, type);
    if (type.parameter == Parameter::claims) return read_claims_parameters(reader);
    if (type.parameter == Parameter::judge) {
      expectation.judge = read_judge_parameters(reader, type.id);
    } else {
      parameters_.read_metric(metric_, reader, type, expectation.what);
    }
  }

  void read_claims_parameters(TableReader& reader) {
    const auto take = [&](std::string_view key, std::vector<PlacedClaim>& claims) {
      auto read = read_claims(reader, key, context_);
      if (is_first(reader, key)) claims = std::move(read);
    };
    take("must_contain", required_);
    take("must_not_contain", forbidden_);
    const auto confidence = reader.number_in("min_confidence", 0.0, 1.0);
    if (is_first(reader, "min_confidence") && confidence) test_.min_confidence = *confidence;
  }

  JudgeQuestion read_judge_parameters(TableReader& reader, MetricId metric) {
    ReadQuestion read = read_judge_question(reader, metric, *source_.rubrics);
    // Without one there is nothing to judge, or nothing that an answer could be faithful to; other rubrics
    // show it where it is.
    const MetricInfo* named = read.rubric != nullptr ? find_metric(read.rubric->rubric.id) : nullptr;
    const bool is_about_context =
        named != nullptr && (named->id == MetricId::faithfulness || judges_context(named->id));
    const bool needs_context =
        is_about_context && read.rubric->shows("context") && reader.entry("context") == nullptr;
    if (needs_context) needs_context_ = read.rubric;
    return std::move(read.question);
  }

  /// The claims are the test's: its claims metrics share them, and one of them holds them.
  bool is_first(TableReader& reader, std::string_view key) {
    if (reader.entry(key) == nullptr) return false;
    const auto [first, is_new] = claims_lines_.emplace(key, reader.line_of(key));
    if (!is_new) {
      reader.add_wrong(key, "stands in the test already (line " + std::to_string(first->second) +
                                "): its claims metrics share it");
    }
    return is_new;
  }

  void read_limits(TableReader& reader, Expectation& expectation) const {
    expectation.min_score = reader.number_in("min_score", 0.0, 1.0);
    if (const DocumentNode* table = reader.table("thresholding")) {
      expectation.thresholding = read_thresholding(context_.reader(*table, "thresholding"), source_.suite);
    }
    const Thresholding effective = merged(source_.suite, expectation.thresholding);
    const bool lacks_score = effective.mode == ThresholdMode::absolute && !effective.min_score;
    if (lacks_score && reader.entry("min_score") == nullptr) {
      reader.add_wrong("type",
                       "has the mode \"absolute\" and no \"min_score\", here or in settings.thresholding");
    }
  }

  const TestSource& source_;
  const DocumentContext& context_;
  Case& test_;
  TextParameterReader parameters_;
  std::size_t metric_ = 0;                 ///< Which of `expected` is read.
  std::map<ScoreId, std::uint32_t> seen_;  ///< With its line; checks alike, whose names are empty.
  std::map<std::string, std::uint32_t, std::less<>> claims_lines_;
  std::vector<PlacedClaim> required_;
  std::vector<PlacedClaim> forbidden_;
  const KnownRubric* needs_context_ = nullptr;
};

}  // namespace

bool names_command(const DocumentNode& expected) {
  if (const auto* list = std::get_if<DocumentNode::Array>(&expected.value))
    return std::ranges::any_of(*list, names_command);
  const DocumentEntry* type = find_entry(expected, "type");
  const auto* name = type != nullptr ? std::get_if<std::string>(&type->value.value) : nullptr;
  if (const auto id = name != nullptr ? metric_called(*name) : std::nullopt; id && is_command_metric(*id))
    return true;
  const DocumentEntry* parts = find_entry(expected, "of");
  return parts != nullptr && names_command(parts->value);
}

const KnownRubric* read_expectations(const DocumentEntry& expected, const TestSource& source,
                                     const DocumentContext& context, Case& test,
                                     std::vector<UnfilledVariable>& unfilled, std::vector<NamedTool>& tools) {
  return ExpectationsReader(source, context, test, unfilled, tools).read(expected);
}

}  // namespace sluice
