#include "coordinator/governor/worker_account.hpp"

#include "coordinator/governor/defaults.hpp"

#include <algorithm>

namespace sluice {

std::uint32_t WorkerAccount::most_places() const {
  return concurrency_.named || concurrency_.calls == 0 ? concurrency_.calls : defaults::search_max_places;
}

std::optional<HeldPermit> WorkerAccount::spend(const wire::SpentPermit& spent) {
  const auto found = held_.find(spent.id);
  if (found == held_.end()) return std::nullopt;
  auto permit = found->second;
  permit.used = spent.used;
  held_.erase(found);
  return permit;
}

void WorkerAccount::want(const wire::Demand& demand, const PermitSlots& slots) {
  ready_ = demand.ready_calls;
  in_flight_ = demand.in_flight;
  backing_off_ = demand.backing_off;
  oldest_call_ = std::chrono::milliseconds(demand.oldest_ms);
  by_tokens_ = slots.by_tokens();
  sizes_.clear();
  if (!by_tokens_) return;
  for (const auto& size : demand.sizes) {
    if (slots.fits(size)) sizes_.push_back(size);
  }
  cover_by_held_permits();
}

/// Each permit that is held is for one of the calls: one that it fits exactly, or else the first that it
/// fits.
void WorkerAccount::cover_by_held_permits() {
  for (const auto& [id, permit] : held_) {
    const auto& room = permit.slot.size;
    auto covered = std::ranges::find(sizes_, room);
    if (covered == sizes_.end()) {
      covered = std::ranges::find_if(sizes_, [&](const wire::CallSize& size) {
        return size.input_tokens <= room.input_tokens && size.output_tokens <= room.output_tokens;
      });
    }
    if (covered != sizes_.end()) sizes_.erase(covered);
  }
}

void WorkerAccount::limits_changed(const PermitSlots& slots) {
  if (by_tokens_ != slots.by_tokens()) {
    by_tokens_ = slots.by_tokens();
    sizes_.clear();
  } else {
    std::erase_if(sizes_, [&](const wire::CallSize& size) { return !slots.fits(size); });
  }
}

void WorkerAccount::hold(std::uint64_t id, const HeldPermit& permit) {
  held_.emplace(id, permit);
  if (by_tokens_ && !sizes_.empty()) sizes_.pop_front();
}

std::vector<HeldPermit> WorkerAccount::drop_unreported(BootTime before) {
  std::vector<HeldPermit> dropped;
  std::erase_if(held_, [&](const auto& item) {
    const bool lost = item.second.slot.closes < before;
    if (lost) dropped.push_back(item.second);
    return lost;
  });
  return dropped;
}

std::vector<HeldPermit> WorkerAccount::drop_all() {
  std::vector<HeldPermit> dropped;
  for (const auto& [id, permit] : held_) dropped.push_back(permit);
  held_.clear();
  return dropped;
}

bool WorkerAccount::blocked(BootTime now) const {
  return std::ranges::any_of(
      held_, [now](const auto& item) { return item.second.slot.closes + defaults::permit_patience < now; });
}

std::size_t WorkerAccount::lacking() const {
  if (by_tokens_) return sizes_.size();
  // The number comes from the network: it must not become as many permits in one turn.
  const auto most = std::min<std::size_t>(ready_, wire::max_demand_sizes);
  return most > held_.size() ? most - held_.size() : 0;
}

std::optional<wire::CallSize> WorkerAccount::next_wanted() const {
  if (lacking() == 0) return std::nullopt;
  return by_tokens_ ? sizes_.front() : any_size;
}

}  // namespace sluice
