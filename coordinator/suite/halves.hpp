#pragma once

#include "coordinator/defaults.hpp"

#include <cstddef>
#include <thread>

namespace sluice {

/// Does work(from, to, half) for all of [0, count): the second half (1) on a thread of its own beside the
/// first (0), or, where that would not be worth one, all of it here. `work` may not throw.
template <class Work>
void in_halves(std::size_t count, const Work& work) {
  const std::size_t middle = count > defaults::files_worth_a_thread ? count / 2 : count;
  std::jthread other;
  if (middle != count) other = std::jthread([&] { work(middle, count, std::size_t{1}); });
  work(std::size_t{0}, middle, std::size_t{0});
}

}  // namespace sluice
