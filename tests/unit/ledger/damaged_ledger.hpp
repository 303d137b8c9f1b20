#pragma once

#include "coordinator/ledger/file_check.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "tests/support/temporary_folder.hpp"

#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

/// A ledger with two runs that have ended, to be damaged.
namespace sluice::damaged_ledger {

inline constexpr std::uint64_t trials = 300;

inline UnitResult result_of(TrialId trial) {
  UnitResult result;
  result.unit = trial;
  result.key = sha256("key " + std::to_string(trial));
  result.answer = sha256("answer " + std::to_string(trial));
  result.usage = {11, trial};
  TrialScore score;
  score.trial = trial;
  score.metrics = {{MetricId::claims_recall, 0.25 * (trial % 4), std::nullopt, ""}};
  result.scores.push_back(score);
  return result;
}

inline std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

class DamagedLedger : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "ledger.db"; }
  std::filesystem::path restored() const { return folder_.path() / "restored.db"; }

  /// Two runs that have ended, with all their results.
  void make_ledger() const {
    auto ledger = Ledger::open(file());
    for (const char* run : {"run-1", "run-2"}) {
      ASSERT_TRUE(ledger->begin_run({run, "suite", "live", "openai", "m", "1", 1000, trials}));
      for (TrialId trial = 0; trial < trials; ++trial)
        ASSERT_TRUE(
            ledger->commit(run, std::vector{ResultToCommit{result_of(trial), {trial}, "w", "cache"}}, true));
      RunSummary summary;
      summary.completed_at_ms = 2000;
      summary.verdict = "pass";
      ASSERT_TRUE(ledger->finish_run(run, summary));
    }
  }
  void change(const std::string& sql) const {
    SQLite::Database(file().string(), SQLite::OPEN_READWRITE).exec(sql);
  }
  std::vector<std::string> damage() const {
    const auto checked = check_ledger_file(file());
    EXPECT_TRUE(checked) << checked.error().message;
    return checked ? checked->damage : std::vector<std::string>();
  }
  /// With all its runs such that somebody may go on with them.
  Result<RestoredFile> restore() const {
    return restore_ledger_file(file(), restored(), [](const PastRun&) { return true; });
  }
  /// What a ledger says of a run, or nothing if it says that it cannot.
  static std::optional<std::vector<UnitResult>> results(const std::filesystem::path& file, const char* run) {
    const auto ledger = Ledger::open(file);
    if (!ledger) return std::nullopt;
    std::vector<UnitResult> all;
    const auto visited =
        ledger->results_of(run)->visit([&](const CommittedTrial& one) { all.push_back(one.unit); });
    return visited ? std::optional(all) : std::nullopt;
  }

  support::TemporaryFolder folder_;
};

}  // namespace sluice::damaged_ledger
