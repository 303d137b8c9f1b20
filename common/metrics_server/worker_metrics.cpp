#include "common/metrics_server/worker_metrics.hpp"

#include "common/defaults.hpp"
#include "common/metrics_server/metric_families.hpp"

namespace sluice {

using Kind = MetricFamily::Kind;

void WorkerMetrics::run_began(const std::vector<ProviderSettings>& providers) {
  const std::lock_guard lock(mutex_);
  for (const auto& provider : providers) {
    if (providers_.size() >= defaults::max_counted_providers) return;
    providers_.try_emplace(provider.name);
  }
}

void WorkerMetrics::sent(const wire::Heartbeat& heartbeat) {
  const std::lock_guard lock(mutex_);
  for (const auto& demand : heartbeat.demands) {
    const auto counted = providers_.find(demand.provider);
    if (counted == providers_.end()) continue;
    Provider& provider = counted->second;
    provider.answered += demand.outcomes.answered + demand.outcomes.declined;
    provider.rate_limited += demand.outcomes.rate_limited + demand.outcomes.named_delays;
    provider.failed += demand.outcomes.failed;
    for (const auto& permit : demand.spent) ++(permit.used ? provider.permits_used : provider.permits_unused);
    provider.ready_calls = demand.ready_calls;
    provider.in_flight = demand.in_flight;
    provider.backing_off = demand.backing_off;
  }
}

void WorkerMetrics::received(const wire::Grants& grants) {
  const std::lock_guard lock(mutex_);
  for (const auto& grant : grants.grants) {
    const auto counted = providers_.find(grant.provider);
    if (counted == providers_.end()) continue;
    counted->second.permits_granted += grant.permits.size();
    counted->second.hold = grant.hold;
  }
}

void WorkerMetrics::completed(const UnitResult& result) {
  const std::lock_guard lock(mutex_);
  ++(result.error && result.scores.empty() ? failed_units_ : answered_units_);
  cache_hits_ += result.spend.cache_hit ? 1 : 0;
  retries_ += result.spend.retries;
  paid_ += result.spend.paid;
  waited_permit_ += std::chrono::milliseconds(result.spend.waited_permit_ms);
  waited_pause_ += std::chrono::milliseconds(result.spend.waited_pause_ms);
  waited_retry_ += std::chrono::milliseconds(result.spend.waited_retry_ms);
}

void WorkerMetrics::run_ended() {
  const std::lock_guard lock(mutex_);
  for (auto& [name, provider] : providers_) {
    provider.ready_calls = 0;
    provider.in_flight = 0;
    provider.backing_off = 0;
    provider.hold = wire::HoldReason::none;
  }
}

std::vector<MetricFamily> WorkerMetrics::read() const {
  const std::lock_guard lock(mutex_);
  MetricFamilies metrics;
  add_units(metrics);
  add_calls(metrics);
  add_holds(metrics);
  return metrics.take();
}

void WorkerMetrics::add_units(MetricFamilies& metrics) const {
  metrics.family("sluice_worker_units_total", "Finished units of work.", Kind::counter)
      .sample({{"result", "answered"}}, answered_units_)
      .sample({{"result", "error"}}, failed_units_);
  metrics.family("sluice_worker_cache_hits_total", "Answers read from the cache.", Kind::counter)
      .sample({}, cache_hits_);
  metrics.family("sluice_worker_retries_total", "Calls after a unit's first.", Kind::counter)
      .sample({}, retries_);
  auto& tokens =
      metrics.family("sluice_worker_paid_tokens_total", "Tokens paid for by finished units.", Kind::counter);
  for (const auto& column : paid_columns)
    tokens.sample({{"kind", std::string(column.name)}}, column.in(paid_));
  metrics
      .family("sluice_worker_waited_seconds_total", "Time that finished units waited, by what for.",
              Kind::counter)
      .sample({{"for", "permit"}}, waited_permit_)
      .sample({{"for", "pause"}}, waited_pause_)
      .sample({{"for", "retry"}}, waited_retry_);
}

void WorkerMetrics::add_calls(MetricFamilies& metrics) const {
  metrics.family("sluice_worker_calls_total", "Calls by what they came to.", Kind::counter);
  for (const auto& [name, one] : providers_) {
    metrics.sample({{"provider", name}, {"outcome", "answered"}}, one.answered)
        .sample({{"provider", name}, {"outcome", "rate_limited"}}, one.rate_limited)
        .sample({{"provider", name}, {"outcome", "failed"}}, one.failed);
  }
  metrics.family("sluice_worker_permits_total", "Permits by what became of them.", Kind::counter);
  for (const auto& [name, one] : providers_) {
    metrics.sample({{"provider", name}, {"state", "granted"}}, one.permits_granted)
        .sample({{"provider", name}, {"state", "used"}}, one.permits_used)
        .sample({{"provider", name}, {"state", "unused"}}, one.permits_unused);
  }
  metrics.family("sluice_worker_calls_in_flight", "Calls under way.", Kind::gauge);
  for (const auto& [name, one] : providers_) metrics.sample({{"provider", name}}, one.in_flight);
  metrics.family("sluice_worker_calls_waiting", "Calls that are ready and have not started.", Kind::gauge);
  for (const auto& [name, one] : providers_) metrics.sample({{"provider", name}}, one.ready_calls);
  metrics.family("sluice_worker_calls_backing_off", "Failed calls that wait to be tried again.", Kind::gauge);
  for (const auto& [name, one] : providers_) metrics.sample({{"provider", name}}, one.backing_off);
}

void WorkerMetrics::add_holds(MetricFamilies& metrics) const {
  metrics.family("sluice_worker_paused", "1 while a delay that the provider named holds.", Kind::gauge);
  for (const auto& [name, one] : providers_)
    metrics.sample({{"provider", name}}, one.hold == wire::HoldReason::named_delay ? 1 : 0);
  metrics.family("sluice_worker_breaker_open", "1 while the provider counts as down.", Kind::gauge);
  for (const auto& [name, one] : providers_) {
    const bool open = one.hold == wire::HoldReason::outage || one.hold == wire::HoldReason::given_up;
    metrics.sample({{"provider", name}}, open ? 1 : 0);
  }
}

}  // namespace sluice
