#include "coordinator/gate/gate.hpp"

#include "coordinator/gate/assess_metrics.hpp"
#include "coordinator/gate/pinned_case.hpp"
#include "coordinator/gate/repeated_assessment.hpp"
#include "coordinator/gate/required_calibrations.hpp"
#include "coordinator/suite/canonical_case.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sluice {

std::string_view to_string(MetricStatus status) {
  switch (status) {
    case MetricStatus::unjudged:
      return "unjudged";
    case MetricStatus::pass:
      return "pass";
    case MetricStatus::warn:
      return "warn";
    case MetricStatus::fail:
      return "fail";
    case MetricStatus::flaky:
      return "flaky";
  }
  return "fail";
}

std::string_view to_string(MetricCause cause) {
  switch (cause) {
    case MetricCause::none:
      return "none";
    case MetricCause::not_passed:
      return "not_passed";
    case MetricCause::broke:
      return "broke";
    case MetricCause::still_failing:
      return "still_failing";
    case MetricCause::below_min_score:
      return "below_min_score";
    case MetricCause::below_min_floor:
      return "below_min_floor";
    case MetricCause::dropped:
      return "dropped";
    case MetricCause::became_undefined:
      return "became_undefined";
    case MetricCause::missing_in_baseline:
      return "missing_in_baseline";
    case MetricCause::assessed_statistically:
      return "judged_statistically";
    case MetricCause::assessed_by_score:
      return "judged_by_score";
    case MetricCause::no_majority:
      return "no_majority";
    case MetricCause::judge_disagrees:
      return "judge_disagrees";
    case MetricCause::judge_uncalibrated:
      return "judge_uncalibrated";
    case MetricCause::judge_kappa_low:
      return "judge_kappa_low";
    case MetricCause::known_failure:
      return "known_failure";
    case MetricCause::known_failure_passed:
      return "known_failure_passed";
  }
  return "none";
}

std::string_view to_string(CaseChange change) {
  switch (change) {
    case CaseChange::none:
      return "none";
    case CaseChange::broke:
      return "broke";
    case CaseChange::dropped:
      return "dropped";
    case CaseChange::fixed:
      return "fixed";
    case CaseChange::still_failing:
      return "still_failing";
  }
  return "none";
}

bool AssessedMetric::is_check() const {
  return asked_by_name && info(id).kind == MetricKind::pass_fail;
}

bool AssessedMetric::is_pinned() const {
  return is_check() || id == MetricId::claims_forbidden;
}

CheckDigest AssessedMetric::check() const {
  if (expectation != nullptr) return check_digest(*expectation);
  // The fixture itself says what is forbidden.
  static const CheckDigest of_fixtures = check_digest({{MetricId::claims_forbidden, {}}, {}, std::nullopt});
  return id == MetricId::claims_forbidden ? of_fixtures : 0;
}

ScoreDigest AssessedMetric::asks() const {
  return expectation == nullptr ? 0 : score_digest(*expectation);
}

bool AssessedMetric::holds() const {
  return status != MetricStatus::fail && (passed || status == MetricStatus::unjudged);
}

bool AssessedMetric::is_fixed() const {
  return baseline_passed == false && holds() && status != MetricStatus::flaky && !is_excused();
}

CaseChange CaseAssessment::change() const {
  const auto any = [this](auto&& is) { return std::ranges::any_of(metrics, is); };
  const auto by = [](MetricCause cause) {
    return [cause](const AssessedMetric& one) { return one.cause == cause; };
  };
  if (any(by(MetricCause::broke))) return CaseChange::broke;
  if (regressed) return CaseChange::dropped;
  if (any(by(MetricCause::still_failing))) return CaseChange::still_failing;
  const bool fails = status != CaseStatus::pass && status != CaseStatus::warn;
  return !fails && any([](const AssessedMetric& one) { return one.is_fixed(); }) ? CaseChange::fixed
                                                                                 : CaseChange::none;
}

bool CaseAssessment::has_failed() const {
  return status == CaseStatus::fail || std::ranges::any_of(metrics, &AssessedMetric::is_excused);
}

bool CaseAssessment::only_known_failures() const {
  const auto warns_otherwise = [](const AssessedMetric& one) {
    return one.status == MetricStatus::warn && !one.is_excused();
  };
  return is_excused() && std::ranges::none_of(metrics, warns_otherwise);
}

bool CaseAssessment::is_excused() const {
  return status == CaseStatus::warn && std::ranges::any_of(metrics, &AssessedMetric::is_excused);
}

namespace {

/// In one repeat or several.
CheckRepeats repeats_of_check(const AssessedMetric& metric) {
  const bool is_only_one = metric.repeat_passes.empty();
  return is_only_one ? CheckRepeats(1, metric.holds() ? '1' : '0') : metric.repeat_passes;
}

}  // namespace

std::vector<double> passes_of_checks(std::span<const AssessedMetric> metrics) {
  std::vector<CheckRepeats> checks;
  for (const AssessedMetric& metric : metrics) {
    if (metric.is_check()) checks.push_back(repeats_of_check(metric));
  }
  return passed_together(checks);
}

