#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// What retrieval found for a case; the ledger has the names.
enum class RetrievalKind : std::uint8_t { hit, degraded, miss };

constexpr std::string_view to_string(RetrievalKind kind) {
  return kind == RetrievalKind::hit ? "hit" : kind == RetrievalKind::degraded ? "degraded" : "miss";
}

/// One retrieval of a run: the record that `sluice calibrate-bands` reads.
struct RetrievalEvent {
  std::uint32_t case_index = 0;  ///< Of the run's cases.
  std::string test;              ///< The case's id; under arms TEST@ARM.
  std::string category;
  RetrievalKind kind = RetrievalKind::miss;
  /// Similarity and id of the nearest example, of a miss too. Nothing and empty where there was none.
  std::optional<double> score;
  std::string example;
  double high_floor = 0.0;
  double degraded_floor = 0.0;
  std::string plugin;
  std::string embedder;
  std::string task_class;
  std::string language;
  std::string build_system;
  std::string status{};  ///< Of the case when the run has ended: `pass`, `fail`, ...; empty: not known.
};

/// Which retrievals are read: those that fit all of what is given.
struct RetrievalFilter {
  std::string plugin;
  std::string embedder;
  std::optional<std::string> suite;  ///< Its name.
};

/// Cases of a run that retrieval came to the same for.
struct RetrievedCases {
  std::uint64_t cases = 0;
  std::uint64_t passed = 0;  ///< Warned ones too.
  friend bool operator==(const RetrievedCases&, const RetrievedCases&) = default;
};

/// By RetrievalKind.
using RetrievalCounts = std::array<RetrievedCases, 3>;

/// What retrieval came to in a run, for the report.
struct RetrievalSummary {
  std::string plugin;
  std::string embedder;
  RetrievalCounts all{};
  std::map<std::string, RetrievalCounts> by_category;
};

}  // namespace sluice
