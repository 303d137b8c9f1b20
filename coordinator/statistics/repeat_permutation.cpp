#include "coordinator/statistics/repeat_permutation.hpp"

#include "coordinator/statistics/random_stream.hpp"
#include "coordinator/statistics/tail_bound.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

namespace sluice {
namespace {

auto key(const MetricShare& share) {
  return std::tuple(share.numerator, share.denominator);
}

bool is_before(const MetricShare& a, const MetricShare& b) {
  return key(a) < key(b);
}

bool is_uniform(const CaseRepeats& repeats) {
  return std::ranges::all_of(
      repeats.answers, [&](const MetricShare& share) { return key(share) == key(repeats.answers.front()); });
}

/// Of the side with fewer answers.
std::size_t fewer_of(const CaseRepeats& repeats) {
  return std::min(repeats.base, repeats.answers.size() - repeats.base);
}

MetricShare sum_of(std::span<const MetricShare> answers) {
  MetricShare sum;
  for (const MetricShare& share : answers) {
    sum.numerator += share.numerator;
    sum.denominator += share.denominator;
  }
  return sum;
}

/// Brings as many to the front, each choice equally likely, and adds them up.
MetricShare pick(std::vector<MetricShare>& answers, std::size_t count, RandomStream& random) {
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(answers[i], answers[i + random.below(static_cast<std::uint32_t>(answers.size() - i))]);
  }
  return sum_of(std::span(answers).first(count));
}

/// The base's numerator and denominator and the current ones of a unit: sums of means over repeats.
using UnitSums = std::array<double, 4>;

void add_mean(UnitSums& sums, bool is_base, const MetricShare& sum, std::size_t repeats) {
  const double scale = 1e-9 / static_cast<double>(repeats);
  const std::size_t at = is_base ? 0 : 2;
  sums[at] += scale * static_cast<double>(sum.numerator);
  sums[at + 1] += scale * static_cast<double>(sum.denominator);
}

/// Sums and sums of products over units: all that the drop and its standard error rest on.
struct Moments {
  UnitSums sums{};
  std::array<double, 10> products{};

  void add(const UnitSums& unit) {
    std::size_t at = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      sums[i] += unit[i];
      for (std::size_t j = i; j < 4; ++j) products[at++] += unit[i] * unit[j];
    }
  }

  bool is_defined() const { return sums[1] > 0.0 && sums[3] > 0.0; }
  double drop() const { return sums[0] / sums[1] - sums[2] / sums[3]; }

  /// The sum of squares of the units' influence on the drop, which is linear in their sums.
  double squares() const {
    const UnitSums weights{1.0 / sums[1], -sums[0] / (sums[1] * sums[1]), -1.0 / sums[3],
                           sums[2] / (sums[3] * sums[3])};
    double squares = 0.0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = i; j < 4; ++j) {
        squares += (i == j ? 1.0 : 2.0) * weights[i] * weights[j] * products[at++];
      }
    }
    return squares;
  }

  /// Drop over standard error, but for a factor that all labellings share.
  double studentised_drop() const {
    constexpr double certain = 1e9;  // Without any scatter every drop is.
    const double found = drop();
    if (std::abs(found) < rounding_of_drops) return 0.0;
    const double variance = squares();
    if (variance < 1e-15) return std::copysign(certain, found);
    return std::clamp(found / std::sqrt(variance), -certain, certain);
  }
};

/// Cases that scatter as one, and may change with the labels.
struct MovingUnit {
  struct Moving {
    CaseRepeats repeats;
    MetricShare sum;
  };
  std::vector<Moving> cases;
  UnitSums steady{};  ///< Of its cases whose answers are all the same.
};

/// Orders cases by their answers alone.
bool is_case_before(const CaseRepeats& a, const CaseRepeats& b) {
  if (a.base != b.base) return a.base < b.base;
  return std::ranges::lexicographical_compare(a.answers, b.answers, is_before);
}

bool is_unit_before(const MovingUnit& a, const MovingUnit& b) {
  if (a.steady != b.steady) return a.steady < b.steady;
  return std::ranges::lexicographical_compare(a.cases, b.cases, is_case_before, &MovingUnit::Moving::repeats,
                                              &MovingUnit::Moving::repeats);
}

class Labellings {
 public:
  /// Base and current change places if `is_mirrored`.
  Labellings(const PairedSample& sample, bool is_mirrored) {
    std::vector<CaseRepeats> cases = sample.repeats;
    for (CaseRepeats& one : cases) {
      if (is_mirrored) one.base = one.answers.size() - one.base;
      std::ranges::sort(one.answers, is_before);
    }
    std::ranges::sort(cases, [](const CaseRepeats& a, const CaseRepeats& b) {
      return a.unit != b.unit ? a.unit < b.unit : is_case_before(a, b);
    });
    for (std::size_t begin = 0; begin < cases.size();) {
      std::size_t end = begin + 1;
      while (end < cases.size() && cases[end].unit == cases[begin].unit) ++end;
      add_unit(std::span(cases).subspan(begin, end - begin));
      begin = end;
    }
    std::ranges::sort(moving_, is_unit_before);
  }

