#include "coordinator/statistics/swap_test.hpp"

#include "coordinator/statistics/random_stream.hpp"
#include "coordinator/statistics/repeat_permutation.hpp"
#include "coordinator/statistics/special_functions.hpp"
#include "coordinator/statistics/swap_parts.hpp"
#include "coordinator/statistics/tail_bound.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// What moves from one side to the other when a unit is swapped.
struct Move {
  std::int64_t numerator = 0;
  std::int64_t denominator = 0;
};

/// The state of an assignment: the sums of one side. Those of the other are what is left of the totals.
struct Side {
  std::int64_t numerator = 0;
  std::int64_t denominator = 0;

  void add(const Move& move) {
    numerator += move.numerator;
    denominator += move.denominator;
  }
  void subtract(const Move& move) {
    numerator -= move.numerator;
    denominator -= move.denominator;
  }
};

/// All assignments of a sample, and which of them count as hits.
class Assignments {
 public:
  explicit Assignments(const PairedSample& sample) {
    const SwapUnit& sums = sample.totals.sums;
    totals_ = {sums.base_numerator + sums.current_numerator,
               sums.base_denominator + sums.current_denominator};
    bool one_denominator = true;
    for (const SwapUnit& unit : sample.units) {
      // Every unit starts with its lesser side in the first place, whichever run that came from: so the
      // draws treat base and current alike.
      const std::pair base{unit.base_numerator, unit.base_denominator};
      const std::pair current{unit.current_numerator, unit.current_denominator};
      const auto& [lesser, greater] = std::minmax(base, current);
      start_.numerator += lesser.first;
      start_.denominator += lesser.second;
      if (unit.changed()) moves_.push_back({greater.first - lesser.first, greater.second - lesser.second});
      one_denominator = one_denominator && unit.base_denominator == unit.current_denominator;
    }
    is_linear_ = one_denominator;
    // Scores like 1/3 and means over repeats are rounded to billionths: that must not part ties.
    observed_difference_ = sums.base_numerator - sums.current_numerator;
    integer_tolerance_ = 2 * static_cast<std::int64_t>(sample.pairs);
    observed_drop_ = *sample.totals.drop();
  }

  const std::vector<Move>& moves() const { return moves_; }
  const Side& start() const { return start_; }

  void count(const Side& first) {
    ++assignments_;
    if (is_linear_) {
      const std::int64_t difference = 2 * first.numerator - totals_.numerator;
      drops_ += difference >= observed_difference_ - integer_tolerance_;
      gains_ += difference >= -observed_difference_ - integer_tolerance_;
      return;
    }
    const std::int64_t second = totals_.denominator - first.denominator;
    if (first.denominator == 0 || second == 0) {
      ++drops_;
      ++gains_;
      return;
    }
    const double drop =
        static_cast<double>(first.numerator) / static_cast<double>(first.denominator) -
        static_cast<double>(totals_.numerator - first.numerator) / static_cast<double>(second);
    drops_ += drop >= observed_drop_ - rounding_of_drops;
    gains_ += drop >= -observed_drop_ - rounding_of_drops;
  }

  /// `more` for the observed assignment, which is one of the possible ones but need not be among the drawn.
  SwapTestResult result(PairedMethod method, std::uint64_t more) const {
    const auto p = [&](std::uint64_t hits) {
      return static_cast<double>(hits + more) / static_cast<double>(assignments_ + more);
    };
    return {method, {p(drops_), p(gains_)}, assignments_};
  }

 private:
  std::vector<Move> moves_;
  Side start_;
  Side totals_;
  bool is_linear_ = true;
  std::int64_t observed_difference_ = 0;
  std::int64_t integer_tolerance_ = 0;
  double observed_drop_ = 0.0;
  std::uint64_t assignments_ = 0;
  std::uint64_t drops_ = 0;
  std::uint64_t gains_ = 0;
};

/// In the order of Gray's code, so that each assignment is one swap away from the last.
SwapTestResult enumerate(Assignments assignments) {
  const std::vector<Move>& moves = assignments.moves();
  const std::uint64_t all = std::uint64_t{1} << moves.size();
  Side side = assignments.start();
  assignments.count(side);
  for (std::uint64_t i = 1; i < all; ++i) {
    const auto changed = static_cast<std::size_t>(std::countr_zero(i));
    const std::uint64_t code = i ^ (i >> 1);
    if ((code >> changed & 1) != 0) {
      side.add(moves[changed]);
    } else {
      side.subtract(moves[changed]);
    }
    assignments.count(side);
  }
  return assignments.result(PairedMethod::enumeration, 0);
}

SwapTestResult draw(Assignments assignments, std::uint32_t draws, std::uint64_t seed) {
  const std::vector<Move>& moves = assignments.moves();
  RandomStream random(seed);
  for (std::uint32_t drawn = 0; drawn < draws; ++drawn) {
    Side side = assignments.start();
    for (std::size_t begin = 0; begin < moves.size(); begin += 64) {
      const std::size_t end = std::min(moves.size(), begin + 64);
      std::uint64_t bits = random.next();
      for (std::size_t i = begin; i < end; ++i, bits >>= 1) {
        const std::int64_t mask = -static_cast<std::int64_t>(bits & 1);  // Cheaper than a branch on chance.
        side.numerator += moves[i].numerator & mask;
        side.denominator += moves[i].denominator & mask;
      }
    }
    assignments.count(side);
  }
  return assignments.result(PairedMethod::draws, 1);
}

