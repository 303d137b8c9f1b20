#pragma once

#include "coordinator/facts/budget_facts.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the progress line and the reports say of the providers' budgets.
namespace sluice::wording {

/// A limit in force and what it is of.
struct NamedLimit {
  std::string_view of;  ///< `requests`, `tokens`, `input_tokens`, `output_tokens`
  KnownLimit limit;
};
/// Those that are known, in that order.
std::vector<NamedLimit> limits_of(const BudgetFacts& facts);

std::string_view to_string(LimitSource source);  ///< `configured`, `announced`, `found`

/// `100/s`, `30/min`, `30,000 tokens/min`
std::string rate(const NamedLimit& limit);
/// `94% of 100/s`, `94% of its limits`, `about 83/s`, `42 at a time`; empty where nothing limits.
std::string budget_use(const BudgetFacts& facts);
/// `paused 0:12`, `down, next try in 0:03`, `down, being tried`, `down, next try due` (nobody has a call to
/// make it with), `given up`; empty if calls may start.
std::string hold(const BudgetFacts& facts);
/// What limited the calls and for how long, for reports: `98% of 100/s (configured), 1,000 permits, 3 unused;
/// paused 12.0 s`; empty if nothing did.
std::string budget_summary(const BudgetFacts& facts);
/// One sentence for the log.
std::string notice(const BudgetNotice& notice);
/// `1:05`, `1:00:05`
std::string clock(std::chrono::seconds time);

}  // namespace sluice::wording
