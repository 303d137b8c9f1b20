#include "coordinator/statistics/stability.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/statistics/holm.hpp"
#include "coordinator/statistics/label_tail.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

namespace sluice {
namespace {

/// How often each distinct answer of a case was given.
class AnswerCounts {
 public:
  explicit AnswerCounts(const CaseAnswers& answers)
      : repeats_(static_cast<std::uint32_t>(answers.unperturbed.size())) {
    names_.assign(answers.unperturbed.begin(), answers.unperturbed.end());
    for (const PerturbedAnswer& perturbed : answers.perturbed) names_.push_back(perturbed.answer);
    std::sort(names_.begin(), names_.end());
    names_.erase(std::unique(names_.begin(), names_.end()), names_.end());
    unperturbed_.resize(names_.size());
    for (const std::uint32_t answer : answers.unperturbed) ++unperturbed_[index_of(answer)];
  }

  std::uint32_t repeats() const { return repeats_; }

  /// Pairs of identical unperturbed answers.
  double equal_pairs() const {
    double pairs = 0.0;
    for (const std::uint32_t count : unperturbed_) pairs += 0.5 * count * (count - 1.0);
    return pairs;
  }
  double all_pairs() const { return 0.5 * repeats_ * (repeats_ - 1.0); }

  /// Of these perturbed answers: how many are identical to the unperturbed one, shared out over its repeats.
  double identical(std::span<const PerturbedAnswer> perturbed) const {
    std::uint64_t pairs = 0;
    for (const PerturbedAnswer& one : perturbed) pairs += unperturbed_[index_of(one.answer)];
    return static_cast<double>(pairs) / static_cast<double>(repeats_);
  }

  /// The pattern that these perturbed answers form with the unperturbed ones, and its excess. REQUIRES: two
  /// repeats, one perturbed answer.
  std::pair<AnswerPattern, std::int64_t> pattern(std::span<const PerturbedAnswer> perturbed) const {
    std::vector<std::uint32_t> sizes = unperturbed_;
    for (const PerturbedAnswer& one : perturbed) ++sizes[index_of(one.answer)];
    AnswerPattern pattern{repeats_, static_cast<std::uint32_t>(perturbed.size()), {}};
    const AgreementExcess scale(pattern.unperturbed, pattern.perturbed);
    std::int64_t excess = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      excess += scale.of_class(unperturbed_[i], sizes[i]);
      if (sizes[i] > 0) pattern.class_sizes.push_back(sizes[i]);
    }
    std::sort(pattern.class_sizes.begin(), pattern.class_sizes.end(), std::greater<>());
    return {std::move(pattern), excess};
  }

 private:
  std::size_t index_of(std::uint32_t answer) const {
    return static_cast<std::size_t>(std::lower_bound(names_.begin(), names_.end(), answer) - names_.begin());
  }

  std::uint32_t repeats_;
  std::vector<std::uint32_t> names_;        ///< The distinct answers, ascending.
  std::vector<std::uint32_t> unperturbed_;  ///< How many repeats gave each.
};

/// Calls `visit` for all answers of each perturbation.
void visit_perturbations(std::span<const PerturbedAnswer> answers,
                         const std::function<void(std::span<const PerturbedAnswer>)>& visit) {
  std::vector<PerturbedAnswer> all(answers.begin(), answers.end());
  std::sort(all.begin(), all.end(),
            [](const auto& a, const auto& b) { return a.perturbation < b.perturbation; });
  const std::span<const PerturbedAnswer> sorted = all;
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    while (end < sorted.size() && sorted[end].perturbation == sorted[begin].perturbation) ++end;
    visit(sorted.subspan(begin, end - begin));
    begin = end;
  }
}

}  // namespace

std::vector<PerturbedAnswer> one_of_each_unit(std::span<const PerturbedAnswer> answers) {
  std::vector<PerturbedAnswer> units(answers.begin(), answers.end());
  std::ranges::sort(units, {}, &PerturbedAnswer::unit);
  const auto is_shared = [](const PerturbedAnswer& a, const PerturbedAnswer& b) {
    return a.unit == b.unit && a.unit != PerturbedAnswer::own_unit;
  };
  units.erase(std::unique(units.begin(), units.end(), is_shared), units.end());
  return units;
}

Interval CaseStability::interval(double confidence) const {
  return stability ? wilson_interval(*stability, 1.0, confidence) : Interval{};
}

void StabilityFold::Shares::add_stability(double identical, double answers, SharesCluster& of) {
  ++cases;
  stability.grow(of.stability, identical, answers);
}

StabilityFigures StabilityFold::Shares::figures(double confidence) const {
  StabilityFigures figures;
  figures.cases = cases;
  figures.answers = static_cast<std::uint64_t>(stability.trials());
  figures.stability = stability.proportion();
  figures.interval = stability.interval(confidence);
  figures.floor = floor.proportion();
  figures.floor_interval = floor.interval(confidence);
  return figures;
}

void StabilityFold::test_case(AnswerPattern pattern, std::int64_t excess) {
  CaseStability& result = cases_.back();
  if (pattern.is_uniform()) {
    result.p = 1.0;
    return;
  }
  if (pattern.states_at_most() > static_cast<double>(rules_.case_states)) {
    costly_.push_back({std::move(pattern), excess, cases_.size() - 1});
    return;
  }
  auto found = labels_.find(pattern);
  if (found == labels_.end()) {
    if (labels_.size() >= defaults::statistics::max_kept_patterns) labels_.clear();
    constexpr auto any_states = std::numeric_limits<std::uint64_t>::max();
    found = labels_.emplace(pattern, LabelPermutation(pattern, any_states)).first;
  }
  result.p = found->second.upper_tail(excess);
}

