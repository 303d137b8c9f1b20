#include "coordinator/gate/compare.hpp"

#include "coordinator/gate/compared_assessment.hpp"
#include "coordinator/gate/paired_checks.hpp"
#include "coordinator/gate/quoted.hpp"

#include <algorithm>
#include <cstddef>
#include <map>

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

/// Nothing of the case is counted as a missing score.
bool has_checks_alone(const ComparedCase& one) {
  const auto has_score = [](const ComparedMetric& metric) { return is_scored(metric) && metric.score; };
  return std::ranges::any_of(one.metrics, is_check) && std::ranges::none_of(one.metrics, has_score);
}

/// What becomes of the checks of a case that the base does not have, by their metric.
class NewChecks {
 public:
  /// `base` is null for a case that it lacks, which is named as a whole, and where it pins no check at all.
  NewChecks(const IndexedCase* base, const IndexedCase& current)
      : base_(base != nullptr && !(*base)->is_error ? base : nullptr), current_(current) {}

  RowChange change_of(std::string_view metric) {
    if (base_ == nullptr) return RowChange::not_compared;
    const auto [known, is_new] = of_metrics_.try_emplace(metric);
    if (is_new) known->second = PairedChecks(*base_, current_, metric).of_new();
    return known->second;
  }

 private:
  const IndexedCase* base_;
  const IndexedCase& current_;
  std::map<std::string_view, RowChange> of_metrics_;
};

class Comparison {
 public:
  Comparison(const CompareRules& rules, const std::function<void(const ScoreComparison&)>& visit)
      : rules_(rules), visit_(visit), tests_of_sides_(rules.base_lost, rules.current_lost) {}

  void only_base(const ComparedCase& base) {
    look_for_scores(base);
    const bool is_lost = tests_of_sides_.add_of_base(base.test_id) == TestFold::Standing::lost;
    if (!base.is_error && !is_lost && has_checks_alone(base)) summary_.gone_checks.push_back(base.test_id);
    if (!base.is_error) missing_in_current(base, nullptr, is_lost || rules_.current_is_selection);
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
  void missing_in_current(const ComparedCase& base, const IndexedCase* current, bool by_intention);
  void missing_checks(const IndexedCase& base, const IndexedCase& current);
  void add_to_tests(const ComparedMetric& metric, const AssessedMetric& assessed, const ComparedCase& current,
                    const IndexedCase& base);
  void add_passes(const CaseAssessment& assessment, const ComparedCase& current, const ComparedCase& base);
  StatisticalGate& tests_of(const Thresholding& thresholding);
  void report(const ScoreComparison& row);

  const CompareRules& rules_;
  const std::function<void(const ScoreComparison&)>& visit_;
  CompareSummary summary_;
  TestFold tests_of_sides_;
  std::optional<StatisticalGate> tests_;
  PassCountsByPart pass_counts_;
};

/// What the check expects, as either side says it: a baseline does not.
std::string_view expected_by(const ComparedMetric& check, const IndexedCase* base) {
  if (!check.expected.empty() || check.check == 0 || base == nullptr) return check.expected;
  const IndexedCase::Metrics same = base->all(check.name, check.check);
  return same.empty() ? std::string_view() : same.front()->expected;
}

/// Empty of what no judge scores.
JudgePin judge_of(const ComparedMetric& metric) {
  JudgePin judge = metric.judged_by != nullptr ? *metric.judged_by : JudgePin();
  judge.samples = metric.samples;
  if (!metric.votes.empty()) judge.samples = metric.votes.front().samples;
  return judge;
}

/// A case of a run with arms is called TEST@ARM.
std::size_t arm_of(const ComparedCase& one, std::span<const std::string> arms) {
  const std::string_view name = std::string_view(one.test_id).substr(one.test_id.rfind(arm_separator) + 1);
  const auto found = std::ranges::find(arms, name);
  return found != arms.end() ? static_cast<std::size_t>(found - arms.begin()) : 0;
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
    const bool cleared = pinned.state == PinnedScore::State::pinned && !is_as_silence(pinned) &&
                         assessed.cause != MetricCause::became_undefined;
    return cleared ? RowChange::improvement : RowChange::not_compared;
  }
  if (pinned.state == PinnedScore::State::absent) return RowChange::missing_in_baseline;
  if (pinned.state != PinnedScore::State::pinned) return RowChange::not_compared;
  const auto change = billionths(*assessed.score) - billionths(pinned.score);
  if (change == 0) return RowChange::unchanged;
  return change > 0 ? RowChange::improvement : RowChange::drop;
}

