#pragma once

#include "coordinator/gate/baseline_comparison.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What the reports for people say of the tests over all cases, and of what a run as a whole fails by.
namespace sluice::wording {

/// A mean in the base and now, and the drop from one to the other; en dashes where one is undefined.
struct ChangeWords {
  std::string base;
  std::string current;
  std::string drop;  ///< Negative for a gain.
};
/// With as few decimals, from 2 on, as contradict nothing: the drop is the difference of the two numbers as
/// they are shown, and on the same side of `limit` as it is in truth. The last digit of a drop may be off by
/// one where rounding leaves no other way (0.8533 and 0.8067).
ChangeWords change_words(const std::optional<double>& base, const std::optional<double>& current,
                         const std::optional<double>& limit);
/// An upper limit, rounded upwards so that it stays one, and on the same side of `limit` as it is in truth.
std::string upper_limit(const std::optional<double>& bound, double limit);

struct RunLine {
  std::string words;
  std::size_t level = 0;  ///< 1: an item of the line of level 0 before it.
};
/// `mean claims_f1 0.90 → 0.80 (drop 0.10) over 40 cases: regression (p 0.012)` for each metric that the
/// tests assessed, then what to do where one is underpowered, then for each one that regressed the cases that
/// fell most.
std::vector<RunLine> statistics_lines(const BaselineComparison& gate);
/// How the tests' means differ from the scores of the summary.
inline constexpr std::string_view means_over_cases =
    "Means over cases, each of which counts alike; precision, recall and F1 of the summary count the claims "
    "of all cases together";
/// The p-value of what the decision says: of a gain for an improvement, else of a drop.
std::optional<double> shown_p(const MetricDecision& decision);

/// What failed of the run as a whole, beside what cases and notices say: metrics that regressed by their
/// tests with the cases that fell most, a line on each, and a stability that fell or is below the least that
/// is set.
std::vector<std::string> run_failures(const BaselineComparison& gate);
/// What warns of the run as a whole: an underpowered gate, and a stability without an entry.
std::vector<std::string> run_warnings(const BaselineComparison& gate);

}  // namespace sluice::wording
