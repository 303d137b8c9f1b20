#pragma once

#include "common/clock.hpp"
#include "coordinator/governor/key_use.hpp"
#include "coordinator/governor/rate_search.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sluice {

/// The search for a rate that nobody named, of all runs on this machine that use the key: each learns what
/// the others' calls came to, and the first run that has found a rate leads: the others keep to its rate
/// instead of a part that each would have to find (docs/budgets.md). Who leads and is silent is followed for
/// a while, and then the next run goes on from its rate. Alone it is a RateSearch. Pure; not thread-safe.
class SharedRateSearch {
 public:
  /// What an earlier run found.
  void begin_with(double rate, double burst, BootTime now) { own_.begin_with(rate, burst, now); }
  /// Others are told from now on; `run` orders them.
  void share(std::uint64_t run) { run_ = run; }
  /// They are not any more.
  void stop_sharing(BootTime now);

  /// Calls are ready to start.
  void on_demand(BootTime now) { own_.on_demand(now); }
  /// What this run's calls came to. `pause`: what is left of a named delay. True if the rate was cut.
  bool on_calls(const CallsSeen& seen, BootTime pause, BootTime now);
  /// How many others there are, where a rate is known which is none of theirs to find.
  void set_others(std::uint32_t runs) { others_ = runs; }
  /// What they did since the last time, and how many there are. True if the rate was cut.
  bool count(std::span<const ForeignUse> uses, std::uint32_t runs, BootTime pause, BootTime now);
  /// Lets the rate grow up to `now`. `is_flowing`: calls may start; `held_back`: some of this run wait for
  /// it. `ceiling`: see RateSearch::grow.
  void grow(bool is_flowing, bool held_back, std::optional<double> ceiling, BootTime now);
  /// Adds what the others are to know.
  void tell(std::vector<KeyUse>& use, BootTime now);

  /// See RateSearch; of all runs together.
  std::optional<double> rate() const { return leader_ ? leader_->found.rate : own_.rate(); }
  std::optional<double> accepted() const { return leader_ ? leader_->found.rate : own_.accepted(); }
  std::optional<double> burst() const { return leader_ ? leader_->found.burst : own_.burst(); }

 private:
  struct Leader {
    std::uint64_t run = 0;
    RateFound found;
  };
  bool search(const CallsSeen& seen, BootTime pause, BootTime now);
  bool follow(std::uint64_t run, const RateFound& found, BootTime now);
  void lead_on(BootTime now);

  RateSearch own_;
  std::optional<std::uint64_t> run_;  ///< Nothing: there is nobody to be told.
  std::uint32_t others_ = 0;
  std::optional<Leader> leader_;  ///< Another run, which is followed.
  std::vector<KeyUse> news_;
  std::optional<RateFound> told_;
  BootTime others_wait_until_{};
  bool others_were_answered_ = false;
};

}  // namespace sluice
