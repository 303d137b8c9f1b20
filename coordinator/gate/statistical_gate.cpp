#include "coordinator/gate/statistical_gate.hpp"

#include "common/leading_bits.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/quoted.hpp"
#include "coordinator/statistics/random_stream.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace sluice {
namespace {

RepeatSum sum_of(std::span<const double> scores) {
  RepeatSum sum;
  for (const double score : scores) sum.add(share_of_score(score));
  return sum;
}

/// The mean over a case's repeats; empty without any.
std::optional<double> mean_of(const RepeatSum& sum) {
  if (sum.denominator == 0) return std::nullopt;
  return static_cast<double>(sum.numerator) / static_cast<double>(sum.denominator);
}

/// The scores themselves, or the one beside them where there were no repeats.
std::span<const double> repeats_of(std::span<const double> repeats, const double& score) {
  return repeats.empty() ? std::span(&score, 1) : repeats;
}

bool fell_further(const CaseDrop& a, const CaseDrop& b) {
  const std::int64_t a_drop = billionths(a.drop());
  const std::int64_t b_drop = billionths(b.drop());
  return a_drop != b_drop ? a_drop > b_drop : a.test_id < b.test_id;
}

}  // namespace

void LargestDrops::add(std::string_view test_id, double base, double current) {
  CaseDrop fallen{std::string(test_id), from_billionths(billionths(base)),
                  from_billionths(billionths(current))};
  if (billionths(fallen.drop()) <= 0) return;
  ++count_;
  kept_.insert(std::ranges::upper_bound(kept_, fallen, fell_further), std::move(fallen));
  if (kept_.size() > defaults::kept_drops) kept_.pop_back();
}

std::optional<GateNotice> nothing_to_compare_notice(const Thresholding& suite,
                                                    std::span<const MetricId> metrics,
                                                    const Baseline& baseline, bool strict) {
  const bool has_scores =
      std::ranges::any_of(metrics, [](MetricId metric) { return info(metric).kind == MetricKind::scored; });
  if (suite.mode != ThresholdMode::statistical || has_scores || baseline.pins(passed_name))
    return std::nullopt;
  return GateNotice{
      warning_under(strict), "nothing_to_compare",
      "`thresholding.mode: statistical` compares scores, and how often tests pass in several repeats; no "
      "test of this suite has a score, and the baseline was made without repeats: write it anew with "
      "--repeat 3 or more, or take the mode out (each check that broke fails its test in any case)."};
}

std::optional<GateNotice> nothing_paired_notice(const StatisticalAssessment& assessment, std::uint64_t errors,
                                                bool strict) {
  if (!assessment.metrics.empty() || errors > 0) return std::nullopt;
  return GateNotice{warning_under(strict), "nothing_to_compare",
                    "`thresholding.mode: statistical` compared nothing: no case has a score now and in the "
                    "baseline that is "
                    "tested, which those of known failures and of tests with a mode of their own are not; "
                    "take the mode out, or give it scores to compare."};
}

std::uint64_t StatisticalAssessment::regressions() const {
  return static_cast<std::uint64_t>(std::ranges::count_if(metrics, [](const StatisticalMetric& one) {
    return one.decision.decision == ChangeDecision::regression && !one.fails_nothing;
  }));
}

std::uint64_t StatisticalAssessment::spared_regressions() const {
  return static_cast<std::uint64_t>(std::ranges::count_if(metrics, [](const StatisticalMetric& one) {
    return one.decision.decision == ChangeDecision::regression && one.fails_nothing;
  }));
}

namespace {

std::optional<BaselineEntry> find_entry(const Baseline& baseline, Baseline::Range range,
                                        const AssessedMetric& metric) {
  for (std::size_t i = range.first; i < range.last; ++i) {
    const BaselineEntry entry = baseline.entry(i);
    if (is_text_of_score(entry.metric, metric.id, metric.name)) return entry;
  }
  return std::nullopt;
}

/// As many checks as the baseline pins of the test, each of them pinned. With others, what passes is another
/// quantity.
bool makes_pinned_checks(std::span<const AssessedMetric> metrics, const Baseline& baseline,
                         Baseline::Range range) {
  std::size_t pinned = 0;
  for (std::size_t i = range.first; i < range.last; ++i) {
    const BaselineEntry entry = baseline.entry(i);
    if (entry.kind == PinKind::checks) pinned += std::max<std::size_t>(entry.scores.size(), 1);
  }
  const auto is_pinned = [](const AssessedMetric& one) { return one.is_check() && one.baseline_passed; };
  return static_cast<std::size_t>(std::ranges::count_if(metrics, &AssessedMetric::is_check)) == pinned &&
         static_cast<std::size_t>(std::ranges::count_if(metrics, is_pinned)) == pinned;
}

}  // namespace

