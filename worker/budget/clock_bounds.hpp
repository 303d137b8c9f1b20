#pragma once

#include "common/clock.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

/// A span of one clock, both ends included. It may be empty: then `from` is later than `to`.
struct TimeSpan {
  BootTime from{};
  BootTime to{};
  friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

/// A number of the wire as a time; far beyond any clock it is the end of all time.
BootTime boot_time(std::uint64_t us);

/// Where the coordinator's boot clock can stand, as far as this worker can know (docs/budgets.md): each
/// GRANTS holds what it was when some demand had arrived and the GRANTS had not. All of them are true at
/// once, so the bounds are the intersection. Times are the boot clocks' (clock.hpp). Pure; not thread-safe.
class ClockBounds {
 public:
  /// GRANTS came in at `received` of the own clock, sent at `coordinator` of the other's, by a coordinator
  /// that had received what was sent at `echo` of the own clock (nothing: it had received nothing yet). What
  /// contradicts all earlier ones (a clock was set, a machine was moved) replaces it.
  void on_grants(BootTime coordinator, std::optional<BootTime> echo, BootTime received);

  /// The possible times of the coordinator's clock at `own`, a round trip apart; nothing before both ends are
  /// known. REQUIRES: `own` is not before any GRANTS came.
  std::optional<TimeSpan> at(BootTime own) const;
  /// The own times, from the latest GRANTS on, at which the coordinator's clock is in `window`; nothing
  /// before both ends are known. Empty if there are none. All of `at` is in it then, but for what is left out
  /// of a long round trip once enough of them were measured (clock_uncertainty).
  std::optional<TimeSpan> own_times_within(const TimeSpan& window) const;

 private:
  struct Mark {
    BootTime coordinator{};
    BootTime own{};
  };
  static BootTime earliest(const Mark& mark, BootTime own);
  static BootTime latest(const Mark& mark, BootTime own);

  BootTime round_trip() const;
  BootTime left_out() const;

  std::optional<Mark> lower_;  ///< The coordinator's clock had come this far when the GRANTS came in.
  std::optional<Mark> upper_;  ///< It had not come further when what is echoed was sent.
  BootTime known_to_{};        ///< The shortest round trip, when it was last clearly shorter than before,
  std::uint32_t since_ = 0;    ///< and how many were measured since,
  BootTime measured_at_{};     ///< the last of them then.
};

}  // namespace sluice
