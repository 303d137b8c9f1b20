#include "worker/budget/late_grants.hpp"

#include "worker/budget/wording.hpp"
#include "worker/defaults.hpp"

namespace sluice {

void LateGrants::on_grants(BootTime age, BootTime limit, BootTime now) {
  if (age <= limit) {
    late_in_a_row_ = 0;
    return;
  }
  // So long ago they were late for reasons of their own.
  if (now - last_late_ > defaults::late_permits_memory) late_in_a_row_ = 0;
  if (late_in_a_row_++ == 0) first_late_ = now;
  last_late_ = now;
  age_ = age;
  limit_ = limit;
}

std::optional<Error> LateGrants::problem() const {
  // Many may come at once, after a stop of either process.
  if (late_in_a_row_ < defaults::late_permits_in_a_row) return std::nullopt;
  if (last_late_ - first_late_ < defaults::late_grants_patience) return std::nullopt;
  return Error{Reason::coordinator_too_far,
               "messages to the coordinator and back take " + wording::milliseconds(age_) + ", and after " +
                   wording::milliseconds(limit_) +
                   " of silence no call may start, so that this worker never calls; run it nearer to the "
                   "coordinator, or see what keeps either of the two machines busy"};
}

}  // namespace sluice
