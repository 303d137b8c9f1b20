#include "common/text/stderr_line.hpp"

#include "common/text/printable.hpp"
#include "common/text/text.hpp"
#include "common/text/timestamp.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <utility>

namespace sluice {

namespace {

std::atomic<LogFormat> format_of_lines{LogFormat::text};

std::mutex process_lock;
LogFields process_context;       // Guarded by it.
std::string speaker = "sluice";  // Likewise.

thread_local LogFields thread_context;
thread_local GatheredStderr* gathering = nullptr;

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::info:
      return "info";
    case Severity::warning:
      return "warning";
    case Severity::error:
      break;
  }
  return "error";
}

/// The first, or the second for what that does not know.
LogFields over(LogFields first, const LogFields& second) {
  for (const auto member : {&LogFields::run, &LogFields::worker, &LogFields::case_id, &LogFields::provider}) {
    if ((first.*member).empty()) first.*member = second.*member;
  }
  return first;
}

/// In one piece: other threads and processes write to stderr too.
void write_line(std::string line) {
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

GatheredStderr::GatheredStderr() {
  gathering = this;
}

GatheredStderr::~GatheredStderr() {
  gathering = nullptr;
}

std::string_view to_string(LogFormat format) {
  return format == LogFormat::json ? "json" : "text";
}

void set_log_format(LogFormat format) {
  format_of_lines = format;
}

LogFormat log_format() {
  return format_of_lines;
}

LogFormat early_log_format(int argc, const char* const* argv) {
  constexpr std::string_view flag = "--log-format";
  const char* variable = std::getenv("SLUICE_LOG_FORMAT");
  std::string_view wanted = variable == nullptr ? "" : variable;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") break;
    if (!word.starts_with(flag)) continue;
    if (word == flag && i + 1 < argc) wanted = argv[i + 1];
    if (word.substr(flag.size()).starts_with('=')) wanted = word.substr(flag.size() + 1);
  }
  return wanted == to_string(LogFormat::json) ? LogFormat::json : LogFormat::text;
}

void set_log_context(LogFields fields) {
  const std::lock_guard lock(process_lock);
  process_context = std::move(fields);
}

void set_speaker(std::string_view program) {
  const std::lock_guard lock(process_lock);
  speaker = program;
}

LogScope::LogScope(LogFields fields)
    : outer_(std::exchange(thread_context, over(std::move(fields), thread_context))) {}

LogScope::~LogScope() {
  thread_context = std::move(outer_);
}

std::string json_log_line(std::chrono::sys_time<std::chrono::milliseconds> time, std::string_view level,
                          std::string_view message, const LogFields& fields) {
  std::string line = R"({"time":")" + rfc3339(time) + R"(","level":)" + json_string(level);
  const auto add = [&line](std::string_view name, std::string_view text) {
    line.append(",\"").append(name).append("\":");
    append_json_string(line, log_text(text));
  };
  add("message", message);
  for (const auto& [name, text] :
       {std::pair("run", &fields.run), std::pair("worker", &fields.worker),
        std::pair("case", &fields.case_id), std::pair("provider", &fields.provider)}) {
    if (!text->empty()) add(name, *text);
  }
  return line + '}';
}

std::string json_log_line(std::string_view level, std::string_view message) {
  LogFields fields = thread_context;
  {
    const std::lock_guard lock(process_lock);
    fields = over(std::move(fields), process_context);
  }
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  return json_log_line(now, level, message, fields);
}

void write_stderr_line(std::string_view text, bool over_live_line) {
  if (gathering != nullptr) return gathering->add(log_text(text));
  if (log_format() == LogFormat::json) return write_line(json_log_line(to_string(Severity::info), text));
  write_line(std::string(over_live_line ? wipe_line : "") + log_text(text));
}

void say(std::string_view text, Severity severity, bool over_live_line) {
  if (gathering == nullptr && log_format() == LogFormat::json)
    return write_line(json_log_line(to_string(severity), text));
  std::string line;
  {
    const std::lock_guard lock(process_lock);
    line = speaker + ": ";
  }
  if (severity != Severity::info) line.append(to_string(severity)).append(": ");
  write_stderr_line(line.append(text), over_live_line);
}

}  // namespace sluice
