#include "coordinator/statistics/label_blocks.hpp"

#include "coordinator/statistics/special_functions.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace sluice {

std::vector<LabelBlock> label_blocks(const AnswerPattern& pattern, const AgreementExcess& scale) {
  std::vector<LabelBlock> blocks;
  const auto add = [&](std::uint32_t answers, auto excess) {
    LabelBlock& block = blocks.emplace_back();
    block.answers = answers;
    for (std::uint32_t taken = 0; taken <= std::min(answers, pattern.unperturbed); ++taken) {
      block.ways.push_back(binomial_coefficient(answers, taken));
      block.excesses.push_back(excess(taken));
    }
  };
  std::uint32_t singles = 0;
  for (const std::uint32_t size : pattern.class_sizes) {
    if (size == 1) {
      ++singles;
    } else {
      add(size, [&](std::uint32_t taken) { return scale.of_class(taken, size); });
    }
  }
  if (singles > 0) add(singles, [&](std::uint32_t taken) { return taken * scale.of_class(1, 1); });
  return blocks;
}

void merge_equal(std::vector<LabelState>& states) {
  const auto key = [](const LabelState& state) { return std::pair(state.chosen, state.excess); };
  std::sort(states.begin(), states.end(),
            [&](const LabelState& a, const LabelState& b) { return key(a) < key(b); });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < states.size(); ++i) {
    if (key(states[i]) == key(states[kept])) {
      states[kept].ways += states[i].ways;
    } else {
      states[++kept] = states[i];
    }
  }
  states.resize(kept + 1);
}

}  // namespace sluice
