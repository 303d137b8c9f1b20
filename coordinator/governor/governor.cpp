#include "coordinator/governor/governor.hpp"

#include <algorithm>

namespace sluice {

bool Governor::hear(const std::vector<wire::Demand>& demands, TimePoint now) {
  bool lengthened = false;
  for (const auto& demand : demands) {
    auto& until = paused_until_[demand.provider];
    const auto asked = now + std::chrono::milliseconds(demand.pause_ms);
    if (demand.pause_ms == 0 || asked <= until) continue;
    // A worker repeats what is left of its pause: rounding and the way here may add a little each time, which
    // costs a message and no more. To tell that from a pause that is a little longer would make some calls
    // start too early.
    until = asked;
    lengthened = true;
  }
  return lengthened;
}

std::vector<wire::Grant> Governor::grants(TimePoint now) const {
  std::vector<wire::Grant> grants;
  for (const auto& [provider, until] : paused_until_) {
    wire::Grant grant{provider, true, 0};
    if (until > now) {
      // Rounded up: never shorter than the server named.
      grant.pause_ms =
          static_cast<std::uint32_t>(std::chrono::ceil<std::chrono::milliseconds>(until - now).count());
    }
    grants.push_back(std::move(grant));
  }
  return grants;
}

}  // namespace sluice
