#pragma once

#include <cstddef>

namespace sluice::defaults {

inline constexpr std::size_t max_imported_tests =
    10'000;  ///< Of arrays and scenarios that are multiplied out.
inline constexpr std::size_t max_repeated_code_bytes =
    64u << 10;  ///< All copies of one code together; more stands in a file, before a suite is too large.
inline constexpr std::size_t max_short_code_bytes = 200;  ///< Which stands in the suite, however often.
inline constexpr std::size_t max_pattern_depth = 100;     ///< Of groups within each other.
inline constexpr std::size_t max_file_depth = 8;    ///< Of files and checks that name others, or itself.
inline constexpr std::size_t max_value_depth = 32;  ///< Of values whose templates show other values.

}  // namespace sluice::defaults
