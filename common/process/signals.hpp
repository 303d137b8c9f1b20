#pragma once

#include <functional>
#include <thread>

namespace sluice {

/// Watches for SIGINT and SIGTERM on a thread of its own, so that the handler is ordinary code. The second signal
/// ends the process at once with exit code 2. Also ignores SIGPIPE and SIGXFSZ: their causes are seen as errors of
/// the write. REQUIRES: made before any other thread is started (they inherit the blocked signals).
class SignalWatch {
 public:
  SignalWatch();
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// Calls `on_signal` with the first signal's name, on the watch's thread.
  void start(std::function<void(const char* signal)> on_signal);
  /// Ends the watch: `on_signal` is not called any more.
  void stop();

 private:
  int signal_fd_ = -1;
  int stop_fd_ = -1;
  std::thread thread_;
};

}  // namespace sluice
