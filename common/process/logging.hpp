#pragma once

#include <string_view>

namespace sluice {

/// Sends diagnostics to stderr, never to stdout: reports go there. `level` is error, warn, info, debug or
/// trace; `over_live_line`: wipe the progress line before each message, so that the two do not run into each
/// other. Lines have the format of the process (set_log_format), and are about what LogScope says.
void set_up_logging(std::string_view level, bool over_live_line);

}  // namespace sluice
