#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include <curl/curl.h>

namespace sluice {

/// A curl_multi handle that is driven by epoll: a turn costs what has happened, not what is in flight
/// (curl_multi_perform asks the kernel about each transfer each time). Not thread-safe, but for ring().
class CurlLoop {
 public:
  /// REQUIRES: curl_global_init was called. Keeps up to `max_connections` alive.
  explicit CurlLoop(long max_connections);
  ~CurlLoop();
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  /// Begins the transfer; the handle must live until it is removed.
  CURLMcode add(CURL* easy) { return curl_multi_add_handle(multi_.get(), easy); }
  void remove(CURL* easy) { curl_multi_remove_handle(multi_.get(), easy); }

  /// Waits until a socket is ready, curl's own time has come, somebody rings, or `longest` is over; then lets
  /// curl work.
  void turn(std::chrono::milliseconds longest);
  /// Ends the wait of the turn that is under way, or else that of the next one. Thread-safe.
  void ring();

  struct Finished {
    CURL* easy = nullptr;
    CURLcode code = CURLE_OK;
  };
  /// A transfer that has ended since, still to be removed.
  std::optional<Finished> next_finished();

 private:
  using Clock = std::chrono::steady_clock;
  struct MultiDeleter {
    void operator()(CURLM* multi) const { curl_multi_cleanup(multi); }
  };

  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* self, void* known);
  static int on_timer(CURLM* multi, long timeout_ms, void* self);
  int wait_ms(std::chrono::milliseconds longest) const;
  void note_failure(const char* what);

  int epoll_ = -1;
  int bell_ = -1;
  std::optional<Clock::time_point> curl_time_;  ///< When curl wants to be called without any socket.
  bool failed_ = false;
  std::unique_ptr<CURLM, MultiDeleter> multi_;
};

}  // namespace sluice