/// Draws the largest parts. The many others are each a small share of the variance: their sum is normal.
SwapTestResult draw_largest(SwapParts parts, const SwapLimits& limits, std::uint64_t seed) {
  std::ranges::sort(parts.sizes, std::greater<>());
  const std::size_t drawn = std::min<std::size_t>(limits.drawn_units, parts.sizes.size());
  const auto [largest, others] =
      std::pair(std::span(parts.sizes).first(drawn), std::span(parts.sizes).subspan(drawn));
  double all_negative = 0.0;
  for (const double size : largest) all_negative -= size;
  double variance = 0.0;
  for (const double size : others) variance += size * size;
  const double deviation = std::sqrt(variance);
  RandomStream random(seed);
  RandomStream normal(seed, 2);  // The labels of unequal repeats have stream 1.
  std::uint64_t drops = 0;
  std::uint64_t gains = 0;
  for (std::uint32_t draw = 0; draw < limits.draws; ++draw) {
    double sum = all_negative;
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < drawn; ++i, bits >>= 1) {
      if (i % 64 == 0) bits = random.next();
      sum += 2.0 * largest[i] * static_cast<double>(bits & 1);
    }
    sum += deviation * normal_quantile(normal.unit() + 0x1p-54);  // Never that of 0.
    drops += sum >= parts.sum();
    gains += sum >= -parts.sum();
  }
  const auto p = [&](std::uint64_t hits) {
    return static_cast<double>(hits + 1) / (static_cast<double>(limits.draws) + 1.0);
  };
  return {PairedMethod::draws, {p(drops), p(gains)}, limits.draws};
}

SwapTestResult draw_swaps(const PairedSample& sample, const SwapParts& parts, const SwapLimits& limits,
                          std::uint64_t seed) {
  const bool all = sample.changed_units <= limits.drawn_units;
  SwapTestResult result =
      all ? draw(Assignments(sample), limits.draws, seed) : draw_largest(parts, limits, seed);
  if (parts.is_exact) result.p = beyond_draws(result.p, limits.draws, [&] { return swap_tail_bound(parts); });
  return result;
}

SwapTestResult swap_sides(const PairedSample& sample, const SwapLimits& limits, std::uint64_t seed) {
  if (sample.changed_units <= std::min(limits.enumerated_units, 30u)) return enumerate(Assignments(sample));
  const SwapParts parts = swap_parts(sample);
  if (sample.changed_units > limits.drawn_units && parts.is_balanced(limits.normal_share)) {
    const double z = parts.squares > 0.0 ? parts.sum() / std::sqrt(parts.squares) : 0.0;
    return {PairedMethod::normal, {normal_cdf(-z), normal_cdf(z)}, 0};
  }
  return draw_swaps(sample, parts, limits, seed);
}

/// Method and assignments of the less exact one.
SwapTestResult less_significant(const SwapTestResult& a, const SwapTestResult& b) {
  SwapTestResult result = a.method >= b.method ? a : b;
  result.p.drop = std::max(a.p.drop, b.p.drop);
  result.p.improvement = std::max(a.p.improvement, b.p.improvement);
  return result;
}

}  // namespace

std::string_view to_string(PairedMethod method) {
  switch (method) {
    case PairedMethod::none:
      return "none";
    case PairedMethod::mcnemar:
      return "mcnemar";
    case PairedMethod::enumeration:
      return "enumeration";
    case PairedMethod::draws:
      return "draws";
    case PairedMethod::normal:
      return "normal";
  }
  return "none";
}

SwapTestResult swap_test(const PairedSample& sample, const SwapLimits& limits, std::uint64_t seed) {
  if (sample.changed_units == 0 || !sample.totals.drop()) return {};
  const SwapTestResult swapped = swap_sides(sample, limits, seed);
  if (sample.equal_repeats) return swapped;
  return less_significant(swapped, permute_repeats(sample, limits, seed));
}

SwapTestResult studentised_normal(const PairedSample& sample) {
  const double error = drop_deviation(sample) / std::sqrt(static_cast<double>(sample.units.size()));
  const double drop = *sample.totals.drop();
  const double z = drop == 0.0 ? 0.0 : drop / error;  // Without any scatter every drop is certain.
  return {PairedMethod::normal, {normal_cdf(-z), normal_cdf(z)}, 0};
}

double drop_deviation(const PairedSample& sample) {
  if (sample.units.size() < 2 || !sample.totals.drop()) return 0.0;
  const double mean = *sample.totals.drop();
  double squares = 0.0;
  for (const double drop : sample.unit_drops()) squares += (drop - mean) * (drop - mean);
  return std::sqrt(squares / static_cast<double>(sample.units.size() - 1));
}

}  // namespace sluice
