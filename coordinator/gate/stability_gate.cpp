#include "coordinator/gate/stability_gate.hpp"

#include "common/text/joined.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/gate/assess_metrics.hpp"

#include <algorithm>

namespace sluice {
namespace {

using Severity = GateNotice::Severity;

std::string names_of(const std::vector<std::string>& perturbations) {
  return perturbations.empty() ? "none" : joined(perturbations);
}

/// True if a stability in the baseline would assess one of this run.
bool is_compared(const StabilityQuestion& question) {
  return question.baseline != nullptr && question.suite.mode != ThresholdMode::absolute;
}

bool is_pinned(const StabilityQuestion& question) {
  return is_compared(question) && question.baseline->has_value();
}

bool is_of_a_part(const StabilityQuestion& question) {
  return question.is_selection || question.base_is_selection;
}

/// Which side is a part; two parts may be those of different cases.
std::string parts(const StabilityQuestion& question, const GatedRun& run) {
  if (!question.base_is_selection)
    return "the whole suite, and " + current_in_words(run) + " is a part of it";
  const std::string text = "a part of the suite, and " + current_in_words(run);
  return text + (question.is_selection ? " is a part as well, which may be another" : " is the whole");
}

/// In whatever order they ran: it changes no text.
bool are_comparable(std::vector<std::string> pinned, const StabilityQuestion& question) {
  std::vector<std::string> now = question.perturbations;
  std::erase_if(now, [&](const std::string& one) {
    return std::ranges::find(question.idle, one) != question.idle.end() &&
           std::ranges::find(pinned, one) == pinned.end();
  });
  std::ranges::sort(pinned);
  std::ranges::sort(now);
  return pinned == now;
}

PinnedScore pinned_stability(const StabilityQuestion& question, const GatedRun& run,
                             std::vector<GateNotice>& notices) {
  if (!is_compared(question)) return {PinnedScore::State::no_baseline};
  if (!is_pinned(question)) return {PinnedScore::State::absent};
  const BaselineStability& pinned = **question.baseline;
  if (is_of_a_part(question)) {
    notices.push_back({Severity::info, "stability_not_compared",
                       "the stability in " + base_in_words(run) + " is that of " + parts(question, run) +
                           ": it was not compared."});
    return {PinnedScore::State::no_baseline};
  }
  if (are_comparable(pinned.perturbations, question)) return {PinnedScore::State::pinned, pinned.score};
  notices.push_back({warning_of(run), "perturbations_differ",
                     "the stability in " + base_in_words(run) + " is that of other perturbations (" +
                         names_of(pinned.perturbations) + ") than that of " + current_in_words(run) + " (" +
                         names_of(question.perturbations) +
                         "), and was not compared: run with the same, or write the baseline anew with "
                         "`--export-baseline`."});
  return {PinnedScore::State::no_baseline};
}

void add_nothing_perturbed(const StabilityQuestion& question, const GatedRun& run,
                           std::vector<GateNotice>& notices) {
  if (question.min_stability) {
    notices.push_back({warning_of(run), "stability_not_measured",
                       "`min_stability` is set, and nothing was perturbed, so that it had nothing to judge: "
                       "add --perturb, or use --mode robust."});
  }
  if (is_pinned(question)) {
    notices.push_back({Severity::info, "stability_not_compared",
                       base_in_words(run) + " has a stability, which " + current_in_words(run) +
                           " does not measure: add --perturb."});
  }
}

void add_missing(const StabilityQuestion& question, const GatedRun& run, std::vector<GateNotice>& notices) {
  const bool is_assessed = question.min_stability || (is_pinned(question) && !is_of_a_part(question));
  if (!question.score && is_assessed) {
    notices.push_back({warning_of(run), "stability_not_measured",
                       "no answer to a perturbed input was judged, so that " +
                           (question.min_stability ? std::string("`min_stability`")
                                                   : "the stability in " + base_in_words(run)) +
                           " had nothing to judge: see what was skipped and what ended in an error."});
  } else if (question.answers < question.planned) {
    const std::uint64_t lost = question.planned - question.answers;
    notices.push_back({warning_of(run), "stability_incomplete",
                       wording::counted_of(lost, question.planned, "answer") + " to perturbed inputs " +
                           (lost == 1 ? "is missing, and the stability says nothing of it"
                                      : "are missing, and the stability says nothing of them") +
                           ": see what ended in an error, and run again."});
  }
}

}  // namespace

std::optional<StabilityAssessment> assess_stability(const StabilityQuestion& question, const GatedRun& run,
                                                    std::vector<GateNotice>& notices) {
  if (question.perturbations.empty()) {
    add_nothing_perturbed(question, run, notices);
    return std::nullopt;
  }
  StabilityAssessment assessment;
  assessment.score = question.score;
  assessment.min_stability = question.min_stability;
  const bool is_absolute = question.suite.mode == ThresholdMode::absolute;
  if (!is_absolute) assessment.max_drop = question.suite.max_drop.value_or(question.default_max_drop);
  add_missing(question, run, notices);
  if (!question.score) return assessment;
  MetricQuestion metric;
  metric.score = question.score;
  metric.pinned = pinned_stability(question, run, notices);
  metric.thresholding.mode = is_absolute ? ThresholdMode::absolute : ThresholdMode::relative;
  metric.thresholding.max_drop = assessment.max_drop;
  metric.min_score = question.min_stability;
  const MetricAnswer answer = assess_metrics({&metric, 1}, {question.default_max_drop}).front();
  if (metric.pinned.state == PinnedScore::State::pinned) assessment.baseline = metric.pinned.score;
  assessment.limit = answer.limit;
  assessment.status = answer.status;
  assessment.cause = answer.cause;
  return assessment;
}

}  // namespace sluice
