#pragma once

#include "common/error.hpp"
#include "common/wire/messages.hpp"
#include "worker/budget/clock_bounds.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace sluice {

/// Whether a provider's permits reach this worker in time at all. A permit can be used only while the
/// coordinator's clock surely is in its window, and what a worker knows of that clock is no better than its
/// messages are quick: with a window shorter than their way, each permit would pass in vain, and the worker
/// would wait for ever. Pure; not thread-safe.
class LatePermits {
 public:
  /// A permit has come, after `clock` took in what came with it.
  void on_permit(const wire::Permit& permit, const ClockBounds& clock, BootTime now);

  /// Why this worker cannot work for `provider`: none of the permits in its last messages could be used when
  /// it came, for `defaults::late_permits_patience`. Nothing as long as that is not so.
  std::optional<Error> problem(const std::string& provider) const;

 private:
  std::uint32_t late_in_a_row_ = 0;
  BootTime first_late_{};
  BootTime last_late_{};
  BootTime lifetime_{};     ///< Of the last one that was late,
  BootTime uncertainty_{};  ///< and of the coordinator's clock when it came.
};

}  // namespace sluice
