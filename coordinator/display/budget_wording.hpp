#pragma once

#include "coordinator/facts/budget_facts.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
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
/// Those that were announced and not believed.
std::vector<NamedLimit> doubted_limits(const wire::AnnouncedLimits& doubted);

/// What was learnt as the settings have it: `requests_per_minute = 600`, `burst_seconds = 0.5`,
/// `max_in_flight = 8`.
std::vector<std::string> settings_lines(const LearnedLimits& learned);
/// In seconds of the rate; nothing where either is not known.
std::optional<double> burst_seconds(const LearnedLimits& learned);

std::string_view to_string(LimitSource source);  ///< `configured`, `announced`, `found`

/// `100/s`, `30/min`, `30,000 tokens/min`
std::string rate(const NamedLimit& limit);
/// `94% of 100/s`, `94% of its limits`, `about 83/s`, `42 at a time`; empty where nothing limits.
std::string budget_use(const BudgetFacts& facts);
/// `paused 0:12`, `down, next try in 0:03`, `down, being tried`, `down, next try due` (nobody has a call to
/// make it with), `given up`, `2 places left by a run that died, free in 0:57`; empty if calls may start.
std::string hold(const BudgetFacts& facts);
/// What limited the calls and for how long, for reports: `98% of 100/s (configured), 1,000 permits, 3 unused;
/// paused 12.0 s`; empty if nothing did. `requests`: all of the run were made to this provider.
std::string budget_summary(const BudgetFacts& facts, std::optional<std::uint64_t> requests = std::nullopt);
/// One sentence for the log.
std::string notice(const BudgetNotice& notice);

/// Which notices are news: a refusal and the pause that it names come as two, of which one is said. Pure; not
/// thread-safe.
class BudgetNews {
 public:
  /// Gives a refusal the delay of its pause. `budgets`: as they are now.
  std::vector<BudgetNotice> take(std::vector<BudgetNotice> notices, std::span<const BudgetFacts> budgets,
                                 BootTime now);

 private:
  struct Pause {
    BootTime until{};
    BootTime length{};
  };
  std::map<std::string, Pause> told_;  ///< By provider: the last one.
};

/// `1:05`, `1:00:05`
std::string clock(std::chrono::seconds time);

}  // namespace sluice::wording
