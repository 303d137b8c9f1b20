#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::support {

/// A line of a worker's call log (--call-log).
struct LoggedCall {
  std::int64_t started_us = 0;  ///< CLOCK_BOOTTIME, which all processes of a machine share.
  std::string provider;
};

/// The calls in a log. A last line without its end is passed over: the process died while it wrote. Throws
/// std::runtime_error for any other line that is not one.
std::vector<LoggedCall> read_call_log(std::string_view text);

/// When calls to one provider started, over all workers, ascending.
std::vector<std::int64_t> merged_starts(std::span<const std::string> logs, std::string_view provider);

/// A stretch of time that begins and ends with a start.
struct StartWindow {
  std::int64_t from_us = 0;
  std::int64_t until_us = 0;
  std::size_t starts = 0;  ///< In [from, until].
  double excess = 0;       ///< starts less rate x length and less burst: above 0, the limit was exceeded.
};

/// The window that comes closest to the limit, or exceeds it most. `starts` must be ascending and not empty;
/// `rate` in starts a second.
StartWindow worst_window(std::span<const std::int64_t> starts, double rate, double burst);

}  // namespace sluice::support
