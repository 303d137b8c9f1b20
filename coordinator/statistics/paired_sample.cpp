#include "coordinator/statistics/paired_sample.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <tuple>
#include <utility>

namespace sluice {
namespace {

constexpr std::int64_t billion = 1'000'000'000;

std::int64_t in_billionths(std::uint64_t count) {
  return static_cast<std::int64_t>(count) * billion;
}

std::optional<double> ratio(std::int64_t numerator, std::int64_t denominator) {
  if (denominator == 0) return std::nullopt;
  return static_cast<double>(numerator) / static_cast<double>(denominator);
}

/// sum / repeats, to the nearest whole number.
std::int64_t mean_of(std::int64_t sum, std::uint32_t repeats) {
  const auto count = static_cast<std::int64_t>(repeats);
  return (sum + count / 2) / count;
}

/// A score is off by half a billionth at most, and so is a mean: two means of the same may be two apart.
void level_rounding(std::int64_t& a, std::int64_t& b) {
  constexpr std::int64_t rounding = 2;
  if (std::abs(a - b) <= rounding) a = b = std::min(a, b);
}

SwapUnit unit_of(const PairedCase& pair) {
  SwapUnit unit{mean_of(pair.base.numerator, pair.base.repeats),
                mean_of(pair.base.denominator, pair.base.repeats),
                mean_of(pair.current.numerator, pair.current.repeats),
                mean_of(pair.current.denominator, pair.current.repeats)};
  level_rounding(unit.base_numerator, unit.current_numerator);
  level_rounding(unit.base_denominator, unit.current_denominator);
  return unit;
}

CaseRepeats repeats_of(const PairedCase& pair) {
  CaseRepeats repeats;
  repeats.base = pair.base.repeats;
  repeats.answers.reserve(pair.base.repeats + pair.current.repeats);
  pair.base.append_to(repeats.answers);
  pair.current.append_to(repeats.answers);
  return repeats;
}

bool is_single_pass_fail(const RepeatSum& side) {
  return side.repeats == 1 && side.denominator == billion &&
         (side.numerator == 0 || side.numerator == billion);
}

/// The two sides as an unordered pair first, so that swapping base and current leaves the order alone.
auto order_of(const SwapUnit& unit) {
  const std::pair base{unit.base_numerator, unit.base_denominator};
  const std::pair current{unit.current_numerator, unit.current_denominator};
  return std::tuple{std::min(base, current), std::max(base, current), base};
}

/// Sums neighbours of the same cluster. REQUIRES: sorted by cluster.
std::vector<SwapUnit> merged_by_cluster(const std::vector<std::pair<std::uint32_t, SwapUnit>>& units) {
  std::vector<SwapUnit> merged;
  for (std::size_t i = 0; i < units.size(); ++i) {
    if (i == 0 || units[i].first != units[i - 1].first) merged.emplace_back();
    SwapSums sums{merged.back()};
    sums.add(units[i].second);
    merged.back() = sums.sums;
  }
  return merged;
}

}  // namespace

MetricShare share_of_score(double score) {
  return {std::llround(score * 1e9), billion};
}

MetricShare share_of_pass(bool passed) {
  return {passed ? billion : 0, billion};
}

MetricShare share_of_precision(std::uint64_t true_positives, std::uint64_t false_positives) {
  return {in_billionths(true_positives), in_billionths(true_positives + false_positives)};
}

MetricShare share_of_recall(std::uint64_t true_positives, std::uint64_t false_negatives) {
  return {in_billionths(true_positives), in_billionths(true_positives + false_negatives)};
}

MetricShare share_of_f1(std::uint64_t true_positives, std::uint64_t false_positives,
                        std::uint64_t false_negatives) {
  return {in_billionths(2 * true_positives),
          in_billionths(2 * true_positives + false_positives + false_negatives)};
}

void RepeatSum::add(const MetricShare& share) {
  if (repeats == 1) several.push_back({numerator, denominator});
  if (repeats >= 1) several.push_back(share);
  numerator += share.numerator;
  denominator += share.denominator;
  ++repeats;
}

void RepeatSum::append_to(std::vector<MetricShare>& answers) const {
  if (repeats == 1) answers.push_back({numerator, denominator});
  answers.insert(answers.end(), several.begin(), several.end());
}

void SwapSums::add(const SwapUnit& unit) {
  sums.base_numerator += unit.base_numerator;
  sums.base_denominator += unit.base_denominator;
  sums.current_numerator += unit.current_numerator;
  sums.current_denominator += unit.current_denominator;
}

void SwapSums::subtract(const SwapUnit& unit) {
  sums.base_numerator -= unit.base_numerator;
  sums.base_denominator -= unit.base_denominator;
  sums.current_numerator -= unit.current_numerator;
  sums.current_denominator -= unit.current_denominator;
}

std::optional<double> SwapSums::base() const {
  return ratio(sums.base_numerator, sums.base_denominator);
}

std::optional<double> SwapSums::current() const {
  return ratio(sums.current_numerator, sums.current_denominator);
}

std::optional<double> SwapSums::drop() const {
  const auto before = base();
  const auto now = current();
  if (!before || !now) return std::nullopt;
  // Over one denominator the difference is made of whole numbers: no rounding on the way.
  if (sums.base_denominator == sums.current_denominator) {
    return ratio(sums.base_numerator - sums.current_numerator, sums.base_denominator);
  }
  return *before - *now;
}

double PairedSample::effective_units() const {
  double sum = 0.0;
  double squares = 0.0;
  for (const SwapUnit& unit : units) {
    // In answers rather than billionths of one, whose squares would leave the whole numbers of a double.
    const double weight = 1e-9 * static_cast<double>(unit.base_denominator + unit.current_denominator);
    sum += weight;
    squares += weight * weight;
  }
  return squares > 0.0 ? sum * sum / squares : static_cast<double>(units.size());
}

std::vector<double> PairedSample::unit_drops() const {
  const SwapUnit& sums = totals.sums;
  const double drop = *totals.drop();
  const double before = *totals.base();
  const double now = *totals.current();
  const auto count = static_cast<double>(units.size());
  const double per_base = count / static_cast<double>(sums.base_denominator);
  const double per_current = count / static_cast<double>(sums.current_denominator);
  std::vector<double> drops;
  drops.reserve(units.size());
  for (const SwapUnit& unit : units) {
    const double base_influence =
        static_cast<double>(unit.base_numerator) - before * static_cast<double>(unit.base_denominator);
    const double current_influence =
        static_cast<double>(unit.current_numerator) - now * static_cast<double>(unit.current_denominator);
    drops.push_back(drop + base_influence * per_base - current_influence * per_current);
  }
  return drops;
}

PairedSample pair_cases(std::span<const PairedCase> cases, bool clustered) {
  PairedSample sample;
  sample.clustered = clustered;
  std::vector<std::pair<std::uint32_t, SwapUnit>> units;
  units.reserve(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const PairedCase& pair = cases[i];
    if (pair.base.repeats == 0 || pair.current.repeats == 0) {
      ++sample.left_out;
      continue;
    }
    sample.equal_repeats = sample.equal_repeats && pair.base.repeats == pair.current.repeats;
    units.emplace_back(pair.cluster, unit_of(pair));
    if (!is_single_pass_fail(pair.base) || !is_single_pass_fail(pair.current))
      sample.single_pass_fail = false;
    if (pair.base.numerator > pair.current.numerator) ++sample.lost;
    if (pair.base.numerator < pair.current.numerator) ++sample.gained;
  }
  sample.pairs = units.size();
  if (!sample.equal_repeats) {
    for (std::size_t i = 0; i < cases.size(); ++i) {
      if (cases[i].base.repeats == 0 || cases[i].current.repeats == 0) continue;
      sample.repeats.push_back(repeats_of(cases[i]));
      sample.repeats.back().unit = clustered ? cases[i].cluster : i;
    }
  }
  if (clustered) {
    std::sort(units.begin(), units.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    sample.units = merged_by_cluster(units);
  } else {
    sample.units.reserve(units.size());
    for (const auto& [cluster, unit] : units) sample.units.push_back(unit);
  }
  std::sort(sample.units.begin(), sample.units.end(),
            [](const SwapUnit& a, const SwapUnit& b) { return order_of(a) < order_of(b); });
  for (const SwapUnit& unit : sample.units) {
    sample.totals.add(unit);
    if (unit.changed()) ++sample.changed_units;
  }
  return sample;
}

}  // namespace sluice
