#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sluice {

/// What a case came to. `warn` and `flaky` come from thresholds and repeats; `error` never enters a score.
enum class CaseStatus : std::uint8_t { pass, warn, flaky, fail, error };

inline constexpr std::array<std::string_view, 5> case_status_names{"pass", "warn", "flaky", "fail", "error"};

constexpr std::string_view to_string(CaseStatus status) {
  return case_status_names[static_cast<std::size_t>(status)];
}

/// The same for people: a case whose turn had not come when its run was stopped is no error.
constexpr std::string_view shown_status(CaseStatus status, bool not_started) {
  return not_started ? "not started" : to_string(status);
}

constexpr std::optional<CaseStatus> case_status_from(std::string_view name) {
  for (std::size_t i = 0; i < case_status_names.size(); ++i) {
    if (case_status_names[i] == name) return static_cast<CaseStatus>(i);
  }
  return std::nullopt;
}

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
