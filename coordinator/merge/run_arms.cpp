#include "coordinator/merge/run_arms.hpp"

#include "coordinator/defaults.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sluice {
namespace {

/// Those that were started; without errors those that were assessed.
bool statuses_differ(const std::vector<std::optional<CaseStatus>>& statuses, bool with_errors) {
  const auto counts = [&](const auto& one) { return one && (with_errors || *one != CaseStatus::error); };
  const auto first = std::ranges::find_if(statuses, counts);
  return std::any_of(first, statuses.end(), [&](const auto& one) { return counts(one) && one != *first; });
}

/// Its time is the model's: a filter that declined before the model was asked took nothing.
bool was_called_for(const UnitResult& unit) {
  const Spend& spend = unit.spend;
  const bool took_nothing = unit.usage == Usage{} && !spend.is_unmetered(CallKind::answer);
  return spend.latency_ms > 0 && !spend.cache_hit && !took_nothing;
}

/// The smallest value that at least this share of all does not exceed.
std::optional<std::uint32_t> percentile(std::vector<std::uint32_t>& values, double share) {
  if (values.empty()) return std::nullopt;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::ranges::nth_element(values, at);
  return *at;
}

/// The mean over tests of the means over their repeats.
std::optional<double> mean_of(std::span<const RepeatSum> tests) {
  double sum = 0.0;
  std::size_t count = 0;
  for (const RepeatSum& one : tests) {
    if (one.denominator == 0) continue;
    sum += static_cast<double>(one.numerator) / static_cast<double>(one.denominator);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

/// The same comparison with the arms exchanged, as far as decisions need it.
PairedComparison mirrored(PairedComparison comparison) {
  std::swap(comparison.base, comparison.current);
  if (comparison.drop) comparison.drop = -*comparison.drop;
  comparison.dropped_units = comparison.changed_units - comparison.dropped_units;
  std::swap(comparison.test.p.drop, comparison.test.p.improvement);
  return comparison;
}

/// What a fall below a baseline says is no matter here: arms are compared with one another. Nor is what a
/// judge says who may fail nothing.
bool passes_by_itself(const CaseAssessment& repeat) {
  return !repeat.is_non_answer && std::ranges::none_of(repeat.metrics, [](const AssessedMetric& one) {
    return one.fails_by_itself() && (!one.fails_nothing || one.status == MetricStatus::fail);
  });
}

ArmVerdict verdict_of(const PairedComparison& comparison, const MetricDecision& decision,
                      const DecisionRules& rules) {
  if (decision.decision == ChangeDecision::regression) return ArmVerdict::worse;
  if (decision.decision == ChangeDecision::improvement) return ArmVerdict::better;
  if (decision.decision != ChangeDecision::no_regression) return ArmVerdict::undecided;
  const double gain = drop_upper_bound(mirrored(comparison), rules.confidence);
  return gain < rules.min_effect ? ArmVerdict::equivalent : ArmVerdict::undecided;
}

}  // namespace

std::string_view to_string(ArmVerdict verdict) {
  switch (verdict) {
    case ArmVerdict::better:
      return "better";
    case ArmVerdict::worse:
      return "worse";
    case ArmVerdict::equivalent:
      return "equivalent";
    case ArmVerdict::undecided:
      break;
  }
  return "undecided";
}

// 0 - 0 is 0, and -0 is not what people are shown.
std::optional<double> ArmMetricComparison::gain() const {
  return comparison.drop ? std::optional(0.0 - *comparison.drop) : std::nullopt;
}

std::optional<Interval> ArmMetricComparison::gain_interval() const {
  const auto& drop = intervals.drop;
  return drop ? std::optional(Interval{0.0 - drop->high, 0.0 - drop->low}) : std::nullopt;
}

namespace {

GateNotice worse_arm(std::string_view metric, const std::string& arm, const std::string& baseline) {
  return {GateNotice::Severity::failure, "arm_worse",
          "`" + std::string(metric) + "` of the arm `" + arm + "` is worse than that of `" + baseline +
              "`, beyond chance.",
          true, "Arms"};
}

}  // namespace

std::vector<GateNotice> arm_notices(const RunArms& arms, std::size_t baseline,
                                    std::span<const ScoreId> fail_nothing) {
  std::vector<GateNotice> notices;
  for (const ArmPair& pair : arms.pairs) {
    if (pair.first != baseline && pair.second != baseline) continue;
    const bool is_second = pair.second == baseline;
    const std::string& other = arms.arms[is_second ? pair.first : pair.second].name;
    const ArmVerdict worse = is_second ? ArmVerdict::better : ArmVerdict::worse;
    for (const ArmMetricComparison& one : pair.metrics) {
      const std::string what = "`" + name_of(one.metric) + "` of the arm `" + other + "` ";
      const std::string than = " that of `" + arms.arms[baseline].name + "`";
      const bool fails = !one.metric || std::ranges::find(fail_nothing, *one.metric) == fail_nothing.end();
      if (one.verdict == worse && !fails) {
        notices.push_back({GateNotice::Severity::warning, "arm_worse",
                           what + "is worse than" + than +
                               ", beyond chance; it warns only, since the judge is not calibrated.",
                           true, "Arms"});
      } else if (one.verdict == worse) {
        notices.push_back(worse_arm(name_of(one.metric), other, arms.arms[baseline].name));
      } else if (one.verdict == ArmVerdict::undecided && one.metric) {
        notices.push_back({GateNotice::Severity::warning, "arm_undecided",
                           "whether " + what + "is worse than" + than +
                               " or as good, these answers do not say: more tests or repeats are needed.",
                           true, "Arms"});
      }
    }
  }
  return notices;
}

std::vector<GateNotice> arm_pass_notices(const RunArms& arms, std::size_t baseline) {
  std::vector<PairedComparison> comparisons;
  std::vector<std::string> others;
  for (const ArmPair& pair : arms.pairs) {
    if (pair.first != baseline && pair.second != baseline) continue;
    const bool is_second = pair.second == baseline;
    const auto passes = std::ranges::find(pair.metrics, ComparedMean(), &ArmMetricComparison::metric);
    if (passes == pair.metrics.end()) continue;
    comparisons.push_back(is_second ? mirrored(passes->comparison) : passes->comparison);
    others.push_back(arms.arms[is_second ? pair.first : pair.second].name);
  }
  const auto decisions =
      assess_changes(comparisons, {defaults::statistics::unasked_confidence, defaults::min_effect});
  std::vector<GateNotice> notices;
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    if (decisions[i].decision == ChangeDecision::regression)
      notices.push_back(worse_arm(name_of({}), others[i], arms.arms[baseline].name));
  }
  return notices;
}

RunArmsFold::RunArmsFold(std::vector<std::string> names, const ArmRules& rules)
    : rules_(rules), latencies_(names.size()), counted_units_(names.size()), answers_of_(names.size()) {
  for (std::string& name : names) arms_.emplace_back().name = std::move(name);
  for (std::size_t i = 0; i < arms_.size(); ++i) by_name_.push_back(i);
  std::ranges::sort(by_name_, {}, [this](std::size_t arm) -> const std::string& { return arms_[arm].name; });
}

void RunArmsFold::add(const CaseResult& result) {
  const Case& test_case = result.fixture;
  ArmSummary& arm = arms_.at(test_case.arm);
  arm.totals.add(result);
  for (const TrialResult& trial : result.trials) {
    if (trial.unit == nullptr) continue;
    // Each answer once, also one that another arm has as well: an arm costs what it would cost alone.
    std::vector<bool>& counted = counted_units_[test_case.arm];
    if (counted.size() <= trial.unit->unit) counted.resize(trial.unit->unit + std::size_t{1});
    if (counted[trial.unit->unit]) continue;
    counted[trial.unit->unit] = true;
    arm.usage.of(CallKind::answer) += trial.unit->usage;
    if (has_unknown_usage(result, *trial.unit)) ++arm.unknown_usages;
    if (was_called_for(*trial.unit)) latencies_[test_case.arm].push_back(trial.unit->spend.latency_ms);
  }
  add_scores(result);
  add_status(result);
}

void RunArmsFold::add_status(const CaseResult& result) {
  const Case& test_case = result.fixture;
  auto& statuses = open_tests_[test_case.test];
  statuses.push_back(result.not_started ? std::nullopt : std::optional(result.status));
  if (statuses.size() < arms_.size()) return;
  ++tests_;
  // An arm without answers differs from the others in every test, which says nothing of it.
  const bool is_difference = statuses_differ(statuses, false);
  if (!is_difference && statuses_differ(statuses, true)) ++differing_by_errors_;
  // Cases of a test come by their ids, the arms' names.
  if (is_difference && ++differing_ <= defaults::kept_differences) {
    const std::string_view id = test_case.id;
    DifferingTest& one = differences_.emplace_back();
    one.test = id.substr(0, id.size() - arms_[test_case.arm].name.size() - 1);
    one.statuses.resize(arms_.size());
    for (std::size_t i = 0; i < by_name_.size(); ++i) one.statuses[by_name_[i]] = statuses[i];
  }
  open_tests_.erase(test_case.test);
}

void RunArmsFold::add_score(const ComparedMean& metric, const Case& test_case,
                            const std::optional<MetricShare>& worth, bool is_score) {
  MetricScores& scores = scores_[metric];
  scores.by_arm.resize(arms_.size());
  Scores& of_arm = scores.by_arm[test_case.arm];
  if (of_arm.size() <= test_case.test) of_arm.resize(test_case.test + 1);
  if (worth) of_arm[test_case.test].add(*worth);
  scores.any_score = scores.any_score || is_score;
  scores.any_silence = scores.any_silence || (worth && !is_score);
}

void RunArmsFold::add_scores(const CaseResult& result) {
  const Case& test_case = result.fixture;
  // Neither decides anything, and arms are compared to decide between them.
  if (test_case.known_failure || result.status == CaseStatus::error) return;
  if (category_of_.size() <= test_case.test) category_of_.resize(test_case.test + 1);
  const auto next = static_cast<std::uint32_t>(categories_.size());
  category_of_[test_case.test] = categories_.try_emplace(test_case.category, next).first->second;
  auto& answers = answers_of_[test_case.arm];
  if (answers.size() <= test_case.test) answers.resize(test_case.test + 1, PairedCase::own_answers);
  answers[test_case.test] = result.first_unit().value_or(PairedCase::own_answers);
  for (const TrialResult& trial : result.trials) {
    if (!trial.counts()) continue;
    add_score({}, test_case, share_of_pass(passes_by_itself(trial.assessment)), true);
    if (trial.assessment.is_non_answer) continue;
    for (const AssessedMetric& metric : trial.assessment.metrics) {
      if (!metric.is_scored()) continue;
      const auto worth = metric.worth();
      add_score(metric.score_id(), test_case, worth ? std::optional(share_of_score(*worth)) : std::nullopt,
                metric.score.has_value());
    }
  }
}

std::vector<PairedCase> RunArmsFold::pairs_of(const ComparedMean& metric, std::size_t first,
                                              std::size_t second) const {
  const auto& by_arm = scores_.at(metric).by_arm;
  std::vector<PairedCase> pairs(std::max(by_arm[first].size(), by_arm[second].size()));
  for (std::size_t test = 0; test < pairs.size(); ++test) {
    if (test < by_arm[first].size()) pairs[test].base = by_arm[first][test];
    if (test < by_arm[second].size()) pairs[test].current = by_arm[second][test];
    pairs[test].cluster = category_of_[test];
    if (test < answers_of_[first].size()) pairs[test].base_answers = answers_of_[first][test];
    if (test < answers_of_[second].size()) pairs[test].current_answers = answers_of_[second][test];
  }
  // A test without the metric is none that lacks it.
  std::erase_if(pairs, [](const PairedCase& one) { return one.base.repeats + one.current.repeats == 0; });
  return pairs;
}

// Every pair and metric at once: Holm's correction is over all that is said of the run's arms.
void RunArmsFold::compare_pairs(RunArms& result) const {
  std::vector<PairedComparison> comparisons;
  for (std::size_t first = 0; first < arms_.size(); ++first) {
    for (std::size_t second = first + 1; second < arms_.size(); ++second) {
      if (rules_.baseline && *rules_.baseline != first && *rules_.baseline != second) continue;
      // What is held against the baseline's arm is said of the other one.
      const bool is_second_base = rules_.baseline == second;
      ArmPair& pair = result.pairs.emplace_back(
          ArmPair{is_second_base ? second : first, is_second_base ? first : second, {}});
      for (const auto& [metric, scores] : scores_) {
        if (!scores.any_score) continue;
        const PairedSample sample = pair_cases(pairs_of(metric, pair.first, pair.second), rules_.by_category);
        ArmMetricComparison& one = pair.metrics.emplace_back();
        one.metric = metric;
        // One seed for all: equal differences come to equal numbers, in whichever pair they are.
        one.comparison = compare_paired(sample, {}, rules_.seed);
        BootstrapRules display;
        display.confidence = rules_.confidence;
        one.intervals = bootstrap_intervals(sample, display, rules_.seed);
        comparisons.push_back(one.comparison);
      }
    }
  }
  const auto decisions = assess_changes(comparisons, result.rules);
  auto decision = decisions.begin();
  for (ArmPair& pair : result.pairs) {
    for (ArmMetricComparison& one : pair.metrics) {
      one.decision = *decision++;
      one.verdict = verdict_of(one.comparison, one.decision, result.rules);
    }
  }
}

RunArms RunArmsFold::finish(const RunPrice& price) {
  for (std::size_t i = 0; i < arms_.size(); ++i) {
    ArmSummary& arm = arms_[i];
    arm.called = latencies_[i].size();
    arm.latency_p50 = percentile(latencies_[i], 0.50);
    arm.latency_p95 = percentile(latencies_[i], 0.95);
    if (price && arm.unknown_usages == 0) arm.estimated_cost = price(PaidByArm(arm.usage, i));
    for (const auto& [metric, scores] : scores_) {
      if (scores.by_arm[i].empty()) continue;
      arm.means.emplace(metric, scores.any_score ? mean_of(scores.by_arm[i]) : std::nullopt);
    }
  }
  RunArms result;
  result.counts_silence = std::ranges::any_of(
      scores_, [](const auto& one) { return one.second.any_score && one.second.any_silence; });
  result.confidence = rules_.confidence;
  // Two directions, either of which would tell two equal arms apart.
  result.rules.confidence = 1.0 - (1.0 - rules_.confidence) / 2.0;
  result.rules.min_effect = rules_.min_effect;
  result.rules.both_directions = true;
  compare_pairs(result);
  result.arms = std::move(arms_);
  result.tests = tests_;
  result.differing = differing_;
  result.differing_by_errors = differing_by_errors_;
  result.differences = std::move(differences_);
  return result;
}

}  // namespace sluice
