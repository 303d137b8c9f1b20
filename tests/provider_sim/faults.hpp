#pragma once

#include "tests/provider_sim/script.hpp"

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice::sim {

/// Which answers go wrong, and how often. Probabilities add up to at most 1.
struct FaultSettings {
  enum class Mode : std::uint8_t {
    random,      ///< By the request's number: another try may succeed.
    per_content  ///< By the user message: what fails once fails always.
  };
  Mode mode = Mode::random;
  std::uint64_t seed = 1;
  double hang = 0;
  double drop = 0;
  double truncate_body = 0;
  double malformed = 0;
  double refusal = 0;
  double length = 0;
  std::vector<std::pair<double, int>> errors;  ///< Probability and status.
  std::uint32_t max_per_content = 0;           ///< Faults that one user message may get; 0: no bound.

  /// The sum of all probabilities.
  double total() const;
};

/// What is to go wrong with one request.
struct FaultChoice {
  Fault fault = Fault::none;
  int status = 0;  ///< With Fault::error.
};

/// One throw of the die decides among all faults. Pure: equal arguments, equal choice.
FaultChoice choose_fault(const FaultSettings& settings, std::uint64_t content_hash, std::uint64_t request);

/// All faults that another try heals (429, 529, 500, 503, hang, drop, a cut or malformed body), evenly and
/// with this probability together.
void add_storm(FaultSettings& settings, double probability);

/// Chooses by the settings, and keeps their bound: with one, every message is answered in the end.
class FaultSource {
 public:
  explicit FaultSource(FaultSettings settings) : settings_(std::move(settings)) {}

  FaultChoice choose(std::uint64_t content_hash, std::uint64_t request);
  void reset() { given_.clear(); }

 private:
  FaultSettings settings_;
  std::unordered_map<std::uint64_t, std::uint32_t> given_;  ///< Faults by message; empty without a bound.
};

/// How long answers take: a fixed time, or log-normal around a median.
struct LatencySettings {
  double median_ms = 0;
  double sigma = 0;  ///< 0: fixed. Of the natural logarithm.
  std::uint64_t seed = 1;
};

/// The delay of a request's answer in microseconds. Pure.
std::int64_t latency_us(const LatencySettings& settings, std::uint64_t request);

}  // namespace sluice::sim
