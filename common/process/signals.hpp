#pragma once

#include "common/defaults.hpp"

#include <chrono>
#include <csignal>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

namespace sluice {

/// What a signal means, given those before it. Time comes from outside; not thread-safe.
class SignalRequest {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  enum class Meaning { stop, repetition, insistence };

  bool is_made() const { return first_.has_value(); }

  Meaning take(TimePoint now) {
    if (!first_) {
      first_ = now;
      return Meaning::stop;
    }
    return now - *first_ < defaults::one_signal_request ? Meaning::repetition : Meaning::insistence;
  }

 private:
  std::optional<TimePoint> first_;
};

/// Signals that end an orderly program: SIGINT, SIGTERM, and SIGHUP unless this process ignores it (nohup).
sigset_t signals_that_end();

/// Watches for these signals on a thread of its own, so that a handler is ordinary code. Without a handler,
/// and on a later signal (SignalRequest) in any case, the process ends at once. Also ignores SIGPIPE and
/// SIGXFSZ: their causes are seen as errors of the write. REQUIRES: made before any other thread is started
/// (they inherit the blocked signals).
class SignalWatch {
 public:
  using Handler = std::function<void(const char* signal)>;

  explicit SignalWatch(int exit_code);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// From now on the first signal calls `handler`, on the watch's thread. An empty one takes it away: once
  /// this has returned, the old one does not run any more. Thread-safe.
  void handle_with(Handler handler);

  /// What is said, behind the signal, where one ends the process at once; empty: no more. Thread-safe.
  void say_at_an_early_end(std::string words);

  /// What is done last where a signal ends the process at once. It must not wait for other threads.
  void clean_up_with(std::function<void()> clean_up);

  /// A signal came, whoever handled it. Thread-safe.
  bool has_come();

 private:
  void watch();
  void take(const char* signal);

  int exit_code_;
  int signal_fd_ = -1;
  int stop_fd_ = -1;
  std::mutex mutex_;
  Handler handler_;
  std::string last_words_;
  std::function<void()> clean_up_;
  SignalRequest request_;
  std::thread thread_;
};

}  // namespace sluice
