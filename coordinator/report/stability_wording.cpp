#include "coordinator/report/stability_wording.hpp"

#include "common/text.hpp"
#include "coordinator/report/judgement_wording.hpp"
#include "coordinator/report/wording.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

namespace sluice::wording {
namespace {

constexpr std::size_t max_side_bytes = 300;
constexpr const char* dash = "–";

std::string fixed(double number, int decimals) {
  char buffer[64];
  const int length = std::snprintf(buffer, sizeof buffer, "%.*f", decimals, number);
  return {buffer, static_cast<std::size_t>(std::max(0, length))};
}

std::string percent(double confidence) {
  return shortest(std::round(confidence * 1000) / 10) + " %";
}

std::string main_line(const RunStability& run) {
  const StabilityFigures& all = run.analysis.all;
  if (!all.stability) return "No answer to a perturbed input was judged";
  return "Stability " + share(all.stability) + " (" + percent(run.confidence) + ": " +
         interval(all.interval) + "): of " + counted(all.answers, "perturbed answer") + " to " +
         counted(all.cases, "case") + " that share is the same as unperturbed";
}

std::string floor_line(const RunStability& run) {
  const StabilityFigures& all = run.analysis.all;
  if (!all.floor) return "Noise floor unknown: --repeat N (2 or more) tells how far plain repetition agrees";
  std::string line = "Repeats of the unperturbed inputs agree " + share(all.floor) + " (" +
                     percent(run.confidence) + ": " + interval(all.floor_interval) + ")";
  if (!all.stability) return line;
  return line + "; unstable beyond that: " + counted(run.unstable_cases(), "case");
}

std::string pass_line(const RunStability& run) {
  std::string line;
  for (const PassCurve::Point& point : run.pass_curve) {
    // The first, the last and those between them that double.
    const bool is_shown = point.k == run.pass_curve.size() || (point.k & (point.k - 1)) == 0;
    if (!is_shown || !point.pass_at_k) continue;
    const std::string k = std::to_string(point.k);
    line += (line.empty() ? "" : ", ") + ("pass@" + k) + " " + share(point.pass_at_k);
    if (point.k > 1) line += ", pass^" + k + " " + share(point.pass_hat_k);
  }
  return line;
}

std::string verdict_words(const StatisticalMetric& one, const StatisticalJudgement& run) {
  const MetricVerdict& verdict = one.verdict;
  const std::string units = run.by_category ? "categories" : "cases";
  std::string words;
  switch (verdict.verdict) {
    case ChangeVerdict::regression:
      return "regression (p " + p_value(verdict.adjusted_p.drop) + ")";
    case ChangeVerdict::improvement:
      return "improvement (p " + p_value(verdict.adjusted_p.improvement) + ")";
    case ChangeVerdict::no_regression:
      return "no regression: the drop is below " + score(verdict.drop_upper_bound);
    case ChangeVerdict::underpowered:
      words = "underpowered";
      break;
  }
  if (verdict.minimum_detectable_effect) {
    words += ": the smallest drop that " + grouped(one.comparison.units) + " " + units +
             " could have shown is " + score(verdict.minimum_detectable_effect);
  }
  if (verdict.units_needed) {
    words +=
        "; for " + score(run.rules.min_effect) + " it takes " + grouped(*verdict.units_needed) + " " + units;
  }
  if (verdict.too_few_changed) {
    words += "; fewer than " + std::to_string(fewest_significant(run.rules.confidence)) + " " + units +
             " changed, which cannot be significant";
  }
  return words;
}

std::string metric_words(const StatisticalMetric& one, const StatisticalJudgement& run) {
  const PairedComparison& compared = one.comparison;
  std::string line = std::string(info(one.metric).name) + " " + score(compared.base) + " → " +
                     score(compared.current) + " over " + counted(compared.pairs, "case") + ": " +
                     verdict_words(one, run);
  if (one.left_out.count() > 0) line += "; left out as undefined now: " + one.left_out.names();
  return line;
}

/// Repeats that differ in the same way are told once.
void add_flip(UnstableCase& one, UnstableCase::FlippedAnswer flip, std::size_t most_flips) {
  const auto known = std::ranges::find_if(one.flips, [&](const UnstableCase::FlippedAnswer& other) {
    return other.perturbation == flip.perturbation && other.diff == flip.diff;
  });
  if (known != one.flips.end()) {
    ++known->times;
  } else if (one.flips.size() < most_flips) {
    one.flips.push_back(std::move(flip));
  } else {
    ++one.more_flips;
  }
}

}  // namespace

std::string share(const std::optional<double>& value) {
  if (!value) return dash;
  for (const int decimals : {2, 3}) {
    const std::string text = fixed(*value, decimals);
    if (*value >= 1.0 || std::stod(text) < 1.0) return text;
  }
  return "0.999";
}

std::string interval(const std::optional<Interval>& bounds) {
  if (!bounds) return dash;
  return fixed(bounds->low, 2) + " to " + fixed(bounds->high, 2);
}

std::string p_value(const std::optional<double>& p) {
  if (!p) return dash;
  if (*p < 0.001) return "< 0.001";
  return fixed(*p, 3);
}

std::vector<std::string> stability_summary(const ReportInput& input) {
  const RunStability& run = *input.stability;
  std::vector<std::string> lines;
  if (!run.perturbations.empty()) lines.push_back(main_line(run));
  lines.push_back(floor_line(run));
  if (const auto line = pass_line(run); !line.empty()) lines.push_back(line);
  for (const auto& [metric, change] : run.score_changes) {
    if (!change.mean_absolute()) continue;
    std::string line = std::string(info(metric).name) + " moves by " + fixed(*change.mean_absolute(), 3) +
                       " on average under perturbation";
    if (change.noise()) line += " (" + fixed(*change.noise(), 3) + " between repeats)";
    lines.push_back(line);
  }
  if (const PerturbationSummary* most = run.most_flipping()) {
    lines.push_back("Flips most: " + most->facts.name + " (" + counted(most->flips, "answer") +
                    " that no unperturbed one gave)");
  }
  const Totals& all = input.aggregates.all;
  if (all.trial_errors > 0) {
    lines.push_back(counted(all.trial_errors, "trial") + " of " + grouped(all.trials) +
                    " ended in an error and were left out");
  }
  return lines;
}

std::string stability_gate(const ReportInput& input) {
  const auto& judged = input.gate.stability;
  if (!judged || judged->status == MetricStatus::unjudged) return "";
  std::string text = "Stability " + share(judged->score);
  if (judged->baseline) text += ", baseline " + share(judged->baseline);
  if (judged->limit) text += ", limit " + score(judged->limit);
  text += ": ";
  switch (judged->cause) {
    case MetricCause::dropped:
      return text + "dropped by more than is allowed";
    case MetricCause::missing_in_baseline:
      return text + "no entry in the baseline";
    default:
      return text + (judged->status == MetricStatus::pass ? "passed" : "below the least that is asked for");
  }
}

std::string stability_word(const PerturbationSummary& one) {
  if (!one.stability || !one.stability->figures.stability) return "no answers";
  if (!one.stability->p) return "floor unknown";
  return one.stability->unstable ? "unstable" : "within noise";
}

std::vector<std::string> skipped_words(const RunStability& run) {
  std::vector<std::string> lines;
  for (const PerturbationSummary& one : run.perturbations) {
    for (const auto& [why, cases] : one.facts.skipped) {
      const std::string language = why.first.empty() ? "" : " (" + excerpt(why.first, 40) + ")";
      lines.push_back(one.facts.name + ": " + counted(cases, "case") + language + ": " +
                      excerpt(why.second, 200));
    }
  }
  return lines;
}

Result<std::vector<UnstableCase>> least_stable_cases(const ReportInput& input, std::size_t most,
                                                     std::size_t most_flips) {
  const RunStability& run = *input.stability;
  const auto& cases = run.analysis.cases;
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases[i].stability && *cases[i].stability < 1.0) order.push_back(i);
  }
  const auto less = [&](std::size_t a, std::size_t b) {
    if (cases[a].unstable != cases[b].unstable) return cases[a].unstable;
    if (*cases[a].stability != *cases[b].stability) return *cases[a].stability < *cases[b].stability;
    return a < b;
  };
  const std::size_t kept = std::min(most, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(kept), order.end(), less);
  order.resize(kept);
  std::map<std::size_t, UnstableCase> found;
  for (const std::size_t index : order) found[index].figures = cases[index];
  std::size_t next = 0;
  const auto visited = visit_cases(input.results, [&](const CaseResult& result) {
    const auto wanted = found.find(next++);
    if (wanted == found.end()) return;
    UnstableCase& one = wanted->second;
    one.title = title(result.fixture);
    for (const Flip& flip : flips_of(result)) {
      UnstableCase::FlippedAnswer answer;
      answer.perturbation = run.perturbations.at(flip.perturbed->perturbation - 1).facts.name;
      answer.repeat = flip.perturbed->repeat;
      answer.before = flip.unperturbed->judgement.status;
      answer.after = flip.perturbed->judgement.status;
      answer.diff = diff_of(result.fixture, flip);
      add_flip(one, std::move(answer), most_flips);
    }
  });
  if (!visited) return fail(visited.error());
  std::vector<UnstableCase> sorted;
  for (const std::size_t index : order) sorted.push_back(std::move(found[index]));
  return sorted;
}

