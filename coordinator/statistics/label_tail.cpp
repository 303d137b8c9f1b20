#include "coordinator/statistics/label_tail.hpp"

#include "coordinator/statistics/label_blocks.hpp"
#include "coordinator/statistics/special_functions.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

namespace sluice {
namespace {

constexpr std::int64_t unreachable = std::numeric_limits<std::int64_t>::min();

/// What the blocks from each one on can add at most to the excess, by how many unperturbed answers they get.
class MostToCome {
 public:
  MostToCome(const std::vector<LabelBlock>& blocks, std::uint32_t unperturbed)
      : width_(unperturbed + 1), most_((blocks.size() + 1) * width_, unreachable) {
    most_[blocks.size() * width_] = 0;
    for (std::size_t at = blocks.size(); at-- > 0;) {
      const LabelBlock& block = blocks[at];
      for (std::size_t left = 0; left < width_; ++left) {
        std::int64_t& most = most_[at * width_ + left];
        for (std::size_t taken = 0; taken < std::min(block.ways.size(), left + 1); ++taken) {
          const std::int64_t rest = after(at, left - taken);
          if (rest != unreachable) most = std::max(most, rest + block.excesses[taken]);
        }
      }
    }
  }

  std::int64_t after(std::size_t block, std::size_t left) const { return most_[(block + 1) * width_ + left]; }

 private:
  std::size_t width_;
  std::vector<std::int64_t> most_;
};

}  // namespace

ExactTail exact_upper_tail(const AnswerPattern& pattern, std::int64_t excess, std::uint64_t max_states) {
  ExactTail tail;
  const std::uint32_t unperturbed = pattern.unperturbed;
  const double all = binomial_coefficient(pattern.answers(), unperturbed);
  if (std::isinf(all)) return tail;
  const std::vector<LabelBlock> blocks =
      label_blocks(pattern, AgreementExcess(unperturbed, pattern.perturbed));
  const MostToCome most(blocks, unperturbed);
  std::vector<LabelState> states{{0, 0, 1.0}};
  std::vector<LabelState> next;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    const LabelBlock& block = blocks[at];
    next.clear();
    for (const LabelState& state : states) {
      const auto takes = std::min<std::size_t>(block.ways.size(), unperturbed - state.chosen + 1);
      for (std::uint32_t taken = 0; taken < takes; ++taken) {
        const std::uint32_t chosen = state.chosen + taken;
        const std::int64_t so_far = state.excess + block.excesses[taken];
        const std::int64_t to_come = most.after(at, unperturbed - chosen);
        if (to_come == unreachable || so_far + to_come < excess) continue;
        next.push_back({chosen, so_far, state.ways * block.ways[taken]});
      }
      if (tail.tried_states + next.size() > max_states) {
        tail.tried_states += next.size();
        return tail;
      }
    }
    tail.tried_states += next.size();
    if (!next.empty()) merge_equal(next);
    std::swap(states, next);
  }
  double ways = 0.0;
  for (const LabelState& state : states) ways += state.ways;
  tail.p = std::min(1.0, ways / all);
  return tail;
}

double upper_tail_bound(const AnswerPattern& pattern, std::int64_t excess) {
  const AgreementExcess scale(pattern.unperturbed, pattern.perturbed);
  const double observed = scale.value(excess);
  const double variance = scale.variance(pattern);
  return observed > 0.0 ? variance / (variance + observed * observed) : 1.0;
}

}  // namespace sluice
