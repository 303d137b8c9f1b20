#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// What takes a terminal's line away, with the cursor at its beginning.
inline constexpr std::string_view wipe_line = "\r\x1b[2K";

/// Writes one line to stderr, cleaned by log_text, in one piece. Everything that is no log message and no
/// progress goes through here, so that no foreign text in it can end the line, move the cursor or forge
/// another line. `over_live_line`: wipes the progress line first, so that the two do not run into each other.
/// Thread-safe.
void write_stderr_line(std::string_view text, bool over_live_line = false);

/// While it lives, the lines that its thread would write to stderr are gathered here: for whoever reads them
/// elsewhere, as on a page that is served. One at a time on a thread.
class GatheredStderr {
 public:
  GatheredStderr();
  ~GatheredStderr();
  GatheredStderr(const GatheredStderr&) = delete;
  GatheredStderr& operator=(const GatheredStderr&) = delete;

  const std::vector<std::string>& lines() const { return lines_; }
  void add(std::string line) { lines_.push_back(std::move(line)); }

 private:
  std::vector<std::string> lines_;
};

}  // namespace sluice
