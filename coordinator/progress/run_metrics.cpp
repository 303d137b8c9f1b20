#include "coordinator/progress/run_metrics.hpp"

#include "common/metrics_server/metric_families.hpp"
#include "coordinator/display/budget_wording.hpp"

#include <string>

namespace sluice {
namespace {

using Kind = MetricFamily::Kind;
void add_cases(MetricFamilies& metrics, const ProgressState& progress) {
  metrics.family("sluice_cases", "Cases of the run's plan.", Kind::gauge)
      .sample({}, progress.cases.value_or(progress.total));
  metrics.family("sluice_trials", "Trials of these: one of each repeat and perturbation.", Kind::gauge)
      .sample({}, progress.total);
  metrics.family("sluice_trials_done_total", "Trials that are done, by what they came to.", Kind::counter)
      .sample({{"result", "passed"}}, progress.passed)
      .sample({{"result", "failed"}}, progress.failed)
      .sample({{"result", "perturbed"}}, progress.perturbed)
      .sample({{"result", "error"}}, progress.errors);
  metrics.family("sluice_workers", "Workers that take work.", Kind::gauge).sample({}, progress.workers);
  metrics.family("sluice_units", "Units of work with a worker: begun, or queued there.", Kind::gauge)
      .sample({{"state", "begun"}}, progress.begun)
      .sample({{"state", "queued"}}, progress.waiting);
}

void add_effort(MetricFamilies& metrics, const RunFacts& facts) {
  metrics.family("sluice_requests_total", "Provider calls of finished units.", Kind::counter)
      .sample({}, facts.requests);
  metrics.family("sluice_retries_total", "Of these, calls that repeat one.", Kind::counter)
      .sample({}, facts.retries);
  metrics.family("sluice_rate_limited_total", "Of these, answers 429 or 529.", Kind::counter)
      .sample({}, facts.rate_limited);
  metrics.family("sluice_cache_hits_total", "Answers read from a cache.", Kind::counter)
      .sample({}, facts.cache_hits);
  auto& tokens =
      metrics.family("sluice_paid_tokens_total", "Tokens paid for by finished units.", Kind::counter);
  for (const auto& column : paid_columns)
    tokens.sample({{"kind", std::string(column.name)}}, column.in(facts.paid));
  metrics
      .family("sluice_waited_seconds_total", "Time that finished units waited, by what for.", Kind::counter)
      .sample({{"for", "permit"}}, facts.waited_permit)
      .sample({{"for", "pause"}}, facts.waited_pause)
      .sample({{"for", "retry"}}, facts.waited_retry);
  metrics.family("sluice_leases_lost_total", "Leases lost with their workers, or expired.", Kind::counter)
      .sample({}, facts.leases_lost);
}

void add_calls(MetricFamilies& metrics, const std::vector<BudgetFacts>& budgets) {
  metrics.family("sluice_provider_calls_total", "Calls by what they came to.", Kind::counter);
  for (const auto& one : budgets) {
    metrics.sample({{"provider", one.provider}, {"outcome", "answered"}}, one.answered)
        .sample({{"provider", one.provider}, {"outcome", "rate_limited"}}, one.rate_limited)
        .sample({{"provider", one.provider}, {"outcome", "failed"}}, one.failed);
  }
  metrics.family("sluice_provider_calls_timed_out_total",
                 "Calls that were not answered in time, be they among those that failed or not.",
                 Kind::counter);
  for (const auto& one : budgets) metrics.sample({{"provider", one.provider}}, one.timed_out);
  metrics.family("sluice_provider_oldest_call_seconds", "For how long the oldest call has been in flight.",
                 Kind::gauge);
  for (const auto& one : budgets) metrics.sample({{"provider", one.provider}}, one.oldest_call);
  metrics.family("sluice_provider_permits_total", "Permits by what became of them.", Kind::counter);
  for (const auto& one : budgets) {
    metrics.sample({{"provider", one.provider}, {"state", "granted"}}, one.permits_granted)
        .sample({{"provider", one.provider}, {"state", "used"}}, one.permits_used)
        .sample({{"provider", one.provider}, {"state", "unused"}}, one.permits_unused);
  }
  metrics.family("sluice_provider_calls_in_flight", "Calls under way.", Kind::gauge);
  for (const auto& one : budgets) metrics.sample({{"provider", one.provider}}, one.in_flight);
  metrics.family("sluice_provider_calls_waiting", "Calls that are ready and may not start yet.", Kind::gauge);
  for (const auto& one : budgets) metrics.sample({{"provider", one.provider}}, one.waiting_calls);
  metrics.family("sluice_provider_calls_backing_off", "Failed calls that wait to be tried again.",
                 Kind::gauge);
  for (const auto& one : budgets) metrics.sample({{"provider", one.provider}}, one.backing_off_calls);
}

void add_limits(MetricFamilies& metrics, const std::vector<BudgetFacts>& budgets) {
  metrics.family("sluice_provider_limit_per_minute", "Limits that are known, and where from.", Kind::gauge);
  for (const auto& one : budgets) {
    for (const auto& [of, limit] : wording::limits_of(one)) {
      metrics.sample({{"provider", one.provider},
                      {"of", std::string(of)},
                      {"source", std::string(wording::to_string(limit.source))}},
                     limit.per_minute);
    }
  }
  metrics.family("sluice_provider_utilisation_ratio", "Use of the limit that is used most.", Kind::gauge);
  for (const auto& one : budgets) {
    if (one.utilisation) metrics.sample({{"provider", one.provider}}, *one.utilisation);
  }
  metrics.family("sluice_provider_places", "Calls that may be in flight; absent where nothing bounds them.",
                 Kind::gauge);
  for (const auto& one : budgets) {
    if (one.places > 0) metrics.sample({{"provider", one.provider}}, one.places);
  }
}

void add_holds(MetricFamilies& metrics, const std::vector<BudgetFacts>& budgets) {
  metrics.family("sluice_provider_paused", "1 while a delay that the provider named holds.", Kind::gauge);
  for (const auto& one : budgets)
    metrics.sample({{"provider", one.provider}}, one.hold == wire::HoldReason::named_delay ? 1 : 0);
  metrics.family("sluice_provider_breaker_open", "1 while the provider counts as down.", Kind::gauge);
  for (const auto& one : budgets)
    metrics.sample({{"provider", one.provider}},
                   one.hold == wire::HoldReason::outage || one.given_up ? 1 : 0);
  metrics.family("sluice_provider_paused_seconds_total", "Time of named delays.", Kind::counter);
  for (const auto& one : budgets) metrics.sample({{"provider", one.provider}}, one.paused_time);
  metrics.family("sluice_provider_outage_seconds_total", "Time that the provider was down.", Kind::counter);
  for (const auto& one : budgets) metrics.sample({{"provider", one.provider}}, one.outage_time);
}

}  // namespace

std::vector<MetricFamily> run_metrics(const ProgressState& progress, const RunFacts& facts) {
  MetricFamilies metrics;
  add_cases(metrics, progress);
  add_effort(metrics, facts);
  add_calls(metrics, progress.budgets);
  add_limits(metrics, progress.budgets);
  add_holds(metrics, progress.budgets);
  return metrics.take();
}

}  // namespace sluice
