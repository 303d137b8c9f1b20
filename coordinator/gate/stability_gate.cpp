#include "coordinator/gate/stability_gate.hpp"

#include "coordinator/gate/judge_metrics.hpp"

#include <array>

namespace sluice {
namespace {

GateNotice::Severity warning_of(const GatedRun& run) {
  return run.strict ? GateNotice::Severity::failure : GateNotice::Severity::warning;
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text.empty() ? "none" : text;
}

PinnedScore pinned_stability(const StabilityQuestion& question, const GatedRun& run,
                             std::vector<GateNotice>& notices) {
  if (question.baseline == nullptr) return {PinnedScore::State::no_baseline};
  const auto& pinned = question.baseline->stability;
  if (!pinned) return {PinnedScore::State::absent};
  if (pinned->perturbations == question.perturbations) return {PinnedScore::State::pinned, pinned->score};
  notices.push_back({warning_of(run), "perturbations_differ",
                     "the stability in `" + run.baseline_file + "` is that of other perturbations (" +
                         joined(pinned->perturbations) + ") than this run's (" +
                         joined(question.perturbations) +
                         "), and was not compared: run with the same, or write the baseline anew with "
                         "`--export-baseline`."});
  return {PinnedScore::State::no_baseline};
}

}  // namespace

StabilityJudgement judge_stability(const StabilityQuestion& question, const GatedRun& run,
                                   std::vector<GateNotice>& notices) {
  StabilityJudgement judgement;
  judgement.score = question.score;
  judgement.min_stability = question.min_stability;
  if (!question.score) {
    if (question.min_stability) {
      notices.push_back({warning_of(run), "stability_not_measured",
                         "no answer to a perturbed input was judged, so that `min_stability` had nothing to "
                         "judge: see what was skipped and what ended in an error."});
    }
    return judgement;
  }
  MetricQuestion asked;
  asked.score = question.score;
  asked.pinned = pinned_stability(question, run, notices);
  asked.thresholding.mode =
      question.suite.mode == ThresholdMode::absolute ? ThresholdMode::absolute : ThresholdMode::relative;
  asked.thresholding.max_drop = question.suite.max_drop;
  asked.min_score = question.min_stability;
  std::vector<MetricAnswer> answers;
  judge_metrics(std::array{asked}, {question.default_max_drop, run.strict}, answers);
  const MetricAnswer& answer = answers.front();
  if (asked.pinned.state == PinnedScore::State::pinned) judgement.baseline = asked.pinned.score;
  judgement.limit = answer.limit;
  judgement.status = answer.status;
  judgement.cause = answer.cause;
  return judgement;
}

}  // namespace sluice