void StabilityFold::test_costly_cases() {
  // Cantelli's bound of T one and a half standard deviations above its mean. What deviates less cannot be
  // significant, and is most of what noise alone makes: the bound will do.
  constexpr double worth_counting = 1.0 / (1.0 + 1.5 * 1.5);
  // Equal cases share one test; in an order of their own, so that nothing depends on that of `add`.
  std::ranges::sort(costly_);
  std::uint64_t tests = 0;
  for (std::size_t i = 0; i < costly_.size(); ++i) {
    CaseStability& result = cases_[costly_[i].index];
    result.p = upper_tail_bound(costly_[i].pattern, costly_[i].excess);
    result.p_is_bound = *result.p <= worth_counting;
    tests += result.p_is_bound && (i == 0 || !costly_[i].has_test_of(costly_[i - 1]));
  }
  for (std::size_t i = 0; i < costly_.size(); ++i) {
    CaseStability& result = cases_[costly_[i].index];
    if (i > 0 && costly_[i].has_test_of(costly_[i - 1])) {
      const CaseStability& equal = cases_[costly_[i - 1].index];
      result.p = equal.p;
      result.p_is_bound = equal.p_is_bound;
    } else if (result.p_is_bound) {
      const auto p = exact_upper_tail(costly_[i].pattern, costly_[i].excess, rules_.tail_states / tests).p;
      if (p) result.p = p;
      result.p_is_bound = !p;
    }
  }
}

void StabilityFold::add(const CaseAnswers& answers) {
  CaseStability& result = cases_.emplace_back();
  result.repeats = static_cast<std::uint32_t>(answers.unperturbed.size());
  result.answers = static_cast<std::uint32_t>(answers.perturbed.size());
  if (answers.unperturbed.empty()) return;
  const AnswerCounts counts(answers);
  const bool floor_known = counts.repeats() >= 2;
  const bool is_shared = answers.shared_by != PerturbedAnswer::own_unit;
  SharedCase alone;
  SharedCase& part_of = is_shared ? shared_[answers.shared_by] : alone;
  Shares& category = categories_[answers.category];
  SharesCluster& part_of_category = part_of.categories[answers.category];
  if (floor_known) {
    result.floor = counts.equal_pairs() / counts.all_pairs();
    all_.add_floor(counts.equal_pairs(), counts.all_pairs(), part_of.all);
    category.add_floor(counts.equal_pairs(), counts.all_pairs(), part_of_category);
  }
  if (answers.perturbed.empty()) return;

  const double identical = counts.identical(answers.perturbed);
  const double trials = static_cast<double>(answers.perturbed.size());
  result.stability = identical / trials;
  all_.add_stability(identical, trials, part_of.all);
  category.add_stability(identical, trials, part_of_category);
  const std::vector<PerturbedAnswer> units = one_of_each_unit(answers.perturbed);
  result.units = static_cast<std::uint32_t>(units.size());
  if (floor_known) {
    auto [pattern, excess] = counts.pattern(units);
    test_case(std::move(pattern), excess);
  }

  visit_perturbations(answers.perturbed, [&](std::span<const PerturbedAnswer> group) {
    PerturbationSums& sums = perturbations_[group.front().perturbation];
    SharesCluster& cluster = part_of.perturbations[group.front().perturbation];
    sums.shares.add_stability(counts.identical(group), static_cast<double>(group.size()), cluster);
    if (!floor_known) return;
    sums.shares.add_floor(counts.equal_pairs(), counts.all_pairs(), cluster);
    sums.floor_known = true;
    if (is_shared) return;
    const auto [pattern, excess] = counts.pattern(group);
    sums.test.add(pattern, excess);
  });
}

void StabilityFold::test_shared(const CaseAnswers& as_one) {
  if (as_one.unperturbed.size() < 2) return;
  const AnswerCounts counts(as_one);
  visit_perturbations(as_one.perturbed, [&](std::span<const PerturbedAnswer> group) {
    const auto [pattern, excess] = counts.pattern(group);
    perturbations_[group.front().perturbation].test.add(pattern, excess);
  });
}

void StabilityFold::assess_cases() {
  std::vector<double> p_values;
  for (const CaseStability& one : cases_) {
    if (one.p) p_values.push_back(*one.p);
  }
  const std::vector<double> adjusted = holm_adjusted(p_values);
  auto next = adjusted.begin();
  for (CaseStability& one : cases_) {
    if (!one.p) continue;
    one.adjusted_p = *next++;
    one.unstable = *one.adjusted_p <= 1.0 - rules_.confidence + 1e-12;
  }
}

StabilityAnalysis StabilityFold::finish() {
  StabilityAnalysis analysis;
  analysis.all = all_.figures(rules_.confidence);
  for (const auto& [category, shares] : categories_) {
    analysis.categories.emplace(category, shares.figures(rules_.confidence));
  }
  std::vector<double> p_values;
  for (const auto& [number, sums] : perturbations_) {
    PerturbationStability& one = analysis.perturbations.emplace_back();
    one.perturbation = number;
    one.figures = sums.shares.figures(rules_.confidence);
    if (!sums.floor_known) continue;
    const InstabilityResult result =
        sums.test.finish(rules_.limits, RandomStream(rules_.seed, number).next());
    one.method = result.method;
    one.p = result.p;
    p_values.push_back(result.p);
  }
  const std::vector<double> adjusted = holm_adjusted(p_values);
  auto next = adjusted.begin();
  for (PerturbationStability& one : analysis.perturbations) {
    if (!one.p) continue;
    one.adjusted_p = *next++;
    one.unstable = *one.adjusted_p <= 1.0 - rules_.confidence + 1e-12;
  }
  test_costly_cases();
  assess_cases();
  analysis.cases = std::move(cases_);
  return analysis;
}

}  // namespace sluice
