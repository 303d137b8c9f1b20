// Results: which one of a unit counts, and how they are read.
#include "tests/unit/ledger/ledger_fixture.hpp"

#include <SQLiteCpp/SQLiteCpp.h>

namespace sluice::ledger_test {

TEST_F(LedgerTest, ConsecutiveResultsEndWhereOneIsMissing) {
  auto ledger = open_with_run();
  commit(ledger, {one(0, "a"), one(1, "b"), one(3, "d")});
  const auto consecutive = [&](TrialId first) {
    std::vector<TrialId> seen;
    const auto next = ledger.visit_consecutive(
        "run-1", first, [&](const CommittedTrial& trial) { seen.push_back(trial.trial); });
    EXPECT_TRUE(next);
    return std::pair(seen, *next);
  };
  EXPECT_EQ(consecutive(0), std::pair(std::vector<TrialId>({0, 1}), TrialId{2}));
  EXPECT_EQ(consecutive(2), std::pair(std::vector<TrialId>(), TrialId{2}));
  EXPECT_EQ(consecutive(3), std::pair(std::vector<TrialId>({3}), TrialId{4}));
}

TEST_F(LedgerTest, TheFirstResultOfAUnitIsItsResult) {
  auto ledger = open_with_run();
  auto outcomes = commit(ledger, {one(0, "a"), one(1, "b"), one(0, "late")});
  ASSERT_EQ(outcomes.size(), 3u);
  EXPECT_TRUE(outcomes[0].first);
  EXPECT_EQ(outcomes[0].winner, sha256("a"));
  EXPECT_TRUE(outcomes[1].first);
  EXPECT_FALSE(outcomes[2].first);
  EXPECT_EQ(outcomes[2].winner, sha256("a"));
  outcomes = commit(ledger, {one(1, "later still")});
  EXPECT_FALSE(outcomes[0].first);
  EXPECT_EQ(outcomes[0].winner, sha256("b"));
  EXPECT_EQ(results(ledger).size(), 2u);
}

TEST_F(LedgerTest, AnErrorIsAResultToo) {
  auto ledger = open_with_run();
  UnitResult failed;
  failed.unit = 4;
  failed.error = Error{Reason::rate_limited, "429"};
  EXPECT_TRUE(commit(ledger, {item(failed, {4, 5})})[0].first);
  const auto late = commit(ledger, {item(answered(4, {4, 5}, "x"), {4, 5})});
  EXPECT_FALSE(late[0].first);
  EXPECT_TRUE(is_zero(late[0].winner));
  const auto trials = results(ledger);
  ASSERT_EQ(trials.size(), 2u);
  EXPECT_EQ(trials[1].trial, 5u);
  EXPECT_EQ(trials[1].unit.error, failed.error);
}

TEST_F(LedgerTest, ResultsComeInPlanOrderEachWithItsOwnScore) {
  auto ledger = open_with_run();
  const auto shared = answered(0, {0, 2, 5}, "shared");
  const auto single = answered(1, {1}, "single");
  commit(ledger, {item(single, {1}), item(shared, {0, 2, 5})});
  const auto trials = results(ledger);
  ASSERT_EQ(trials.size(), 4u);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const auto trial = std::vector<TrialId>{0, 1, 2, 5}[i];
    EXPECT_EQ(trials[i].trial, trial);
    auto expected = trial == 1 ? single : shared;
    std::erase_if(expected.scores, [&](const TrialScore& score) { return score.trial != trial; });
    EXPECT_EQ(trials[i].unit, expected) << trial;
  }
}

TEST_F(LedgerTest, ARefusalIsAnErrorOfTheTrialsWithoutAScoreAlone) {
  auto ledger = open_with_run();
  auto refused = answered(0, {1, 2}, "no");
  refused.error = Error{Reason::refusal, "declined"};
  refused.grade.emplace().grade.grader_id = "exact";
  commit(ledger, {item(refused, {0, 1, 2})});
  const auto trials = results(ledger);
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_TRUE(trials[0].unit.scores.empty());
  EXPECT_FALSE(trials[0].unit.grade);
  for (const TrialId trial : {1u, 2u}) {
    ASSERT_EQ(trials[trial].unit.scores.size(), 1u);
    EXPECT_EQ(trials[trial].unit.scores[0], *refused.score_of(trial));
    EXPECT_EQ(trials[trial].unit.grade, refused.grade);
  }
  for (const auto& trial : trials) EXPECT_EQ(trial.unit.error, refused.error);
  const auto progress = ledger.progress_of("run-1");
  ASSERT_TRUE(progress) << progress.error().message;
  EXPECT_EQ(progress->committed, 3u);
  EXPECT_EQ(progress->errors, (std::map<std::string, std::uint64_t>{{"refusal", 1}}));
}

TEST_F(LedgerTest, AUnitsTrialsAreCommittedAllOrNone) {
  auto ledger = open_with_run();
  commit(ledger, {item(answered(0, {0, 3}, "first"), {0, 3})});
  commit(ledger, {item(answered(0, {0, 3}, "second"), {0, 3})});
  for (const auto& trial : results(ledger)) EXPECT_EQ(trial.unit.answer, sha256("first"));
  // A batch that fails in the middle leaves nothing of itself, and does not harm the next.
  {
    SQLite::Database db(file().string(), SQLite::OPEN_READWRITE);
    db.exec(
        "CREATE TRIGGER refuse BEFORE INSERT ON results WHEN new.id % 4294967296 = 8 "
        "BEGIN SELECT RAISE(FAIL, 'no room'); END");
  }
  const std::vector<ResultToCommit> batch{one(6, "six"), item(answered(7, {7, 8, 9}, "seven"), {7, 8, 9})};
  const auto outcomes = ledger.commit("run-1", batch, true);
  ASSERT_FALSE(outcomes);
  EXPECT_EQ(outcomes.error().reason, Reason::ledger_failed);
  EXPECT_NE(outcomes.error().message.find("no room"), std::string::npos);
  EXPECT_EQ(results(ledger).size(), 2u);
  EXPECT_FALSE(pin(ledger, 6));
  EXPECT_TRUE(commit(ledger, {one(6, "six")})[0].first);
}

TEST_F(LedgerTest, RunsDoNotMix) {
  auto ledger = open_with_run("run-1");
  EXPECT_TRUE(ledger.begin_run({"run-2", "s", "live", "p", "m", "1", 1, 1}));
  commit(ledger, {one(0, "a"), one(4294967295u, "last")}, true, "run-1");
  EXPECT_TRUE(commit(ledger, {one(0, "b")}, true, "run-2")[0].first);
  ASSERT_EQ(results(ledger, "run-1").size(), 2u);
  EXPECT_EQ(results(ledger, "run-1")[1].trial, 4294967295u);
  ASSERT_EQ(results(ledger, "run-2").size(), 1u);
  EXPECT_EQ(results(ledger, "run-2")[0].unit.answer, sha256("b"));
  EXPECT_TRUE(results(ledger, "run-3").empty());
}

TEST_F(LedgerTest, WhatDoesNotFitIsAnError) {
  auto ledger = open_with_run();
  const auto again = ledger.begin_run({"run-1", "s", "live", "p", "m", "1", 1, 1});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().reason, Reason::ledger_failed);
  const std::vector<ResultToCommit> items{one(0, "a")};
  EXPECT_FALSE(ledger.commit("no such run", items, true));
}

}  // namespace sluice::ledger_test