/// Those that are defined, or what stands for one that is not; without repeats the score itself.
std::vector<double> compared_scores(const ComparedMetric& metric, std::optional<double> of_undefined) {
  std::vector<double> scores;
  const auto add = [&](const std::optional<double>& score) {
    if (const auto counted = score ? score : of_undefined) scores.push_back(*counted);
  };
  for (const auto& score : metric.repeat_scores) add(score);
  if (metric.repeat_scores.empty()) add(metric.score);
  return scores;
}

void Comparison::add_to_tests(const ComparedMetric& metric, const AssessedMetric& assessed,
                              const ComparedCase& current, const IndexedCase& base) {
  if (current.is_known_failure) return;
  const auto of_undefined = is_silence_best(metric, current, *base) ? worth_of_silence : std::nullopt;
  const std::vector<double> before = compared_scores(*base.find(metric.name), of_undefined);
  const std::vector<double> now = compared_scores(metric, of_undefined);
  // What is the suite's stands beside each of its metrics alike.
  tests_of(metric.thresholding)
      .add({current.test_id, current.category, assessed.score_id(), before, now, assessed.became_undefined(),
            assessed.fails_nothing, arm_of(current, rules_.arms), current.answers});
}

/// As StatisticalGate pairs those of a run: the same checks on both sides, one side of several repeats.
void Comparison::add_passes(const CaseAssessment& assessment, const ComparedCase& current,
                            const ComparedCase& base) {
  if (current.is_known_failure || base.is_error || base.passes.empty() || current.passes.empty()) return;
  if (base.passes.size() == 1 && current.passes.size() == 1) return;
  const auto checks = std::ranges::count_if(current.metrics, is_check);
  const auto pinned = std::ranges::count_if(assessment.metrics, [](const AssessedMetric& one) {
    return one.is_check() && one.baseline_passed.has_value();
  });
  if (checks != pinned || checks != std::ranges::count_if(base.metrics, is_check)) return;
  const ComparedPasses passes =
      compared_passes(passes_of(base, passed_ever), current.passes, assessment.metrics);
  tests_of(rules_.tests)
      .add({current.test_id,
            current.category,
            {},
            passes.base,
            passes.current,
            false,
            false,
            arm_of(current, rules_.arms),
            current.answers});
}

StatisticalGate& Comparison::tests_of(const Thresholding& thresholding) {
  if (!tests_)
    tests_.emplace(StatisticalGate::Config{nullptr,
                                           thresholding,
                                           rules_.default_max_drop,
                                           rules_.seed,
                                           {rules_.arms.begin(), rules_.arms.end()}});
  return *tests_;
}

void Comparison::pair(const ComparedCase* base, const ComparedCase& current) {
  if (base != nullptr) look_for_scores(*base);
  const bool is_lost_in_base =
      base == nullptr && tests_of_sides_.add_of_current(current.test_id) == TestFold::Standing::lost;
  if (base != nullptr &&
      std::ranges::binary_search(rules_.judged_otherwise, current.test_id, {}, &ChangedMetric::test_id))
    tests_of_sides_.add_judged_otherwise(current.test_id);
  look_for_scores(current);
  PassCounts& counts = pass_counts_[{arm_of(current, rules_.arms), current.category}];
  if (current.is_error) {
    summary_.not_started += current.not_started ? 1 : 0;
    summary_.error_cases.push_back(current.test_id);
    counts.statuses.add(CaseStatus::error);
    return summary_.verdict_input.statuses.add(CaseStatus::error);
  }
  summary_.lost_repeats += current.lost_repeats;
  const bool is_left_out = base == nullptr && (rules_.base_is_selection || is_lost_in_base);
  const IndexedCase indexed(current);
  const std::optional<IndexedCase> indexed_base = base ? std::optional<IndexedCase>(*base) : std::nullopt;
  const IndexedCase* before = indexed_base ? &*indexed_base : nullptr;
  CaseAssessment assessment = assess_compared(indexed, before, rules_, is_left_out);
  if (std::ranges::any_of(assessment.metrics, &AssessedMetric::asked_otherwise))
    tests_of_sides_.add_judged_otherwise(current.test_id);
  if (current.is_known_failure) take_as_known_failure(assessment);
  NewChecks new_checks(rules_.base_has_checks ? before : nullptr, indexed);
  for (std::size_t i = 0; i < assessment.metrics.size(); ++i) {
    const ComparedMetric& metric = current.metrics[i];
    const AssessedMetric& one = assessment.metrics[i];
    ScoreComparison row{current.test_id, metric.name, one.score, one.baseline,
                        one.limit,       one.status,  one.cause};
    const bool scored = is_scored(metric);
    row.further_cause = one.further_cause();
    row.votes = one.votes;
    row.is_check = !scored;
    row.baseline_passed = one.baseline_passed;
    row.check = metric.check;
    row.expected = expected_by(metric, before);
    row.repeat_scores = one.repeat_scores;
    row.is_of_known_failure = current.is_known_failure;
    row.case_status = assessment.status;
    const PinnedScore pinned = scored ? pinned_score(metric, current, before, rules_) : PinnedScore{};
    row.change = change_of(one, pinned, scored);
    if (is_check(metric) && !one.baseline_passed && row.change == RowChange::not_compared)
      row.change = new_checks.change_of(metric.name);
    if (pinned.state == PinnedScore::State::pinned && before->find(metric.name) != nullptr)
      summary_.judges.add(current.test_id, metric.name, judge_of(*before->find(metric.name)),
                          judge_of(metric));
    report(row);
    const bool lacks = one.calibration && one.calibration->standing != CalibrationStanding::calibrated;
    summary_.uncalibrated += lacks ? 1 : 0;
    summary_.unpinned += one.cause == MetricCause::missing_in_baseline ? 1 : 0;
    summary_.disagreements += one.cause == MetricCause::judge_disagrees ? 1 : 0;
    if (one.is_left_to_tests && rules_.runs_tests) add_to_tests(metric, one, current, *before);
  }
  if (rules_.runs_tests && base != nullptr) add_passes(assessment, current, *base);
  summary_.verdict_input.statuses.add(assessment.status);
  if (assessment.regressed) ++summary_.verdict_input.regressed;
  if (assessment.only_known_failures()) ++summary_.verdict_input.known_failures;
  if (std::ranges::count(assessment.metrics, MetricCause::known_failure_passed, &AssessedMetric::cause) > 0)
    ++summary_.known_failures_passed;
  counts.statuses.add(assessment.status);
  counts.regressed += assessment.regressed ? 1 : 0;
  counts.excused += assessment.is_excused() ? 1 : 0;
  if (base == nullptr || base->is_error) return;
  missing_in_current(*base, &indexed, false);
  missing_checks(*before, indexed);
}

