#include "coordinator/report/wording/stability_wording.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/report/wording/assessment_wording.hpp"
#include "coordinator/report/wording/wording.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

namespace sluice::wording {
namespace {

std::string main_line(const RunStability& run) {
  const StabilityFigures& all = run.analysis.all;
  if (!all.stability) {
    const bool any_changed = std::ranges::any_of(
        run.perturbations, [](const PerturbationSummary& one) { return one.facts.changed > 0; });
    return any_changed ? "No answer to a perturbed input was judged" : "No perturbation changed any case";
  }
  return "Stability " + share(all.stability) + " (" + in_percent(run.confidence) + ": " +
         interval(all.interval) + "): the share of " + counted(all.answers, "perturbed answer") + ", to " +
         counted(all.cases, "case") + (all.answers == 1 ? ", that is" : ", that are") +
         " the same as without the perturbation";
}

/// Of several perturbations one alone has answers: often the line end at the end, which says little of how
/// stable the answers are.
std::optional<std::string> sole_perturbation_line(const RunStability& run) {
  const auto has_answers = [](const PerturbationSummary& one) {
    return one.stability && one.stability->figures.answers > 0;
  };
  const std::size_t others = run.perturbations.size() - 1;
  if (others == 0 || std::ranges::count_if(run.perturbations, has_answers) != 1) return std::nullopt;
  return "It rests on " + std::ranges::find_if(run.perturbations, has_answers)->facts.name +
         " alone: no answer under the other " +
         (others == 1 ? "perturbation" : counted(others, "perturbation")) + " was compared";
}

std::string floor_line(const RunStability& run) {
  const StabilityFigures& all = run.analysis.all;
  if (!all.floor && run.repeats > 1) return "Noise floor unknown: no case has two scored repeats";
  if (!all.floor) return "Noise floor unknown: --repeat N (2 or more) tells how far plain repetition agrees";
  std::string line = "Repeats of the unperturbed inputs agree " + share(all.floor) + " (" +
                     in_percent(run.confidence) + ": " + interval(all.floor_interval) + ")";
  if (!all.stability) return line;
  line += "; unstable beyond that: " + counted(run.unstable_cases(), "case");
  if (run.cases_too_costly_to_test() > 0)
    line += "; of " + counted(run.cases_too_costly_to_test(), "more case") +
            " p is known to a bound alone, too high among so many with so many kinds of answers";
  const std::uint64_t undecided = run.undecided_cases();
  if (undecided == 0) return line;
  line += "; " + std::to_string(run.repeats) + " repeats are too few to tell of " +
          counted(undecided, "case") + " whose answers differ";
  if (run.enough_repeats && *run.enough_repeats > run.repeats)
    line += ": --repeat " + std::to_string(*run.enough_repeats) +
            " would tell of the least stable, if its answers go on like this";
  return line;
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

std::string left_out_line(const RunStability& run) {
  const std::uint64_t failed = run.left_out - run.not_started;
  const bool are_both = failed > 0 && run.not_started > 0;
  std::string line = counted(failed > 0 ? failed : run.not_started, "trial") + " of " + grouped(run.trials);
  if (failed > 0) line.append(" ended in ").append(run.non_answers > 0 ? "another error" : "an error");
  if (are_both) line += ", and " + grouped(run.not_started);
  if (run.not_started > 0) line += run.not_started == 1 ? " was not started" : " were not started";
  line += are_both ? ": they " : " and ";
  line += run.left_out == 1 ? "is left out" : "are left out";
  if (run.uncompared > 0) {
    line += ", so that " + counted(run.uncompared, "perturbed answer") +
            (run.uncompared == 1 ? " has" : " have") + " none to be compared with";
  }
  return line;
}

std::optional<Interval> known_interval(const StabilityFigures& figures) {
  return figures.stability ? std::optional(figures.interval) : std::nullopt;
}

std::string came_to(CaseStatus status, const std::optional<Reason>& non_answer) {
  return non_answer ? non_answer_word(*non_answer) : std::string(to_string(status));
}

std::string side_of(const std::vector<std::string>& only, const std::optional<Reason>& non_answer) {
  if (non_answer) return "(" + non_answer_word(*non_answer) + ")";
  std::string text;
  for (const std::string& one : only) text += (text.empty() ? "" : "; ") + one;
  if (text.empty()) return only.empty() ? "(nothing else)" : "(an empty answer)";
  return excerpt(text, defaults::max_side_bytes);
}

/// Repeats that differ in the same way are shown once.
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

std::vector<std::string> stability_summary(const ReportInput& input) {
  const RunStability& run = *input.stability;
  std::vector<std::string> lines;
  if (!run.perturbations.empty()) {
    lines.push_back(main_line(run));
    if (auto line = sole_perturbation_line(run)) lines.push_back(std::move(*line));
  }
  lines.push_back(floor_line(run));
  if (const auto line = pass_line(run); !line.empty())
    lines.push_back(line + (input.arms != nullptr ? ", over all arms" : ""));
  for (const auto& [score, change] : run.score_changes) {
    if (!change.mean_absolute()) continue;
    std::string line = to_string(score) + " moves by " + fixed(*change.mean_absolute(), 3) +
                       " on average under perturbation";
    if (change.noise()) line += " (" + fixed(*change.noise(), 3) + " between repeats)";
    lines.push_back(line);
  }
  if (const PerturbationSummary* most = run.most_flipping()) {
    lines.push_back("Flips most: " + most->facts.name + " (" + counted(most->flips, "answer") +
                    " that no unperturbed one gave)");
  }
  for (const PerturbationSummary& one : run.perturbations) {
    if (one.facts.failed == 0) continue;
    lines.push_back("The command of " + one.facts.name + " failed on " + counted(one.facts.failed, "case") +
                    ", not tried in that form: " + excerpt(one.facts.first_failure, 300));
  }
  if (run.non_answers > 0) {
    lines.push_back(counted(run.non_answers, "trial") + " of " + grouped(run.trials) +
                    (run.non_answers == 1 ? " was" : " were") +
                    " refused, cut off or unreadable, which counts as an answer of its own kind");
  }
  if (run.left_out > 0) lines.push_back(left_out_line(run));
  return lines;
}

std::string stability_gate(const BaselineComparison& gate) {
  const auto& assessed = gate.stability;
  if (!assessed || assessed->status == MetricStatus::unjudged) return "";
  // Beside 1, which nothing but full agreement is rounded to.
  const int decimals = decimals_for({assessed->score, assessed->baseline, assessed->limit, 1.0});
  std::string text = "Stability " + (assessed->score ? fixed(*assessed->score, decimals) : std::string(dash));
  if (assessed->baseline) text += ", baseline " + fixed(*assessed->baseline, decimals);
  if (assessed->limit) text += ", limit " + fixed(*assessed->limit, decimals);
  text += ": ";
  switch (assessed->cause) {
    case MetricCause::dropped:
      return text + "dropped by more than is allowed";
    case MetricCause::missing_in_baseline:
      return text + "no entry in the baseline";
    default:
      return text + (assessed->status == MetricStatus::pass ? "passed" : "below the least that is asked for");
  }
}

std::string stability_word(const PerturbationSummary& one) {
  if (!one.stability || !one.stability->figures.stability)
    return one.facts.changed == 0 ? "changed no case" : "no answers";
  // Not a word of noise: none was needed to explain anything.
  if (*one.stability->figures.stability >= 1.0) return "stable";
  if (!one.stability->p) return "floor unknown";
  if (one.too_few_repeats) return "too few repeats to tell";
  return one.stability->unstable ? "unstable" : "within noise";
}

PerturbationWords words_for(const PerturbationSummary& one) {
  const StabilityFigures figures = one.stability ? one.stability->figures : StabilityFigures{};
  return {.name = one.facts.name,
          .cases = grouped(figures.cases),
          .flips = grouped(one.flips),
          .stability = share(figures.stability),
          .interval = interval(known_interval(figures)),
          .floor = share(figures.floor),
          .p = p_value(one.stability ? one.stability->adjusted_p : std::nullopt),
          .decision = stability_word(one),
          .unchanged = grouped(one.facts.unchanged),
          .skipped = grouped(one.facts.skipped_cases())};
}

std::vector<CategoryWords> category_words(const RunStability& run) {
  std::vector<CategoryWords> rows;
  if (run.analysis.categories.size() < 2) return rows;
  for (const auto& [number, figures] : run.analysis.categories) {
    const std::string& name = run.categories.at(number);
    rows.push_back({.name = name.empty() ? "(none)" : name,
                    .cases = grouped(figures.cases),
                    .answers = grouped(figures.answers),
                    .stability = share(figures.stability),
                    .interval = interval(known_interval(figures)),
                    .floor = share(figures.floor)});
  }
  return rows;
}

std::vector<std::string> skipped_words(const RunStability& run) {
  struct Skip {
    std::string names;
    std::string cases;
    std::string why;
  };
  // Perturbations that leave out as many cases of a language for one reason share a line.
  std::vector<Skip> skips;
  std::map<std::tuple<std::string_view, std::string_view, std::uint64_t>, std::size_t> places;
  for (const PerturbationSummary& one : run.perturbations) {
    for (const auto& [why, cases] : one.facts.skipped) {
      const auto [place, is_new] = places.try_emplace({why.first, why.second, cases}, skips.size());
      if (!is_new) {
        skips[place->second].names += ", " + one.facts.name;
        continue;
      }
      const std::string language = why.first.empty() ? "" : " (" + excerpt(why.first, 40) + ")";
      skips.push_back(
          {one.facts.name, counted(cases, "case") + language, excerpt(why.second, defaults::quoted_bytes)});
    }
  }
  std::vector<std::string> lines;
  for (const Skip& skip : skips) lines.push_back(skip.names + ": " + skip.cases + ": " + skip.why);
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
    one.too_few_repeats = run.too_few_repeats.at(wanted->first);
    for (const Flip& flip : flips_of(result)) {
      UnstableCase::FlippedAnswer answer;
      answer.perturbation = run.perturbations.at(flip.perturbed->perturbation - 1).facts.name;
      answer.before = flip.unperturbed->assessment.status;
      answer.after = flip.perturbed->assessment.status;
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
  if (one.too_few_repeats) text += ", too few repeats to tell";
  return text;
}

std::string flip_title(const UnstableCase::FlippedAnswer& flip, std::uint32_t repeats) {
  std::string text = flip.perturbation;
  if (repeats > 1) text += ", " + std::to_string(flip.times) + " of " + counted(repeats, "repeat");
  const std::string before = came_to(flip.before, flip.diff.unperturbed_reason);
  const std::string after = came_to(flip.after, flip.diff.perturbed_reason);
  if (before != after) text += " (" + before + " → " + after + ")";
  return text;
}

std::string side_without(const AnswerDiff& diff) {
  return side_of(diff.only_unperturbed, diff.unperturbed_reason);
}

std::string side_with(const AnswerDiff& diff) {
  return side_of(diff.only_perturbed, diff.perturbed_reason);
}

}  // namespace sluice::wording
