// The numbers and names that stand on the wire, in the ledger and in reports: each stands for one thing, for
// good.
#include "common/error.hpp"
#include "common/model/metrics.hpp"

#include <map>
#include <set>

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::vector<Reason> all_reasons() {
  std::vector<Reason> reasons;
  for (std::uint32_t number = 0; number <= 0xFFFF; ++number) {
    if (const auto reason = reason_from_number(static_cast<std::uint16_t>(number)))
      reasons.push_back(*reason);
  }
  return reasons;
}

TEST(Reasons, HaveNamesOfTheirOwnAndReadBack) {
  std::set<std::string_view> names;
  for (const auto reason : all_reasons()) {
    EXPECT_EQ(reason_from_number(static_cast<std::uint16_t>(reason)), reason);
    EXPECT_TRUE(names.insert(to_string(reason)).second) << to_string(reason) << " names two reasons";
    EXPECT_EQ(to_string(reason).find_first_not_of("abcdefghijklmnopqrstuvwxyz_"), std::string_view::npos);
  }
  // A reason without a name would be read as none and reported as internal_error: one line for each
  // enumerator.
  EXPECT_EQ(names.size(), 51u);
  EXPECT_EQ(reason_from_number(0), std::nullopt);
}

TEST(Reasons, KeepTheirNumbers) {
  const std::map<std::uint16_t, std::string_view> golden{
      {1, "usage_invalid"},
      {2, "settings_invalid"},
      {3, "fixture_invalid"},
      {4, "file_unreadable"},
      {5, "key_missing"},
      {6, "insecure_refused"},
      {7, "key_withheld"},
      {8, "baseline_invalid"},
      {9, "file_too_large"},
      {20, "listen_failed"},
      {21, "coordinator_unreachable"},
      {22, "protocol_mismatch"},
      {23, "cache_in_use"},
      {24, "cache_failed"},
      {25, "ledger_failed"},
      {26, "output_failed"},
      {27, "no_workers"},
      {28, "cache_miss"},
      {29, "interrupted"},
      {30, "internal_error"},
      {31, "message_malformed"},
      {32, "coordinator_too_far"},
      {40, "key_refused"},
      {41, "quota_exhausted"},
      {42, "model_unknown"},
      {43, "provider_unreachable"},
      {44, "parameter_refused"},
      {45, "provider_paused"},
      {46, "provider_changed"},
      {60, "rate_limited"},
      {61, "provider_failed"},
      {62, "timed_out"},
      {63, "connection_lost"},
      {64, "request_refused"},
      {65, "answer_too_large"},
      {66, "worker_lost"},
      {67, "deadline_reached"},
      {68, "token_budget_spent"},
      {69, "cost_budget_spent"},
      {70, "judge_unparsable"},
      {71, "judge_refused"},
      {72, "quality_score_invalid"},
      {73, "grader_id_missing"},
      {74, "embedding_count_wrong"},
      {75, "grade_unparsable"},
      {76, "baseline_unanswered"},
      {77, "answer_too_long"},
      {78, "check_undecided"},
      {80, "refusal"},
      {81, "truncated"},
      {82, "unparsable_answer"},
  };
  for (const auto& [number, name] : golden) {
    const auto reason = reason_from_number(number);
    ASSERT_TRUE(reason) << name;
    EXPECT_EQ(to_string(*reason), name);
  }
  EXPECT_EQ(all_reasons().size(), golden.size());
}

TEST(Reasons, FallIntoKinds) {
  std::set<Reason> stopping;
  std::set<Reason> non_answers;
  std::set<Reason> run_budgets;
  for (const auto reason : all_reasons()) {
    if (stops_run(reason)) stopping.insert(reason);
    if (is_non_answer(reason)) non_answers.insert(reason);
    if (is_run_budget(reason)) run_budgets.insert(reason);
  }
  EXPECT_EQ(stopping,
            (std::set{Reason::key_missing, Reason::key_withheld, Reason::cache_failed, Reason::key_refused,
                      Reason::quota_exhausted, Reason::model_unknown, Reason::provider_unreachable,
                      Reason::parameter_refused, Reason::provider_paused, Reason::provider_changed}));
  EXPECT_EQ(run_budgets,
            (std::set{Reason::deadline_reached, Reason::token_budget_spent, Reason::cost_budget_spent}));
  EXPECT_EQ(non_answers, (std::set{Reason::refusal, Reason::truncated, Reason::unparsable_answer}));
}

