#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace sluice::sim {

/// A server that works on so many requests at a time and lets the others wait in line, as a llama.cpp server
/// with its slots. Pure: times are arguments, in microseconds, and never run backwards.
class ServingPlaces {
 public:
  /// 0: there is a place for everyone.
  explicit ServingPlaces(std::size_t places) : places_(places) {}

  /// When a request that came now and takes so long will be done.
  std::int64_t done_at(std::int64_t now_us, std::int64_t takes_us);
  /// All places are free.
  void reset() { busy_until_us_.clear(); }

 private:
  std::size_t places_;
  std::vector<std::int64_t> busy_until_us_;  ///< A heap, the place that is free first on top.
};

}  // namespace sluice::sim