ComparedPasses compared_passes(const BasePasses& base, std::vector<double> current,
                               std::span<const AssessedMetric> metrics) {
  if (!base.leaves_out) return {base.of_repeats, std::move(current)};
  // With a check that failed in all of them no repeat of the base passed.
  const std::vector<double> none(base.of_repeats.size(), 0.0);
  std::vector<CheckRepeats> counted;
  bool is_passed_anew = false;
  for (const AssessedMetric& metric : metrics) {
    if (!metric.is_check()) continue;
    CheckRepeats repeats = repeats_of_check(metric);
    if (repeats.size() != current.size()) return {none, std::move(current)};
    if (metric.had_failed && !passed_ever(repeats)) continue;
    is_passed_anew = is_passed_anew || metric.had_failed;
    counted.push_back(std::move(repeats));
  }
  if (counted.empty()) return {none, std::move(current)};
  return {is_passed_anew ? none : base.of_repeats, passed_together(counted)};
}

bool AssessedMetric::is_known_and_unjudged() const {
  return cause == MetricCause::known_failure && spared == MetricCause::none;
}

namespace {

bool fails_or_is_excused(const AssessedMetric& metric) {
  return metric.status == MetricStatus::fail || metric.status == MetricStatus::flaky || metric.is_excused();
}

/// That a fixture's forbidden claims are absent says nothing of those that it expects.
bool passes(const AssessedMetric& metric) {
  const bool is_of_forbidden_alone = metric.is_pinned() && !metric.is_check();
  return metric.status == MetricStatus::pass && !is_of_forbidden_alone;
}

/// Neither decided nor left to another metric of the case.
bool is_undecided(const AssessedMetric& metric) {
  return metric.status == MetricStatus::unjudged && metric.cause != MetricCause::assessed_by_score;
}

}  // namespace

void take_as_known_failure(CaseAssessment& assessment) {
  auto& metrics = assessment.metrics;
  const auto warn_by = [&](MetricCause cause, auto&& concerns) {
    for (AssessedMetric& one : metrics) {
      if (!concerns(one)) continue;
      const bool is_failure = cause == MetricCause::known_failure && one.status != MetricStatus::unjudged;
      const auto failed_by = one.cause == MetricCause::none ? MetricCause::not_passed : one.cause;
      one.spared = is_failure ? failed_by : one.spared;
      one.cause = cause;
      one.status = MetricStatus::warn;
      assessment.status = CaseStatus::warn;
    }
    assessment.regressed = false;
  };
  if (assessment.status != CaseStatus::pass) {
    warn_by(MetricCause::known_failure, fails_or_is_excused);
    // Repeats without an answer failed it by no metric.
    if (assessment.status != CaseStatus::warn)
      warn_by(MetricCause::known_failure, [](const AssessedMetric&) { return true; });
  } else if (std::ranges::any_of(metrics, passes)) {
    warn_by(MetricCause::known_failure_passed, passes);
  } else {
    // Nothing says that it passes, and the suite says that it fails.
    warn_by(MetricCause::known_failure, is_undecided);
  }
}

std::string_view to_string(CalibrationStanding standing) {
  switch (standing) {
    case CalibrationStanding::calibrated:
      return "calibrated";
    case CalibrationStanding::missing:
      return "missing";
    case CalibrationStanding::other_criteria:
      return "other_criteria";
    case CalibrationStanding::fake:
      return "fake";
    case CalibrationStanding::kappa_low:
      return "kappa_low";
  }
  return "missing";
}

double VoteTally::agreement() const {
  return static_cast<double>(std::max(passed, votes - passed)) / static_cast<double>(votes);
}

VoteTally tally_of(const JudgeScore& judged) {
  VoteTally tally;
  tally.samples = tally.votes = static_cast<std::uint32_t>(judged.votes.size());
  tally.passed = static_cast<std::uint32_t>(std::ranges::count(judged.votes, true, &CountedVote::passed));
  tally.disagree = !judged.is_unanimous();
  tally.rationale = judged.rationale;
  return tally;
}

namespace {

/// An outcome with the expectation it is about; the expectation is null for a fixture, which names no metric.
struct MatchedOutcome {
  const MetricOutcome* outcome = nullptr;
  const Expectation* expectation = nullptr;
  const JudgeScore* judged = nullptr;  ///< Of a judge metric.
};

const Expectation* expectation_of_claims(const Case& test_case, MetricId metric) {
  const auto& all = test_case.expectations;
  const auto found = std::ranges::find(all, metric, [](const Expectation& one) { return one.what.metric; });
  return found == all.end() ? nullptr : &*found;
}

/// Hands out the expectations one after the other, each once.
class NextExpectation {
 public:
  explicit NextExpectation(std::span<const Expectation> all) : rest_(all) {}

