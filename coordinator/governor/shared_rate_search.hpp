#pragma once

#include "common/clock.hpp"
#include "coordinator/governor/key_use.hpp"
#include "coordinator/governor/rate_search.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace sluice {

/// The search for a rate that nobody named, of all runs on this machine that use the key: each learns what
/// the others' calls came to, and one run leads: the others keep to its rate instead of a part that each
/// would have to find (docs/budgets.md). It is the first that has calls to make and has found a rate. Who
/// follows a run that is silent for a while goes on from its rate. Alone it is a RateSearch. Pure; not
/// thread-safe.
class SharedRateSearch {
 public:
  /// What an earlier run found.
  void begin_with(double rate, std::optional<double> burst, BootTime now) {
    own_.begin_with(rate, burst, now);
    is_of_earlier_run_ = true;
  }
  void is_outdated() { own_.is_outdated(); }
  /// Calls are not refused for a rate, as it seems: there is none until it is taken up again, where it was.
  /// Only while there are no other runs.
  void set_aside() {
    aside_ = own_;
    own_.forget();
  }
  void take_up() {
    if (aside_) own_ = *std::exchange(aside_, std::nullopt);
  }
  /// Not any more, as long as no call was refused at it; nor what a run that is followed made of it.
  void forget_remembered();
  /// Others are told from now on; `run` orders them.
  void share(std::uint64_t run) { run_ = run; }
  /// They are not any more.
  void stop_sharing(BootTime now);

  /// Calls are ready to start.
  void on_demand(BootTime now);
  /// What this run's calls came to. `pause`: what is left of a named delay. True if the rate was cut.
  bool on_calls(const CallsSeen& seen, BootTime pause, BootTime now);
  struct Others {
    std::span<const ForeignUse> uses;       ///< What they did since the last time.
    std::span<const std::uint64_t> living;  ///< Those that are there.
  };
  struct Standing {
    /// No rate is known beside the one that is searched for here; else what they find is not this run's.
    bool searches = true;
    /// It makes the probes of an outage alone, which show nothing of a rate.
    bool is_down = false;
  };
  /// True if the rate was cut.
  bool count(const Others& others, const Standing& own, BootTime pause, BootTime now);
  /// Lets the rate grow up to `now`. `is_flowing`: calls may start; `held_back`: some of this run wait for
  /// it. `ceiling`: see RateSearch::grow.
  void grow(bool is_flowing, bool held_back, std::optional<double> ceiling, BootTime now);
  /// Adds what the others are to know of this run's calls,
  void tell_calls(std::vector<KeyUse>& use);
  /// and of the rate, if this run leads. `level`: RateFound::level.
  void tell_rate(std::vector<KeyUse>& use, double level, BootTime now);

  /// The run that is followed; nothing: this one searches.
  std::optional<std::uint64_t> leader() const { return leader_ ? std::optional(leader_->run) : std::nullopt; }
  /// See RateSearch; of all runs together.
  std::optional<double> rate() const { return leader_ ? leader_->found.rate : own_.rate(); }
  std::optional<double> accepted() const { return leader_ ? leader_->found.accepted : own_.accepted(); }
  std::optional<double> burst() const { return leader_ ? leader_->found.burst : own_.burst(); }
  /// The burst that this run found.
  std::optional<double> found_burst() const { return own_.found_burst(); }

 private:
  struct Leader {
    std::uint64_t run = 0;
    RateFound found;
  };
  bool search(const CallsSeen& seen, BootTime pause, BootTime now);
  bool take_in(const CallsSeen& seen, const Standing& own, BootTime pause, BootTime now);
  bool follow(std::uint64_t run, const RateFound& found, BootTime now);
  void lead_on(BootTime now);
  bool may_lead(BootTime now) const;

  RateSearch own_;
  std::optional<RateSearch> aside_;
  std::optional<std::uint64_t> run_;  ///< Nothing: there is nobody to be told.
  std::uint32_t others_ = 0;
  std::optional<Leader> leader_;
  std::vector<KeyUse> calls_;  ///< To be told.
  std::optional<RateFound> told_;
  std::optional<BootTime> had_calls_at_;
  BootTime longest_pause_{};
  BootTime others_wait_until_{};
  BootTime others_search_until_{};
  bool is_of_earlier_run_ = false;
  bool was_answered_ = false;  ///< Any of the runs.
  bool is_down_ = false;
};

}  // namespace sluice
