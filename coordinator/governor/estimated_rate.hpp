#pragma once

#include "common/clock.hpp"
#include "coordinator/governor/limit_estimate.hpp"
#include "coordinator/governor/named_delays.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

/// The rate where each refusal names a delay that costs more than it shows: two refusals at different speeds
/// say what the limit is (LimitEstimate). Until they do, speeds between what was refused and what was not are
/// tried. Then the rate is held for a time that grows with what a refusal costs, and grows slowly
/// (docs/budgets.md, "Limits that nobody named"). The rate itself is the caller's. Pure; not thread-safe.
class EstimatedRate {
 public:
  /// What calls came to, and what refusals named: see LimitEstimate.
  LimitEstimate& seen() { return seen_; }
  const LimitEstimate& seen() const { return seen_; }

  /// An earlier run has found it. Without a burst that was found, one is counted on as of a limit that is set
  /// without one.
  void begin_with(double rate, std::optional<double> burst);
  /// The rate to go on with after a refusal. `rate`: until now; nothing: none. `is_first`: what was told of
  /// the first refusal is complete now. `cut_before`: when the rate was last lowered.
  double after_refusal(std::optional<double> rate, bool is_first, const NamedDelays& delays,
                       BootTime cut_before);
  /// `rate` after `passed` seconds without a refusal in which calls waited for it.
  double grown(double rate, double passed, const NamedDelays& delays, BootTime now);
  /// What it began with was a try: it is not held for long.
  void doubt() { hold_factor_ = defaults::rate_search::hold_of_doubt; }
  /// Nothing was refused at it for so long that the limit may have been raised.
  void is_outdated() { hold_factor_ = defaults::rate_search::hold_of_outdated; }
  /// It is not needed, or not to be trusted any more; what was refused of it stays known.
  void forget();
  /// Likewise, and nothing was refused below what is known besides.
  void forget_refused() {
    is_known_ = false;
    refused_.reset();
  }

  /// It follows from refusals, or from an earlier run; no speed is tried any more.
  bool is_known() const { return is_known_; }
  /// Calls at once, at least 1; nothing while the rate is not known.
  std::optional<double> burst() const;
  /// The same, unless it is only counted on.
  std::optional<double> found_burst() const { return is_burst_found_ ? burst() : std::nullopt; }

 private:
  using Found = LimitEstimate::Found;

  double second_speed(const NamedDelays& delays);
  double take(const Found& found);
  double narrow(double rate, const std::optional<Found>& found, const NamedDelays& delays);
  double below_full_bucket();
  double below_growth(double rate, const NamedDelays& delays, BootTime cut_before);
  double lower(double rate, std::optional<double> measured, const NamedDelays& delays, BootTime cut_before);
  double try_between(double rate, const NamedDelays& delays);
  double growth_after(BootTime since, const NamedDelays& delays) const;

  LimitEstimate seen_;
  bool is_known_ = false;
  bool begins_full_ = false;       ///< An earlier run's, and nothing was refused: the bucket was full.
  bool is_ramp_ = false;           ///< The first refusal said nothing of a rate.
  std::optional<double> refused_;  ///< Before it is known: the least speed that was refused,
  double proved_ = 0;              ///< and the greatest that was not.
  BootTime tried_at_{};
  std::uint32_t in_a_row_ = 0;  ///< Refusals at a known rate, each soon after the one before.
  double burst_ = 1;
  bool is_burst_found_ = true;
  double reserve_ = 1;      ///< LimitEstimate::Found::reserve.
  BootTime settles_at_{};   ///< LimitEstimate::Found::settles_at.
  double held_ = 0;         ///< The rate, before it grew.
  double hold_factor_ = 1;  ///< Growth in vain makes it longer.
};

}  // namespace sluice
