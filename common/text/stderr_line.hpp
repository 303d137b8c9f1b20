#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// What takes a terminal's line away, with the cursor at its beginning.
inline constexpr std::string_view wipe_line = "\r\x1b[2K";

/// How lines of stderr look: sentences for people, or a JSON object each (docs/operations.md).
enum class LogFormat : std::uint8_t { text, json };
std::string_view to_string(LogFormat format);

/// Of the whole process, from now on; text at first. Thread-safe, as is all of this file.
void set_log_format(LogFormat format);
LogFormat log_format();
/// The format that `--log-format` among the arguments or SLUICE_LOG_FORMAT asks for, as far as they are
/// plain: what is wrong before settings are loaded is said in it too.
LogFormat early_log_format(int argc, const char* const* argv);

/// What a line is about; empty where that is not known.
struct LogFields {
  std::string run{};
  std::string worker{};
  std::string case_id{};
  std::string provider{};
};

/// What every line of the process is about that does not say otherwise: set once a run or a worker is known.
void set_log_context(LogFields fields);

/// What the lines are about that this thread writes while it lives, over the process' context and over
/// those that live already.
class LogScope {
 public:
  explicit LogScope(LogFields fields);
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

 private:
  LogFields outer_;
};

/// One line's JSON object, without its end: time (RFC 3339, UTC), level, message, and those of run, worker,
/// case and provider that are known. All of it is cleaned as log_text cleans.
std::string json_log_line(std::chrono::sys_time<std::chrono::milliseconds> time, std::string_view level,
                          std::string_view message, const LogFields& fields);
/// The same for now, with what this thread's lines are about.
std::string json_log_line(std::string_view level, std::string_view message);

/// Writes one line to stderr, cleaned by log_text, in one piece. Everything that is no log message and no
/// progress goes through here, so that no foreign text in it can end the line, move the cursor or forge
/// another line. `over_live_line`: wipes the progress line first, so that the two do not run into each other.
/// Where lines are JSON objects, it is one of level info, and nothing is wiped.
void write_stderr_line(std::string_view text, bool over_live_line = false);

enum class Severity : std::uint8_t { info, warning, error };

/// Writes one line as above, which names the program and, beyond info, the severity; a JSON object has the
/// severity as its level, and no program.
void say(std::string_view text, Severity severity = Severity::info, bool over_live_line = false);
/// Who `say` says speaks; "sluice" at first.
void set_speaker(std::string_view program);

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
