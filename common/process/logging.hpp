#pragma once

#include "common/text/terminal_lines.hpp"

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace sluice {

/// Breaks a text that begins at `column` into lines. Called by any thread, one at a time.
using LineBreaker = std::function<std::string(std::string_view text, std::size_t column)>;

/// Sends diagnostics to stderr, never to stdout: reports go there. `level` is error, warn, info, debug or
/// trace; `over_live_line`: wipe the progress line before each message, so that the two do not run into each
/// other. Lines have the format of the process (set_log_format), and are about what LogScope says. `breaker`
/// breaks the messages of lines that are texts.
void set_up_logging(std::string_view level, bool over_live_line, LineBreaker breaker = broken_on_stderr);

}  // namespace sluice
