#pragma once

#include "common/clock.hpp"
#include "coordinator/governor/concurrency_search.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

namespace sluice {

/// Whether a provider refuses calls for the number that are in flight, and which: then calls are refused with
/// as many in flight, however fast they came. Of a rate there would be more of them the faster they came, by
/// Little's law. Where all answers take as long a rate does as well, and is looked for. What is taken for
/// such a limit is tried, and given up where calls are refused all the same. Pure; not thread-safe.
class InFlightLimit {
 public:
  /// What a report says.
  struct Calls {
    EndedCalls ended;
    std::uint32_t refused = 0;
    std::uint64_t in_flight = 0;  ///< Of all workers, that were not refused.
    std::uint64_t places = 0;     ///< So many may be.
    std::optional<double> pace;   ///< Calls a second that were allowed; nothing: as many as there were.
    BootTime pause{};             ///< What is left of a named delay.
  };

  /// An earlier run found it.
  void begin_with(std::uint32_t limit);
  void on_calls(const Calls& calls, BootTime now);
  /// Calls wait for the number alone: a little more is tried after a while.
  void grow(BootTime now);
  /// Other runs have calls in flight, too, of which nothing is known.
  void forget() { *this = {}; }

  /// The greatest number of calls in flight that is not refused; nothing while it is not known.
  std::optional<std::uint32_t> found() const { return found_; }

 private:
  struct Refusal {
    std::uint64_t in_flight = 0;
    std::uint64_t left = 0;      ///< In flight when the one before was refused,
    std::uint64_t answered = 0;  ///< and calls that were answered since then.
    std::optional<double> pace;
    /// Calls that were taken since then.
    double taken() const {
      return static_cast<double>(std::max<std::uint64_t>(answered + in_flight, left + 1) - left);
    }
  };

  void note(const Calls& calls, bool is_new);
  bool is_the_number() const;
  std::optional<double> speed_of_late(BootTime now) const;
  void compare_speed(BootTime now);
  void refute();
  void try_less(BootTime now);

  LatencySample latency_;
  std::deque<Refusal> refusals_;  ///< The newest ones, one of those that came together.
  BootTime together_until_{};
  struct Mark {
    BootTime at{};
    std::uint64_t answered = 0;
  };
  std::uint64_t flowing_ = 0;    ///< Answers since then,
  std::deque<Mark> marks_;       ///< those until some times of the last second,
  std::optional<double> speed_;  ///< and how many a second there were before the newest refusal.
  std::optional<std::uint32_t> found_;
  std::uint32_t refused_in_vain_ = 0;  ///< Since it was found, each at less; some answers forgive one.
  std::uint64_t answered_ = 0;         ///< Since the newest refusal.
  std::uint64_t answered_since_ = 0;
  std::uint32_t shown_ = 1;  ///< As refusals have shown it; clearly less contradicts them.
  bool is_refuted_ = false;
  BootTime grows_at_{};
  BootTime hold_{};
};

}  // namespace sluice