std::string figures_of(const UnstableCase& one) {
  std::string text =
      "stability " + share(one.figures.stability) + " (" + counted(one.figures.answers, "answer") + ")";
  if (one.figures.floor) text += ", repeats agree " + share(one.figures.floor);
  if (one.figures.unstable) text += ", unstable beyond that (p " + p_value(one.figures.adjusted_p) + ")";
  return text;
}

std::string flip_title(const UnstableCase::FlippedAnswer& flip, std::uint32_t repeats) {
  std::string text = flip.perturbation;
  if (repeats > 1) text += ", " + std::to_string(flip.times) + " of " + counted(repeats, "repeat");
  if (flip.before != flip.after) {
    text += " (" + std::string(to_string(flip.before)) + " → " + std::string(to_string(flip.after)) + ")";
  }
  return text;
}

std::string side_of(const std::vector<std::string>& only) {
  std::string text;
  for (const std::string& one : only) text += (text.empty() ? "" : "; ") + one;
  if (text.empty()) return only.empty() ? "(nothing else)" : "(an empty answer)";
  return excerpt(text, max_side_bytes);
}

std::vector<std::string> run_failures(const ReportInput& input) {
  std::vector<std::string> lines;
  if (input.gate.statistics) {
    for (const StatisticalMetric& one : input.gate.statistics->metrics) {
      if (one.verdict.verdict == ChangeVerdict::regression) {
        lines.push_back(metric_words(one, *input.gate.statistics));
      }
    }
  }
  const auto& stability = input.gate.stability;
  if (stability && stability->status == MetricStatus::fail) lines.push_back(stability_gate(input));
  return lines;
}

std::vector<std::string> run_warnings(const ReportInput& input) {
  std::vector<std::string> lines;
  const auto& statistics = input.gate.statistics;
  if (statistics && statistics->verdict == ChangeVerdict::underpowered) {
    for (const StatisticalMetric& one : statistics->metrics) {
      if (one.verdict.verdict == ChangeVerdict::underpowered) lines.push_back(metric_words(one, *statistics));
    }
  }
  const auto& stability = input.gate.stability;
  if (stability && stability->status == MetricStatus::warn) lines.push_back(stability_gate(input));
  return lines;
}

std::vector<std::string> statistics_words(const GateSummary& gate) {
  std::vector<std::string> lines;
  if (!gate.statistics) return lines;
  for (const StatisticalMetric& one : gate.statistics->metrics) {
    lines.push_back(metric_words(one, *gate.statistics));
  }
  return lines;
}

}  // namespace sluice::wording
