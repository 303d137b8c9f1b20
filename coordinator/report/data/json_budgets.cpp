#include "coordinator/report/data/json_budgets.hpp"

#include "coordinator/display/budget_wording.hpp"

#include <chrono>
#include <string>

namespace sluice {
namespace {

template <class Rep, class Period>
double seconds(std::chrono::duration<Rep, Period> time) {
  return std::chrono::duration<double>(time).count();
}

void write_limits(Json& json, std::string_view key, const std::vector<wording::NamedLimit>& limits) {
  json.key(key).open('[');
  for (const auto& [of, limit] : limits) {
    json.open('{');
    json.member("of", of);
    json.member("per_minute", limit.per_minute);
    json.member("source", wording::to_string(limit.source));
    json.close('}');
  }
  json.close(']');
}

void write_learned(Json& json, const BudgetFacts& facts) {
  if (!facts.has_learned()) return json.null();
  const LearnedLimits& learned = facts.learned;
  json.open('{');
  json.member("requests_per_minute", learned.requests_per_minute);
  json.member("burst_seconds", wording::burst_seconds(learned));
  json.member("max_in_flight", learned.in_flight);
  json.member("source", wording::to_string(learned.source));
  json.close('}');
}

void write_budget(Json& json, const BudgetFacts& facts, std::size_t depth) {
  json.open('{');
  json.member("provider", facts.provider);
  write_limits(json, "limits", wording::limits_of(facts));
  json.line(depth);
  if (const auto doubted = wording::doubted_limits(facts.doubted); !doubted.empty()) {
    write_limits(json, "limits_doubted", doubted);
    json.line(depth);
  }
  json.member("utilisation", facts.utilisation);
  json.member("effective_requests_per_minute", facts.effective_per_minute);
  json.member("found_below_limit", facts.found_below_limit);
  json.member("max_in_flight", facts.max_in_flight);
  json.member("concurrency_found", facts.found_concurrency);
  json.member("other_runs", facts.other_runs);
  json.line(depth);
  json.key("learned");
  write_learned(json, facts);
  json.line(depth);
  json.member("permits_granted", facts.permits_granted);
  json.member("permits_used", facts.permits_used);
  json.member("permits_unused", facts.permits_unused);
  json.line(depth);
  json.member("answered", facts.answered);
  json.member("rate_limited", facts.rate_limited);
  json.member("named_delays", facts.named_delays);
  json.member("failed", facts.failed);
  json.member("timed_out", facts.timed_out);
  json.line(depth);
  json.member("paused_seconds", seconds(facts.paused_time));
  json.member("outage_seconds", seconds(facts.outage_time));
  json.member("given_up", facts.given_up);
  json.close('}');
}

}  // namespace

void write_json_budgets(Json& json, const RunFacts& facts, std::size_t depth) {
  json.line(depth);
  json.key("waited_seconds").open('{');
  json.member("permit", seconds(facts.waited_permit));
  json.member("pause", seconds(facts.waited_pause));
  json.member("retry", seconds(facts.waited_retry));
  json.close('}');
  json.line(depth);
  json.key("budget").open('[');
  for (const BudgetFacts& budget : facts.budgets) {
    json.line(depth + 1);
    write_budget(json, budget, depth + 2);
  }
  if (!facts.budgets.empty()) json.text() += '\n' + std::string(2 * depth, ' ');
  json.close(']');
}

}  // namespace sluice
