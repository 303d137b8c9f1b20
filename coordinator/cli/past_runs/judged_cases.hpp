#pragma once

#include "common/error.hpp"
#include "common/hash.hpp"
#include "coordinator/cli/past_runs/asked_again.hpp"
#include "coordinator/gate/compare.hpp"

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A case, and what judges its answers.
struct JudgedCase {
  std::string id;
  /// Of each metric what it asks, and of whom, without its limits: of a check one by one, ascending.
  std::map<std::string, std::vector<Digest>> by;
};

/// The cases of a past run that are wanted, by id, whoever answered them: runs of two models are compared,
/// too. Without `is_wanted` all of them. Fails as CaseList::read does.
Result<std::vector<JudgedCase>> judged_cases(const Asked& asked,
                                             const std::function<bool(std::string_view id)>& is_wanted = {});

/// Metrics of cases of both that ask something else in `current`, or of somebody else; ascending.
std::vector<ChangedMetric> judged_otherwise(const std::vector<JudgedCase>& base,
                                            const std::vector<JudgedCase>& current);
/// Metrics that cases of both have in `base` alone; ascending.
std::vector<ChangedMetric> not_judged_any_more(const std::vector<JudgedCase>& base,
                                               const std::vector<JudgedCase>& current);

}  // namespace sluice