/// `current` is null for a case that the current side lacks.
void Comparison::missing_in_current(const ComparedCase& base, const IndexedCase* current, bool by_intention) {
  for (const ComparedMetric& metric : base.metrics) {
    if (!is_scored(metric) || !metric.score) continue;
    if (current != nullptr && current->find(metric.name) != nullptr) continue;
    ScoreComparison row;
    row.test_id = base.test_id;
    row.metric = metric.name;
    row.baseline = metric.score;
    row.change = RowChange::missing_in_current;
    row.status = rules_.strict ? MetricStatus::fail : MetricStatus::warn;
    if (by_intention) {
      row.status = MetricStatus::unjudged;
      ++summary_.left_out;
    }
    report(row);
  }
}

void Comparison::missing_checks(const IndexedCase& base, const IndexedCase& current) {
  for (const ComparedMetric& first : base->metrics) {
    if (!is_check(first) || base.find(first.name) != &first) continue;
    const PairedChecks checks(base, current, first.name);
    if (checks.asks_otherwise()) tests_of_sides_.add_judged_otherwise(base->test_id);
    for (const ComparedMetric* one : checks.missing()) {
      ScoreComparison row;
      row.test_id = base->test_id;
      row.metric = one->name;
      row.change = RowChange::missing_in_current;
      row.status = rules_.strict ? MetricStatus::fail : MetricStatus::warn;
      row.is_check = true;
      row.baseline_passed = one->passed;
      row.check = one->check;
      row.expected = one->expected;
      report(row);
    }
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
      ++(row.is_check ? summary_.missing_checks : summary_.missing_in_current);
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
    case RowChange::added:
      ++summary_.added_checks;
      break;
    case RowChange::changed:
      ++summary_.changed_checks;
      break;
  }
  visit_(row);
}

CompareSummary Comparison::finish() {
  VerdictInput& input = summary_.verdict_input;
  input.pass_groups = pass_groups(rules_.min_pass_rates, rules_.arms, pass_counts_);
  (rules_.strict ? input.failures : input.warnings) +=
      summary_.missing_in_current - summary_.left_out + summary_.missing_checks;
  if (tests_) summary_.statistics = tests_->outcome();
  summary_.tests = tests_of_sides_.finish();
  summary_.verdict = run_verdict(input);
  return summary_;
}

}  // namespace

bool is_check(const ComparedMetric& metric) {
  return metric.asked_by_name && !is_scored(metric);
}

bool is_scored(const ComparedMetric& metric) {
  // `rubric:tone` is in no catalogue, and a score all the same.
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
    case RowChange::added:
      return "added";
    case RowChange::changed:
      return "changed";
  }
  return "not_compared";
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
