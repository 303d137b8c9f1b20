#include "coordinator/gate/assess_metrics.hpp"

#include "coordinator/gate/billionths.hpp"

#include <algorithm>
#include <cstddef>

namespace sluice {
namespace {

struct Limit {
  std::int64_t least = 0;  ///< The lowest score that passes, in billionths.
  MetricCause cause = MetricCause::none;
};

/// The strictest limit; where two are alike, the fixed one before the baseline's.
class Limits {
 public:
  void add(std::int64_t least, MetricCause cause) {
    // No score is below 0, so a limit there says no less than 0 does.
    const Limit limit{std::max<std::int64_t>(least, 0), cause};
    if (!highest_ || limit.least > highest_->least) highest_ = limit;
  }
  const std::optional<Limit>& highest() const { return highest_; }

 private:
  std::optional<Limit> highest_;
};

Limits fixed_limits(const MetricQuestion& question) {
  const Thresholding& given = question.thresholding;
  const bool absolute = given.mode == ThresholdMode::absolute;
  Limits limits;
  if (question.min_score) limits.add(billionths(*question.min_score), MetricCause::below_min_score);
  if ((absolute || !given.mode) && given.min_score)
    limits.add(billionths(*given.min_score), MetricCause::below_min_score);
  if (!absolute && given.min_floor) limits.add(billionths(*given.min_floor), MetricCause::below_min_floor);
  return limits;
}

/// The lowest score that is no drop, in billionths; nothing where the baseline does not judge by itself.
std::optional<std::int64_t> limit_of_baseline(const MetricQuestion& question, const AssessmentRules& rules) {
  const auto mode = question.thresholding.mode;
  if (mode == ThresholdMode::absolute || mode == ThresholdMode::statistical) return std::nullopt;
  if (question.pinned.state != PinnedScore::State::pinned) return std::nullopt;
  const double max_drop = question.thresholding.max_drop.value_or(rules.default_max_drop);
  return std::max<std::int64_t>(billionths(question.pinned.score) - billionths(max_drop), 0);
}

std::optional<Limit> limit_of(const MetricQuestion& question, const AssessmentRules& rules) {
  Limits limits = fixed_limits(question);
  if (const auto least = limit_of_baseline(question, rules)) limits.add(*least, MetricCause::dropped);
  return limits.highest();
}

/// True if the baseline's own answers failed by what does not depend on a baseline. It holds no votes:
/// without a majority were surely those of a mean that a majority of votes at their limit exceeds by
/// themselves.
bool had_failed(const MetricQuestion& question) {
  if (question.pinned.state != PinnedScore::State::pinned) return false;
  if (!question.is_scored()) return question.pinned.best == 0.0;
  const std::int64_t best = billionths(question.pinned.best.value_or(question.pinned.score));
  const auto fixed = fixed_limits(question).highest();
  if (fixed && best < fixed->least) return true;
  if (!question.votes || !question.votes->min_score) return false;
  // This run's number may be another one.
  const std::int64_t samples = question.pinned.samples.value_or(question.votes->samples);
  // The mean was rounded, by less than a billionth for each vote.
  return (best + 1) * samples < billionths(*question.votes->min_score) * (samples / 2 + 1);
}

/// A score below the baseline's limit, and the mean of several repeats with it. What had failed before fails
/// by its own cause, if it has one.
bool falls(const MetricQuestion& question, const AssessmentRules& rules) {
  const auto least = limit_of_baseline(question, rules);
  if (!least || !question.score || billionths(*question.score) >= *least) return false;
  return !(question.mean && billionths(*question.mean) >= *least) && !had_failed(question);
}

/// The baseline's limit, where the mean of several repeats misses it.
std::optional<double> missed_by_mean(const MetricQuestion& question, const AssessmentRules& rules) {
  const auto least = limit_of_baseline(question, rules);
  if (!question.mean || !least || billionths(*question.mean) >= *least) return std::nullopt;
  return from_billionths(*least);
}

/// A score beside its limits. Where the mean of several repeats is no drop, none of them fails by one.
MetricAnswer assess_defined(const MetricQuestion& question, const std::optional<Limit>& limit,
                            const AssessmentRules& rules) {
  MetricAnswer answer;
  answer.missed_by_mean = missed_by_mean(question, rules);
  const bool is_no_drop = question.mean && !answer.missed_by_mean;
  const std::optional<Limit> asked = is_no_drop ? fixed_limits(question).highest() : limit;
  if (asked && billionths(*question.score) < asked->least) {
    answer.limit = from_billionths(asked->least);
    answer.status = MetricStatus::fail;
    answer.cause = falls(question, rules) ? MetricCause::dropped : asked->cause;
  } else if (limit) {
    answer.limit = from_billionths(limit->least);
    answer.status = MetricStatus::pass;
  }
  return answer;
}

/// Only a fixed limit decides on the case itself; the comparison with the baseline is that of all cases. A
/// score that became undefined enters no such comparison, so that the case says it.
MetricAnswer assess_beside_statistics(const MetricQuestion& question, const std::optional<Limit>& limit) {
  if (!question.score && !question.best_undefined) {
    return {std::nullopt, MetricStatus::fail, MetricCause::became_undefined, true};
  }
  MetricAnswer answer{std::nullopt, MetricStatus::unjudged, MetricCause::assessed_statistically, true};
  if (!limit) return answer;
  answer.limit = from_billionths(limit->least);
  if (!question.score) return answer;
  if (billionths(*question.score) < limit->least) {
    answer.status = MetricStatus::fail;
    answer.cause = limit->cause;
    return answer;
  }
  answer.status = MetricStatus::pass;
  return answer;
}

MetricAnswer assess_score(const MetricQuestion& question, const AssessmentRules& rules) {
  const PinnedScore::State pinned = question.pinned.state;
  const std::optional<Limit> limit = limit_of(question, rules);
  const bool is_pinned = pinned == PinnedScore::State::pinned;
  if (question.thresholding.mode == ThresholdMode::statistical && is_pinned) {
    return assess_beside_statistics(question, limit);
  }
  if (!question.score && question.best_undefined) {
    const bool assessed = pinned == PinnedScore::State::pinned || limit;
    return {std::nullopt, assessed ? MetricStatus::pass : MetricStatus::unjudged, MetricCause::none};
  }
  if (!question.score && pinned == PinnedScore::State::pinned) {
    return {std::nullopt, MetricStatus::fail, MetricCause::became_undefined};
  }
  if (!question.score) {
    // A model that says nothing reaches no limit but 0.
    if (!limit) return {};
    if (limit->least == 0) return {0.0, MetricStatus::pass, MetricCause::none};
    return {from_billionths(limit->least), MetricStatus::fail, limit->cause};
  }
  MetricAnswer answer = assess_defined(question, limit, rules);
  if (answer.status == MetricStatus::fail) return answer;
  const bool relative = question.thresholding.mode != ThresholdMode::absolute;
  if (relative && pinned == PinnedScore::State::absent) {
    answer.status = MetricStatus::warn;
    answer.cause = MetricCause::missing_in_baseline;
  }
  return answer;
}

/// The majority decides beside all that a score has to reach. The lack of one hides no fall: the further a
/// score falls, the more votes it loses.
MetricAnswer assess_votes(const MetricQuestion& question, const AssessmentRules& rules) {
  MetricAnswer answer = assess_score(question, rules);
  if (!question.passed) {
    const bool is_worse = answer.cause == MetricCause::became_undefined || falls(question, rules);
    answer.status = MetricStatus::fail;
    if (!is_worse) answer.cause = MetricCause::no_majority;
    return answer;
  }
  if (answer.status == MetricStatus::fail || answer.status == MetricStatus::warn) return answer;
  answer.status = MetricStatus::pass;
  if (question.votes && question.votes->disagree) {
    answer.status = MetricStatus::warn;
    answer.cause = MetricCause::judge_disagrees;
  }
  return answer;
}

/// What a judge without the calibration that the gate asks for would fail warns.
MetricAnswer assess_judged(const MetricQuestion& question, const AssessmentRules& rules) {
  MetricAnswer answer = assess_votes(question, rules);
  if (!question.calibration) return answer;
  const CalibrationStanding standing = question.calibration->standing;
  if (standing == CalibrationStanding::calibrated) return answer;
  answer.fails_nothing = true;
  answer.missed_by_mean.reset();
  if (answer.status != MetricStatus::fail) return answer;
  answer.status = MetricStatus::warn;
  answer.spared = answer.cause;
  answer.cause = standing == CalibrationStanding::kappa_low ? MetricCause::judge_kappa_low
                                                            : MetricCause::judge_uncalibrated;
  return answer;
}

MetricAnswer assess_pass(const MetricQuestion& question) {
  if (question.passed) return {std::nullopt, MetricStatus::pass, MetricCause::none};
  if (question.pinned.state != PinnedScore::State::pinned) {
    return {std::nullopt, MetricStatus::fail, MetricCause::not_passed};
  }
  const bool passed_then = question.pinned.score > 0.0;
  return {std::nullopt, passed_then ? MetricStatus::fail : MetricStatus::warn,
          passed_then ? MetricCause::broke : MetricCause::still_failing};
}

/// A score that is undefined reaches no limit but 0, unless that is the best answer.
MetricCause missed_fixed_limit(const MetricQuestion& question) {
  const auto limit = fixed_limits(question).highest();
  if (!limit) return MetricCause::none;
  const bool misses = question.score ? billionths(*question.score) < limit->least
                                     : !question.best_undefined && limit->least > 0;
  return misses ? limit->cause : MetricCause::none;
}

MetricCause own_cause(const MetricQuestion& question) {
  if (!question.is_scored()) return question.passed ? MetricCause::none : MetricCause::not_passed;
  if (question.is_judged() && !question.passed) return MetricCause::no_majority;
  return missed_fixed_limit(question);
}

MetricAnswer assess(const MetricQuestion& question, const AssessmentRules& rules) {
  MetricAnswer answer = question.is_judged()   ? assess_judged(question, rules)
                        : question.is_scored() ? assess_score(question, rules)
                                               : assess_pass(question);
  // The cause names one limit, and that of the baseline may be the higher one.
  answer.own_cause = own_cause(question);
  answer.had_failed = had_failed(question);
  return answer;
}

bool is_claims(const MetricQuestion& question) {
  return question.metric != nullptr && is_claims_metric(question.metric->id);
}

/// True if a threshold decides on one of the claims scores: what the pass/fail claims metrics say without a
/// baseline is then in that score.
bool claims_scores_are_assessed(std::span<const MetricQuestion> questions,
                                std::span<const MetricAnswer> answers) {
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (!is_claims(questions[i]) || !questions[i].is_scored()) continue;
    if (answers[i].limit || answers[i].cause == MetricCause::became_undefined ||
        answers[i].is_left_to_tests) {
      return true;
    }
  }
  return false;
}

/// Nothing had been extracted when the baseline was made. Where something is expected, recall and F1 are
/// pinned at 0 and precision not at all, so that a claim which is wrong now lowers no score; where nothing
/// is, any claim is wrong, also where all cases together judge the scores.
bool wrong_claims_lower_nothing(std::span<const MetricQuestion> questions,
                                std::span<const MetricAnswer> answers) {
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (!is_claims(questions[i]) || questions[i].metric->id != MetricId::claims_precision) continue;
    const PinnedScore& pinned = questions[i].pinned;
    const bool was_silent = questions[i].is_silence_best() && is_as_silence(pinned);
    return was_silent || (pinned.state == PinnedScore::State::undefined && !answers[i].limit);
  }
  return false;
}

