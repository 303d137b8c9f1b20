#include "coordinator/statistics/label_permutation.hpp"

#include "coordinator/statistics/label_blocks.hpp"
#include "coordinator/statistics/special_functions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>

namespace sluice {
namespace {

std::int64_t pairs(std::int64_t items) {
  return items * (items - 1) / 2;
}

/// A stream of its own for each pattern, so that results do not depend on the order of the cases.
std::uint64_t stream_of(const AnswerPattern& pattern) {
  std::uint64_t stream = pattern.unperturbed;
  for (const std::uint32_t size : pattern.class_sizes) stream = RandomStream(stream, size).next();
  return stream;
}

/// States after one more block; those that can no longer reach `unperturbed` are left out.
std::vector<LabelState> with_block(const std::vector<LabelState>& before, const LabelBlock& block,
                                   std::uint32_t unperturbed, std::uint32_t answers_left) {
  std::vector<LabelState> after;
  for (const LabelState& state : before) {
    for (std::uint32_t taken = 0; taken < block.ways.size(); ++taken) {
      const std::uint32_t chosen = state.chosen + taken;
      if (chosen > unperturbed) break;
      if (chosen + answers_left < unperturbed) continue;
      after.push_back({chosen, state.excess + block.excesses[taken], state.ways * block.ways[taken]});
    }
  }
  merge_equal(after);
  return after;
}

}  // namespace

double AnswerPattern::states_at_most() const {
  double states = 1.0;
  std::uint32_t singles = 0;
  // Without the largest class: what it gets is what the others leave.
  for (std::size_t i = 1; i < class_sizes.size(); ++i) {
    if (class_sizes[i] == 1) {
      ++singles;
    } else {
      states *= 1.0 + std::min(class_sizes[i], unperturbed);
    }
  }
  return states * (1.0 + std::min(singles, unperturbed));
}

AgreementExcess::AgreementExcess(std::uint32_t unperturbed, std::uint32_t perturbed) {
  const std::int64_t equal_pairs = pairs(unperturbed);
  const std::int64_t cross_pairs = static_cast<std::int64_t>(unperturbed) * perturbed;
  denominator_ = std::lcm(equal_pairs, cross_pairs);
  per_equal_pair_ = denominator_ / equal_pairs;
  per_cross_pair_ = denominator_ / cross_pairs;
}

double AgreementExcess::variance(const AnswerPattern& pattern) const {
  // Of f unperturbed answers in a class of s, what it adds is A f(f - 1) - b (s - 1) f, with A = b + half of
  // the weight of an equal pair and b the weight of a cross pair. The mean of f(f - 1)...(f - r + 1) is
  // n(n - 1)...(n - r + 1) / N(N - 1)...(N - r + 1) s(s - 1)...(s - r + 1), n of N being unperturbed, and of
  // two classes together likewise. That gives the squares and, for different classes, the products.
  const auto unit = static_cast<double>(denominator_);
  const double b = static_cast<double>(per_cross_pair_) / unit;
  const double a = b + 0.5 * static_cast<double>(per_equal_pair_) / unit;
  const double chosen = pattern.unperturbed;
  const double all = chosen + pattern.perturbed;
  double share[5] = {1.0, 0.0, 0.0, 0.0, 0.0};
  for (int r = 1; r <= 4 && all >= r; ++r) share[r] = share[r - 1] * (chosen - r + 1) / (all - r + 1);
  double squares = 0.0;
  double pairs_in_classes = 0.0;
  double squared_pairs = 0.0;
  for (const std::uint32_t class_size : pattern.class_sizes) {
    const double size = class_size;
    const double two = size * (size - 1);
    const double three = two * (size - 2);
    const double four = three * (size - 3);
    const double slope = b * (size - 1);
    squares += a * a * (share[4] * four + 4 * share[3] * three + 2 * share[2] * two) -
               2 * a * slope * (share[3] * three + 2 * share[2] * two) +
               slope * slope * (share[2] * two + share[1] * size);
    pairs_in_classes += two;
    squared_pairs += two * two;
  }
  const double product = a * a * share[4] - 2 * a * b * share[3] + b * b * share[2];
  return std::max(0.0, squares + product * (pairs_in_classes * pairs_in_classes - squared_pairs));
}

std::int64_t AgreementExcess::of_class(std::uint32_t unperturbed, std::uint32_t size) const {
  const std::int64_t first = unperturbed;
  return pairs(first) * per_equal_pair_ - first * (static_cast<std::int64_t>(size) - first) * per_cross_pair_;
}

LabelSampler::LabelSampler(const AnswerPattern& pattern, std::uint64_t seed)
    : scale_(pattern.unperturbed, pattern.perturbed),
      unperturbed_(pattern.unperturbed),
      class_sizes_(pattern.class_sizes),
      chosen_(pattern.class_sizes.size()),
      random_(seed, stream_of(pattern)) {
  for (std::uint32_t i = 0; i < class_sizes_.size(); ++i) {
    answers_.insert(answers_.end(), class_sizes_[i], i);
  }
}

std::int64_t LabelSampler::draw() {
  std::int64_t excess = 0;
  auto left = static_cast<std::uint32_t>(answers_.size());
  for (std::uint32_t i = 0; i < unperturbed_; ++i, --left) {
    std::swap(answers_[i], answers_[i + random_.below(left)]);
    std::uint32_t& chosen = chosen_[answers_[i]];
    excess += scale_.of_next(chosen, class_sizes_[answers_[i]]);
    ++chosen;
  }
  for (std::uint32_t i = 0; i < unperturbed_; ++i) chosen_[answers_[i]] = 0;
  return excess;
}

LabelPermutation::LabelPermutation(const AnswerPattern& pattern, std::uint64_t max_states)
    : scale_(pattern.unperturbed, pattern.perturbed) {
  const double all = binomial_coefficient(pattern.answers(), pattern.unperturbed);
  if (std::isinf(all)) return;
  std::vector<LabelState> states{{0, 0, 1.0}};
  std::uint32_t answers_left = pattern.answers();
  for (const LabelBlock& block : label_blocks(pattern, scale_)) {
    const std::uint64_t next_states = states.size() * block.ways.size();
    if (next_states > max_states) return;
    tried_states_ += next_states;
    answers_left -= block.answers;
    states = with_block(states, block, pattern.unperturbed, answers_left);
  }
  for (const LabelState& state : states) outcomes_.push_back({state.excess, state.ways / all});
}

double LabelPermutation::upper_tail(std::int64_t excess) const {
  if (!is_exact()) return 1.0;
  double tail = 0.0;
  for (auto outcome = outcomes_.rbegin(); outcome != outcomes_.rend() && outcome->excess >= excess;
       ++outcome) {
    tail += outcome->probability;
  }
  return std::min(1.0, tail);
}

}  // namespace sluice
