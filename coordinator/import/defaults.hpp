#pragma once

#include <cstddef>

namespace sluice::defaults {

inline constexpr std::size_t max_imported_tests =
    10'000;  ///< Of arrays and scenarios that are multiplied out.
inline constexpr std::size_t max_repeated_code_bytes =
    64u << 10;  ///< All copies of one code together; more stands in a file, before a suite is too large.
inline constexpr std::size_t max_short_code_bytes = 200;  ///< Which stands in the suite, however often.
inline constexpr std::size_t max_pattern_depth = 100;     ///< Of groups within each other.
inline constexpr std::size_t max_file_depth = 8;          ///< Of files that name others, or themselves.
inline constexpr std::size_t max_followed_files =
    10'000;  ///< By names in files that others name: each may name all others.
inline constexpr std::size_t max_check_depth =
    24;  ///< Of checks that refer to others: groups nest so in a suite.
inline constexpr std::size_t max_followed_checks = 1000;  ///< By the checks of a test.
inline constexpr std::size_t max_value_depth = 32;        ///< Of values whose templates show other values.

}  // namespace sluice::defaults