/// A score also falls, or does not, for other claims than a forbidden one.
bool is_superseded(const MetricQuestion& question, bool keeps_wrong_claims) {
  if (!is_claims(question) || question.is_scored() || question.asked_by_name) return false;
  if (question.metric->id == MetricId::claims_absent) return !keeps_wrong_claims;
  return question.metric->id != MetricId::claims_forbidden;
}

bool is_above_pin(const MetricQuestion& question) {
  if (question.pinned.state != PinnedScore::State::pinned) return false;
  // A file on which the baseline's model saw what is not there, and this one sees nothing.
  const bool cleared = !question.score && question.best_undefined && !is_as_silence(question.pinned);
  const bool higher = question.score && billionths(*question.score) > billionths(question.pinned.score);
  const bool fixed = !question.is_scored() && question.passed && question.pinned.score == 0.0;
  return cleared || higher || fixed;
}

AssessedMetric assessed_metric(const MetricQuestion& question, const MetricAnswer& answer) {
  AssessedMetric assessed;
  if (question.metric != nullptr) assessed.id = question.metric->id;
  assessed.name = question.name;
  assessed.score = question.score;
  if (question.pinned.state == PinnedScore::State::pinned) {
    if (question.is_scored())
      assessed.baseline = question.pinned.score;
    else
      assessed.baseline_passed = question.pinned.score > 0.0;
  }
  const bool is_absolute = question.thresholding.mode == ThresholdMode::absolute;
  assessed.asked_otherwise = question.pinned.asked_otherwise && !is_absolute;
  assessed.limit = answer.limit;
  assessed.status = answer.status;
  assessed.cause = answer.cause;
  assessed.asked_by_name = question.asked_by_name;
  assessed.is_silence_best = question.is_silence_best();
  assessed.expectation = question.expectation;
  assessed.is_left_to_tests = answer.is_left_to_tests;
  assessed.votes = question.votes;
  assessed.calibration = question.calibration;
  assessed.fails_nothing = answer.fails_nothing;
  assessed.spared = answer.spared;
  assessed.missed_by_mean = answer.missed_by_mean;
  assessed.own_cause = answer.own_cause;
  assessed.had_failed = answer.had_failed;
  if (!question.is_scored()) assessed.passed = question.passed;
  return assessed;
}

}  // namespace

