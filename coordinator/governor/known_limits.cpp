#include "coordinator/governor/known_limits.hpp"

#include "common/defaults.hpp"
#include "coordinator/governor/slot_rule.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace sluice {

namespace {

/// The limits that both the settings and a provider can name.
struct NamedTwice {
  std::optional<std::uint64_t> ProviderLimits::*setting;
  std::uint64_t wire::AnnouncedLimits::*announced;
  std::optional<KnownLimit> BudgetFacts::*fact;
  /// Nobody sells less. A worker does not believe it either, but this one may not be ours.
  std::uint64_t least = defaults::least_token_limit;
};
constexpr NamedTwice rates[] = {
    {&ProviderLimits::requests_per_minute, &wire::AnnouncedLimits::requests_per_minute,
     &BudgetFacts::requests, defaults::least_announced},
    {&ProviderLimits::tokens_per_minute, &wire::AnnouncedLimits::tokens_per_minute, &BudgetFacts::tokens},
    {&ProviderLimits::input_tokens_per_minute, &wire::AnnouncedLimits::input_tokens_per_minute,
     &BudgetFacts::input_tokens},
    {&ProviderLimits::output_tokens_per_minute, &wire::AnnouncedLimits::output_tokens_per_minute,
     &BudgetFacts::output_tokens},
};

}  // namespace

std::uint64_t KnownLimits::least_announced(std::uint64_t wire::AnnouncedLimits::*limit,
                                           std::uint64_t least_credible) const {
  std::vector<std::uint64_t> read;
  for (const auto& [worker, announced] : announced_) {
    if (announced.*limit >= least_credible) read.push_back(announced.*limit);
  }
  std::ranges::sort(read);
  if (read.empty()) return 0;
  // All of them use one key: who alone reads a tenth of it misreads, or lies. Of two nobody knows which.
  const bool is_alone = read.size() > 2 && read[0] < read[1] / defaults::suspicious_fall;
  return read[is_alone ? 1 : 0];
}

bool KnownLimits::update(bool keeps_unread) {
  auto limits = configured_;
  holds_unread_ = false;
  for (const auto& rate : rates) {
    if (const auto& set = configured_.*rate.setting) {
      const auto least = is_refused_ ? least_announced(rate.announced, rate.least) : 0;
      if (least > 0 && least < *set && least >= *set / defaults::suspicious_fall)
        limits.*rate.setting = least;
      continue;
    }
    if (const auto least = least_announced(rate.announced, rate.least); least > 0) {
      limits.*rate.setting = least;
    } else if (keeps_unread) {
      // The last that is known.
      limits.*rate.setting = in_force_.*rate.setting;
      holds_unread_ = holds_unread_ || in_force_.*rate.setting;
    }
  }
  if (limits == in_force_) return false;
  in_force_ = limits;
  return true;
}

bool KnownLimits::on_announced(WorkerId worker, const wire::AnnouncedLimits& announced) {
  auto& known = announced_[worker];
  const auto before = known;
  for (const auto& rate : rates) {
    // What is not named anew stays.
    if (announced.*rate.announced > 0) known.*rate.announced = announced.*rate.announced;
  }
  return known != before && update();
}

bool KnownLimits::forget(WorkerId worker) {
  return announced_.erase(worker) > 0 && update();
}

bool KnownLimits::distrust(WorkerId worker) {
  return announced_.erase(worker) > 0 && update(/*keeps_unread=*/false);
}

bool KnownLimits::on_answered() {
  return holds_unread_ && update(/*keeps_unread=*/false);
}

bool KnownLimits::on_refused() {
  return !std::exchange(is_refused_, true) && update();
}

bool KnownLimits::on_doubted(const wire::AnnouncedLimits& doubted) {
  bool is_new = false;
  for (const auto& rate : rates) {
    const auto limit = doubted.*rate.announced;
    // What is set in the settings holds anyway.
    if (limit == 0 || configured_.*rate.setting) continue;
    is_new = is_new || doubted_.*rate.announced != limit;
    doubted_.*rate.announced = limit;
  }
  return is_new;
}

bool KnownLimits::names_a_rate() const {
  for (const auto& rate : rates) {
    if (in_force_.*rate.setting) return true;
  }
  return false;
}

std::optional<double> KnownLimits::requests_per_second() const {
  if (!in_force_.requests_per_minute) return std::nullopt;
  return static_cast<double>(*in_force_.requests_per_minute) / seconds_a_minute;
}

void KnownLimits::describe(BudgetFacts& facts) const {
  for (const auto& rate : rates) {
    const auto& limit = in_force_.*rate.setting;
    if (!limit) continue;
    const bool is_configured = configured_.*rate.setting == limit;
    facts.*rate.fact = KnownLimit{static_cast<double>(*limit),
                                  is_configured ? LimitSource::configured : LimitSource::announced};
  }
  if (is_refused_ && configured_.requests_per_minute) {
    const auto least =
        least_announced(&wire::AnnouncedLimits::requests_per_minute, defaults::least_announced);
    if (least > 0 && least < *configured_.requests_per_minute)
      facts.announced_below = static_cast<double>(least);
  }
  facts.doubted = doubted_;
  facts.max_in_flight = configured_.max_in_flight;
}

}  // namespace sluice
