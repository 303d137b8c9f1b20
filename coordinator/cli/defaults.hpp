#pragma once

#include <cstddef>

namespace sluice::defaults {

/// Findings that are printed, of all files: more is no list to work through.
inline constexpr std::size_t max_shown_findings = 1000;

}  // namespace sluice::defaults