std::vector<MetricAnswer> assess_metrics(std::span<const MetricQuestion> questions,
                                         const AssessmentRules& rules) {
  std::vector<MetricAnswer> answers;
  answers.reserve(questions.size());
  for (const MetricQuestion& question : questions) answers.push_back(assess(question, rules));
  if (!claims_scores_are_assessed(questions, answers)) return answers;
  const bool keeps_wrong_claims = wrong_claims_lower_nothing(questions, answers);
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (is_superseded(questions[i], keeps_wrong_claims))
      answers[i] = {std::nullopt, MetricStatus::unjudged, MetricCause::assessed_by_score};
  }
  return answers;
}

bool fell_below_baseline(MetricCause cause) {
  return cause == MetricCause::dropped || cause == MetricCause::became_undefined ||
         cause == MetricCause::broke;
}

bool is_as_silence(const PinnedScore& pinned) {
  return pinned.state == PinnedScore::State::pinned &&
         billionths(pinned.score) >= billionths(*worth_of_silence);
}

bool nothing_was_extracted(std::optional<double> pinned_recall, std::optional<double> pinned_f1) {
  return pinned_recall == 0.0 || pinned_f1 == 0.0;
}

CaseAssessment assessed_case(std::span<const MetricQuestion> questions, const AssessmentRules& rules) {
  const std::vector<MetricAnswer> answers = assess_metrics(questions, rules);
  CaseAssessment assessment;
  assessment.metrics.reserve(questions.size());
  bool is_spared = false;  // A metric would have failed.
  bool is_above_baseline = false;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const MetricAnswer& answer = answers[i];
    const bool fell = answer.status == MetricStatus::fail && fell_below_baseline(answer.cause);
    assessment.regressed = assessment.regressed || fell;
    is_spared = is_spared || answer.spared != MetricCause::none;
    is_above_baseline = is_above_baseline || is_above_pin(questions[i]);
    assessment.metrics.push_back(assessed_metric(questions[i], answer));
  }
  assessment.status = case_status(assessment.metrics);
  assessment.improved = assessment.status != CaseStatus::fail && !is_spared && is_above_baseline;
  return assessment;
}

}  // namespace sluice
