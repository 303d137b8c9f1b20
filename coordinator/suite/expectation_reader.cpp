#include "coordinator/suite/expectation_reader.hpp"

#include "common/defaults.hpp"
#include "common/documents/canonical_json.hpp"
#include "common/text/template.hpp"
#include "common/text/text.hpp"
#include "common/text/trimmed.hpp"
#include "common/text/words.hpp"
#include "coordinator/suite/command_reader.hpp"
#include "coordinator/suite/expected_claims.hpp"
#include "coordinator/suite/judge_reader.hpp"
#include "coordinator/suite/metric_types.hpp"
#include "coordinator/suite/schema_reader.hpp"
#include "coordinator/suite/test_templates.hpp"
#include "coordinator/suite/thresholding_reader.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace sluice {
namespace {

class ExpectationsReader {
 public:
  ExpectationsReader(const TestSource& source, const DocumentContext& context, Case& test,
                     std::vector<UnfilledVariable>& unfilled, std::vector<NamedTool>& tools)
      : source_(source), context_(context), test_(test), unfilled_(unfilled), tools_(tools) {}

  const KnownRubric* read(const DocumentEntry& expected) {
    const DocumentNode& node = expected.value;
    if (const auto* array = std::get_if<DocumentNode::Array>(&node.value)) {
      if (array->empty()) context_.add(expected.line, "\"expected\" must name at least one metric");
      for (std::size_t i = 0; i < array->size(); ++i) {
        metric_ = i;
        read_one((*array)[i], "expected[" + std::to_string(i) + "]");
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
  struct TypedMetric {
    TableReader reader;
    const MetricType& type;
  };

  /// A table whose `type` is known. Of another it is said what is wrong.
  std::optional<TypedMetric> open_metric(const DocumentNode& node, const std::string& name) {
    if (!std::holds_alternative<DocumentNode::Table>(node.value)) {
      context_.add(node.line, name + " must be " + std::string(table_name(context_.notation)) +
                                  " such as {\"type\": \"must_contain\", \"text\": \"Paris\"}, not " +
                                  std::string(type_name(node, context_.notation)));
      return std::nullopt;
    }
    TableReader reader = context_.reader(node, name);
    if (const MetricType* type = read_type(reader)) return TypedMetric{std::move(reader), *type};
    check_without_type(reader);
    return std::nullopt;
  }

  void read_one(const DocumentNode& node, const std::string& name) {
    auto metric = open_metric(node, name);
    if (!metric) return;
    auto& [reader, type] = *metric;
    check_combination(reader, type);
    Expectation expectation;
    expectation.what.metric = type.id;
    read_parameters(reader, type, expectation);
    if (type.is_scored()) {
      read_limits(reader, expectation);
    } else {
      refuse_limits(reader, type);
    }
    reader.finish([](std::string_view key) {
      return std::string(key == "weight" ? "it belongs to the parts of any_of and all_of" : "");
    });
    test_.expectations.push_back(std::move(expectation));
  }

  static std::string all_types(std::string_view name) {
    constexpr std::array code{"javascript", "python", "ruby", "webhook"};
    if (std::ranges::find(code, name) != code.end()) return "; a program of yours checks as type \"command\"";
    return "; there are " + names_of_types(false) + ", with \"not_\" before those of the answer";
  }

  static const MetricType* read_type(TableReader& reader) {
    const auto name = reader.word("type", Need::required);
    if (!name) return nullptr;
    if (const MetricType* type = type_called(*name)) return type;
    const std::string nearest = nearest_type(*name);
    reader.add_wrong("type", "is the unknown metric \"" + excerpt(*name, 80) + "\"" +
                                 (nearest.empty() ? all_types(*name) : nearest));
    return nullptr;
  }

  /// Which keys belong to it depends on the type; what is wrong whatever the type shall not wait for it.
  void check_without_type(TableReader& reader) {
    reader.texts("text");
    reader.texts("pattern");
    for (const ParameterKey& one : parameter_keys()) reader.entry(one.key);
    reader.entry("weight");
    read_claims(reader, "must_contain", context_);
    read_claims(reader, "must_not_contain", context_);
    reader.number_in("min_confidence", 0.0, 1.0);
    reader.number_in("min_score", 0.0, 1.0);
    if (const DocumentNode* table = reader.table("thresholding")) {
      read_thresholding(context_.reader(*table, "thresholding"), source_.suite);
    }
    reader.finish();
  }

  /// A test makes one request, so its answer is either claims or a text.
  void check_combination(TableReader& reader, const MetricType& type) {
    const std::string name(type.name());
    const bool is_claims = type.parameter == Parameter::claims;
    const CaseKind kind = is_claims ? CaseKind::claims : CaseKind::text;
    if (seen_.empty()) {
      test_.kind = kind;
    } else if (test_.kind != kind) {
      reader.add_wrong("type", "cannot be " + name +
                                   " here: claims metrics and metrics of the answer's text "
                                   "need a test each");
    }
    const auto [first, is_new] = seen_.emplace(type.id, reader.line_of("type"));
    if (!is_new && type.is_scored()) {
      reader.add_wrong("type", name + " stands in the test already (line " + std::to_string(first->second) +
                                   "): a scored metric has one score a test");
    }
  }

  void read_parameters(TableReader& reader, const MetricType& type, Expectation& expectation) {
    for (const ParameterKey& one : parameter_keys()) {
      if (one.is_of(type.parameter) || reader.refused_entry(one.key) == nullptr) continue;
      reader.add_wrong(one.key, "does not belong to " + std::string(type.name()) + ", which takes " +
                                    keys_of(type.parameter));
    }
    std::vector<std::string>& texts = expectation.what.texts;
    std::vector<double>& numbers = expectation.what.numbers;
    switch (type.parameter) {
      case Parameter::text:
        texts = read_texts(reader, type);
        break;
      case Parameter::distance:
        texts = read_texts(reader, type);
        numbers = {read_whole(reader, "max_distance", 5, most_distance)};
        break;
      case Parameter::rouge:
        texts = read_texts(reader, type);
        numbers = {read_whole(reader, "n", 1, most_rouge_words, 1)};
        check_words(reader, texts, numbers.front());
        break;
      case Parameter::json:
        texts = read_json_parameters(reader);
        break;
      case Parameter::call:
        texts = read_call(reader, type.id);
        break;
      case Parameter::latency:
        numbers = {reader.number_in("max_ms", 0.0, 1e9, Need::required).value_or(0.0)};
        break;
      case Parameter::cost:
        numbers = {reader.number_in("max_dollars", 0.0, 1e6, Need::required).value_or(0.0)};
        break;
      case Parameter::any_of:
      case Parameter::all_of:
        numbers = {reader.number_in("pass_mark", 0.0, 1.0).value_or(1.0)};
        expectation.what.parts = read_group(reader, type, numbers.front());
        break;
      case Parameter::command:
        expectation.what = read_command(reader, source_, type.id);
        break;
      case Parameter::pattern:
        texts = read_patterns(reader);
        break;
      case Parameter::schema:
        texts = read_schema_parameter(reader);
        break;
      case Parameter::claims:
        read_claims_parameters(reader);
        break;
      case Parameter::judge:
        expectation.judge = read_judge_parameters(reader, type.id);
        break;
    }
  }

  static double read_whole(TableReader& reader, std::string_view key, double otherwise, double most,
                           double least = 0.0) {
    const auto given = reader.number_in(key, least, most);
    if (given && *given != std::floor(*given)) reader.add_wrong(key, "must be a whole number");
    return given.value_or(otherwise);
  }

  /// A text of fewer words shares no run of n with any answer.
  static void check_words(TableReader& reader, const std::vector<std::string>& texts, double n) {
    for (const std::string& text : texts) {
      // In a default test they are templates still; what each test makes of them is checked then.
      if (text.empty() || text.find("{{") != std::string::npos) continue;
      const std::size_t words = words_of(text).size();
      if (static_cast<double>(words) >= n) continue;
      reader.add_wrong("text", "must have at least \"n\" words, " + shortest(n) + " here: \"" +
                                   excerpt(one_line(text), defaults::quoted_bytes) + "\" has " +
                                   std::to_string(words));
    }
  }

  std::vector<std::string> read_json_parameters(TableReader& reader) const {
    if (reader.entry("schema") == nullptr) return {"{}"};  // Any JSON fits it.
    return read_schema_parameter(reader);
  }

  std::vector<std::string> read_schema_parameter(TableReader& reader) const {
    auto schema = read_schema(reader, source_);
    if (!schema) return {};
    const auto* path = std::get_if<std::string>(&reader.entry("schema")->value.value);
    note_unfilled(reader, "schema", *schema, path != nullptr ? names_file(*path) : "");
    return {std::move(*schema)};
  }

  std::vector<std::string> read_call(TableReader& reader, MetricId metric) const {
    std::string name = reader.word("name", Need::required).value_or("");
    const DocumentNode* arguments = reader.table("arguments");
    if (arguments != nullptr && !has_only_json_values(*arguments))
      reader.add_wrong("arguments", "hold a number that is not finite");
    std::string wanted = arguments != nullptr ? canonical_json(*arguments) : "{}";
    note_unfilled(reader, "name", name);
    note_unfilled(reader, "arguments", wanted);
    if (source_.checker != nullptr && !name.empty()) {
      tools_.push_back({name, metric_, passes_without(metric), has_alternatives_,
                        reader.wrong("name", "is \"" + excerpt(name, defaults::quoted_bytes) +
                                                 "\", which is none of the \"tools\" in the test's input")});
    }
    return {std::move(name), std::move(wanted)};
  }

  /// What looks like a variable in a text that is no template. `named` says which file holds it.
  void note_unfilled(const TableReader& reader, std::string_view key, std::string_view text,
                     const std::string& named = {}) const {
    if (source_.checker == nullptr) return;
    for (const std::string_view name : variables_in(text)) {
      const std::string shown = excerpt(name, defaults::quoted_bytes);
      unfilled_.push_back({std::string(name), metric_,
                           reader.wrong(key, named + "holds {{" + shown +
                                                 "}}, a variable of the test, which is not filled in here: " +
                                                 way_without_variable(key, shown))});
    }
  }

  /// What to do in place of a variable.
  std::string way_without_variable(std::string_view key, const std::string& name) const {
    if (key != "pattern" && key != "schema") return "write out what it stands for";
    const std::string texts = source_.may_leave_variables ? "\"contains:\" or \"not-contains:\""
                                                          : "must_contain or must_not_contain";
    const std::string way = "look for its text with " + texts + ", or write the " + std::string(key) + " out";
    return key == "pattern" ? way + "; \\{\\{" + name + "\\}\\} looks for the braces themselves" : way;
  }

  std::vector<TextExpectation> read_group(TableReader& reader, const MetricType& type, double pass_mark) {
    const bool was_turned_round = is_turned_round_;
    const bool had_alternatives = has_alternatives_;
    is_turned_round_ = is_turned_round_ != is_negated(type.id);
    has_alternatives_ = has_alternatives_ || type.parameter == Parameter::any_of || pass_mark < 1.0;
    auto parts = read_parts(reader);
    is_turned_round_ = was_turned_round;
    has_alternatives_ = had_alternatives;
    return parts;
  }

  std::vector<TextExpectation> read_parts(TableReader& reader) {
    std::vector<TextExpectation> parts;
    const DocumentNode::Array* list = reader.array("of", Need::required);
    if (list == nullptr) return parts;
    if (list->empty()) reader.add_wrong("of", "must not be empty");
    if (++depth_ > most_nested_groups) {
      reader.add_wrong("of", "nests deeper than " + std::to_string(most_nested_groups) + " groups");
    } else {
      for (std::size_t i = 0; i < list->size(); ++i)
        read_part((*list)[i], "of[" + std::to_string(i) + "]", parts);
    }
    --depth_;
    return parts;
  }

  void read_part(const DocumentNode& node, const std::string& name, std::vector<TextExpectation>& parts) {
    auto metric = open_metric(node, name);
    if (!metric) return;
    auto& [reader, type] = *metric;
    Expectation part;
    part.what.metric = type.id;
    if (!type.may_be_part()) {
      reader.add_wrong("type", "cannot be " + std::string(type.name()) +
                                   " here: parts are metrics of the answer that need no model");
    } else {
      read_parameters(reader, type, part);
    }
    if (type.is_scored()) {
      part.what.numbers.push_back(reader.number_in("min_score", 0.0, 1.0, Need::required).value_or(0.0));
    } else {
      refuse_limits(reader, type);
    }
    const auto weight = reader.number_in("weight", 0.0, 1000.0);
    if (weight && *weight == 0.0) reader.add_wrong("weight", "must be more than 0");
    part.what.weight = weight.value_or(1.0);
    reader.finish();
    parts.push_back(std::move(part.what));
  }

  std::vector<std::string> read_texts(TableReader& reader, const MetricType& type) const {
    auto texts = reader.texts("text", Need::required);
    // An empty text is contained in every answer and similar to none; it can only be exactly the answer.
    const auto says_nothing = [&](const std::string& text) {
      return positive(type.id) == MetricId::starts_with ? trimmed(text).empty() : text.empty();
    };
    if (texts && positive(type.id) != MetricId::exact_match && std::ranges::any_of(*texts, says_nothing))
      reader.add_wrong("text", "must not be empty");
    // As `not_contains` has it, none of them; by the word, not all of them.
    if (texts && texts->size() > 1 && type.name() == info(MetricId::not_icontains).name) {
      reader.add_wrong(
          "text",
          "must be one text here; of several, not_icontains_any asks that none of them stands in "
          "the answer, and not_icontains_all that not all of them do");
    }
    if (texts && passes_without(type.id)) {
      for (const std::string& text : *texts) note_unseen(reader, text);
    }
    return std::move(texts).value_or(std::vector<std::string>());
  }

  bool passes_without(MetricId metric) const {
    return (metric == MetricId::must_not_contain || is_negated(metric)) != is_turned_round_;
  }

  /// A variable in a text that must not be found, of a test that may have no variables at all.
  void note_unseen(const TableReader& reader, std::string_view text) const {
    for (const std::string_view name : variables_in(text)) {
      const std::string shown = excerpt(name, defaults::quoted_bytes);
      const std::string why =
          "holds {{" + shown +
          "}}, and the test has no \"vars\": the check would pass for want of the braces; "
          "give it \"vars\" with \"" +
          shown + "\", or, where the braces themselves are meant, \"vars: {}\" and {{ '{{' }}" + shown + "}}";
      unfilled_.push_back({std::string(name), metric_, reader.wrong("text", why), true});
    }
  }

  std::vector<std::string> read_patterns(TableReader& reader) {
    auto patterns = reader.texts("pattern", Need::required);
    if (!patterns) return {};
    for (const std::string& pattern : *patterns) {
      if (source_.checker == nullptr) break;
      const std::string& problem = source_.checker->problem_with_pattern(pattern);
      if (!problem.empty()) reader.add_wrong("pattern", "cannot be used: " + problem);
      if (pattern.empty()) reader.add_wrong("pattern", "must not be empty: it is found in every answer");
      note_unfilled(reader, "pattern", pattern);
    }
    return std::move(*patterns);
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
    // Without one there is nothing that an answer could be faithful to; other rubrics show it where it is.
    const bool needs_context = metric == MetricId::faithfulness && read.rubric != nullptr &&
                               read.rubric->shows("context") && reader.entry("context") == nullptr;
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
    if (reader.refused_entry("threshold") != nullptr)
      reader.add_wrong("threshold", "is called \"min_score\"");
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

  static void refuse_limits(TableReader& reader, const MetricType& type) {
    for (const std::string_view key : {std::string_view("min_score"), std::string_view("thresholding")}) {
      if (reader.refused_entry(key) == nullptr) continue;
      reader.add_wrong(key, "cannot stand with " + std::string(type.name()) +
                                ", which only passes or fails: thresholds are for metrics with a score (" +
                                names_of_types(true) + ")");
    }
  }

  const TestSource& source_;
  const DocumentContext& context_;
  Case& test_;
  std::vector<UnfilledVariable>& unfilled_;
  std::vector<NamedTool>& tools_;
  std::size_t metric_ = 0;  ///< Which of `expected` is read.
  std::map<MetricId, std::uint32_t> seen_;
  std::map<std::string, std::uint32_t, std::less<>> claims_lines_;
  std::vector<PlacedClaim> required_;
  std::vector<PlacedClaim> forbidden_;
  const KnownRubric* needs_context_ = nullptr;
  static constexpr int most_nested_groups = 4;
  int depth_ = 0;                  ///< Of the group that is read.
  bool has_alternatives_ = false;  ///< Of its parts not all must pass.
  bool is_turned_round_ = false;   ///< What its parts say, by groups whose opposites are asked for.
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
