#pragma once

#include "common/clock.hpp"
#include "worker/providers/http_message.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

/// A call and its end, as values.
namespace sluice {

/// When a call may start, on the boot clock (clock.hpp); both ends included.
struct StartWindow {
  BootTime from{};
  BootTime to{};
};

/// Asks for one POST; every call is answered by one HttpDone. `id` is the caller's own, unique among its
/// calls in flight; calls of different actors may have equal ids.
struct HttpCall {
  std::uint64_t id = 0;
  HttpRequest request;
  std::chrono::milliseconds connect_timeout{};  ///< Name lookup, TCP and TLS; 0: curl's own (5 minutes).
  std::chrono::milliseconds total_timeout{};    ///< From start to last byte; 0: none.
  /// For a program that waits before it starts: what it waits goes off this time. 0: no end.
  std::chrono::milliseconds case_time_left{};
  std::size_t max_body = 0;  ///< A longer body ends the call while it is read.
  /// The permit that the call starts on: its request goes out at most once, and within this.
  std::optional<StartWindow> window;
  bool fresh_connection = false;  ///< One of its own: kept ones may be dead.
  std::string
      log_members;  ///< What the call log holds of it beside the time (CallLog::write); empty: nothing.
};

/// Why no whole response came.
struct HttpFailure {
  enum class Kind : std::uint8_t {
    could_not_connect,  ///< Refused, unreachable, TLS refused, or not accepted within connect_timeout.
    could_not_resolve,  ///< The host has no address.
    no_tls,             ///< The host answers the beginning of TLS with something else: plain HTTP, mostly.
    timed_out,          ///< No whole answer within total_timeout.
    connection_lost,    ///< Closed or broken after the request was sent, or in the middle of the answer.
    too_large,          ///< The body is longer than max_body, or the headers than 256 KiB.
    cancelled,          ///< HttpCancel, or the actor was stopped.
    program_failed,     ///< A program ended otherwise than with exit code 0.
    program_changed,    ///< It is another one than the run began with: it was not started, or has answered
                        ///< what nobody asked it.
    other,              ///< Not HTTP, or a URL that cannot be called.
    unasked_encoding,   ///< The answer is packed, or said to be, in a way that nobody asked for.
    permit_expired,     ///< Connecting took longer than the window: it needs another permit. A connection to
                        ///< the host is there now.
    went_stale,         ///< The request went out on a kept connection, which died without a byte: the server
                        ///< may have closed it before the request came.
  };
  Kind kind = Kind::other;
  std::string message;   ///< One sentence with host and port; never a header of ours, so never a key.
  std::string errors{};  ///< What a program wrote to its standard error: it may hold its key.
  std::string header{};  ///< That of the answer which is refused, whole: it may hold the key that was sent.
};

/// How a call ended. `response` is whole if there is no failure, and empty otherwise; any status is a
/// response.
struct HttpDone {
  std::uint64_t id = 0;
  HttpResponse response;
  std::optional<HttpFailure> failure;
  bool started = false;  ///< The request went out.
  std::chrono::microseconds
      elapsed{};  ///< From the actor's taking the call, or a program's start, to its end.
  /// How much the way to the server varies, as the kernel knows of the connection; 0: not known, or by proxy.
  std::chrono::microseconds variation{};
};

}  // namespace sluice
