#include "common/metrics_server/worker_metrics.hpp"

#include "common/defaults.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Labels = std::vector<std::pair<std::string, std::string>>;

std::optional<double> value_of(const WorkerMetrics& metrics, const std::string& name,
                               const Labels& labels = {}) {
  for (const auto& family : metrics.read()) {
    if (family.name != name) continue;
    for (const auto& sample : family.samples) {
      if (sample.labels == labels) return sample.value;
    }
  }
  return std::nullopt;
}

std::vector<ProviderSettings> named(const std::string& name) {
  std::vector<ProviderSettings> providers(1);
  providers[0].name = name;
  return providers;
}

TEST(WorkerMetrics, AddUpWhatHeartbeatsSayAndKeepWhatIsNow) {
  WorkerMetrics metrics;
  metrics.run_began(named("openai"));
  wire::Demand demand;
  demand.provider = "openai";
  demand.ready_calls = 9;
  demand.in_flight = 4;
  demand.spent = {{1, true}, {2, false}, {3, true}};
  demand.outcomes.answered = 2;
  demand.outcomes.failed = 1;
  demand.backing_off = 3;
  metrics.sent({"run-1", 0, 10, {demand}, 0});
  demand.ready_calls = 0;
  metrics.sent({"run-1", 0, 10, {demand}, 0});
  EXPECT_EQ(value_of(metrics, "sluice_worker_calls_total", {{"provider", "openai"}, {"outcome", "answered"}}),
            4.0);
  EXPECT_EQ(value_of(metrics, "sluice_worker_calls_total", {{"provider", "openai"}, {"outcome", "failed"}}),
            2.0);
  EXPECT_EQ(value_of(metrics, "sluice_worker_permits_total", {{"provider", "openai"}, {"state", "used"}}),
            4.0);
  EXPECT_EQ(value_of(metrics, "sluice_worker_permits_total", {{"provider", "openai"}, {"state", "unused"}}),
            2.0);
  EXPECT_EQ(value_of(metrics, "sluice_worker_calls_in_flight", {{"provider", "openai"}}), 4.0);
  EXPECT_EQ(value_of(metrics, "sluice_worker_calls_waiting", {{"provider", "openai"}}), 0.0);
  EXPECT_EQ(value_of(metrics, "sluice_worker_calls_backing_off", {{"provider", "openai"}}), 3.0);
}

TEST(WorkerMetrics, KnowPausesAndOutagesFromGrants) {
  WorkerMetrics metrics;
  metrics.run_began(named("openai"));
  wire::Grant grant;
  grant.provider = "openai";
  grant.permits.resize(3);
  grant.hold = wire::HoldReason::named_delay;
  metrics.received({"run-1", 0, 0, {grant}});
  EXPECT_EQ(value_of(metrics, "sluice_worker_permits_total", {{"provider", "openai"}, {"state", "granted"}}),
            3.0);
  EXPECT_EQ(value_of(metrics, "sluice_worker_paused", {{"provider", "openai"}}), 1.0);
  grant.hold = wire::HoldReason::outage;
  metrics.received({"run-1", 0, 0, {grant}});
  EXPECT_EQ(value_of(metrics, "sluice_worker_paused", {{"provider", "openai"}}), 0.0);
  EXPECT_EQ(value_of(metrics, "sluice_worker_breaker_open", {{"provider", "openai"}}), 1.0);
  metrics.run_ended();
  EXPECT_EQ(value_of(metrics, "sluice_worker_breaker_open", {{"provider", "openai"}}), 0.0);
}

// A coordinator that made up a name in each GRANTS had them grow without end.
TEST(WorkerMetrics, CountOnlyTheProvidersOfRunsAndSoManyOfThem) {
  WorkerMetrics metrics;
  metrics.run_began(named("openai"));
  wire::Grant grant;
  grant.provider = "made-up";
  metrics.received({"run-1", 0, 0, {grant}});
  EXPECT_FALSE(value_of(metrics, "sluice_worker_paused", {{"provider", "made-up"}}));
  EXPECT_EQ(value_of(metrics, "sluice_worker_paused", {{"provider", "openai"}}), 0.0);
  for (std::size_t i = 0; i < 2 * defaults::max_counted_providers; ++i)
    metrics.run_began(named(std::to_string(i)));
  for (const auto& family : metrics.read()) {
    if (family.name == "sluice_worker_paused")
      EXPECT_EQ(family.samples.size(), defaults::max_counted_providers);
  }
}

TEST(WorkerMetrics, AddUpFinishedUnits) {
  WorkerMetrics metrics;
  UnitResult result;
  result.spend.retries = 2;
  result.spend.paid = {100, 20};
  result.spend.paid.of(CallKind::judge) = {300, 50};
  result.spend.waited_permit_ms = 1500;
  metrics.completed(result);
  result.error = Error{Reason::timed_out, "it took too long"};
  result.spend.cache_hit = true;
  metrics.completed(result);
  EXPECT_EQ(value_of(metrics, "sluice_worker_units_total", {{"result", "answered"}}), 1.0);
  EXPECT_EQ(value_of(metrics, "sluice_worker_units_total", {{"result", "error"}}), 1.0);
  EXPECT_EQ(value_of(metrics, "sluice_worker_cache_hits_total"), 1.0);
  EXPECT_EQ(value_of(metrics, "sluice_worker_retries_total"), 4.0);
  EXPECT_EQ(value_of(metrics, "sluice_worker_paid_tokens_total", {{"kind", "output"}}), 40.0);
  EXPECT_EQ(value_of(metrics, "sluice_worker_paid_tokens_total", {{"kind", "judge_input"}}), 600.0);
  EXPECT_EQ(value_of(metrics, "sluice_worker_paid_tokens_total", {{"kind", "judge_output"}}), 100.0);
  EXPECT_EQ(value_of(metrics, "sluice_worker_waited_seconds_total", {{"for", "permit"}}), 3.0);
}

}  // namespace
}  // namespace sluice
