#include "coordinator/governor/provider_use.hpp"

#include "coordinator/governor/defaults.hpp"

#include <algorithm>

namespace sluice {

void ProviderUse::on_start(BootTime at) {
  ++starts_;
  last_start_ = std::max(last_start_, at);
}

void ProviderUse::on_outcomes(const wire::CallOutcomes& outcomes) {
  answered_ += std::uint64_t{outcomes.answered} + outcomes.declined;
  rate_limited_ += std::uint64_t{outcomes.rate_limited} + outcomes.named_delays;
  named_delays_ += outcomes.named_delays;
  failed_ += outcomes.failed;
  timed_out_ += outcomes.timed_out;
  timed_answers_ += outcomes.answered;
  latency_us_ += static_cast<double>(outcomes.latency_sum_us);
}

void ProviderUse::on_settled(const wire::CallSize& used) {
  input_tokens_ += used.input_tokens;
  output_tokens_ += used.output_tokens;
}

void ProviderUse::count_utilisation(BudgetFacts& facts) const {
  if (!first_demand_ || last_start_ <= *first_demand_) return;
  constexpr double minute_us = 60e6;
  const double minutes = static_cast<double>((last_start_ - *first_demand_).count()) / minute_us;
  const auto count = [&](const std::optional<KnownLimit>& limit, double used) {
    if (!limit) return;
    facts.utilisation = std::max(facts.utilisation.value_or(0), used / (limit->per_minute * minutes));
  };
  const auto input = static_cast<double>(input_tokens_);
  const auto output = static_cast<double>(output_tokens_);
  count(facts.requests, static_cast<double>(starts_));
  count(facts.tokens, input + output);
  count(facts.input_tokens, input);
  count(facts.output_tokens, output);
}

BootTime ProviderUse::mean_latency() const {
  if (timed_answers_ == 0) return {};
  constexpr auto longest_us = static_cast<double>(defaults::longest_latency.count());
  const double mean_us = latency_us_ / static_cast<double>(timed_answers_);
  return BootTime(static_cast<std::int64_t>(std::min(mean_us, longest_us)));
}

void ProviderUse::describe(BudgetFacts& facts) const {
  facts.permits_used = starts_;
  facts.answered = answered_;
  facts.rate_limited = rate_limited_;
  facts.named_delays = named_delays_;
  facts.failed = failed_;
  facts.timed_out = timed_out_;
  facts.mean_latency = mean_latency();
  count_utilisation(facts);
}

}  // namespace sluice
