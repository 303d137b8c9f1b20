#include "coordinator/governor/known_limits.hpp"

#include "coordinator/governor/slot_rule.hpp"

namespace sluice {

namespace {

/// The limits that both the settings and a provider can name.
struct NamedTwice {
  std::optional<std::uint64_t> ProviderLimits::*setting;
  std::uint64_t wire::AnnouncedLimits::*announced;
  std::optional<KnownLimit> BudgetFacts::*fact;
};
constexpr NamedTwice rates[] = {
    {&ProviderLimits::requests_per_minute, &wire::AnnouncedLimits::requests_per_minute,
     &BudgetFacts::requests},
    {&ProviderLimits::tokens_per_minute, &wire::AnnouncedLimits::tokens_per_minute, &BudgetFacts::tokens},
    {&ProviderLimits::input_tokens_per_minute, &wire::AnnouncedLimits::input_tokens_per_minute,
     &BudgetFacts::input_tokens},
    {&ProviderLimits::output_tokens_per_minute, &wire::AnnouncedLimits::output_tokens_per_minute,
     &BudgetFacts::output_tokens},
};

}  // namespace

std::uint64_t KnownLimits::least_announced(std::uint64_t wire::AnnouncedLimits::*limit) const {
  std::uint64_t least = 0;
  for (const auto& [worker, announced] : announced_) {
    if (announced.*limit > 0 && (least == 0 || announced.*limit < least)) least = announced.*limit;
  }
  return least;
}

bool KnownLimits::on_announced(WorkerId worker, const wire::AnnouncedLimits& announced) {
  auto& known = announced_[worker];
  const auto before = known;
  for (const auto& rate : rates) {
    // What is not named anew stays.
    if (announced.*rate.announced > 0) known.*rate.announced = announced.*rate.announced;
  }
  if (known == before) return false;
  auto limits = in_force_;
  for (const auto& rate : rates) {
    const auto least = least_announced(rate.announced);
    if (!(configured_.*rate.setting) && least > 0) limits.*rate.setting = least;
  }
  if (limits == in_force_) return false;
  in_force_ = limits;
  return true;
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
    const bool is_configured = (configured_.*rate.setting).has_value();
    facts.*rate.fact = KnownLimit{static_cast<double>(*limit),
                                  is_configured ? LimitSource::configured : LimitSource::announced};
  }
  facts.doubted = doubted_;
  facts.max_in_flight = configured_.max_in_flight;
}

}  // namespace sluice
