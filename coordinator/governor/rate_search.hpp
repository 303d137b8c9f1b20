#pragma once

#include "common/clock.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <optional>

namespace sluice {

/// Finds the rate that a provider takes which names none: when calls are refused without a delay, the fleet's
/// rate is cut to half, and grows back. The first cut is followed by doublings, since a burst says little of
/// a rate; each later one by a quick return to just below what was accepted before it, and slow steps from
/// there. Single refusals only end the growth for a while, and those that come at half the rate just as well
/// are not the rate's. Where refusals name a delay the growth is the slower, the more a refusal costs. Grows
/// only while the rate is what holds the calls back. Pure; not thread-safe.
class RateSearch {
 public:
  /// `started` calls began and `refused` were refused without a named delay since the last time; refusals of
  /// calls that were on their way at the last cut are not among them (`refused_late`). True if the rate was
  /// cut.
  bool on_outcomes(std::uint32_t started, std::uint32_t refused, std::uint32_t refused_late, BootTime now);
  /// A refusal named a delay, which is waited for: a time in which the provider takes no call, but its bucket
  /// fills. After `on_outcomes` of that refusal.
  void pause(BootTime delay, BootTime now);
  /// Lets the rate grow up to `now`. `held_back`: calls wait for it. `ceiling`: the rate that is known
  /// besides, beyond which nothing is sought: the search is over when it is accepted for a while.
  void grow(bool held_back, std::optional<double> ceiling, BootTime now);

  /// Calls a second; nothing while no call was refused.
  std::optional<double> rate() const { return rate_; }
  /// What was accepted a second when the provider was last found full; nothing before the second cut.
  std::optional<double> accepted() const { return accepted_; }

 private:
  struct Bin {
    std::int64_t index = -1;
    std::uint32_t started = 0;
    std::uint32_t refused = 0;
    std::uint32_t refused_late = 0;
  };

  struct Pause {
    BootTime from{};
    BootTime to{};
  };

  struct Count {
    double started = 0;
    double refused = 0;
    double refused_late = 0;
  };

  void note(std::uint32_t started, std::uint32_t refused, std::uint32_t refused_late, BootTime now);
  void weigh_the_cut(BootTime now);
  Count count_since(BootTime since) const;
  double accepted_since(BootTime since, BootTime now) const;
  double accepted_since_cut(BootTime now) const;
  /// The share that is refused whatever the rate.
  double background() const;
  Count recent(BootTime now) const;
  bool weighty(const Count& recent) const;
  double caution() const;
  BootTime paused_within(BootTime since, BootTime now) const;
  bool used(BootTime now) const;
  void cut(BootTime now);

  static constexpr std::size_t bin_count = 256;

  std::array<Bin, bin_count> bins_{};
  std::optional<BootTime> first_start_;
  std::optional<double> rate_;
  std::optional<double> accepted_;
  bool cut_weighed_ = true;
  std::deque<Pause> pauses_;  ///< The newest; none overlaps another.
  BootTime longest_pause_{};  ///< What a refusal may cost.
  double seconds_at_ceiling_ = 0;
  double share_before_ = 0;  ///< Of refusals, when the rate was cut; with what a cut in vain goes back to.
  double rate_before_ = 0;
  std::optional<double> accepted_before_;
  Count at_half_;  ///< Calls made at half the rate after cuts.
  BootTime cut_at_{};
  BootTime grown_at_{};
};

}  // namespace sluice