  Moments draw(RandomStream& random) {
    Moments moments = steady_;
    for (MovingUnit& unit : moving_) {
      UnitSums sums = unit.steady;
      for (auto& [repeats, sum] : unit.cases) {
        const std::size_t picked = fewer_of(repeats);
        const MetricShare part = pick(repeats.answers, picked, random);
        const MetricShare rest{sum.numerator - part.numerator, sum.denominator - part.denominator};
        const bool is_base = picked == repeats.base;
        add_mean(sums, is_base, part, picked);
        add_mean(sums, !is_base, rest, repeats.answers.size() - picked);
      }
      moments.add(sums);
    }
    return moments;
  }

 private:
  void add_unit(std::span<CaseRepeats> cases) {
    MovingUnit unit;
    for (CaseRepeats& one : cases) {
      if (is_uniform(one)) {
        add_mean(unit.steady, true, one.answers.front(), 1);
        add_mean(unit.steady, false, one.answers.front(), 1);
      } else {
        const MetricShare sum = sum_of(one.answers);
        unit.cases.push_back({std::move(one), sum});
      }
    }
    if (unit.cases.empty()) {
      steady_.add(unit.steady);
    } else {
      moving_.push_back(std::move(unit));
    }
  }

  std::vector<MovingUnit> moving_;
  Moments steady_;  ///< Of the other units.
};

Moments observed_in(const PairedSample& sample, bool is_mirrored) {
  Moments moments;
  for (const SwapUnit& unit : sample.units) {
    UnitSums sums{1e-9 * static_cast<double>(unit.base_numerator),
                  1e-9 * static_cast<double>(unit.base_denominator),
                  1e-9 * static_cast<double>(unit.current_numerator),
                  1e-9 * static_cast<double>(unit.current_denominator)};
    if (is_mirrored) sums = {sums[2], sums[3], sums[0], sums[1]};
    moments.add(sums);
  }
  return moments;
}

OneSidedPs drawn_ps(const PairedSample& sample, bool is_mirrored, std::uint32_t draws, std::uint64_t seed) {
  constexpr double tolerance = 1e-6;  // Of standard errors; labellings that differ do so by more.
  const double observed = observed_in(sample, is_mirrored).studentised_drop();
  Labellings labellings(sample, is_mirrored);
  RandomStream random(seed, 1);  // The swaps draw from stream 0.
  std::uint64_t drops = 0;
  std::uint64_t gains = 0;
  for (std::uint32_t drawn = 0; drawn < draws; ++drawn) {
    const Moments moments = labellings.draw(random);
    const double found = moments.is_defined() ? moments.studentised_drop() : observed;
    drops += found >= observed - tolerance;
    gains += found <= observed + tolerance;
  }
  const auto p = [&](std::uint64_t hits) {
    return (1.0 + static_cast<double>(hits)) / (1.0 + static_cast<double>(draws));
  };
  return is_mirrored ? OneSidedPs{p(gains), p(drops)} : OneSidedPs{p(drops), p(gains)};
}

/// The side with more comes first, so that a sample and its mirror image are drawn alike; where neither has
/// more, both orders are, and the larger p counts.
SwapTestResult draw(const PairedSample& sample, std::uint32_t draws, std::uint64_t seed) {
  const double drop = *sample.totals.drop();
  SwapTestResult result{PairedMethod::draws, {}, draws};
  if (std::abs(drop) >= rounding_of_drops) {
    result.p = drawn_ps(sample, drop < 0.0, draws, seed);
    result.p = beyond_draws(result.p, draws, [&] { return label_tail_bound(sample.repeats); });
  } else {
    const OneSidedPs there = drawn_ps(sample, false, draws, seed);
    const OneSidedPs back = drawn_ps(sample, true, draws, seed);
    const double larger = std::max({there.drop, there.improvement, back.drop, back.improvement});
    result.p = {larger, larger};
  }
  return result;
}

}  // namespace

SwapTestResult permute_repeats(const PairedSample& sample, const SwapLimits& limits, std::uint64_t seed) {
  std::uint64_t picked = 0;
  std::size_t differing = 0;
  for (const CaseRepeats& one : sample.repeats) {
    if (is_uniform(one)) continue;
    ++differing;
    picked += fewer_of(one);
  }
  const bool few = differing <= limits.drawn_units && picked * limits.draws <= limits.picked_answers;
  return few ? draw(sample, limits.draws, seed) : studentised_normal(sample);
}

}  // namespace sluice
