#pragma once

#include "common/defaults.hpp"

#include <cstddef>

namespace sluice {

/// Whether an answer may go on behind so much of it as its result holds (UnitResult::shown_text). A character
/// that does not fit takes up to three bytes along.
constexpr bool may_go_on(std::size_t shown_bytes) {
  constexpr std::size_t most_dropped = 3;
  return shown_bytes + most_dropped >= defaults::max_shown_bytes;
}

}  // namespace sluice
