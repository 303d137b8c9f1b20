#include "coordinator/gate/compare.hpp"

#include "coordinator/gate/assess_metrics.hpp"
#include "coordinator/gate/quoted.hpp"
#include "coordinator/gate/repeated_assessment.hpp"

#include <algorithm>
#include <cstddef>
#include <memory>

namespace sluice {
namespace {

/// One side and the case that it stands at.
class Side {
 public:
  Side(const NextCase& next, std::string_view name) : next_(next), name_(name) {}

  /// Null after the last.
  const ComparedCase* at() const { return at_; }
  Result<void> advance() {
    auto next = next_();
    if (!next) return fail(next.error());
    at_ = *next;
    if (at_ == nullptr) return {};
    if (last_ && at_->test_id <= *last_) {
      return fail(Reason::fixture_invalid,
                  "the cases of the " + std::string(name_) +
                      " are not in the order of their ids, or one stands there twice: " +
                      backquoted(at_->test_id) + " comes after " + backquoted(*last_) + ".");
    }
    last_ = at_->test_id;
    return {};
  }

 private:
  const NextCase& next_;
  std::string_view name_;
  const ComparedCase* at_ = nullptr;
  std::optional<std::string> last_;
};

class Comparison {
 public:
  Comparison(const CompareRules& rules, const std::function<void(const ScoreComparison&)>& visit)
      : rules_(rules), visit_(visit), tests_of_sides_(rules.base_lost, rules.current_lost) {}

  void only_base(const ComparedCase& base) {
    look_for_scores(base);
    const bool is_lost = tests_of_sides_.add_of_base(base.test_id) == TestFold::Standing::lost;
    if (!base.is_error) missing_in_current(base, {}, is_lost || rules_.current_is_selection);
  }
  /// `base` is null for a case that the base lacks.
  void pair(const ComparedCase* base, const ComparedCase& current);
  CompareSummary finish();

 private:
  void look_for_scores(const ComparedCase& side) {
    if (side.is_error || summary_.has_scores) return;
    summary_.has_scores =
        std::ranges::any_of(side.metrics, [](const ComparedMetric& metric) { return is_scored(metric); });
  }
  void missing_in_current(const ComparedCase& base, const std::vector<ComparedMetric>& current,
                          bool by_intention);
  bool asks_otherwise(const ComparedCase& current, const ComparedMetric& metric) const {
    return !rules_.judged_otherwise.empty() &&
           std::ranges::binary_search(rules_.judged_otherwise, ChangedMetric{current.test_id, metric.name});
  }
  CaseAssessment assessed(const ComparedCase& current, const ComparedCase* base) const;
  MetricQuestion question_of(const ComparedMetric& metric, const ComparedCase& current,
                             const ComparedCase* base) const;
  void add_to_tests(const ComparedMetric& metric, const AssessedMetric& assessed, const ComparedCase& current,
                    const ComparedCase& base);
  void report(const ScoreComparison& row);

