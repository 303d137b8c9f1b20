#include "coordinator/governor/call_counts.hpp"

#include "coordinator/governor/defaults.hpp"
#include "coordinator/governor/slot_rule.hpp"

#include <algorithm>

namespace sluice {

using defaults::rate_search::bin_length;

void CallCounts::note(std::uint32_t started, std::uint32_t refused, std::uint32_t refused_late,
                      BootTime now) {
  const auto index = now / bin_length;
  auto& bin = bins_[static_cast<std::size_t>(index) % bins_.size()];
  if (bin.index != index) bin = {index, 0, 0, 0};
  bin.started += started;
  bin.refused += refused;
  bin.refused_late += refused_late;
}

CallCounts::Count CallCounts::since(BootTime since) const {
  const auto oldest = since / bin_length;
  Count count;
  for (const auto& bin : bins_) {
    if (bin.index < oldest) continue;
    count.started += bin.started;
    count.refused += bin.refused;
    count.refused_late += bin.refused_late;
  }
  return count;
}

double CallCounts::accepted_since(BootTime since, BootTime now) const {
  const auto count = this->since(since);
  const auto time = std::max<BootTime>(now - since / bin_length * bin_length, bin_length);
  return std::max(0.0, count.started - count.refused - count.refused_late) / in_seconds(time);
}

BootTime CallCounts::first_refusal_since(BootTime since, BootTime now) const {
  BootTime first = now;
  for (const auto& bin : bins_) {
    if (bin.refused > 0 && bin.index >= since / bin_length) first = std::min(first, bin.index * bin_length);
  }
  return first;
}

BootTime CallCounts::closed_until(BootTime since, BootTime now, double share) const {
  BootTime until = since;
  double started = 0;
  double refused = 0;
  for (auto index = since / bin_length; index <= now / bin_length; ++index) {
    const auto& bin = bins_[static_cast<std::size_t>(index) % bins_.size()];
    if (bin.index != index) continue;
    started += bin.started;
    refused += bin.refused + bin.refused_late;
    if (refused > 0 && refused >= share * started) until = (index + 1) * bin_length;
  }
  return until;
}

}  // namespace sluice
