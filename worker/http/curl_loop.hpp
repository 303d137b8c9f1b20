#pragma once

#include "worker/http/curl_library.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace sluice {

/// A curl_multi handle that is driven by epoll: a turn costs what has happened, not what is in flight
/// (curl_multi_perform asks the kernel about each transfer each time). Kept connections stay in the epoll set
/// between transfers, though curl takes them out and puts them in again: two calls to the kernel each time.
/// One of HTTP/1 on which something comes that nobody asked for is not used again. Not thread-safe, but for
/// ring().
class CurlLoop {
 public:
  CurlLoop();
  ~CurlLoop();
  CurlLoop(const CurlLoop&) = delete;
  CurlLoop& operator=(const CurlLoop&) = delete;

  /// Before the first transfer; until then a turn only waits. Keeps up to `max_connections` alive.
  /// REQUIRES: load_curl() has succeeded.
  void start(long max_connections);
  bool started() const { return multi_ != nullptr; }

  /// The handle's connections are to be this loop's. Before its first transfer.
  void adopt(CURL* easy);
  /// Begins the transfer; the handle must live until it is removed.
  CURLMcode add(CURL* easy) { return curl().multi_add_handle(multi_.get(), easy); }
  void remove(CURL* easy) { curl().multi_remove_handle(multi_.get(), easy); }

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
    void operator()(CURLM* multi) const { curl().multi_cleanup(multi); }
  };

  /// A socket as epoll and curl have it.
  struct Watched {
    bool opened_here = false;      ///< Its end will be reported, too.
    bool wanted = false;           ///< By a transfer; else it is a kept connection.
    std::uint32_t registered = 0;  ///< The events that epoll looks for; 0: none.
    bool speaks_http1 = false;     ///< By the last response that came on it.
  };

  static curl_socket_t on_open(void* self, curlsocktype purpose, curl_sockaddr* address);
  static int on_close(void* self, curl_socket_t socket);
  static int on_socket(CURL* easy, curl_socket_t socket, int what, void* self, void* known);
  static int on_timer(CURLM* multi, long timeout_ms, void* self);
  int wait_ms(std::chrono::milliseconds longest) const;
  Watched& watched(curl_socket_t socket);
  void watch(curl_socket_t socket, std::uint32_t events);
  void unwatch(curl_socket_t socket);
  void keep(curl_socket_t socket, CURL* last_user);
  void on_unasked(curl_socket_t socket);
  void note_failure(const char* what);

  int epoll_ = -1;
  int bell_ = -1;
  int hung_up_ = -1;                            ///< A socket whose other end is closed.
  std::optional<Clock::time_point> curl_time_;  ///< When curl wants to be called without any socket.
  std::vector<Watched> sockets_;                ///< By their number.
  bool failed_ = false;
  std::unique_ptr<CURLM, MultiDeleter> multi_;
};

}  // namespace sluice