  const CompareRules& rules_;
  const std::function<void(const ScoreComparison&)>& visit_;
  CompareSummary summary_;
  TestFold tests_of_sides_;
  bool is_lost_in_base_ = false;  ///< The case that pair is at.
  std::uint64_t left_out_ = 0;    ///< Of the scores missing in the current side: by intention.
  std::optional<StatisticalGate> tests_;
};

const ComparedMetric* find(const ComparedCase& from, std::string_view name) {
  const auto found = std::ranges::find(from.metrics, name, &ComparedMetric::name);
  return found == from.metrics.end() ? nullptr : &*found;
}

PinnedScore pinned_score(const ComparedMetric& metric, const ComparedCase* base) {
  if (base == nullptr || base->is_error) return {PinnedScore::State::absent};
  if (const ComparedMetric* pinned = find(*base, metric.name)) {
    if (pinned->score) return {PinnedScore::State::pinned, *pinned->score};
    return {PinnedScore::State::undefined};
  }
  const auto score = [&](MetricId id) {
    const ComparedMetric* other = find(*base, info(id).name);
    return other == nullptr ? std::nullopt : other->score;
  };
  const bool undefined = metric.name == info(MetricId::claims_precision).name &&
                         nothing_was_extracted(score(MetricId::claims_recall), score(MetricId::claims_f1));
  return {undefined ? PinnedScore::State::undefined : PinnedScore::State::absent};
}

RowChange change_of_check(const AssessedMetric& assessed) {
  if (!assessed.baseline_passed || assessed.status == MetricStatus::flaky) return RowChange::not_compared;
  if (!*assessed.baseline_passed) return assessed.is_fixed() ? RowChange::fixed : RowChange::still_failing;
  return assessed.holds() ? RowChange::unchanged : RowChange::broke;
}

RowChange change_of(const AssessedMetric& assessed, const PinnedScore& pinned, bool is_scored) {
  if (assessed.cause == MetricCause::known_failure) return RowChange::known_failure;
  if (!is_scored) return change_of_check(assessed);
  const bool fell = assessed.cause == MetricCause::dropped || assessed.cause == MetricCause::became_undefined;
  if (fell && assessed.status == MetricStatus::fail) return RowChange::regression;
  if (!assessed.score) {
    const bool cleared =
        pinned.state == PinnedScore::State::pinned && assessed.cause != MetricCause::became_undefined;
    return cleared ? RowChange::improvement : RowChange::not_compared;
  }
  if (pinned.state == PinnedScore::State::absent) return RowChange::missing_in_baseline;
  if (pinned.state != PinnedScore::State::pinned) return RowChange::not_compared;
  const auto change = billionths(*assessed.score) - billionths(pinned.score);
  if (change == 0) return RowChange::unchanged;
  return change > 0 ? RowChange::improvement : RowChange::drop;
}

/// More than half of the repeats.
bool passed_mostly(const ComparedMetric& metric) {
  if (metric.repeat_passed.empty()) return metric.passed;
  const auto failed = static_cast<std::size_t>(std::ranges::count(metric.repeat_passed, false));
  return failed * 2 <= metric.repeat_passed.size();
}

/// Of the same check of the base, wherever it stands; of its only one by the metric where a side does not say
/// which check it is.
PinnedScore pinned_check(const ComparedCase& current, const ComparedMetric& metric,
                         const ComparedCase* base) {
  if (base == nullptr || base->is_error) return {PinnedScore::State::absent};
  const auto is_of_metric = [&](const ComparedMetric& one) { return one.name == metric.name; };
  const bool are_alone = std::ranges::count_if(current.metrics, is_of_metric) == 1 &&
                         std::ranges::count_if(base->metrics, is_of_metric) == 1;
  auto before = std::count_if(current.metrics.data(), &metric, [&](const ComparedMetric& one) {
    return is_of_metric(one) && one.check == metric.check;
  });
  for (const ComparedMetric& one : base->metrics) {
    if (!is_of_metric(one)) continue;
    const bool says_which = one.check != 0 && metric.check != 0;
    if (says_which ? one.check != metric.check || before-- > 0 : !are_alone) continue;
    return {PinnedScore::State::pinned, passed_mostly(one) ? 1.0 : 0.0};
  }
  return {PinnedScore::State::absent};
}

std::size_t repeats_of(const ComparedMetric& metric) {
  return is_scored(metric) ? metric.repeat_scores.size() : metric.repeat_passed.size();
}

std::size_t repeats_of(const ComparedCase& compared) {
  std::size_t most = 1;
  for (const ComparedMetric& metric : compared.metrics) most = std::max(most, repeats_of(metric));
  return most;
}

/// Those that are defined; without repeats the score itself.
std::vector<double> defined_scores(const ComparedMetric& metric) {
  std::vector<double> scores;
  for (const auto& score : metric.repeat_scores) {
    if (score) scores.push_back(*score);
  }
  if (metric.repeat_scores.empty() && metric.score) scores.push_back(*metric.score);
  return scores;
}

void put(const VoteTally& votes, MetricQuestion& question) {
  if (!question.is_judged()) return;
  question.votes = votes;
  question.passed = 2 * votes.passed > votes.votes;
}

MetricQuestion Comparison::question_of(const ComparedMetric& metric, const ComparedCase& current,
                                       const ComparedCase* base) const {
  MetricQuestion question;
  question.metric = find_metric(metric.name);
  question.asked_by_name = metric.asked_by_name;
  question.passed = metric.passed;
  if (!question.is_scored()) {
    if (metric.asked_by_name) question.pinned = pinned_check(current, metric, base);
    return question;
  }
  question.score = metric.score;
  question.best_undefined =
      question.metric != nullptr && is_claims_metric(question.metric->id) && current.expects_nothing;
  const bool is_left_out = base == nullptr && (rules_.base_is_selection || is_lost_in_base_);
  question.pinned =
      is_left_out || asks_otherwise(current, metric) ? PinnedScore{} : pinned_score(metric, base);
  question.thresholding = merged(rules_.suite, metric.thresholding);
  question.min_score = metric.min_score;
  if (metric.votes.size() == 1) put(metric.votes.front(), question);
  if (metric.calibration && question.is_judged()) question.calibration = {*metric.calibration};
  // The tests go by our metrics; a drop of another tool's must not pass unseen.
  const bool is_statistical = question.thresholding.mode == ThresholdMode::statistical;
  if (is_statistical && question.metric == nullptr) question.thresholding.mode = ThresholdMode::relative;
  return question;
}

/// By its repeats, as the run assessed it.
CaseAssessment Comparison::assessed(const ComparedCase& current, const ComparedCase* base) const {
  std::vector<MetricQuestion> questions;
  questions.reserve(current.metrics.size());
  for (const ComparedMetric& metric : current.metrics) {
    questions.push_back(question_of(metric, current, base));
  }
  const AssessmentRules rules{rules_.default_max_drop, rules_.strict};
  const std::size_t count = repeats_of(current);
  if (count == 1) return assessed_case(questions, rules);
  std::vector<std::vector<MetricQuestion>> of_repeats;
  for (std::size_t repeat = 0; repeat < count; ++repeat) {
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const ComparedMetric& metric = current.metrics[i];
      if (repeats_of(metric) != count) continue;
      if (questions[i].is_scored()) {
        questions[i].score = metric.repeat_scores[repeat];
        if (metric.votes.size() == count) put(metric.votes[repeat], questions[i]);
      } else {
        questions[i].passed = metric.repeat_passed[repeat];
      }
    }
    of_repeats.push_back(questions);
  }
  const std::vector<CaseAssessment> repeats = assessed_repeats(of_repeats, count, rules);
  std::vector<const CaseAssessment*> all;
  for (const CaseAssessment& one : repeats) all.push_back(&one);
  return assessment_of_repeats(all);
}

void Comparison::add_to_tests(const ComparedMetric& metric, const AssessedMetric& assessed,
                              const ComparedCase& current, const ComparedCase& base) {
  // What is the suite's stands beside each of its metrics alike.
  if (!tests_)
    tests_.emplace(
        StatisticalGate::Config{nullptr, metric.thresholding, rules_.default_max_drop, rules_.seed});
  const std::vector<double> before = defined_scores(*find(base, metric.name));
  const std::vector<double> now = defined_scores(metric);
  tests_->add({current.test_id, current.category, assessed.id, before, now, assessed.became_undefined(),
               assessed.fails_nothing});
}

void Comparison::pair(const ComparedCase* base, const ComparedCase& current) {
  if (base != nullptr) look_for_scores(*base);
  is_lost_in_base_ =
      base == nullptr && tests_of_sides_.add_of_current(current.test_id) == TestFold::Standing::lost;
  if (base != nullptr &&
      std::ranges::binary_search(rules_.judged_otherwise, current.test_id, {}, &ChangedMetric::test_id))
    tests_of_sides_.add_judged_otherwise(current.test_id);
  look_for_scores(current);
  if (current.is_error) return summary_.verdict_input.statuses.add(CaseStatus::error);
  CaseAssessment assessment = assessed(current, base);
  if (current.is_known_failure) take_as_known_failure(assessment);
  for (std::size_t i = 0; i < assessment.metrics.size(); ++i) {
    const ComparedMetric& metric = current.metrics[i];
    const AssessedMetric& one = assessment.metrics[i];
    ScoreComparison row{current.test_id, metric.name, one.score, one.baseline,
                        one.limit,       one.status,  one.cause};
    const bool scored = is_scored(metric);
    row.is_check = !scored;
    row.check = metric.check;
    row.is_of_known_failure = current.is_known_failure;
    const bool has_pinned = scored && !asks_otherwise(current, metric);
    row.change = change_of(one, has_pinned ? pinned_score(metric, base) : PinnedScore{}, scored);
    report(row);
    const bool lacks = one.calibration && one.calibration->standing != CalibrationStanding::calibrated;
    summary_.uncalibrated += lacks ? 1 : 0;
    summary_.disagreements += one.cause == MetricCause::judge_disagrees ? 1 : 0;
    if (one.is_left_to_tests && rules_.runs_tests) add_to_tests(metric, one, current, *base);
  }
  summary_.verdict_input.statuses.add(assessment.status);
  if (assessment.regressed) ++summary_.verdict_input.regressed;
  if (assessment.only_known_failures()) ++summary_.verdict_input.known_failures;
  if (base != nullptr && !base->is_error) missing_in_current(*base, current.metrics, false);
}

void Comparison::missing_in_current(const ComparedCase& base, const std::vector<ComparedMetric>& current,
                                    bool by_intention) {
  for (const ComparedMetric& metric : base.metrics) {
    if (!is_scored(metric) || !metric.score) continue;
    if (std::ranges::find(current, metric.name, &ComparedMetric::name) != current.end()) continue;
    ScoreComparison row;
    row.test_id = base.test_id;
    row.metric = metric.name;
    row.baseline = metric.score;
    row.change = RowChange::missing_in_current;
    row.status = rules_.strict ? MetricStatus::fail : MetricStatus::warn;
    if (by_intention) {
      row.status = MetricStatus::unjudged;
      ++left_out_;
    }
    report(row);
  }
}

void Comparison::report(const ScoreComparison& row) {
  switch (row.change) {
    case RowChange::not_compared:
      break;
    case RowChange::unchanged:
      ++summary_.unchanged;
      break;
    case RowChange::improvement:
      ++summary_.improvements;
      break;
    case RowChange::drop:
      ++summary_.drops;
      break;
    case RowChange::regression:
      ++summary_.regressions;
      break;
    case RowChange::missing_in_baseline:
      ++summary_.missing_in_baseline;
      break;
    case RowChange::missing_in_current:
      ++summary_.missing_in_current;
      break;
    case RowChange::broke:
      ++summary_.broke;
      break;
    case RowChange::fixed:
      ++summary_.fixed;
      break;
    case RowChange::still_failing:
      ++summary_.still_failing;
      break;
    case RowChange::known_failure:
      ++summary_.known_failures;
      break;
  }
  visit_(row);
}

CompareSummary Comparison::finish() {
  VerdictInput& input = summary_.verdict_input;
  input.min_pass_rate = rules_.min_pass_rate;
  (rules_.strict ? input.failures : input.warnings) += summary_.missing_in_current - left_out_;
  if (tests_) summary_.statistics = tests_->finish();
  summary_.tests = tests_of_sides_.finish();
  summary_.verdict = run_verdict(input);
  return summary_;
}

}  // namespace

