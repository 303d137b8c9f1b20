#include "worker/held_units.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

SharedUnit HeldUnits::add(WorkUnit unit) {
  const auto id = unit.unit;
  if (running_.contains(id) || unacknowledged_.contains(id) || !waiting_.insert(id).second) return nullptr;
  return std::make_shared<const WorkUnit>(std::move(unit));
}

const UnitResult* HeldUnits::unacknowledged(UnitId unit) const {
  const auto found = unacknowledged_.find(unit);
  return found == unacknowledged_.end() ? nullptr : &found->second;
}

bool HeldUnits::begin(UnitId unit) {
  if (waiting_.erase(unit) == 0) return false;
  running_.insert(unit);
  return true;
}

bool HeldUnits::finish(UnitResult result) {
  if (running_.erase(result.unit) == 0 && waiting_.erase(result.unit) == 0) return false;
  const auto id = result.unit;
  unacknowledged_.insert_or_assign(id, std::move(result));
  return true;
}

bool HeldUnits::give_back(UnitId unit) {
  return running_.erase(unit) > 0 || waiting_.erase(unit) > 0;
}

std::optional<UnitResult> HeldUnits::acknowledge(UnitId unit) {
  auto node = unacknowledged_.extract(unit);
  if (node.empty()) return std::nullopt;
  return std::move(node.mapped());
}

std::optional<Digest> HeldUnits::acknowledge(const wire::Acknowledged& item) {
  const auto* held = unacknowledged(item.unit);
  if (!held || held->key != item.key) return std::nullopt;
  const auto result = acknowledge(item.unit);
  // An error that was committed first is no answer that ours would contradict.
  const bool overruled = item.code == wire::AckCode::duplicate && !is_zero(result->answer) &&
                         !is_zero(item.winner) && item.winner != result->answer;
  return overruled ? std::optional(result->key) : std::nullopt;
}

std::vector<UnitId> HeldUnits::all() const {
  std::vector<UnitId> ids(waiting_.begin(), waiting_.end());
  ids.insert(ids.end(), running_.begin(), running_.end());
  for (const auto& [id, result] : unacknowledged_) ids.push_back(id);
  std::ranges::sort(ids);
  return ids;
}

std::vector<UnitResult> HeldUnits::unacknowledged() const {
  std::vector<UnitResult> results;
  for (const auto& [id, result] : unacknowledged_) results.push_back(result);
  return results;
}

void HeldUnits::clear() {
  waiting_.clear();
  running_.clear();
  unacknowledged_.clear();
}

}  // namespace sluice
