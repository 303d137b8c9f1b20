#pragma once

#include "common/model/metrics.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The metrics that `expected` of a test may name, and which keys each of them takes. All of it is pure.
namespace sluice {

/// What a metric assesses by, and so which keys it takes.
enum class Parameter : std::uint8_t {
  text,
  pattern,
  schema,
  json,
  claims,
  judge,
  distance,
  rouge,
  call,
  call_list,
  label,
  calls,  ///< All of them: there is nothing to say.
  latency,
  cost,
  any_of,
  all_of,
  command,
  none
};

/// A metric that `type` may name.
struct MetricType {
  MetricId id;
  Parameter parameter;
  std::string_view alias{};  ///< As others call it; empty: by its own name.
  std::string_view name() const { return alias.empty() ? info(id).name : alias; }
  bool is_scored() const { return info(id).kind == MetricKind::scored; }
  /// Whether it says something without any of them.
  bool needs_no_key() const {
    constexpr std::array none{Parameter::json, Parameter::call, Parameter::calls, Parameter::none};
    constexpr std::array judges{MetricId::faithfulness, MetricId::relevancy, MetricId::context_relevance};
    return std::ranges::find(none, parameter) != none.end() || std::ranges::find(judges, id) != judges.end();
  }
  /// Whether it may stand in any_of and all_of.
  bool may_be_part() const {
    return parameter != Parameter::claims && parameter != Parameter::judge &&
           id != MetricId::semantic_similarity_to;
  }
};

/// A key that belongs to some parameters only.
struct ParameterKey {
  std::string_view key;
  std::array<Parameter, 4> parameters;  ///< Those that take it; of fewer the last is repeated.
  bool is_of(Parameter parameter) const {
    return std::ranges::find(parameters, parameter) != parameters.end();
  }
};
std::span<const ParameterKey> parameter_keys();

/// By any of its names, with hyphens or underscores; null if there is none.
const MetricType* type_called(std::string_view name);
/// The same, for whoever needs no more than the metric.
std::optional<MetricId> metric_called(std::string_view name);

/// The one that says the opposite; null if there is none.
const MetricType* opposite_of(const MetricType& type);

/// The metric whose name is the nearest to one that no metric has, and says "not" as often; null if none is
/// near.
const MetricType* nearest_type(std::string_view name);
/// For messages: names that share a word with one that no metric has, and say "not" as often; a few at most.
std::vector<std::string_view> names_like(std::string_view name);
/// For messages: the keys that only some metrics take, of those that take this parameter.
std::string keys_of(Parameter parameter);
/// For messages: those with a score, without those turned round and other names.
std::string names_of_scored_types();

}  // namespace sluice
