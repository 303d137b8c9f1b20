#pragma once

#include "coordinator/facts/status_counts.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// What some cases came to, as far as a share of them that must pass is concerned.
struct PassCounts {
  StatusCounts statuses;
  std::uint64_t excused = 0;    ///< Warned cases with a failure that was known, whatever else they warn of.
  std::uint64_t regressed = 0;  ///< As in VerdictInput, as what follows.
  std::uint64_t failed_apart = 0;
};

/// By arm (0 in a run without any) and category.
using PassCountsByPart = std::map<std::pair<std::size_t, std::string>, PassCounts>;

/// The least shares of cases that must pass, as they are asked for.
struct MinPassRates {
  std::optional<double> general;  ///< Of all categories that have none of their own, together.
  std::map<std::string, double, std::less<>> by_category{};

  bool empty() const { return !general && by_category.empty(); }
};

/// Cases of which a share must pass, or all.
struct PassGroup {
  std::size_t arm = 0;
  std::string arm_name{};                 ///< Empty: the run has no arms.
  std::optional<std::string> category{};  ///< Nothing: all that have no rate of their own.
  bool is_rest = false;                   ///< There are categories with a rate of their own beside it.
  std::optional<double> min_pass_rate{};  ///< Nothing: none may fail.
  PassCounts counts{};
};

/// The share of the cases that passed, those included that warn and have no known failure
/// (PassCounts::excused), of all that were assessed; empty without any.
std::optional<double> pass_rate(const StatusCounts& statuses, std::uint64_t excused);
std::optional<double> pass_rate(const PassGroup& group);

/// Whether fewer cases passed than are asked for; never where none was assessed.
bool misses_pass_rate(const PassGroup& group);
/// True if each of them passed as often as is asked for, or nothing is asked of it.
bool reach_pass_rates(std::span<const PassGroup> groups);

/// What the rates are asked of: each arm by itself, and in it each category that has a rate of its own, then
/// the others together. Empty where no rate is asked for.
std::vector<PassGroup> pass_groups(const MinPassRates& asked, std::span<const std::string> arms,
                                   const PassCountsByPart& counts);

/// The one that a case is in; null where no rate is asked for.
const PassGroup* find_pass_group(std::span<const PassGroup> groups, std::size_t arm,
                                 std::string_view category);

}  // namespace sluice
