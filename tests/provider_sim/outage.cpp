#include "tests/provider_sim/outage.hpp"

#include <algorithm>

namespace sluice::sim {

const Outage* OutageSchedule::at(std::int64_t now_us) const {
  if (!begun_us_) return nullptr;
  const std::int64_t age = now_us - *begun_us_;
  const auto found = std::ranges::find_if(
      outages_, [age](const Outage& outage) { return age >= outage.from_us && age < outage.until_us; });
  return found == outages_.end() ? nullptr : &*found;
}

}  // namespace sluice::sim
