#pragma once

#include "tests/provider_sim/reply.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace sluice::sim {

/// What `GET /stats` returns. Counts provider requests only.
class Counters {
 public:
  void started(const Record& record);
  void finished(const Record& record, bool gone);
  /// Back to 0, but for what is in flight.
  void reset();
  std::uint64_t in_flight() const { return in_flight_; }
  std::string to_json() const;

 private:
  std::uint64_t requests_ = 0;
  std::uint64_t votes_ = 0;  ///< Requests that asked for a vote.
  std::uint64_t in_flight_ = 0;
  std::uint64_t max_in_flight_ = 0;
  std::uint64_t gone_ = 0;     ///< The client left before its answer.
  std::uint64_t dropped_ = 0;  ///< Closed without an answer, as asked for.
  std::uint64_t tokens_ = 0;   ///< Of answers with status 200.
  std::map<int, std::uint64_t> answers_;
};

}  // namespace sluice::sim
