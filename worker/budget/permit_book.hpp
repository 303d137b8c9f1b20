#pragma once

#include "common/wire/messages.hpp"
#include "worker/budget/clock_bounds.hpp"

#include <optional>
#include <span>
#include <vector>

namespace sluice {

/// A permit that was taken for a call.
struct TakenPermit {
  wire::Permit permit;
  TimeSpan own_window;  ///< The times of the own boot clock at which the call may start.
};

/// The permits of one provider that a worker holds. A permit is used only at times at which the coordinator's
/// clock surely is in its window; whatever becomes of it, it is reported as spent exactly once. Pure; not
/// thread-safe.
class PermitBook {
 public:
  void grant(const wire::Permit& permit);

  /// Takes a permit that is open now and covers a call of this size, with `probes_only` one for probing: the
  /// first to close of exactly this size, or else of any. A larger one is left to the call that it was
  /// granted for where that can be. Nothing if there is none. It counts as used.
  std::optional<TakenPermit> take(const wire::CallSize& call, bool probes_only, const ClockBounds& clock,
                                  BootTime now);
  /// Gives back what has closed unused.
  void drop_closed(const ClockBounds& clock, BootTime now);
  /// Gives back what these ready calls (in their order) do not need: others can still use it.
  void keep_for(std::span<const wire::CallSize> calls);
  /// Drops all that is held or still to be reported: the coordinator knows nothing of it any more.
  void forget();

  /// The next own time after `now` at which a permit opens or has closed; nothing if none is held, or the
  /// coordinator's time is not known yet.
  std::optional<BootTime> next_change(const ClockBounds& clock, BootTime now) const;

  std::size_t held() const { return held_.size(); }
  bool has_spent() const { return !spent_.empty(); }
  /// Some are given back unused: others can have them.
  bool has_unused() const;
  /// What was spent since the last call.
  std::vector<wire::SpentPermit> take_spent();

 private:
  std::vector<wire::Permit> held_;  ///< By the end of their windows.
  std::vector<wire::SpentPermit> spent_;
};

/// True if the permit is enough for the call; one without a size is for a call of any.
bool covers(const wire::Permit& permit, const wire::CallSize& call);

}  // namespace sluice
