#pragma once

#include <cstdint>

namespace sluice {

/// What a case came to. `warn` and `flaky` come from thresholds and repeats; `error` never enters a score.
enum class CaseStatus : std::uint8_t { pass, warn, flaky, fail, error };

/// How many cases have which status.
struct StatusCounts {
  std::uint64_t passed = 0;
  std::uint64_t warned = 0;
  std::uint64_t flaky = 0;
  std::uint64_t failed = 0;
  std::uint64_t errors = 0;

  std::uint64_t total() const { return passed + warned + flaky + failed + errors; }
  void add(CaseStatus status) {
    switch (status) {
      case CaseStatus::pass:
        ++passed;
        break;
      case CaseStatus::warn:
        ++warned;
        break;
      case CaseStatus::flaky:
        ++flaky;
        break;
      case CaseStatus::fail:
        ++failed;
        break;
      case CaseStatus::error:
        ++errors;
        break;
    }
  }
  friend bool operator==(const StatusCounts&, const StatusCounts&) = default;
};

}  // namespace sluice
