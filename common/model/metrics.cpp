#include "common/model/metrics.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace sluice {

namespace {

constexpr std::array catalogue{
    MetricInfo{MetricId::claims_precision, "claims_precision", "1", MetricKind::scored},
    MetricInfo{MetricId::claims_recall, "claims_recall", "1", MetricKind::scored},
    MetricInfo{MetricId::claims_f1, "claims_f1", "1", MetricKind::scored},
    MetricInfo{MetricId::claims_required, "claims_required", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::claims_forbidden, "claims_forbidden", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::claims_absent, "claims_absent", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::must_contain, "must_contain", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::must_not_contain, "must_not_contain", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::regex_match, "regex_match", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::regex_not_match, "regex_not_match", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::exact_match, "exact_match", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::json_schema, "json_schema", "4", MetricKind::pass_fail},
    MetricInfo{MetricId::semantic_similarity_to, "semantic_similarity_to", "1", MetricKind::scored},
    MetricInfo{MetricId::contains_any, "contains_any", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::icontains, "icontains", "3", MetricKind::pass_fail},
    MetricInfo{MetricId::icontains_any, "icontains_any", "3", MetricKind::pass_fail},
    MetricInfo{MetricId::starts_with, "starts_with", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::contains_json, "contains_json", "4", MetricKind::pass_fail},
    MetricInfo{MetricId::levenshtein, "levenshtein", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::rouge_n, "rouge_n", "1", MetricKind::scored},
    MetricInfo{MetricId::tool_call, "tool_call", "3", MetricKind::pass_fail},
    MetricInfo{MetricId::latency, "latency", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::cost, "cost", "2", MetricKind::pass_fail},
    MetricInfo{MetricId::any_of, "any_of", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::all_of, "all_of", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::command, "command", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::command_score, "command_score", "1", MetricKind::scored},
    MetricInfo{MetricId::tool_calls, "tool_calls", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::tool_calls_valid, "tool_calls_valid", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::refusal, "refusal", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::label, "label", "2", MetricKind::pass_fail},
    MetricInfo{MetricId::not_exact_match, "not_exact_match", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::not_json_schema, "not_json_schema", "4", MetricKind::pass_fail},
    MetricInfo{MetricId::not_icontains, "not_icontains", "3", MetricKind::pass_fail},
    MetricInfo{MetricId::not_icontains_any, "not_icontains_any", "3", MetricKind::pass_fail},
    MetricInfo{MetricId::not_starts_with, "not_starts_with", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::not_contains_json, "not_contains_json", "4", MetricKind::pass_fail},
    MetricInfo{MetricId::not_levenshtein, "not_levenshtein", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::not_rouge_n, "not_rouge_n", "1", MetricKind::scored},
    MetricInfo{MetricId::not_tool_call, "not_tool_call", "3", MetricKind::pass_fail},
    MetricInfo{MetricId::not_latency, "not_latency", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::not_cost, "not_cost", "2", MetricKind::pass_fail},
    MetricInfo{MetricId::not_any_of, "not_any_of", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::not_all_of, "not_all_of", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::not_command, "not_command", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::not_command_score, "not_command_score", "1", MetricKind::scored},
    MetricInfo{MetricId::not_tool_calls, "not_tool_calls", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::not_tool_calls_valid, "not_tool_calls_valid", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::not_refusal, "not_refusal", "1", MetricKind::pass_fail},
    MetricInfo{MetricId::not_label, "not_label", "2", MetricKind::pass_fail},
    MetricInfo{MetricId::faithfulness, "faithfulness", "1", MetricKind::scored},
    MetricInfo{MetricId::relevancy, "relevancy", "1", MetricKind::scored},
    MetricInfo{MetricId::correctness, "correctness", "1", MetricKind::scored},
    MetricInfo{MetricId::rubric, "rubric", "1", MetricKind::scored},
    MetricInfo{MetricId::context_recall, "context_recall", "1", MetricKind::scored},
    MetricInfo{MetricId::context_relevance, "context_relevance", "1", MetricKind::scored},
};

/// By number: 1 + the place in the catalogue; 0: there is no such metric.
constexpr auto places = [] {
  std::array<std::uint8_t, 256> made{};
  for (std::size_t i = 0; i < catalogue.size(); ++i)
    made[static_cast<std::uint8_t>(catalogue[i].id)] = static_cast<std::uint8_t>(i + 1);
  return made;
}();

}  // namespace

std::span<const MetricInfo> metric_catalogue() {
  return catalogue;
}

const MetricInfo* find_metric(std::uint8_t number) {
  return places[number] == 0 ? nullptr : &catalogue[places[number] - 1u];
}

const MetricInfo* find_metric(std::string_view name) {
  const auto found = std::ranges::find(catalogue, name, &MetricInfo::name);
  return found == catalogue.end() ? nullptr : &*found;
}

bool is_claims_metric(MetricId id) {
  return static_cast<std::uint8_t>(id) <= static_cast<std::uint8_t>(MetricId::claims_absent);
}

bool is_judge_metric(MetricId id) {
  return id >= MetricId::faithfulness && id <= MetricId::context_relevance;
}

const MetricInfo& info(MetricId id) {
  const auto* found = find_metric(static_cast<std::uint8_t>(id));
  if (!found) std::abort();  // Only find_metric's numbers become a MetricId.
  return *found;
}

}  // namespace sluice