bool is_scored(const ComparedMetric& metric) {
  const MetricInfo* known = find_metric(metric.name);
  return known == nullptr || known->kind == MetricKind::scored;
}

std::string_view to_string(RowChange change) {
  switch (change) {
    case RowChange::not_compared:
      return "not_compared";
    case RowChange::unchanged:
      return "unchanged";
    case RowChange::improvement:
      return "improvement";
    case RowChange::drop:
      return "drop";
    case RowChange::regression:
      return "regression";
    case RowChange::missing_in_baseline:
      return "missing_in_baseline";
    case RowChange::missing_in_current:
      return "missing_in_current";
    case RowChange::broke:
      return "broke";
    case RowChange::fixed:
      return "fixed";
    case RowChange::still_failing:
      return "still_failing";
    case RowChange::known_failure:
      return "known_failure";
  }
  return "not_compared";
}

namespace {

void add_checks(const BaselineEntry& entry, std::vector<ComparedMetric>& metrics) {
  for (std::size_t n = 0; const auto passed = entry.passed(n); ++n) {
    ComparedMetric& check = metrics.emplace_back();
    check.name = entry.metric;
    check.passed = *passed;
    if (!entry.checks.empty()) check.check = entry.checks[n];
    check.asked_by_name = true;  // No others are pinned.
  }
}

}  // namespace