TEST(Metrics, HaveNamesAndNumbersOfTheirOwn) {
  const std::map<int, std::string_view> golden{{1, "claims_precision"},
                                               {2, "claims_recall"},
                                               {3, "claims_f1"},
                                               {4, "claims_required"},
                                               {5, "claims_forbidden"},
                                               {6, "claims_absent"},
                                               {10, "must_contain"},
                                               {11, "must_not_contain"},
                                               {12, "regex_match"},
                                               {13, "regex_not_match"},
                                               {14, "exact_match"},
                                               {15, "json_schema"},
                                               {16, "semantic_similarity_to"},
                                               {20, "faithfulness"},
                                               {21, "relevancy"},
                                               {22, "correctness"},
                                               {23, "rubric"},
                                               {24, "context_recall"},
                                               {25, "context_relevance"},
                                               {30, "contains_any"},
                                               {31, "icontains"},
                                               {32, "icontains_any"},
                                               {33, "starts_with"},
                                               {34, "contains_json"},
                                               {35, "levenshtein"},
                                               {36, "rouge_n"},
                                               {37, "tool_call"},
                                               {38, "latency"},
                                               {39, "cost"},
                                               {40, "any_of"},
                                               {41, "all_of"},
                                               {42, "command"},
                                               {43, "command_score"},
                                               {44, "tool_calls_valid"},
                                               {45, "refusal"},
                                               {46, "tool_calls"},
                                               {47, "label"},
                                               {142, "not_exact_match"},
                                               {143, "not_json_schema"},
                                               {159, "not_icontains"},
                                               {160, "not_icontains_any"},
                                               {161, "not_starts_with"},
                                               {162, "not_contains_json"},
                                               {163, "not_levenshtein"},
                                               {164, "not_rouge_n"},
                                               {165, "not_tool_call"},
                                               {166, "not_latency"},
                                               {167, "not_cost"},
                                               {168, "not_any_of"},
                                               {169, "not_all_of"},
                                               {170, "not_command"},
                                               {171, "not_command_score"},
                                               {172, "not_tool_calls_valid"},
                                               {173, "not_refusal"},
                                               {174, "not_tool_calls"},
                                               {175, "not_label"}};
  std::map<int, std::string_view> names;
  for (int number = 0; number <= 255; ++number) {
    const auto* metric = find_metric(static_cast<std::uint8_t>(number));
    if (!metric) continue;
    names[number] = metric->name;
    EXPECT_EQ(static_cast<int>(metric->id), number);
    EXPECT_EQ(&info(metric->id), metric);
    EXPECT_FALSE(metric->version.empty());
  }
  EXPECT_EQ(names, golden);
  EXPECT_EQ(metric_catalogue().size(), golden.size());
}

TEST(Metrics, OnlyThoseWithAScoreAreScored) {
  const std::set scored{MetricId::claims_precision, MetricId::claims_recall,
                        MetricId::claims_f1,        MetricId::semantic_similarity_to,
                        MetricId::faithfulness,     MetricId::relevancy,
                        MetricId::correctness,      MetricId::rubric,
                        MetricId::context_recall,   MetricId::context_relevance,
                        MetricId::rouge_n,          MetricId::not_rouge_n,
                        MetricId::command_score,    MetricId::not_command_score};
  for (const auto& metric : metric_catalogue()) {
    EXPECT_EQ(metric.kind == MetricKind::scored, scored.contains(metric.id)) << metric.name;
  }
}

TEST(Metrics, AreOfClaimsOfTheTextOrOfAJudge) {
  std::set<std::string_view> of_claims;
  std::set<std::string_view> of_judges;
  for (const auto& metric : metric_catalogue()) {
    if (is_claims_metric(metric.id)) of_claims.insert(metric.name);
    if (is_judge_metric(metric.id)) of_judges.insert(metric.name);
  }
  EXPECT_EQ(of_claims, (std::set<std::string_view>{"claims_precision", "claims_recall", "claims_f1",
                                                   "claims_required", "claims_forbidden", "claims_absent"}));
  EXPECT_EQ(of_judges, (std::set<std::string_view>{"faithfulness", "relevancy", "correctness", "rubric",
                                                   "context_recall", "context_relevance"}));
}

}  // namespace
}  // namespace sluice