  /// The next one of this metric; those before it are passed over. Null after the last.
  const Expectation* of(MetricId metric) {
    const auto found =
        std::ranges::find(rest_, metric, [](const Expectation& one) { return one.what.metric; });
    if (found == rest_.end()) return nullptr;
    rest_ = {found + 1, rest_.end()};
    return &*found;
  }

 private:
  std::span<const Expectation> rest_;
};

/// Pairs the outcomes of text metrics with the expectations in their order, and so those of judge metrics,
/// which come after them wherever the case names them; those of claims metrics by name.
std::vector<MatchedOutcome> match_outcomes(const Case& test_case, std::span<const MetricOutcome> outcomes,
                                           std::span<const JudgeScore> judged) {
  std::vector<MatchedOutcome> matched;
  NextExpectation next_text(test_case.expectations);
  NextExpectation next_judged(test_case.expectations);
  for (const MetricOutcome& outcome : outcomes) {
    MatchedOutcome one{&outcome};
    if (is_judge_metric(outcome.id)) {
      if (!judged.empty() && judged.front().metric == outcome.id) {
        one.judged = &judged.front();
        judged = judged.subspan(1);
      }
      one.expectation = next_judged.of(outcome.id);
      if (one.expectation == nullptr) continue;
    } else if (is_claims_metric(outcome.id)) {
      one.expectation = expectation_of_claims(test_case, outcome.id);
      if (one.expectation == nullptr && !test_case.expectations.empty()) continue;
    } else {
      one.expectation = next_text.of(outcome.id);
      if (one.expectation == nullptr) continue;
    }
    matched.push_back(one);
  }
  return matched;
}

MetricQuestion question_of(const MatchedOutcome& matched, const Case& test_case, PinnedCase& pinned,
                           const Gate::Config& config) {
  MetricQuestion question;
  question.metric = &info(matched.outcome->id);
  question.asked_by_name = matched.expectation != nullptr;
  question.expectation = matched.expectation;
  question.passed = matched.outcome->passed.value_or(false);
  if (!question.is_scored()) {
    const MetricId id = matched.outcome->id;
    if (!question.asked_by_name) {
      if (id == MetricId::claims_forbidden) question.pinned = pinned.of_forbidden();
      return question;
    }
    const bool is_only = std::ranges::count(test_case.expectations, id,
                                            [](const Expectation& one) { return one.what.metric; }) == 1;
    question.pinned = pinned.of_check(*matched.expectation, is_only);
    return question;
  }
  if (matched.expectation != nullptr) question.name = matched.expectation->name;
  question.score = matched.outcome->score;
  question.best_undefined = is_claims_metric(matched.outcome->id) && test_case.must_contain.empty();
  question.pinned = pinned.of(matched.outcome->id, question.name, matched.expectation);
  if (!question.score && question.pinned.state == PinnedScore::State::pinned &&
      (config.baseline_arm == test_case.arm ||
       (!question.best_undefined && pinned.was_mostly_undefined(matched.outcome->id, question.name))))
    question.pinned = {PinnedScore::State::undefined};
  question.thresholding = config.suite;
  if (matched.expectation != nullptr) {
    question.thresholding = merged(config.suite, matched.expectation->thresholding);
    // A judge's votes were held against it one by one.
    if (!question.is_judged()) question.min_score = matched.expectation->min_score;
  }
  if (matched.judged != nullptr) {
    question.votes = tally_of(*matched.judged);
    question.votes->min_score = matched.expectation->min_score.value_or(defaults::judge_min_score);
    if (matched.expectation->judge) question.votes->rubric = matched.expectation->judge->rubric;
    if (config.calibrations)
      question.calibration = config.calibrations->check({question.metric->id, std::string(question.name)},
                                                        *question.votes, matched.expectation);
  }
  return question;
}

}  // namespace

CaseAssessment Gate::assess(const Case& test_case, std::span<const MetricOutcome> outcomes,
                            std::span<const JudgeScore> judged) const {
  const ScoredAnswer answer{outcomes, judged};
  return std::move(assess_answers(test_case, {&answer, 1}, 1).front());
}

std::vector<CaseAssessment> Gate::assess_answers(const Case& test_case, std::span<const ScoredAnswer> answers,
                                                 std::size_t repeats) const {
  std::vector<std::vector<MatchedOutcome>> matched;
  std::vector<std::vector<MetricQuestion>> questions(answers.size());
  PinnedCase pinned(config_.baseline, test_case.id);
  for (std::size_t n = 0; n < answers.size(); ++n) {
    matched.push_back(match_outcomes(test_case, answers[n].outcomes, answers[n].judged));
    pinned.begin_answer();
    for (const MatchedOutcome& one : matched.back())
      questions[n].push_back(question_of(one, test_case, pinned, config_));
  }
  auto assessed = assessed_repeats(questions, repeats, {config_.default_max_drop});
  for (std::size_t n = 0; n < assessed.size(); ++n) {
    assessed[n].baseline_passes = pinned.passes();
    for (std::size_t i = 0; i < matched[n].size(); ++i)
      assessed[n].metrics[i].detail = matched[n][i].outcome->detail;
  }
  return assessed;
}

}  // namespace sluice