StatisticalGate::StatisticalGate(const Config& config) : baseline_(config.baseline), arms_(config.arms) {
  is_asked_for_ = config.suite.mode == ThresholdMode::statistical;
  const double usual =
      is_asked_for_ ? defaults::statistics::confidence : defaults::statistics::unasked_confidence;
  result_.rules.confidence = config.suite.confidence.value_or(usual);
  // The largest drop that a run allows is one of scores; a report must judge as its run did.
  const double usual_effect = is_asked_for_ ? config.default_min_effect : defaults::min_effect;
  result_.rules.min_effect = config.suite.min_effect.value_or(usual_effect);
  result_.by_category = config.suite.cluster_by_category;
  result_.seed = config.seed;
}

void StatisticalGate::add(const Case& test_case, const CaseAssessment& assessment, std::uint32_t answers) {
  if (test_case.known_failure) return;
  const Baseline::Range range = baseline_->of_test(test_case.id);
  add_passes(test_case, assessment, range, answers);
  for (const AssessedMetric& metric : assessment.metrics) {
    if (!metric.is_left_to_tests) continue;
    ScorePair pair;
    pair.test_id = test_case.id;
    pair.category = test_case.category;
    pair.mean = metric.score_id();
    pair.became_undefined = metric.became_undefined();
    pair.fails_nothing = metric.fails_nothing;
    pair.arm = test_case.arm;
    pair.answers = answers;
    const std::optional<double> worth = metric.worth();
    if (worth) pair.current = repeats_of(metric.repeat_scores, *worth);
    const auto entry = find_entry(*baseline_, range, metric);
    if (!entry) continue;
    pair.base = repeats_of(entry->scores, entry->score);
    add(pair);
  }
}

void StatisticalGate::add_passes(const Case& test_case, const CaseAssessment& assessment,
                                 Baseline::Range pinned, std::uint32_t answers) {
  const ComparedPasses passes = compared_passes(baseline_->passes(pinned, passed_ever),
                                                passes_of_checks(assessment.metrics), assessment.metrics);
  if (passes.base.empty() || passes.current.empty()) return;
  if (!makes_pinned_checks(assessment.metrics, *baseline_, pinned)) return;
  ScorePair pair;
  pair.test_id = test_case.id;
  pair.category = test_case.category;
  pair.arm = test_case.arm;
  pair.answers = answers;
  pair.base = passes.base;
  pair.current = passes.current;
  add(pair);
}

void StatisticalGate::add(const ScorePair& pair) {
  // Where no arms are known there is one.
  Pairs& pairs = pairs_[{arms_.empty() ? 0 : pair.arm, pair.mean}];
  PairedCase& paired = pairs.cases.emplace_back();
  paired.base = sum_of(pair.base);
  paired.current = sum_of(pair.current);
  const auto next = static_cast<std::uint32_t>(categories_.size());
  paired.cluster = categories_.try_emplace(std::string(pair.category), next).first->second;
  paired.current_answers = pair.answers;
  const auto base = mean_of(paired.base);
  const auto current = mean_of(paired.current);
  if (base && current) pairs.drops.add(pair.test_id, *base, *current);
  if (pair.current.empty()) pairs.left_out.add(pair.test_id, name_of(pair.mean));
  pairs.fails_nothing = pairs.fails_nothing || pair.fails_nothing;
  if (pair.became_undefined) pairs.became_undefined.add(pair.test_id, name_of(pair.mean));
}

/// Another one for each mean. Arms with equal answers come to equal numbers.
std::uint64_t StatisticalGate::seed_of(const ComparedMean& mean) const {
  const std::uint64_t stream =
      mean ? static_cast<std::uint64_t>(mean->metric) : std::numeric_limits<std::uint64_t>::max();
  std::uint64_t seed = RandomStream(result_.seed, stream).next();
  if (mean && !mean->name.empty()) seed = RandomStream(seed, leading_bits(sha256(mean->name))).next();
  return seed;
}

