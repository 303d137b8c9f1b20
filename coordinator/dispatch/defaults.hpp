#pragma once

#include <cstddef>

namespace sluice::defaults {

/// Of lent entries that go out at once for one message that came in; whoever waits for the rest gets it by
/// the next loan.
inline constexpr std::size_t max_lent_bytes = 64u << 20;

}  // namespace sluice::defaults
