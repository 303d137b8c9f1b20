#include "coordinator/statistics/instability_test.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/statistics/special_functions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

namespace sluice {
namespace {

/// Cases of one pattern: how T is distributed for each of them.
struct Term {
  const AnswerPattern* pattern = nullptr;
  LabelPermutation labels;
  std::uint64_t cases = 0;
  std::int64_t excess = 0;  ///< Observed, of all of them together.
  std::int64_t scale = 1;   ///< From the pattern's denominator to the common one.
};

/// A common denominator of all terms; 0 if there is none of a handy size.
std::int64_t common_denominator(const std::vector<Term>& terms) {
  constexpr std::int64_t largest = 1'000'000'000;
  std::int64_t common = 1;
  for (const Term& term : terms) {
    if (term.labels.denominator() > largest) return 0;
    common = std::lcm(common, term.labels.denominator());
    if (common > largest) return 0;
  }
  return common;
}

/// The greatest common divisor of the gaps between outcomes, so that the sum's table has no holes.
std::int64_t common_step(const std::vector<Term>& terms) {
  std::int64_t step = 0;
  for (const Term& term : terms) {
    const auto outcomes = term.labels.outcomes();
    for (const auto& outcome : outcomes) {
      step = std::gcd(step, (outcome.excess - outcomes.front().excess) * term.scale);
    }
  }
  return std::max<std::int64_t>(step, 1);
}

std::int64_t span_of(const Term& term, std::int64_t step) {
  const auto outcomes = term.labels.outcomes();
  return (outcomes.back().excess - outcomes.front().excess) * term.scale / step;
}

/// Multiplications of the convolution below.
double exact_steps(const std::vector<Term>& terms, std::int64_t step) {
  double width = 1.0;
  double steps = 0.0;
  for (const Term& term : terms) {
    const auto cases = static_cast<double>(term.cases);
    const double grown = cases * static_cast<double>(span_of(term, step));
    steps += cases * (width + 0.5 * grown) * static_cast<double>(term.labels.outcomes().size());
    width += grown;
  }
  return steps;
}

/// P(sum >= observed) by convolution of all cases.
double exact_tail(const std::vector<Term>& terms, std::int64_t step, std::int64_t observed) {
  std::vector<double> sums{1.0};
  std::int64_t lowest = 0;
  for (const Term& term : terms) {
    const auto outcomes = term.labels.outcomes();
    const auto span = static_cast<std::size_t>(span_of(term, step));
    for (std::uint64_t i = 0; i < term.cases; ++i) {
      std::vector<double> next(sums.size() + span, 0.0);
      for (const auto& outcome : outcomes) {
        const auto shift =
            static_cast<std::size_t>((outcome.excess - outcomes.front().excess) * term.scale / step);
        for (std::size_t at = 0; at < sums.size(); ++at) next[at + shift] += sums[at] * outcome.probability;
      }
      sums = std::move(next);
      lowest += outcomes.front().excess * term.scale;
    }
  }
  double tail = 0.0;
  for (std::size_t at = sums.size(); at-- > 0;) {
    if (lowest + static_cast<std::int64_t>(at) * step < observed) break;
    tail += sums[at];
  }
  return std::min(1.0, tail);
}

/// Nothing where that would take too many answers.
std::optional<double> drawn_p(const std::vector<Term>& terms, const InstabilityLimits& limits,
                              std::uint64_t seed) {
  // Patterns may lack a handy common denominator: sums of doubles, with ties found by a tolerance.
  constexpr double tolerance = 1e-9;
  double observed = 0.0;
  std::uint64_t answers = 1;
  std::vector<LabelSampler> samplers;
  for (const Term& term : terms) {
    observed += static_cast<double>(term.excess) / static_cast<double>(term.labels.denominator());
    answers += term.cases * term.pattern->unperturbed;
    samplers.emplace_back(*term.pattern, seed);
  }
  const std::uint64_t draws = std::min<std::uint64_t>(limits.draws, limits.drawn_answers / answers);
  if (draws < std::min(limits.fewest_draws, limits.draws)) return std::nullopt;
  std::uint64_t hits = 0;
  for (std::uint64_t drawn = 0; drawn < draws; ++drawn) {
    double sum = 0.0;
    for (std::size_t at = 0; at < terms.size(); ++at) {
      std::int64_t excess = 0;
      for (std::uint64_t i = 0; i < terms[at].cases; ++i) excess += samplers[at].draw();
      sum += static_cast<double>(excess) / static_cast<double>(terms[at].labels.denominator());
    }
    hits += sum >= observed - tolerance;
  }
  return (1.0 + static_cast<double>(hits)) / (1.0 + static_cast<double>(draws));
}

std::optional<double> exact_p(std::vector<Term>& terms, const InstabilityLimits& limits) {
  for (const Term& term : terms) {
    if (!term.labels.is_exact()) return std::nullopt;
  }
  const std::int64_t common = common_denominator(terms);
  if (common == 0) return std::nullopt;
  std::int64_t observed = 0;
  for (Term& term : terms) {
    term.scale = common / term.labels.denominator();
    observed += term.excess * term.scale;
  }
  const std::int64_t step = common_step(terms);
  if (exact_steps(terms, step) > static_cast<double>(limits.exact_steps)) return std::nullopt;
  return exact_tail(terms, step, observed);
}

}  // namespace

std::string_view to_string(InstabilityMethod method) {
  switch (method) {
    case InstabilityMethod::none:
      return "none";
    case InstabilityMethod::exact:
      return "exact";
    case InstabilityMethod::draws:
      return "draws";
    case InstabilityMethod::normal:
      return "normal";
  }
  return "none";
}

void InstabilityTest::add(const AnswerPattern& pattern, std::int64_t excess) {
  if (pattern.is_uniform()) return;
  ++cases_;
  const AgreementExcess scale(pattern.unperturbed, pattern.perturbed);
  excess_ += static_cast<double>(excess) / static_cast<double>(scale.denominator());
  variance_ += scale.variance(pattern);
  if (too_many_patterns_) return;
  Group& group = groups_[pattern];
  ++group.cases;
  group.excess += excess;
  if (groups_.size() > defaults::statistics::max_patterns) {
    groups_.clear();
    too_many_patterns_ = true;
  }
}

InstabilityResult InstabilityTest::finish(const InstabilityLimits& limits, std::uint64_t seed) const {
  if (cases_ == 0) return {};
  // Each case takes at least one step for each of those before it.
  const bool may_be_exact = cases_ <= limits.exact_steps / cases_;
  if (!too_many_patterns_ && (may_be_exact || cases_ <= limits.drawn_cases)) {
    std::uint64_t states_left = limits.all_states;
    std::vector<Term> terms;
    terms.reserve(groups_.size());
    for (const auto& [pattern, group] : groups_) {
      LabelPermutation labels(pattern, std::min(limits.max_states, states_left));
      const Term& term = terms.emplace_back(Term{&pattern, std::move(labels), group.cases, group.excess});
      states_left -= std::min(states_left, term.labels.tried_states());
    }
    if (const auto p = exact_p(terms, limits)) return {InstabilityMethod::exact, *p};
    const auto drawn = cases_ <= limits.drawn_cases ? drawn_p(terms, limits, seed) : std::nullopt;
    if (drawn) return {InstabilityMethod::draws, *drawn};
  }
  return {InstabilityMethod::normal, variance_ > 0.0 ? normal_cdf(-excess_ / std::sqrt(variance_)) : 1.0};
}

}  // namespace sluice
