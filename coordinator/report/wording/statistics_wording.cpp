#include "coordinator/report/wording/statistics_wording.hpp"

#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/billionths.hpp"
#include "coordinator/report/wording/stability_wording.hpp"
#include "coordinator/report/wording/wording.hpp"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <cstdlib>

namespace sluice::wording {
namespace {

constexpr int least_decimals = 2;
constexpr int most_decimals = 9;  // As exact as the gate.

/// A billionth is one of nine decimals; here: how many of them one of `decimals` has.
std::int64_t billionths_of_one(int decimals) {
  return std::llround(std::pow(10.0, most_decimals - decimals));
}

std::string decimal(std::int64_t in_billionths, int decimals) {
  return fixed(from_billionths(in_billionths), decimals);
}

/// What is shown of a number, rounded as everywhere else in a report.
std::int64_t as_shown(double number, int decimals) {
  return billionths(std::strtod(decimal(billionths(number), decimals).c_str(), nullptr));
}

bool is_same_side(std::int64_t shown, std::int64_t truth, const std::optional<double>& limit) {
  if (!limit) return true;
  return (shown <=> billionths(*limit)) == (truth <=> billionths(*limit));
}

struct Change {
  double base = 0.0;
  double current = 0.0;
  std::optional<double> limit;

  double drop() const { return score_delta(base, current); }
  std::int64_t shown_drop(int decimals) const {
    return as_shown(base, decimals) - as_shown(current, decimals);
  }

  bool is_clear_with(int decimals) const {
    const std::int64_t shown = shown_drop(decimals);
    const std::int64_t truth = billionths(drop());
    return (shown == 0) == (truth == 0) && is_same_side(std::abs(shown), std::abs(truth), limit);
  }

