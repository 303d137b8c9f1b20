#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/wire/messages.hpp"
#include "worker/budget/clock_bounds.hpp"
#include "worker/budget/hold_time.hpp"
#include "worker/budget/permit_book.hpp"
#include "worker/defaults.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

/// One instant on both clocks: timers and deadlines go by the first, permits by the second.
struct Moment {
  TimePoint now;
  BootTime boot{};
};

/// What one provider's calls from this worker are allowed, and what the coordinator has to know of them
/// (docs/budgets.md). A call starts if no pause is on, a place is free and a permit is there, in this order.
/// Until the first grant nothing is allowed. Pure; not thread-safe.
class CallBudget {
 public:
  /// A pause of `case_time` or more is nobody's own time: no case could wait for its end.
  CallBudget(std::string provider, Duration case_time)
      : provider_(std::move(provider)), case_time_(case_time) {}

  // --- What is allowed ---

  void take(const wire::Grant& grant, TimePoint now);
  /// The provider refused a call and asked this worker for silence: never shorter, whatever is granted.
  void pause(std::chrono::milliseconds delay, TimePoint now);
  /// The coordinator has this worker's permits forgotten (HELLO was sent again): nothing is allowed until the
  /// next grant.
  void forget_permits();
  /// The coordinator is silent: what it allowed may be others' by now. Nothing is until the next grant;
  /// permits end by their own windows.
  void suspend() { granted_ = false; }

  /// How a call may start.
  struct Start {
    std::optional<TakenPermit> permit;  ///< Nothing where none is needed.
  };
  /// Starts a call if it may: it is in flight until `ended`. Nothing: not now.
  std::optional<Start> start(const wire::CallSize& call, const ClockBounds& clock, const Moment& moment);
  /// False if no call at all may start, whatever its size.
  bool may_start(const Moment& moment) const;
  void ended() { --in_flight_; }
  bool has_in_flight() const { return in_flight_ > 0; }

  /// True if a call's size makes a difference.
  bool needs_sizes() const { return !unlimited_ || ceiling_ != wire::CallCeiling{}; }
  /// Why a call of this size can never start; nothing if it can.
  std::optional<Error> ceiling_problem(const wire::CallSize& call) const;
  /// The provider is taken for down, and single calls try whether it still is.
  bool in_outage() const { return hold_ == wire::HoldReason::outage; }
  /// It was down for too long: what waits is to end.
  bool given_up() const { return hold_ == wire::HoldReason::given_up; }
  /// How many calls this worker may have in flight where nobody set a number; 0: somebody did.
  std::uint32_t searched_places() const { return searched_ ? places_ : 0; }
  /// The number with the best throughput is searched for.
  bool searches_places() const { return searched_ && unlimited_; }

  /// The provider asked for a silence that no case could wait for: none is ended by it.
  bool in_long_pause(TimePoint now) const { return long_pause_until() > now; }

  /// When the provider answered last, be it with an error that was the request's; nothing: never.
  std::optional<TimePoint> last_answer() const { return last_answer_; }

  /// For how long calls were held by pauses and outages, or by outages and pauses that no case could wait
  /// for, in all time up to now.
  Duration paused(TimePoint now) const { return pauses_.total(now); }
  Duration out(TimePoint now) const { return outages_.total(now); }

  /// When a call may be startable that is not now, or a permit is to be given back; nothing: only what is
  /// received can change that. REQUIRES: some call is ready.
  std::optional<TimePoint> next_chance(const ClockBounds& clock, const Moment& moment) const;

  // --- What is reported ---

  /// `permit` and what the call used; nothing used: it was not charged.
  void settle(std::uint64_t permit, const wire::CallSize& used) { settled_.push_back({permit, used}); }
  void answered(std::chrono::microseconds latency, TimePoint now);
  /// The provider answered with an error that is this request's alone.
  void was_declined(TimePoint now) {
    ++outcomes_.declined;
    last_answer_ = now;
  }
  void was_rate_limited() { ++outcomes_.rate_limited; }
  void failed() { ++outcomes_.failed; }
  /// Beside `failed`, if it is that as well.
  void timed_out() { ++outcomes_.timed_out; }
  void announced(const wire::AnnouncedLimits& limits, const wire::AnnouncedLimits& doubted) {
    announced_ = limits;
    doubted_ = doubted;
  }

  bool holds_permits() const { return permits_.held() > 0; }
  /// Gives back permits that have closed or that no ready call needs. Before `is_due`.
  void give_back(std::span<const wire::CallSize> ready, const ClockBounds& clock, const Moment& moment);
  /// Whether the coordinator should know of this now rather than with the next heartbeat. Where no permits
  /// are needed, calls that come and go are no news by themselves; where they are, those that are gathered
  /// for a while if it knows of enough calls that wait.
  bool is_due(std::size_t ready, TimePoint now) const;
  /// When what is gathered is to be reported, if nothing is before; nothing: there is none.
  std::optional<TimePoint> next_report(std::size_t ready, TimePoint now) const;
  /// What has become of the budget since the last demand.
  wire::Demand demand(std::size_t ready, std::vector<wire::CallSize> sizes, TimePoint now);

 private:
  struct Sent {
    std::uint32_t ready = 0;
    std::uint32_t in_flight = 0;
    std::size_t permits = 0;  ///< Held, with those that came since.
    TimePoint paused_until;
    wire::AnnouncedLimits announced;
    TimePoint at;
  };
  /// A named delay.
  struct Pause {
    TimePoint until;
    TimePoint long_until;  ///< The end of one that no case could wait for.
  };
  TimePoint paused_until() const { return std::max(asked_pause_.until, granted_pause_.until); }
  TimePoint long_pause_until() const { return std::max(asked_pause_.long_until, granted_pause_.long_until); }
  wire::CallOutcomes take_outcomes();
  void take_pause(std::chrono::milliseconds left, TimePoint now);
  void shorten_pause(std::chrono::milliseconds left, TimePoint now);
  void measure_holds(TimePoint now);
  bool change_is_due(std::size_t ready, TimePoint now) const;
  bool would_get_more(std::size_t ready) const;
  bool has_changed(std::size_t ready) const;
  Duration gathering_time(TimePoint now) const {
    return now < prompt_until_ || releases_tokens() ? Duration() : Duration(defaults::demand_delay);
  }

  std::string provider_;
  Duration case_time_;
  bool granted_ = false;
  bool unlimited_ = false;
  std::uint32_t places_ = wire::unlimited_places;
  bool searched_ = false;
  wire::CallCeiling ceiling_;
  wire::HoldReason hold_ = wire::HoldReason::none;
  Pause asked_pause_;    ///< Named to this worker.
  Pause granted_pause_;  ///< Named to any, by the newest grant.
  std::optional<TimePoint> last_answer_;
  HoldTime pauses_;
  HoldTime outages_;
  PermitBook permits_;
  std::uint32_t in_flight_ = 0;

  std::vector<wire::SettledCall> settled_;
  wire::CallOutcomes outcomes_;
  double latency_squares_us2_ = 0;  ///< Of the answered ones among them.
  wire::AnnouncedLimits announced_;
  wire::AnnouncedLimits doubted_;
  bool places_were_taken_ = false;  ///< Others may have them as soon as the coordinator knows that we know.
  /// What a call reserves of a token limit and did not use is others', once it is known.
  bool releases_tokens() const { return !settled_.empty() && ceiling_ != wire::CallCeiling(); }
  TimePoint prompt_until_;  ///< Calls were refused: the coordinator learns of the times at which they begin.
  Sent sent_;
};

}  // namespace sluice
