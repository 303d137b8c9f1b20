#include "coordinator/suite/expectation_reader.hpp"

#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/expected_claims.hpp"
#include "coordinator/suite/judge_reader.hpp"
#include "coordinator/suite/schema_reader.hpp"
#include "coordinator/suite/test_templates.hpp"
#include "coordinator/suite/thresholding_reader.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace sluice {
namespace {

enum class Parameter : std::uint8_t { text, pattern, schema, claims, judge };

/// A metric that `type` may name.
struct Type {
  MetricId id;
  Parameter parameter;
  std::string_view name() const { return info(id).name; }
  bool is_scored() const { return info(id).kind == MetricKind::scored; }
};

constexpr std::array types{
    Type{MetricId::must_contain, Parameter::text},
    Type{MetricId::must_not_contain, Parameter::text},
    Type{MetricId::regex_match, Parameter::pattern},
    Type{MetricId::regex_not_match, Parameter::pattern},
    Type{MetricId::exact_match, Parameter::text},
    Type{MetricId::json_schema, Parameter::schema},
    Type{MetricId::semantic_similarity_to, Parameter::text},
    Type{MetricId::claims_precision, Parameter::claims},
    Type{MetricId::claims_recall, Parameter::claims},
    Type{MetricId::claims_f1, Parameter::claims},
    Type{MetricId::claims_required, Parameter::claims},
    Type{MetricId::claims_forbidden, Parameter::claims},
    Type{MetricId::claims_absent, Parameter::claims},
    Type{MetricId::faithfulness, Parameter::judge},
    Type{MetricId::relevancy, Parameter::judge},
    Type{MetricId::correctness, Parameter::judge},
    Type{MetricId::rubric, Parameter::judge},
};

/// The keys that belong to some types only.
struct ParameterKey {
  std::string_view key;
  Parameter parameter;
};
constexpr std::array parameter_keys{
    ParameterKey{"text", Parameter::text},
    ParameterKey{"pattern", Parameter::pattern},
    ParameterKey{"schema", Parameter::schema},
    ParameterKey{"must_contain", Parameter::claims},
    ParameterKey{"must_not_contain", Parameter::claims},
    ParameterKey{"min_confidence", Parameter::claims},
    ParameterKey{"rubric_version", Parameter::judge},
    ParameterKey{"samples", Parameter::judge},
};

std::string keys_of(Parameter parameter) {
  std::vector<std::string> keys;
  for (const ParameterKey& one : parameter_keys) {
    if (one.parameter == parameter) keys.emplace_back(one.key);
  }
  return quoted_list(keys);
}

std::string names_of_types(bool only_scored) {
  std::string text;
  for (const Type& type : types) {
    if (only_scored && !type.is_scored()) continue;
    if (!text.empty()) text += ", ";
    text += type.name();
  }
  return text;
}

class ExpectationsReader {
 public:
  ExpectationsReader(const TestSource& source, const DocumentContext& context, Case& test)
      : source_(source), context_(context), test_(test) {}

  const KnownRubric* read(const DocumentEntry& expected) {
    const DocumentNode& node = expected.value;
    if (const auto* array = std::get_if<DocumentNode::Array>(&node.value)) {
      if (array->empty()) context_.add(expected.line, "\"expected\" must name at least one metric");
      for (std::size_t i = 0; i < array->size(); ++i)
        read_one((*array)[i], "expected[" + std::to_string(i) + "]");
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
    if (!std::holds_alternative<DocumentNode::Table>(node.value)) {
      context_.add(node.line, name + " must be " + std::string(table_name(context_.notation)) + ", not " +
                                  std::string(type_name(node, context_.notation)));
      return;
    }
    TableReader reader = context_.reader(node, name);
    const Type* type = read_type(reader);
    if (type == nullptr) return check_without_type(reader);
    check_combination(reader, *type);
    Expectation expectation;
    expectation.what.metric = type->id;
    read_parameters(reader, *type, expectation);
    if (type->is_scored()) {
      read_limits(reader, expectation);
    } else {
      refuse_limits(reader, *type);
    }
    reader.finish();
    test_.expectations.push_back(std::move(expectation));
  }

  static const Type* read_type(TableReader& reader) {
    const auto name = reader.word("type", Need::required);
    if (!name) return nullptr;
    const auto found = std::ranges::find(types, std::string_view(*name), &Type::name);
    if (found != types.end()) return &*found;
    std::array<std::string_view, types.size()> names;
    std::ranges::transform(types, names.begin(), &Type::name);
    reader.add_wrong("type", "is the unknown metric \"" + excerpt(*name, 80) + "\"" +
                                 did_you_mean(*name, names) + "; there are " + names_of_types(false));
    return nullptr;
  }

  /// Which keys belong to it depends on the type; what is wrong whatever the type shall not wait for it.
  void check_without_type(TableReader& reader) {
    reader.texts("text");
    reader.texts("pattern");
    reader.entry("schema");
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
  void check_combination(TableReader& reader, const Type& type) {
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

  void read_parameters(TableReader& reader, const Type& type, Expectation& expectation) {
    for (const ParameterKey& one : parameter_keys) {
      if (one.parameter == type.parameter || reader.refused_entry(one.key) == nullptr) continue;
      reader.add_wrong(one.key, "does not belong to " + std::string(type.name()) + ", which takes " +
                                    keys_of(type.parameter));
    }
    std::vector<std::string>& texts = expectation.what.texts;
    switch (type.parameter) {
      case Parameter::text:
        texts = read_texts(reader, type);
        break;
      case Parameter::pattern:
        texts = read_patterns(reader);
        break;
      case Parameter::schema:
        if (auto schema = read_schema(reader, source_)) texts = {std::move(*schema)};
        break;
      case Parameter::claims:
        read_claims_parameters(reader);
        break;
      case Parameter::judge:
        expectation.judge = read_judge_parameters(reader, type.id);
        break;
    }
  }

  static std::vector<std::string> read_texts(TableReader& reader, const Type& type) {
    auto texts = reader.texts("text", Need::required);
    // An empty text is contained in every answer and similar to none; it can only be exactly the answer.
    if (texts && type.id != MetricId::exact_match && std::ranges::find(*texts, "") != texts->end()) {
      reader.add_wrong("text", "must not be empty");
    }
    return std::move(texts).value_or(std::vector<std::string>());
  }

  std::vector<std::string> read_patterns(TableReader& reader) {
    auto patterns = reader.texts("pattern", Need::required);
    if (!patterns) return {};
    for (const std::string& pattern : *patterns) {
      if (source_.checker == nullptr) break;
      const std::string& problem = source_.checker->problem_with_pattern(pattern);
      if (!problem.empty()) reader.add_wrong("pattern", "cannot be used: " + problem);
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
    const bool needs_context =
        metric == MetricId::faithfulness && read.rubric != nullptr && read.rubric->shows("context");
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

  static void refuse_limits(TableReader& reader, const Type& type) {
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
  std::map<MetricId, std::uint32_t> seen_;
  std::map<std::string, std::uint32_t, std::less<>> claims_lines_;
  std::vector<PlacedClaim> required_;
  std::vector<PlacedClaim> forbidden_;
  const KnownRubric* needs_context_ = nullptr;
};

}  // namespace

const KnownRubric* read_expectations(const DocumentEntry& expected, const TestSource& source,
                                     const DocumentContext& context, Case& test) {
  return ExpectationsReader(source, context, test).read(expected);
}

}  // namespace sluice
