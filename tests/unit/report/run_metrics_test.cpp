#include "coordinator/progress/run_metrics.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;
using Labels = std::vector<std::pair<std::string, std::string>>;

std::optional<double> value_of(const std::vector<MetricFamily>& metrics, const std::string& name,
                               const Labels& labels = {}) {
  for (const auto& family : metrics) {
    if (family.name != name) continue;
    for (const auto& sample : family.samples) {
      if (sample.labels == labels) return sample.value;
    }
  }
  return std::nullopt;
}

ProgressState busy() {
  ProgressState progress;
  progress.total = 100;
  progress.passed = 40;
  progress.failed = 2;
  progress.errors = 1;
  progress.workers = 4;
  progress.begun = 20;
  progress.waiting = 7;
  BudgetFacts openai;
  openai.provider = "openai";
  openai.requests = KnownLimit{6000.0, LimitSource::configured};
  openai.utilisation = 0.97;
  openai.permits_granted = 50;
  openai.permits_unused = 3;
  openai.answered = 44;
  openai.rate_limited = 2;
  openai.failed = 1;
  openai.timed_out = 3;
  openai.oldest_call = 42s;
  openai.in_flight = 5;
  openai.waiting_calls = 9;
  openai.backing_off_calls = 2;
  openai.hold = wire::HoldReason::named_delay;
  openai.paused_time = 1500ms;
  BudgetFacts other;
  other.provider = "other";
  other.hold = wire::HoldReason::outage;
  other.outage_time = 61s;
  progress.budgets = {openai, other};
  return progress;
}

TEST(RunMetrics, ShowWhatTheProgressLineShows) {
  RunFacts facts;
  facts.requests = 47;
  facts.paid.of(CallKind::answer).output_tokens = 1234;
  facts.paid.of(CallKind::embedding).input_tokens = 56;
  facts.paid.of(CallKind::judge) = {78, 9};
  facts.waited_permit = 2500ms;
  const auto metrics = run_metrics(busy(), facts);
  EXPECT_EQ(value_of(metrics, "sluice_cases"), 100.0);
  EXPECT_EQ(value_of(metrics, "sluice_trials"), 100.0);
  EXPECT_EQ(value_of(metrics, "sluice_trials_done_total", {{"result", "error"}}), 1.0);
  EXPECT_EQ(value_of(metrics, "sluice_workers"), 4.0);
  EXPECT_EQ(value_of(metrics, "sluice_units", {{"state", "queued"}}), 7.0);
  EXPECT_EQ(value_of(metrics, "sluice_requests_total"), 47.0);
  EXPECT_EQ(value_of(metrics, "sluice_paid_tokens_total", {{"kind", "output"}}), 1234.0);
  EXPECT_EQ(value_of(metrics, "sluice_paid_tokens_total", {{"kind", "embedding"}}), 56.0);
  EXPECT_EQ(value_of(metrics, "sluice_paid_tokens_total", {{"kind", "judge_input"}}), 78.0);
  EXPECT_EQ(value_of(metrics, "sluice_paid_tokens_total", {{"kind", "judge_output"}}), 9.0);
  EXPECT_EQ(value_of(metrics, "sluice_waited_seconds_total", {{"for", "permit"}}), 2.5);
}

TEST(RunMetrics, DistinguishTrialsFromCases) {
  ProgressState varied = busy();
  varied.cases = 12;
  varied.perturbed = 30;
  const auto metrics = run_metrics(varied, {});
  EXPECT_EQ(value_of(metrics, "sluice_cases"), 12.0);
  EXPECT_EQ(value_of(metrics, "sluice_trials"), 100.0);
  EXPECT_EQ(value_of(metrics, "sluice_trials_done_total", {{"result", "perturbed"}}), 30.0);
}

TEST(RunMetrics, NameEachProvidersBudget) {
  const auto metrics = run_metrics(busy(), {});
  const Labels openai{{"provider", "openai"}};
  EXPECT_EQ(
      value_of(metrics, "sluice_provider_calls_total", {{"provider", "openai"}, {"outcome", "rate_limited"}}),
      2.0);
  EXPECT_EQ(value_of(metrics, "sluice_provider_permits_total", {{"provider", "openai"}, {"state", "unused"}}),
            3.0);
  EXPECT_EQ(value_of(metrics, "sluice_provider_limit_per_minute",
                     {{"provider", "openai"}, {"of", "requests"}, {"source", "configured"}}),
            6000.0);
  EXPECT_EQ(value_of(metrics, "sluice_provider_utilisation_ratio", openai), 0.97);
  EXPECT_EQ(value_of(metrics, "sluice_provider_utilisation_ratio", {{"provider", "other"}}), std::nullopt);
  EXPECT_EQ(value_of(metrics, "sluice_provider_calls_waiting", openai), 9.0);
  EXPECT_EQ(value_of(metrics, "sluice_provider_calls_backing_off", openai), 2.0);
  EXPECT_EQ(value_of(metrics, "sluice_provider_calls_timed_out_total", openai), 3.0);
  EXPECT_EQ(value_of(metrics, "sluice_provider_oldest_call_seconds", openai), 42.0);
  EXPECT_EQ(value_of(metrics, "sluice_provider_paused", openai), 1.0);
  EXPECT_EQ(value_of(metrics, "sluice_provider_breaker_open", openai), 0.0);
  EXPECT_EQ(value_of(metrics, "sluice_provider_breaker_open", {{"provider", "other"}}), 1.0);
  EXPECT_EQ(value_of(metrics, "sluice_provider_paused_seconds_total", openai), 1.5);
  EXPECT_EQ(value_of(metrics, "sluice_provider_outage_seconds_total", {{"provider", "other"}}), 61.0);
}

TEST(RunMetrics, NamesFollowTheConventions) {
  std::set<std::string> names;
  for (const auto& family : run_metrics(busy(), {})) {
    EXPECT_TRUE(family.name.starts_with("sluice_")) << family.name;
    EXPECT_EQ(family.name.ends_with("_total"), family.kind == MetricFamily::Kind::counter) << family.name;
    EXPECT_TRUE(names.insert(family.name).second) << family.name;
    EXPECT_TRUE(family.help.ends_with('.')) << family.name;
  }
}

}  // namespace
}  // namespace sluice
