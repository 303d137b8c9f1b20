#pragma once

#include "common/error.hpp"
#include "tests/provider_sim/reply.hpp"

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace sluice::sim {

/// Appends events to a file, one JSON line each. Buffered: call `flush` now and then. Not thread-safe.
class EventLog {
 public:
  EventLog() = default;
  ~EventLog();
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;

  /// Without it nothing is logged. The file is emptied.
  Result<void> open(const std::string& path);
  /// `event` is "start", "answer", "drop" (closed on purpose) or "gone" (the client left).
  void write(std::string_view event, const Record& record, std::int64_t now_us);
  /// Whole requests go to a file of their own, and without it nowhere.
  Result<void> open_requests(const std::string& path);
  /// On one line, whatever lines the body has.
  void write_request(const HttpRequest& request);
  /// False if the file could not be written: what is lost is dropped, and `failed` stays true.
  bool flush();
  bool failed() const { return failed_; }

 private:
  int file_ = -1;
  bool failed_ = false;
  std::ofstream requests_;
  std::string buffer_;
};

}  // namespace sluice::sim
