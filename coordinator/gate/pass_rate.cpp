#include "coordinator/gate/pass_rate.hpp"

#include "coordinator/gate/billionths.hpp"

#include <algorithm>

namespace sluice {
namespace {

void add(const PassCounts& more, PassCounts& sum) {
  sum.statuses.passed += more.statuses.passed;
  sum.statuses.warned += more.statuses.warned;
  sum.statuses.flaky += more.statuses.flaky;
  sum.statuses.failed += more.statuses.failed;
  sum.statuses.errors += more.statuses.errors;
  sum.excused += more.excused;
  sum.regressed += more.regressed;
  sum.failed_apart += more.failed_apart;
}

/// Of one arm, those with a category first.
template <class Group>
Group* find_group(std::span<Group> groups, std::size_t arm, std::string_view category) {
  const auto found = std::ranges::find_if(groups, [&](const PassGroup& one) {
    return one.arm == arm && (!one.category || *one.category == category);
  });
  return found != groups.end() ? &*found : nullptr;
}

}  // namespace

std::optional<double> pass_rate(const StatusCounts& statuses, std::uint64_t excused) {
  const std::uint64_t assessed = statuses.total() - statuses.errors;
  if (assessed == 0) return std::nullopt;
  const std::uint64_t passed = statuses.passed + statuses.warned - excused;
  return static_cast<double>(passed) / static_cast<double>(assessed);
}

std::optional<double> pass_rate(const PassGroup& group) {
  return pass_rate(group.counts.statuses, group.counts.excused);
}

bool misses_pass_rate(const PassGroup& group) {
  const auto rate = pass_rate(group);
  return rate && group.min_pass_rate && billionths(*rate) < billionths(*group.min_pass_rate);
}

bool reach_pass_rates(std::span<const PassGroup> groups) {
  return std::ranges::none_of(groups, misses_pass_rate);
}

std::vector<PassGroup> pass_groups(const MinPassRates& asked, std::span<const std::string> arms,
                                   const PassCountsByPart& counts) {
  std::vector<PassGroup> groups;
  if (asked.empty()) return groups;
  for (std::size_t arm = 0; arm < std::max<std::size_t>(arms.size(), 1); ++arm) {
    const std::string name = arms.empty() ? "" : arms[arm];
    for (const auto& [category, least] : asked.by_category)
      groups.push_back({.arm = arm, .arm_name = name, .category = category, .min_pass_rate = least});
    groups.push_back({.arm = arm,
                      .arm_name = name,
                      .is_rest = !asked.by_category.empty(),
                      .min_pass_rate = asked.general});
  }
  for (const auto& [part, of_part] : counts) {
    PassGroup* const group = find_group(std::span<PassGroup>(groups), part.first, part.second);
    if (group != nullptr) add(of_part, group->counts);
  }
  return groups;
}

const PassGroup* find_pass_group(std::span<const PassGroup> groups, std::size_t arm,
                                 std::string_view category) {
  return find_group(groups, arm, category);
}

}  // namespace sluice
