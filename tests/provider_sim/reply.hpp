#pragma once

#include "tests/provider_sim/http_parser.hpp"
#include "tests/provider_sim/script.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::sim {

/// What the log and the counters keep of one provider request.
struct Record {
  std::uint64_t id = 0;
  std::uint64_t connection = 0;
  std::string_view provider;         ///< Empty: no provider request (health, statistics, unknown paths).
  int status = 0;                    ///< 0: no answer was sent.
  std::int64_t retry_after_ms = -1;  ///< What the answer named; -1: nothing.
  std::uint64_t tokens = 0;
  std::uint64_t content = 0;  ///< Hash of the user message.
  Fault fault = Fault::none;
  bool vote = false;  ///< A vote was asked for.
};

/// An answer that is ready, and when and how it goes out.
struct Reply {
  enum class Delivery : std::uint8_t { send, drop, hang };
  std::string bytes;
  Delivery delivery = Delivery::send;
  bool close = false;       ///< Close the connection behind it.
  std::int64_t due_us = 0;  ///< Not before this time; 0: at once.
  Record record;

  /// Empty again, but for the memory that it holds.
  void clear() {
    bytes.clear();
    delivery = Delivery::send;
    close = false;
    due_us = 0;
    record = {};
  }
};

/// What the server serves. All times are CLOCK_MONOTONIC microseconds.
class Service {
 public:
  virtual ~Service() = default;
  /// Fills the cleared reply. `last`: the connection closes behind it.
  virtual void respond(const HttpRequest& request, std::uint64_t connection, bool last, std::int64_t now_us,
                       Reply& reply) = 0;
  /// Fills the cleared reply to bytes that are no HTTP request.
  virtual void reject(int status, Reply& reply) = 0;
  /// The reply went out, was dropped as it asked for, or (`gone`) the client left before.
  virtual void finished(const Reply& reply, bool gone, std::int64_t now_us) = 0;
  /// Called about every 50 ms.
  virtual void tick() = 0;
  /// True while nobody can connect. Asked about every 50 ms.
  virtual bool is_unreachable(std::int64_t now_us) const = 0;
};

}  // namespace sluice::sim
