#include "worker/held_units.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

SharedUnit HeldUnits::add(WorkUnit unit) {
  const auto id = unit.unit;
  if (running_.contains(id) || unacknowledged_.contains(id)) return nullptr;
  if (!waiting_.try_emplace(id, unit.lease).second) return nullptr;
  return std::make_shared<const WorkUnit>(std::move(unit));
}

const UnitResult* HeldUnits::unacknowledged(UnitId unit) const {
  const auto found = unacknowledged_.find(unit);
  return found == unacknowledged_.end() ? nullptr : &found->second;
}

bool HeldUnits::begin(UnitId unit) {
  return running_.insert(waiting_.extract(unit)).inserted;
}

bool HeldUnits::finish(UnitResult result) {
  const auto id = result.unit;
  auto lease = running_.extract(id);
  if (lease.empty()) lease = waiting_.extract(id);
  if (lease.empty()) return false;
  result.lease = lease.mapped();
  unacknowledged_.insert_or_assign(id, std::move(result));
  return true;
}

bool HeldUnits::give_back(UnitId unit) {
  return running_.erase(unit) > 0 || waiting_.erase(unit) > 0;
}

std::optional<Digest> HeldUnits::acknowledge(const wire::Acknowledged& item) {
  const auto held = unacknowledged_.find(item.unit);
  if (held == unacknowledged_.end() || held->second.key != item.key) return std::nullopt;
  const Digest answer = held->second.answer;
  unacknowledged_.erase(held);
  // An error that was committed first is no answer that ours would contradict.
  const bool overruled = item.code == wire::AckCode::duplicate && !is_zero(answer) && !is_zero(item.winner) &&
                         item.winner != answer;
  return overruled ? std::optional(item.key) : std::nullopt;
}

std::vector<wire::HeldUnit> HeldUnits::all() const {
  std::vector<wire::HeldUnit> units;
  for (const Leases* leases : {&waiting_, &running_}) {
    for (const auto& [id, lease] : *leases) units.push_back({id, lease});
  }
  for (const auto& [id, result] : unacknowledged_) units.push_back({id, result.lease});
  std::ranges::sort(units);
  return units;
}

std::vector<UnitId> HeldUnits::running_units() const {
  std::vector<UnitId> units;
  for (const auto& [id, lease] : running_) units.push_back(id);
  return units;
}

std::vector<UnitResult> HeldUnits::unacknowledged() const {
  std::vector<UnitResult> results;
  for (const auto& [id, result] : unacknowledged_) results.push_back(result);
  return results;
}

}  // namespace sluice