StatisticalAssessment StatisticalGate::finish() const {
  StatisticalAssessment assessment = result_;
  std::vector<PairedComparison> comparisons;
  for (const auto& [tested, pairs] : pairs_) {
    const std::uint64_t seed = seed_of(tested.second);
    const PairedSample sample = pair_cases(pairs.cases, assessment.by_category);
    StatisticalMetric& one = assessment.metrics.emplace_back();
    one.mean = tested.second;
    if (!arms_.empty()) one.arm = arms_.at(tested.first);
    one.comparison = compare_paired(sample, {}, seed);
    BootstrapRules display;
    display.confidence = assessment.rules.confidence;
    // They take longest, and what nobody asked for is mostly not shown.
    if (is_asked_for_ || one.comparison.test.p.drop <= 1.0 - assessment.rules.confidence)
      one.intervals = bootstrap_intervals(sample, display, seed);
    one.left_out = pairs.left_out;
    one.became_undefined = pairs.became_undefined;
    one.drops = pairs.drops;
    one.fails_nothing = pairs.fails_nothing;
    comparisons.push_back(one.comparison);
  }
  auto decisions = assess_changes(comparisons, assessment.rules);
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    StatisticalMetric& one = assessment.metrics[i];
    const bool is_clear = decisions[i].decision == ChangeDecision::no_regression;
    if (is_clear && one.became_undefined.count() > 0) decisions[i].decision = ChangeDecision::underpowered;
    one.decision = decisions[i];
  }
  assessment.decision = overall_decision(decisions);
  return assessment;
}

std::optional<StatisticalAssessment> StatisticalGate::outcome() const {
  auto assessment = finish();
  if (!is_asked_for_ && assessment.regressions() == 0) return std::nullopt;
  // Of the other arms nobody asked.
  if (!is_asked_for_ && !arms_.empty()) {
    std::erase_if(assessment.metrics, [](const StatisticalMetric& one) {
      return one.decision.decision != ChangeDecision::regression;
    });
  }
  return assessment;
}

std::optional<GateNotice> StatisticalGate::too_few_tests_notice(std::uint64_t regressed) const {
  if (is_asked_for_ || regressed > 0) return std::nullopt;
  std::uint64_t fell = 0;
  std::uint64_t tests = 0;
  bool are_shared = false;
  const std::uint32_t fewest = fewest_significant(result_.rules.confidence);
  // Of each arm by itself, as they are tested.
  for (const auto& [tested, pairs] : pairs_) {
    const PairedSample sample = pair_cases(pairs.cases, result_.by_category);
    if (sample.units.size() >= fewest) continue;
    are_shared = are_shared || sample.units.size() < sample.pairs;
    fell += pairs.drops.count();
    tests += pairs.cases.size();
  }
  if (fell == 0) return std::nullopt;
  return GateNotice{
      GateNotice::Severity::info, "passed_too_few",
      std::to_string(fell) + " of " + std::to_string(tests) +
          " tests passed less often than in the baseline, and fewer than " + std::to_string(fewest) +
          (result_.by_category ? " categories"
           : are_shared        ? " separately asked tests"
                               : " tests") +
          " cannot be significant at a confidence of " + shortest(result_.rules.confidence) +
          ": this suite fails only by a test that fails in most of its repeats; add tests, or say "
          "`thresholding: {mode: statistical}`, for which five are enough."};
}

std::optional<GateNotice> StatisticalGate::undecided_arms_notice(std::uint64_t regressed) const {
  if (is_asked_for_ || regressed > 0 || pairs_.size() < 2) return std::nullopt;
  const StatisticalAssessment assessment = finish();
  if (assessment.regressions() > 0) return std::nullopt;
  std::vector<std::string> arms;
  for (const StatisticalMetric& one : assessment.metrics) {
    const auto alone = assess_changes({&one.comparison, 1}, assessment.rules);
    if (alone[0].decision == ChangeDecision::regression) arms.push_back(backquoted(one.arm));
  }
  if (arms.empty()) return std::nullopt;
  const std::size_t named = std::min<std::size_t>(arms.size(), 3);
  std::string names = arms[0];
  for (std::size_t i = 1; i < named; ++i) names += ", " + arms[i];
  if (named < arms.size()) names += " and " + std::to_string(arms.size() - named) + " more";
  return GateNotice{
      GateNotice::Severity::info, "passed_undecided",
      "the tests of " + std::string(arms.size() == 1 ? "an arm (" : "some arms (") + names +
          ") passed less often than in the baseline: by itself a regression at a confidence of " +
          shortest(assessment.rules.confidence) + ", but none among " + std::to_string(pairs_.size()) +
          " comparisons (Holm's correction); add tests, or say `thresholding: {mode: statistical}`, whose "
          "confidence is " +
          shortest(defaults::statistics::confidence) + "."};
}

}  // namespace sluice
