#include "worker/budget/late_permits.hpp"

#include "worker/budget/wording.hpp"
#include "worker/defaults.hpp"

namespace sluice {

void LatePermits::on_permit(const wire::Permit& permit, const ClockBounds& clock, BootTime now) {
  const TimeSpan window{boot_time(permit.opens_us), boot_time(permit.closes_us)};
  const auto own = clock.own_times_within(window);
  const auto coordinator = clock.at(now);
  if (!own || !coordinator) return;  // Too early to know.
  if (own->from <= own->to && now <= own->to) {
    late_in_a_row_ = 0;
    return;
  }
  // What comes with one message was late together.
  if (late_in_a_row_ > 0 && now == last_late_) return;
  // So long ago a message was late for reasons of its own.
  if (now - last_late_ > defaults::late_permits_memory) late_in_a_row_ = 0;
  if (late_in_a_row_++ == 0) first_late_ = now;
  last_late_ = now;
  lifetime_ = window.to - window.from;
  uncertainty_ = coordinator->to - coordinator->from;
}

std::optional<Error> LatePermits::problem(const std::string& provider) const {
  if (late_in_a_row_ < defaults::late_permits_in_a_row) return std::nullopt;
  if (last_late_ - first_late_ < defaults::late_permits_patience) return std::nullopt;
  return Error{Reason::coordinator_too_far,
               "the permits of provider \"" + provider + "\" last " + wording::milliseconds(lifetime_) +
                   ", and messages to and from the coordinator take so long that its time is known to " +
                   wording::milliseconds(uncertainty_) +
                   " only; run this worker nearer to the coordinator, or raise burst_seconds of the provider "
                   "if its limit allows more calls at once"};
}

}  // namespace sluice