NextCase cases_of(const Baseline& baseline) {
  struct State {
    std::size_t next = 0;
    ComparedCase at;
  };
  return [&baseline, state = std::make_shared<State>()]() -> Result<const ComparedCase*> {
    if (state->next == baseline.size()) return nullptr;
    state->at.test_id = baseline.entry(state->next).test_id;
    state->at.metrics.clear();
    for (; state->next < baseline.size(); ++state->next) {
      const BaselineEntry entry = baseline.entry(state->next);
      if (entry.test_id != state->at.test_id) break;
      if (entry.kind == PinKind::checks) {
        add_checks(entry, state->at.metrics);
        continue;
      }
      ComparedMetric& metric = state->at.metrics.emplace_back();
      metric.name = entry.metric;
      metric.score = entry.score;
      if (entry.scores.size() > 1) metric.repeat_scores.assign(entry.scores.begin(), entry.scores.end());
    }
    return &state->at;
  };
}

Result<CompareSummary> compare(const NextCase& base, const NextCase& current, const CompareRules& rules,
                               const std::function<void(const ScoreComparison&)>& visit) {
  Comparison comparison(rules, visit);
  Side left(base, "base");
  Side right(current, "current side");
  auto moved = left.advance();
  if (moved) moved = right.advance();
  const bool either_is_empty = left.at() == nullptr || right.at() == nullptr;
  bool any_shared = false;
  while (moved && (left.at() != nullptr || right.at() != nullptr)) {
    const bool base_only =
        right.at() == nullptr || (left.at() != nullptr && left.at()->test_id < right.at()->test_id);
    if (base_only) {
      comparison.only_base(*left.at());
      moved = left.advance();
      continue;
    }
    const bool both = left.at() != nullptr && left.at()->test_id == right.at()->test_id;
    any_shared = any_shared || both;
    comparison.pair(both ? left.at() : nullptr, *right.at());
    if (both) moved = left.advance();
    if (moved) moved = right.advance();
  }
  if (!moved) return fail(moved.error());
  CompareSummary summary = comparison.finish();
  summary.shares_no_case = !either_is_empty && !any_shared;
  return summary;
}

}  // namespace sluice