  int decimals() const {
    constexpr int enough_for_most = 4;
    for (int count = least_decimals; count <= enough_for_most; ++count) {
      if (is_clear_with(count) && shown_drop(count) == as_shown(drop(), count)) return count;
    }
    for (int count = least_decimals + 1; count < most_decimals; ++count) {
      if (is_clear_with(count)) return count;
    }
    return most_decimals;
  }
};

/// What is swapped as one: cases that share their answers are asked once.
std::string unit_noun(const StatisticalMetric& one) {
  return one.comparison.units < one.comparison.pairs ? "separately asked case" : "case";
}

std::string units_of(const StatisticalMetric& one, const StatisticalAssessment& run) {
  return run.by_category ? "categories" : unit_noun(one) + "s";
}

std::string counted_units(std::uint64_t count, const StatisticalMetric& one,
                          const StatisticalAssessment& run) {
  return run.by_category ? grouped(count) + (count == 1 ? " category" : " categories")
                         : counted(count, unit_noun(one));
}

/// Whether the cases as they are could exclude a drop of min_effect if only their scores were steadier.
bool would_repeats_do(const StatisticalMetric& one, const StatisticalAssessment& run) {
  PairedComparison steady;
  steady.drop = 0.0;
  steady.units = one.comparison.units;
  steady.effective_units = one.comparison.effective_units;
  return drop_upper_bound(steady, run.rules.confidence) < run.rules.min_effect;
}

/// What units_needed are like where those of this run weigh less than as many equal ones.
std::string_view unequal_words(const PairedComparison& compared) {
  constexpr double nearly_equal = 0.9;
  const bool is_equal = compared.effective_units >= nearly_equal * static_cast<double>(compared.units);
  return is_equal ? "" : " of sizes as unequal as theirs";
}

/// The smallest drop that the cases show in four runs of five, and what it would take to exclude min_effect.
std::string reach_words(const StatisticalMetric& one, const StatisticalAssessment& run) {
  const std::string effect = shortest(run.rules.min_effect);
  const std::string units = counted_units(one.comparison.units, one, run);
  const std::string or_repeats = would_repeats_do(one, run) ? " or repeats" : "";
  const auto& needed = one.decision.units_needed;
  if (needed && *needed <= one.comparison.units) {
    return "a drop of " + effect + " can be neither shown nor excluded, though " + units +
           " exclude one in four runs of five where nothing changed: more " + units_of(one, run) +
           or_repeats + " would decide it";
  }
  const auto& found = one.decision.minimum_detectable_effect;
  const std::string reach =
      units + " could not reliably show " +
      (found < 1.0 ? "a drop below " + upper_limit(found, run.rules.min_effect) : "any drop");
  if (!needed) return reach + "; no number of them excludes one of " + effect + ": set a larger min_effect";
  return reach + "; to exclude one of " + effect + " take " + counted_units(*needed, one, run) +
         std::string(unequal_words(one.comparison)) +
         (or_repeats.empty() ? "" : ", or more repeats of these");
}

std::string underpowered_words(const StatisticalMetric& one, const StatisticalAssessment& run) {
  const PairedComparison& compared = one.comparison;
  const MetricDecision& decision = one.decision;
  if (!decision.minimum_detectable_effect) return "underpowered: no case has a score on both sides";
  const bool is_undefined = one.became_undefined.count() > 0;
  // What became undefined stands behind: where it alone is in the way, more cases would not help.
  const bool is_else_excluded =
      decision.drop_upper_bound && billionths(*decision.drop_upper_bound) < billionths(run.rules.min_effect);
  if (is_undefined && is_else_excluded) return "underpowered";
  const std::string reach = "underpowered: " + reach_words(one, run);
  if (compared.changed_units == 0) {
    return (is_undefined ? "nothing else changed (" : "nothing changed (") + reach + ")";
  }
  if (!decision.too_few_changed) return reach;
  return reach + "; " + grouped(compared.changed_units) + " changed, and fewer than " +
         std::to_string(decision.fewest_significant) + " cannot be significant";
}

std::string decision_words(const StatisticalMetric& one, const StatisticalAssessment& run) {
  const MetricDecision& decision = one.decision;
  switch (decision.decision) {
    case ChangeDecision::regression:
      return "regression (p " + p_value(shown_p(decision)) + ")" +
             (one.fails_nothing ? ", by a judge that is not calibrated" : "");
    case ChangeDecision::improvement:
      return "improvement (p " + p_value(shown_p(decision)) + ")";
    case ChangeDecision::no_regression:
      return "no regression: the drop is below " +
             upper_limit(decision.drop_upper_bound, run.rules.min_effect);
    case ChangeDecision::underpowered:
      return underpowered_words(one, run);
  }
  return "";
}

/// ` (drop 0.10)`; nothing where the means are equal.
std::string drop_words(const ChangeWords& words, const PairedComparison& compared) {
  if (!compared.base || !compared.current || words.base == words.current) return "";
  const bool is_gain = words.drop.starts_with('-');
  return is_gain ? " (gain " + words.drop.substr(1) + ")" : " (drop " + words.drop + ")";
}

std::string metric_words(const StatisticalMetric& one, const StatisticalAssessment& run) {
  const PairedComparison& compared = one.comparison;
  const ChangeWords words = change_words(compared.base, compared.current, run.rules.min_effect);
  const std::string what =
      one.mean ? "mean " + name_of(one.mean) : std::string("share of answers that passed");
  const std::string arm = one.arm.empty() ? "" : "arm " + one.arm + ": ";
  std::string line = arm + what + " " + words.base + " → " + words.current + drop_words(words, compared) +
                     " over " + counted(compared.pairs, "case") + ": " + decision_words(one, run);
  if (one.left_out.count() > 0) line += "; left out as undefined now: " + one.left_out.names();
  if (one.became_undefined.count() > 0) {
    line += "; " + counted(one.became_undefined.count(), "case") +
            " became undefined in some repeat or in all, so that no drop can be excluded";
  }
  return line;
}

constexpr std::string_view what_to_do =
    "Until a drop that matters can be told, min_floor in settings.thresholding fails each case below it, and "
    "--strict fails a run that is underpowered";

/// The cases that fell most; empty where the metric did not regress.
std::vector<RunLine> largest_drops(const StatisticalMetric& one) {
  std::vector<RunLine> lines;
  const auto& kept = one.drops.kept();
  if (one.decision.decision != ChangeDecision::regression || kept.empty()) return lines;
  const std::string arm = one.arm.empty() ? "" : ", arm " + one.arm;
  lines.push_back({"Largest drops of " + name_of(one.mean) + arm + ":"});
  for (const CaseDrop& fallen : kept) {
    const ChangeWords words = change_words(fallen.base, fallen.current, std::nullopt);
    lines.push_back({excerpt(fallen.test_id, defaults::max_named_id_bytes) + ": " + words.base + " → " +
                         words.current + ", drop " + words.drop,
                     1});
  }
  const std::uint64_t more = one.drops.count() - kept.size();
  if (more > 0) lines.push_back({"and " + counted(more, "more case") + " fell", 1});
  return lines;
}

}  // namespace

ChangeWords change_words(const std::optional<double>& base, const std::optional<double>& current,
                         const std::optional<double>& limit) {
  if (!base || !current) return {score(base), score(current), dash};
  const Change change{*base, *current, limit};
  const int decimals = change.decimals();
  return {decimal(billionths(*base), decimals), decimal(billionths(*current), decimals),
          decimal(change.shown_drop(decimals), decimals)};
}

std::string upper_limit(const std::optional<double>& bound, double limit) {
  if (!bound) return dash;
  const std::int64_t truth = billionths(*bound);
  for (int decimals = least_decimals;; ++decimals) {
    const std::int64_t one = billionths_of_one(decimals);
    const std::int64_t shown = (truth + one - 1) / one * one;
    if (decimals == most_decimals || is_same_side(shown, truth, limit)) return decimal(shown, decimals);
  }
}

std::optional<double> shown_p(const MetricDecision& decision) {
  const bool is_gain = decision.decision == ChangeDecision::improvement;
  return is_gain ? decision.adjusted_p.improvement : decision.adjusted_p.drop;
}

std::vector<RunLine> statistics_lines(const BaselineComparison& gate) {
  std::vector<RunLine> lines;
  if (!gate.statistics) return lines;
  bool is_underpowered = false;
  for (const StatisticalMetric& one : gate.statistics->metrics) {
    lines.push_back({metric_words(one, *gate.statistics)});
    is_underpowered = is_underpowered || one.decision.decision == ChangeDecision::underpowered;
  }
  if (is_underpowered) lines.push_back({std::string(what_to_do)});
  for (const StatisticalMetric& one : gate.statistics->metrics) {
    for (RunLine& line : largest_drops(one)) lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> run_failures(const BaselineComparison& gate) {
  std::vector<std::string> failures;
  if (gate.statistics) {
    for (const StatisticalMetric& one : gate.statistics->metrics) {
      if (one.decision.decision != ChangeDecision::regression || one.fails_nothing) continue;
      std::string& words = failures.emplace_back(metric_words(one, *gate.statistics));
      for (const RunLine& line : largest_drops(one)) {
        words += "\n" + std::string(2 * line.level, ' ') + line.words;
      }
    }
  }
  const auto& stability = gate.stability;
  if (stability && stability->status == MetricStatus::fail) failures.push_back(stability_gate(gate));
  return failures;
}

std::vector<std::string> run_warnings(const BaselineComparison& gate) {
  std::vector<std::string> warnings;
  const auto& statistics = gate.statistics;
  if (statistics && statistics->decision == ChangeDecision::underpowered) {
    for (const StatisticalMetric& one : statistics->metrics) {
      if (one.decision.decision != ChangeDecision::underpowered) continue;
      warnings.push_back(metric_words(one, *statistics) + "\n" + std::string(what_to_do));
    }
  }
  for (std::size_t i = 0; statistics && i < statistics->metrics.size(); ++i) {
    const StatisticalMetric& one = statistics->metrics[i];
    if (one.decision.decision == ChangeDecision::regression && one.fails_nothing)
      warnings.push_back(metric_words(one, *statistics));
  }
  const auto& stability = gate.stability;
  if (stability && stability->status == MetricStatus::warn) warnings.push_back(stability_gate(gate));
  return warnings;
}

}  // namespace sluice::wording
