#include "tests/provider_sim/event_log.hpp"

#include "tests/provider_sim/json_text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace sluice::sim {

namespace {

constexpr std::size_t full_buffer = 256u << 10;

void append_member(std::string& out, std::string_view name, std::int64_t value) {
  out += ",\"";
  out += name;
  out += "\":";
  append_number(out, value);
}

/// On one line: the texts of JSON hold no line end as it is, and between them it means nothing. What is no
/// JSON becomes a text.
void append_body(std::string& out, std::string_view body) {
  const bool is_json = nlohmann::json::accept(body);
  if (is_json) {
    std::ranges::copy_if(body, std::back_inserter(out), [](char c) { return c != '\n' && c != '\r'; });
  } else {
    out += '"';
    append_escaped(out, body);
    out += '"';
  }
}

}  // namespace

EventLog::~EventLog() {
  flush();
  if (file_ >= 0) close(file_);
}

Result<void> EventLog::open(const std::string& path) {
  file_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0)
    return fail(Reason::output_failed, path + ": the log cannot be written: " + std::strerror(errno));
  return {};
}

Result<void> EventLog::open_requests(const std::string& path) {
  requests_.open(path, std::ios::binary | std::ios::trunc);
  if (!requests_) return fail(Reason::output_failed, path + ": the requests cannot be written");
  return {};
}

void EventLog::write_request(const HttpRequest& request) {
  if (!requests_.is_open()) return;
  std::string line = R"({"target":")";
  append_escaped(line, request.target);
  line += R"(","headers":{)";
  for (const HttpHeader& header : request.headers) {
    line += &header == request.headers.data() ? "\"" : ",\"";
    append_escaped(line, header.name);
    line += R"(":")";
    append_escaped(line, header.value);
    line += '"';
  }
  line += R"(},"body":)";
  append_body(line, request.body);
  line += "}\n";
  requests_ << line << std::flush;
}

void EventLog::write(std::string_view event, const Record& record, std::int64_t now_us) {
  if (file_ < 0) return;
  buffer_ += "{\"t_us\":";
  append_number(buffer_, now_us);
  buffer_ += ",\"event\":\"";
  buffer_ += event;
  buffer_ += '"';
  append_member(buffer_, "id", static_cast<std::int64_t>(record.id));
  if (event != "start") {
    append_member(buffer_, "status", record.status);
    if (record.retry_after_ms >= 0) append_member(buffer_, "retry_after_ms", record.retry_after_ms);
    append_member(buffer_, "tokens", static_cast<std::int64_t>(record.tokens));
  }
  append_member(buffer_, "conn", static_cast<std::int64_t>(record.connection));
  buffer_ += ",\"provider\":\"";
  buffer_ += record.provider;
  buffer_ += "\",\"content\":\"";
  append_hex(buffer_, record.content >> 32, 8);
  buffer_ += '"';
  if (record.vote) buffer_ += ",\"vote\":true";
  if (event != "start" && record.fault != Fault::none) {
    buffer_ += ",\"fault\":\"";
    buffer_ += to_string(record.fault);
    buffer_ += '"';
  }
  buffer_ += "}\n";
  if (buffer_.size() >= full_buffer) flush();
}

bool EventLog::flush() {
  std::string_view left = buffer_;
  while (!left.empty()) {
    const ssize_t written = ::write(file_, left.data(), left.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      failed_ = true;
      break;
    }
    left.remove_prefix(static_cast<std::size_t>(written));
  }
  buffer_.clear();
  return !failed_;
}

}  // namespace sluice::sim
