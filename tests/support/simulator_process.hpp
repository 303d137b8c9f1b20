#pragma once

#include "tests/support/process.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace sluice::support {

/// One line of the simulator's log.
struct SimulatorEvent {
  std::int64_t at_us = 0;  ///< On the monotonic clock that all processes of this machine share.
  std::string kind;        ///< "start", "answer", "drop", or "gone" (the client left without its answer).
  std::uint64_t connection = 0;
  int status = 0;
  std::int64_t retry_after_ms = -1;  ///< -1: none was named.
  std::string content;               ///< Stands for the message that was asked about.
  bool vote = false;                 ///< A judge's vote was asked for.
};

/// A running provider-sim.
class SimulatorProcess {
 public:
  /// Starts it from a command without the flags for port and log, and waits until it listens. Throws
  /// std::runtime_error if it does not.
  SimulatorProcess(Command command, const std::filesystem::path& log);

  /// "http://127.0.0.1:PORT"
  const std::string& url() const { return url_; }
  /// What has happened so far, in order. While an outage refuses connections, what happened in the last 50 ms
  /// may be missing.
  std::vector<SimulatorEvent> events() const;
  std::size_t count(const std::string& kind) const;
  /// Ends the simulator and reads its log, to which nothing comes any more.
  std::vector<SimulatorEvent> final_events();

 private:
  std::filesystem::path log_;
  Process process_;
  std::string url_;
};

}  // namespace sluice::support
