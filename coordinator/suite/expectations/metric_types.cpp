#include "coordinator/suite/expectations/metric_types.hpp"

#include "common/documents/table_reader.hpp"
#include "common/text/text.hpp"
#include "common/text/words.hpp"

#include <algorithm>
#include <array>

namespace sluice {
namespace {

constexpr std::array types{
    MetricType{MetricId::must_contain, Parameter::text},
    MetricType{MetricId::must_not_contain, Parameter::text},
    MetricType{MetricId::contains_any, Parameter::text},
    MetricType{MetricId::icontains, Parameter::text},
    MetricType{MetricId::icontains_any, Parameter::text},
    MetricType{MetricId::starts_with, Parameter::text},
    MetricType{MetricId::regex_match, Parameter::pattern},
    MetricType{MetricId::regex_not_match, Parameter::pattern},
    MetricType{MetricId::exact_match, Parameter::text},
    MetricType{MetricId::label, Parameter::label},
    MetricType{MetricId::json_schema, Parameter::schema},
    MetricType{MetricId::contains_json, Parameter::json},
    MetricType{MetricId::levenshtein, Parameter::distance},
    MetricType{MetricId::rouge_n, Parameter::rouge},
    MetricType{MetricId::tool_call, Parameter::call},
    MetricType{MetricId::tool_calls, Parameter::call_list},
    MetricType{MetricId::tool_calls_valid, Parameter::calls},
    MetricType{MetricId::latency, Parameter::latency},
    MetricType{MetricId::cost, Parameter::cost},
    MetricType{MetricId::refusal, Parameter::none},
    MetricType{MetricId::any_of, Parameter::any_of},
    MetricType{MetricId::all_of, Parameter::all_of},
    MetricType{MetricId::command, Parameter::command},
    MetricType{MetricId::command_score, Parameter::command},
    MetricType{MetricId::semantic_similarity_to, Parameter::text},
    MetricType{MetricId::claims_precision, Parameter::claims},
    MetricType{MetricId::claims_recall, Parameter::claims},
    MetricType{MetricId::claims_f1, Parameter::claims},
    MetricType{MetricId::claims_required, Parameter::claims},
    MetricType{MetricId::claims_forbidden, Parameter::claims},
    MetricType{MetricId::claims_absent, Parameter::claims},
    MetricType{MetricId::faithfulness, Parameter::judge},
    MetricType{MetricId::relevancy, Parameter::judge},
    MetricType{MetricId::correctness, Parameter::judge},
    MetricType{MetricId::rubric, Parameter::judge},
    MetricType{MetricId::context_recall, Parameter::judge},
    MetricType{MetricId::context_relevance, Parameter::judge},
};

/// Turned round, and by other names: known, but for the sake of short messages not listed.
constexpr std::array other_types{
    MetricType{MetricId::not_exact_match, Parameter::text},
    MetricType{MetricId::not_json_schema, Parameter::schema},
    MetricType{MetricId::not_icontains, Parameter::text},
    MetricType{MetricId::not_icontains_any, Parameter::text},
    MetricType{MetricId::not_starts_with, Parameter::text},
    MetricType{MetricId::not_contains_json, Parameter::json},
    MetricType{MetricId::not_levenshtein, Parameter::distance},
    MetricType{MetricId::not_rouge_n, Parameter::rouge},
    MetricType{MetricId::not_tool_call, Parameter::call},
    MetricType{MetricId::not_tool_calls, Parameter::call_list},
    MetricType{MetricId::not_tool_calls_valid, Parameter::calls},
    MetricType{MetricId::not_latency, Parameter::latency},
    MetricType{MetricId::not_cost, Parameter::cost},
    MetricType{MetricId::not_refusal, Parameter::none},
    MetricType{MetricId::not_label, Parameter::label},
    MetricType{MetricId::not_any_of, Parameter::any_of},
    MetricType{MetricId::not_all_of, Parameter::all_of},
    MetricType{MetricId::not_command, Parameter::command},
    MetricType{MetricId::not_command_score, Parameter::command},
    MetricType{MetricId::must_contain, Parameter::text, "contains"},
    MetricType{MetricId::must_contain, Parameter::text, "contains_all"},
    MetricType{MetricId::must_not_contain, Parameter::text, "not_contains"},
    MetricType{MetricId::must_not_contain, Parameter::text, "not_contains_any"},
    MetricType{MetricId::icontains, Parameter::text, "icontains_all"},
    MetricType{MetricId::not_icontains, Parameter::text, "not_icontains_all"},
    MetricType{MetricId::regex_match, Parameter::pattern, "regex"},
    MetricType{MetricId::regex_not_match, Parameter::pattern, "not_regex"},
    MetricType{MetricId::exact_match, Parameter::text, "equals"},
    MetricType{MetricId::not_exact_match, Parameter::text, "not_equals"},
    MetricType{MetricId::json_schema, Parameter::json, "is_json"},
    MetricType{MetricId::not_json_schema, Parameter::json, "not_is_json"},
    MetricType{MetricId::semantic_similarity_to, Parameter::text, "similar"},
    MetricType{MetricId::rubric, Parameter::judge, "llm_rubric"},
};

constexpr ParameterKey key_of(std::string_view key, Parameter a, Parameter b, Parameter c) {
  return {key, {a, b, c, c}};
}
constexpr ParameterKey key_of(std::string_view key, Parameter a) {
  return key_of(key, a, a, a);
}
constexpr std::array every_key{
    key_of("text", Parameter::text, Parameter::distance, Parameter::rouge),
    key_of("pattern", Parameter::pattern),
    key_of("schema", Parameter::schema, Parameter::json, Parameter::json),
    key_of("max_distance", Parameter::distance),
    key_of("n", Parameter::rouge),
    key_of("name", Parameter::call),
    key_of("arguments", Parameter::call),
    key_of("calls", Parameter::call_list),
    key_of("label", Parameter::label),
    key_of("labels", Parameter::label),
    key_of("path", Parameter::label),
    key_of("order", Parameter::call_list),
    key_of("max_ms", Parameter::latency),
    key_of("max_dollars", Parameter::cost),
    key_of("of", Parameter::any_of, Parameter::all_of, Parameter::all_of),
    key_of("pass_mark", Parameter::all_of),
    key_of("command", Parameter::command),
    key_of("parameters", Parameter::command),
    key_of("timeout_seconds", Parameter::command),
    key_of("must_contain", Parameter::claims),
    key_of("must_not_contain", Parameter::claims),
    key_of("min_confidence", Parameter::claims),
    key_of("rubric_version", Parameter::judge),
    key_of("samples", Parameter::judge),
};

/// One of their words begins with one of the other's, so long that this says something.
bool share_a_word(std::string_view name, std::string_view known) {
  constexpr std::size_t least_letters = 4;
  const auto others = words_of(known);
  return std::ranges::any_of(words_of(name), [&](std::string_view word) {
    return std::ranges::any_of(others, [word](std::string_view other) {
      return std::min(word.size(), other.size()) >= least_letters &&
             (word.starts_with(other) || other.starts_with(word));
    });
  });
}

std::vector<std::string_view> names_with(std::size_t negations) {
  std::vector<std::string_view> names;
  const auto add = [&](const MetricType& type) {
    if (negations_in(type.name()) == negations) names.push_back(type.name());
  };
  std::ranges::for_each(types, add);
  std::ranges::for_each(other_types, add);
  return names;
}

/// Elsewhere they have hyphens.
std::string with_underscores(std::string name) {
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace

std::span<const ParameterKey> parameter_keys() {
  return every_key;
}

const MetricType* type_called(std::string_view name) {
  const std::string known = with_underscores(std::string(name));
  const auto found = std::ranges::find(types, std::string_view(known), &MetricType::name);
  if (found != types.end()) return &*found;
  const auto other = std::ranges::find(other_types, std::string_view(known), &MetricType::name);
  return other != other_types.end() ? &*other : nullptr;
}

std::string keys_of(Parameter parameter) {
  std::vector<std::string> keys;
  for (const ParameterKey& one : every_key) {
    if (one.is_of(parameter)) keys.emplace_back(one.key);
  }
  return quoted_list(keys);
}

std::string names_of_scored_types() {
  std::string text;
  for (const MetricType& type : types) {
    if (type.is_scored()) text += (text.empty() ? "" : ", ") + std::string(type.name());
  }
  return text;
}

std::optional<MetricId> metric_called(std::string_view name) {
  const MetricType* type = type_called(name);
  return type != nullptr ? std::optional(type->id) : std::nullopt;
}

const MetricType* opposite_of(const MetricType& type) {
  // The two whose opposites have names of their own.
  if (type.name() == info(MetricId::must_contain).name) return type_called("must_not_contain");
  if (type.name() == info(MetricId::regex_match).name) return type_called("regex_not_match");
  return type_called("not_" + std::string(type.name()));
}

const MetricType* nearest_type(std::string_view name) {
  const auto found = nearest(with_underscores(std::string(name)), names_with(negations_in(name)));
  return found ? type_called(*found) : nullptr;
}

std::vector<std::string_view> names_like(std::string_view name) {
  constexpr std::size_t most_names = 4;
  std::vector<std::string_view> names = names_with(negations_in(name));
  std::erase_if(names, [name](std::string_view known) { return !share_a_word(name, known); });
  names.resize(std::min(names.size(), most_names));
  return names;
}

}  // namespace sluice
