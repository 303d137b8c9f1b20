#pragma once

#include <cstddef>

namespace sluice::defaults {

inline constexpr std::size_t max_imported_tests =
    10'000;                                         ///< Of arrays and scenarios that are multiplied out.
inline constexpr std::size_t max_merge_depth = 32;  ///< Of merge keys within each other.
inline constexpr std::size_t max_value_depth = 32;  ///< Of values whose templates show other values.

}  // namespace sluice::defaults
