#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace sluice::sim {

/// A time in which the server serves nobody, counted from the first provider request.
struct Outage {
  enum class Kind : std::uint8_t {
    status,  ///< Every request is answered with `status`.
    drop,    ///< Connections are closed without an answer.
    hang,    ///< Nothing is ever answered.
    refuse   ///< Connections are refused, and those that stood are closed.
  };
  std::int64_t from_us = 0;
  std::int64_t until_us = 0;
  Kind kind = Kind::status;
  int status = 503;
};

/// Which outage there is when. Pure: times are arguments, in microseconds.
class OutageSchedule {
 public:
  explicit OutageSchedule(std::vector<Outage> outages) : outages_(std::move(outages)) {}

  /// A provider request came: the first one starts the clock.
  void request_at(std::int64_t now_us) {
    if (!begun_us_) begun_us_ = now_us;
  }
  /// The first outage that holds now; nothing if there is none, or if no request has come yet.
  const Outage* at(std::int64_t now_us) const;
  /// The clock starts with the next request.
  void reset() { begun_us_.reset(); }

 private:
  std::vector<Outage> outages_;
  std::optional<std::int64_t> begun_us_;
};

}  // namespace sluice::sim
