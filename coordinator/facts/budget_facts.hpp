#pragma once

#include "common/clock.hpp"
#include "common/wire/messages.hpp"
#include "coordinator/facts/learned_limits.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

/// A limit in force.
struct KnownLimit {
  double per_minute = 0;
  LimitSource source = LimitSource::configured;
  friend bool operator==(const KnownLimit&, const KnownLimit&) = default;
};

/// What the user should see when it happens.
enum class BudgetEvent : std::uint8_t {
  refuses_calls,
  paused,
  went_down,
  came_back,
  was_given_up,
  doubts_limits
};
struct BudgetNotice {
  std::string provider;
  BudgetEvent event = BudgetEvent::refuses_calls;
  BootTime after{};               ///< How long it was down, or is paused.
  wire::AnnouncedLimits doubted;  ///< With doubts_limits.
  friend bool operator==(const BudgetNotice&, const BudgetNotice&) = default;
};

/// What a run's use of one provider came to so far: for the progress line, the report and the metrics.
struct BudgetFacts {
  std::string provider;

  std::optional<KnownLimit> requests;  ///< `found`: the rate that refusals led to.
  std::optional<KnownLimit> tokens;
  std::optional<KnownLimit> input_tokens;
  std::optional<KnownLimit> output_tokens;
  /// What response headers name and no worker believes.
  wire::AnnouncedLimits doubted;
  /// Calls that the provider was found to take, where it refused calls within the limit that is known.
  std::optional<double> found_below_limit;
  /// What it announces for requests, where the settings have more and it refused calls.
  std::optional<double> announced_below;
  std::optional<std::uint32_t> max_in_flight;  ///< Configured.
  std::optional<std::uint32_t>
      found_concurrency;  ///< Calls in flight with the best throughput, where searched.
  std::optional<double>
      effective_per_minute;  ///< Requests at the present; less than the limit after refusals.

  std::uint64_t permits_granted = 0;
  std::uint64_t permits_used = 0;
  std::uint64_t permits_unused = 0;  ///< Given back, expired, or lost with a worker.
  std::uint64_t answered = 0;
  std::uint64_t rate_limited = 0;  ///< 429 and 529,
  std::uint64_t named_delays = 0;  ///< and of these, those that named a delay.
  std::uint64_t failed = 0;
  std::uint64_t timed_out = 0;  ///< Not answered in time, be they among the failed or not.
  BootTime mean_latency{};      ///< Of those answered; 0: nothing was.
  /// Of the limit that is used most, from the first demand to the last start; nothing without a limit.
  std::optional<double> utilisation;

  std::uint32_t other_runs = 0;  ///< On this machine that shared the key with this one, at most at a time.

  /// Places of the key's calls that runs which died had, and how long they count yet: those of such calls may
  /// be under way.
  std::uint32_t left_behind = 0;
  BootTime left_behind_for{};

  std::uint32_t places = 0;  ///< Calls that may be in flight now; 0: nothing but the workers' own bounds it.
  std::uint32_t in_flight = 0;
  BootTime oldest_call{};               ///< For how long it has been in flight, as last reported; 0: none is.
  std::uint32_t waiting_calls = 0;      ///< Ready and not allowed to start yet.
  bool waiting_has_queued = false;      ///< Units that workers have not begun are counted among them.
  std::uint32_t waiting_workers = 0;    ///< That have such.
  std::uint32_t backing_off_calls = 0;  ///< That failed and wait for their time to be tried again.

  /// In which calls were ready and the limits or a pause allowed none to start, by the clock.
  BootTime held_up_time{};

  wire::HoldReason hold = wire::HoldReason::none;
  BootTime hold_left{};    ///< Of a named delay; of an outage: until the next probe.
  BootTime paused_time{};  ///< Of named delays so far.
  BootTime outage_time{};
  bool probing = false;         ///< A call that tries whether the outage is over is under way.
  bool given_up = false;        ///< The outage lasted too long.
  LearnedLimits learned{};      ///< For the next run on this provider and key; empty: nothing was.
  bool learned_before = false;  ///< All of it by an earlier run: this one hands it on.

  bool has_learned() const { return !learned.empty() && !learned_before; }
};

}  // namespace sluice
