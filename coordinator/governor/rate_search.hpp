#pragma once

#include "common/clock.hpp"
#include "coordinator/governor/call_counts.hpp"
#include "coordinator/governor/estimated_rate.hpp"
#include "coordinator/governor/named_delays.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

/// Finds the rate that a provider takes which names none: when calls are refused without a delay, the fleet's
/// rate is cut to half, and grows back. The first cut is followed by doublings, since a burst says little of
/// a rate; each later one by a quick return to just below what was accepted before it, and slow steps from
/// there, until it is so far beyond that the limit cannot be there: then it doubles again. Single refusals
/// only end the growth for a while, and those that come at half the rate just as well are not the rate's.
/// Once half the rate was tried and taken, a cut goes to just below what was accepted, as far as a fifth
/// below what half was tried of. Where refusals name long delays the rate is an EstimatedRate. Grows only
/// while the rate is what holds the calls back. Pure; not thread-safe.
class RateSearch {
 public:
  /// `started` calls began and `refused` were refused without a named delay since the last time; refusals of
  /// calls that were on their way at the last cut are not among them (`refused_late`). True if the rate was
  /// cut.
  bool on_outcomes(std::uint32_t started, std::uint32_t refused, std::uint32_t refused_late,
                   const ReportTime& reported, BootTime now);
  bool on_outcomes(std::uint32_t started, std::uint32_t refused, std::uint32_t refused_late, BootTime now) {
    return on_outcomes(started, refused, refused_late, {now, now}, now);
  }
  /// Calls are ready to start.
  void on_demand(BootTime now) { estimated_.seen().on_demand(now); }
  /// Calls of other runs are among them.
  void of_several_runs() { estimated_.seen().of_several_runs(); }
  /// The same for refusals that name a delay, which is waited for: a time in which the provider takes no
  /// call, but its bucket fills. True if the rate was cut. `is_closed`: the provider has answered nothing so
  /// far, and no call is under way: what is known of a rate is forgotten.
  bool on_paused(std::uint32_t started, std::uint32_t refused, std::uint32_t refused_late, BootTime delay,
                 bool is_closed, const ReportTime& reported, BootTime now);
  /// What an earlier run found.
  void begin_with(double rate, std::optional<double> burst, BootTime now);
  /// What was refused was not refused for a rate. Pauses alone stay known: they are waited for.
  void forget();
  /// It was found so long ago that the limit may have been raised.
  void is_outdated() { estimated_.is_outdated(); }
  /// Nobody has refused a call at it yet.
  bool is_remembered() const { return is_remembered_; }
  /// What another run tried when it ended: no limit that is known. `is_costly`: refusals name long delays.
  void go_on_from(double rate, bool is_costly, BootTime now);
  /// Lets the rate grow up to `now`. `held_back`: calls wait for it. `ceiling`: the rate that is known
  /// besides, beyond which nothing is sought: the search is over when it is accepted for a while.
  void grow(bool held_back, std::optional<double> ceiling, BootTime now);

  /// Calls a second; nothing while no call was refused.
  std::optional<double> rate() const { return rate_; }
  /// What was accepted a second when the provider was last found full; nothing before the second cut.
  std::optional<double> accepted() const { return accepted_; }
  /// What another run may begin with: it was accepted, or has grown without a refusal that would have come.
  std::optional<double> handed_on() const { return estimated_.is_known() ? rate_ : accepted_; }
  /// Calls that it takes at once, at least 1; nothing while that is not known, or the speed is to be refused.
  std::optional<double> burst() const { return estimated_.burst(); }
  /// The same, where it was found and is not only counted on.
  std::optional<double> found_burst() const { return estimated_.found_burst(); }

 private:
  using Count = CallCounts::Count;

  void note(std::uint32_t started, std::uint32_t refused, std::uint32_t refused_late, BootTime now);
  void weigh_the_cut(BootTime now);
  std::optional<double> accepted_between_refusals(BootTime now) const;
  double accepted_of_late(BootTime now);
  double accepted_since_cut(BootTime now) const;
  bool took_as_much(BootTime since, BootTime now) const;
  double taken_of_late(BootTime now) const;
  /// The share that is refused whatever the rate.
  double background() const;
  bool half_was_taken() const;
  BootTime at_pace_since(BootTime now) const;
  BootTime recent_since(BootTime now) const;
  Count recent(BootTime now) const;
  bool is_the_rate_to_blame(BootTime now) const;
  bool weighty(const Count& recent, BootTime now) const;
  bool takes_more(BootTime now) const;
  double caution() const;
  bool used(BootTime now) const;
  void cut(BootTime now);
  void cut_to_accepted(BootTime now);
  bool is_of_another_limit(BootTime delay, BootTime now) const;
  void pause(BootTime delay, BootTime now);
  void follow_estimate();
  void forget_costs();
  void grow_estimate(double passed, BootTime now);

  CallCounts counts_;
  std::optional<BootTime> first_start_;
  std::optional<double> rate_;
  std::optional<double> accepted_;
  bool is_rough_ = false;  ///< What was accepted was counted while the rate rose, not between refusals.
  bool was_full_ = false;  ///< The last cut was taken for that of a full window.
  bool cut_weighed_ = true;
  NamedDelays delays_;
  bool is_remembered_ = false;  ///< It is an earlier run's, and no delay was named in this one.
  bool assumes_costs_ =
      false;  ///< As is_remembered_, and until a long delay is named or short ones refute it.
  BootTime other_pause_to_{};       ///< The end of the last one that another limit named,
  double started_since_other_ = 0;  ///< and the calls that began behind it.
  EstimatedRate estimated_;
  bool estimate_is_due_ = false;  ///< At the end of the pause;
  bool first_is_due_ = false;     ///< of the first refusal.
  BootTime cut_before_{};
  double seconds_at_ceiling_ = 0;
  double share_before_ = 0;  ///< Of refusals, when the rate was cut.
  double taken_before_ = 0;  ///< Calls a second that were answered before that.
  double rate_before_ = 0;   ///< The highest since a cut was weighed: what one in vain goes back to.
  std::optional<double> accepted_before_;
  Count at_half_;         ///< Calls made at half the rate after cuts,
  double half_rate_ = 0;  ///< of which this is the newest;
  double calls_to_weigh_ = 0;
  BootTime cut_at_{};
  BootTime returned_at_{};  ///< When the rate was back just below what was accepted.
  BootTime grown_at_{};
};

}  // namespace sluice
