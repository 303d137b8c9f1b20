#pragma once

#include "coordinator/ledger/ledger.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

/// What the tests of results and pins in a ledger share.
namespace sluice::ledger_test {

inline UnitResult answered(UnitId unit, const std::vector<TrialId>& trials, const std::string& text) {
  UnitResult result;
  result.unit = unit;
  result.key = sha256("key " + std::to_string(unit));
  result.answer = sha256(text);
  result.usage = {11, 7};
  result.parsed = {{"tls/cert", "enabled", false, 0.9, 3}};
  result.claims = {{"tls/cert", "enabled", false, 0.9, 3, true, false}};
  for (const auto trial : trials) {
    TrialScore score;
    score.trial = trial;
    score.metrics = {{MetricId::claims_recall, 0.25 * (trial % 4), std::nullopt, ""}};
    score.claims.unexpected = {0};
    result.scores.push_back(score);
  }
  return result;
}

inline ResultToCommit item(UnitResult result, std::vector<TrialId> trials, std::string cache = "cache-a") {
  return {std::move(result), std::move(trials), "worker-a", std::move(cache)};
}

inline ResultToCommit one(UnitId unit, const std::string& text, std::string cache = "cache-a") {
  return item(answered(unit, {unit}, text), {unit}, std::move(cache));
}

class LedgerTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "home" / "ledger.db"; }

  Ledger open() const {
    auto ledger = Ledger::open(file());
    EXPECT_TRUE(ledger) << ledger.error().message;
    return std::move(*ledger);
  }

  Ledger open_with_run(const std::string& run_id = "run-1") const {
    auto ledger = open();
    const auto begun = ledger.begin_run({run_id, "suite", "live", "openai", "m", "1", 1000, 10});
    EXPECT_TRUE(begun) << begun.error().message;
    return ledger;
  }

  static std::vector<CommitOutcome> commit(Ledger& ledger, const std::vector<ResultToCommit>& items,
                                           bool move_pins = true, const std::string& run_id = "run-1") {
    auto outcomes = ledger.commit(run_id, items, move_pins);
    EXPECT_TRUE(outcomes) << outcomes.error().message;
    return outcomes ? *outcomes : std::vector<CommitOutcome>(items.size());
  }

  static std::vector<CommittedTrial> results(const Ledger& ledger, const std::string& run_id = "run-1") {
    std::vector<CommittedTrial> trials;
    const auto visited =
        ledger.results_of(run_id)->visit([&](const CommittedTrial& t) { trials.push_back(t); });
    EXPECT_TRUE(visited) << visited.error().message;
    return trials;
  }

  static std::optional<Pin> pin(Ledger& ledger, UnitId unit) {
    const std::vector<Digest> keys{sha256("key " + std::to_string(unit))};
    const auto pins = ledger.pins(keys);
    EXPECT_TRUE(pins) << pins.error().message;
    return pins ? pins->front() : std::nullopt;
  }

  support::TemporaryFolder folder_;
};

}  // namespace sluice::ledger_test
