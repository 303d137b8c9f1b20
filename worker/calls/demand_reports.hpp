#pragma once

#include "worker/calls/call.hpp"
#include "worker/calls/call_values.hpp"
#include "worker/calls/coordinator_link.hpp"

#include <cstdint>
#include <optional>

namespace sluice {

/// When the coordinator is told what a run's calls need, and what it is told. Pure; not thread-safe.
class DemandReports {
 public:
  /// `concurrency`: as the coordinator knows it (Backlog).
  explicit DemandReports(std::uint32_t concurrency) : reported_concurrency_(concurrency) {}

  /// It is due with the next turn, whether anything has changed or not.
  void want() { is_wanted_ = true; }
  /// Gives back permits that no call needs, and takes what is to be reported now, but for the run's id;
  /// nothing: it is not due, or the coordinator is not there.
  std::optional<DemandChanged> take(CalledProviders& providers, CallTable& calls, const Backlog& backlog,
                                    const CoordinatorLink& link, const Moment& at);
  /// When what was not due is, if nothing happens before; nothing: there is none.
  static std::optional<TimePoint> next(const CalledProviders& providers, const Backlog& backlog,
                                       TimePoint now);

 private:
  bool is_wanted_ = false;
  std::uint32_t reported_concurrency_;
};

}  // namespace sluice
