#pragma once

#include <string_view>

namespace sluice {

/// Writes one line to stderr, cleaned by log_text, in one piece. Everything that is no log message and no
/// progress goes through here, so that no foreign text in it can end the line, move the cursor or forge
/// another line. Thread-safe.
void write_stderr_line(std::string_view text);

}  // namespace sluice
