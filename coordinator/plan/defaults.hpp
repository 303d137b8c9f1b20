#pragma once

#include <cstddef>

/// What tunes planning.
namespace sluice::defaults {

/// Cases that are read, and have the keys of their requests made, before they get their numbers: some
/// milliseconds of work for two threads, and a few MiB where cases are long.
inline constexpr std::size_t cases_planned_at_once = 2'048;
inline constexpr std::size_t max_metrics_of_unit = 100'000;  ///< Keeps a result within one message.

}  // namespace sluice::defaults
