#pragma once

#include <string_view>

namespace sluice {

/// What takes a terminal's line away, with the cursor at its beginning.
inline constexpr std::string_view wipe_line = "\r\x1b[2K";

/// Writes one line to stderr, cleaned by log_text, in one piece. Everything that is no log message and no
/// progress goes through here, so that no foreign text in it can end the line, move the cursor or forge
/// another line. `over_live_line`: wipes the progress line first, so that the two do not run into each other.
/// Thread-safe.
void write_stderr_line(std::string_view text, bool over_live_line = false);

}  // namespace sluice
