#include "coordinator/statistics/paired_sample.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
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

bool has_both_sides(const PairedCase& pair) {
  return pair.base.repeats > 0 && pair.current.repeats > 0;
}

/// Which cases belong together: by cluster if that is asked for, and those of the same answers.
class Clusters {
 public:
  Clusters(std::span<const PairedCase> cases, bool clustered) : first_(cases.size()) {
    std::iota(first_.begin(), first_.end(), 0u);
    std::vector<Member> members;
    members.reserve(2 * cases.size());
    for (std::uint32_t i = 0; clustered && i < cases.size(); ++i) members.emplace_back(cases[i].cluster, i);
    unite(members);
    members.clear();
    for (std::uint32_t i = 0; i < cases.size(); ++i) {
      for (const std::uint32_t answers : {cases[i].base_answers, cases[i].current_answers}) {
        const bool counts = answers != PairedCase::own_answers && has_both_sides(cases[i]);
        if (counts) members.emplace_back(answers, i);
      }
    }
    unite(members);
  }

  /// The first case of those that belong together.
  std::uint32_t first_beside(std::size_t index) {
    auto at = static_cast<std::uint32_t>(index);
    while (first_[at] != at) at = first_[at] = first_[first_[at]];
    return at;
  }

 private:
  using Member = std::pair<std::uint32_t, std::uint32_t>;  ///< What it has in common, and a case.

  void unite(std::vector<Member>& members) {
    std::ranges::sort(members);
    for (std::size_t i = 1; i < members.size(); ++i) {
      if (members[i].first != members[i - 1].first) continue;
      const auto [first, second] =
          std::minmax({first_beside(members[i].second), first_beside(members[i - 1].second)});
      first_[second] = first;
    }
  }

  std::vector<std::uint32_t> first_;
};

bool knows_answers(const PairedCase& pair) {
  return pair.base_answers != PairedCase::own_answers || pair.current_answers != PairedCase::own_answers;
}

/// Equal for cases of which each answer is the same.
auto answers_key(const PairedCase& pair) {
  return std::tuple{pair.current_answers, pair.base_answers, pair.base.repeats, pair.current.repeats};
}

/// Cases with both sides: those that share answers beside one another, those of which nothing is known as
/// they are given.
std::vector<std::uint32_t> by_answers(std::span<const PairedCase> cases) {
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < cases.size(); ++i) {
    if (has_both_sides(cases[i])) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
    if (!knows_answers(cases[a]) || !knows_answers(cases[b]))
      return knows_answers(cases[b]) && !knows_answers(cases[a]);
    return answers_key(cases[a]) < answers_key(cases[b]);
  });
  return order;
}

std::vector<CaseRepeats> all_repeats(std::span<const PairedCase> cases, Clusters& clusters) {
  std::vector<CaseRepeats> all;
  const PairedCase* last = nullptr;
  for (const std::uint32_t i : by_answers(cases)) {
    CaseRepeats repeats = repeats_of(cases[i]);
    if (last != nullptr && knows_answers(cases[i]) && answers_key(*last) == answers_key(cases[i])) {
      for (std::size_t n = 0; n < repeats.answers.size(); ++n) {
        all.back().answers[n].numerator += repeats.answers[n].numerator;
        all.back().answers[n].denominator += repeats.answers[n].denominator;
      }
    } else {
      repeats.unit = clusters.first_beside(i);
      all.push_back(std::move(repeats));
    }
    last = &cases[i];
  }
  return all;
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
  Clusters clusters(cases, clustered);
  std::vector<std::pair<std::uint32_t, SwapUnit>> units;
  units.reserve(cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const PairedCase& pair = cases[i];
    if (!has_both_sides(pair)) {
      ++sample.left_out;
      continue;
    }
    sample.equal_repeats = sample.equal_repeats && pair.base.repeats == pair.current.repeats;
    units.emplace_back(clusters.first_beside(i), unit_of(pair));
    if (!is_single_pass_fail(pair.base) || !is_single_pass_fail(pair.current))
      sample.single_pass_fail = false;
    if (pair.base.numerator > pair.current.numerator) ++sample.lost;
    if (pair.base.numerator < pair.current.numerator) ++sample.gained;
  }
  sample.pairs = units.size();
  if (!sample.equal_repeats) sample.repeats = all_repeats(cases, clusters);
  std::sort(units.begin(), units.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  sample.units = merged_by_cluster(units);
  sample.clustered = clustered || sample.units.size() < sample.pairs;
  std::sort(sample.units.begin(), sample.units.end(),
            [](const SwapUnit& a, const SwapUnit& b) { return order_of(a) < order_of(b); });
  for (const SwapUnit& unit : sample.units) {
    sample.totals.add(unit);
    if (unit.changed()) ++sample.changed_units;
  }
  return sample;
}

}  // namespace sluice
