#include "coordinator/ledger/ledger.hpp"
#include "tests/support/temporary_folder.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

RunRecord record(const std::string& run_id, const std::string& suite_path = "/suites/a") {
  RunRecord run;
  run.run_id = run_id;
  run.suite = "a";
  run.mode = "live";
  run.provider = "openai";
  run.model = "sim-1";
  run.prompt_version = "1.0.0";
  run.started_at_ms = 1000;
  run.trials = 12;
  run.prompt_hash = "sha256:00";
  run.suite_path = suite_path;
  return run;
}

RunSummary summary(const std::string& verdict = "pass") {
  RunSummary summary;
  summary.completed_at_ms = 2000;
  summary.verdict = verdict;
  return summary;
}

class RunsTest : public ::testing::Test {
 protected:
  RunsTest() {
    auto opened = Ledger::open(folder_.path() / "ledger.db");
    if (opened) ledger_.emplace(std::move(*opened));
  }
  void SetUp() override { ASSERT_TRUE(ledger_); }

  void begin(const RunRecord& run) {
    const auto begun = ledger_->begin_run(run);
    EXPECT_TRUE(begun) << begun.error().message;
  }
  void finish(const std::string& run_id, const RunSummary& with = summary()) {
    const auto finished = ledger_->finish_run(run_id, with);
    EXPECT_TRUE(finished) << finished.error().message;
  }
  std::vector<std::string> listed(std::size_t limit) {
    std::vector<std::string> ids;
    const auto runs = ledger_->list_runs(limit);
    EXPECT_TRUE(runs);
    if (runs) {
      for (const auto& past : *runs) ids.push_back(past.run.run_id);
    }
    return ids;
  }

  support::TemporaryFolder folder_;
  std::optional<Ledger> ledger_;
};

TEST_F(RunsTest, EverythingThatWasNotedIsReadBack) {
  auto run = record("run-1");
  run.selection = true;
  run.config_fingerprint = "sha256:01";
  run.plan_identity = "sha256:02";
  run.settings = R"({"mode": "live"})";
  run.trials = 15;
  begin(run);
  RunSummary noted;
  noted.completed_at_ms = 5000;
  noted.verdict = "fail";
  noted.exit_code = 1;
  noted.reason_code = "interrupted";
  noted.scores = {0.1, std::nullopt, 0.3};
  noted.statuses = {.passed = 1, .warned = 2, .flaky = 3, .failed = 4, .errors = 5};
  noted.paid.of(CallKind::answer).input_tokens = 6;
  noted.paid.of(CallKind::answer).output_tokens = 7;
  noted.paid.of(CallKind::embedding).input_tokens = 8;
  noted.paid.of(CallKind::judge) = {9, 10};
  noted.estimated_cost = 0.25;
  noted.known_failures = 1;
  noted.paid_cost = 0.125;
  finish("run-1", noted);
  const auto found = ledger_->find_run("run-1");
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(found->run.suite, "a");
  EXPECT_EQ(found->run.config_fingerprint, "sha256:01");
  EXPECT_EQ(found->run.plan_identity, "sha256:02");
  EXPECT_EQ(found->run.settings, R"({"mode": "live"})");
  EXPECT_EQ(found->run.mode, "live");
  EXPECT_EQ(found->run.provider, "openai");
  EXPECT_EQ(found->run.model, "sim-1");
  EXPECT_EQ(found->run.prompt_version, "1.0.0");
  EXPECT_EQ(found->run.prompt_hash, "sha256:00");
  EXPECT_EQ(found->run.started_at_ms, 1000);
  EXPECT_EQ(found->run.trials, 15u);
  EXPECT_EQ(found->run.suite_path, "/suites/a");
  EXPECT_TRUE(found->run.selection);
  ASSERT_TRUE(found->summary);
  EXPECT_EQ(found->summary->completed_at_ms, 5000);
  EXPECT_EQ(found->summary->verdict, "fail");
  EXPECT_EQ(found->summary->exit_code, 1);
  EXPECT_EQ(found->summary->reason_code, "interrupted");
  EXPECT_EQ(found->summary->scores, noted.scores);
  EXPECT_EQ(found->summary->statuses, noted.statuses);
  EXPECT_EQ(found->summary->paid.of(CallKind::answer).input_tokens, 6u);
  EXPECT_EQ(found->summary->paid.of(CallKind::answer).output_tokens, 7u);
  EXPECT_EQ(found->summary->paid.of(CallKind::embedding).input_tokens, 8u);
  EXPECT_EQ(found->summary->paid.of(CallKind::judge), (Usage{9, 10}));
  EXPECT_EQ(found->summary->estimated_cost, 0.25);
  EXPECT_EQ(found->summary->known_failures, 1u);
  EXPECT_EQ(found->summary->paid_cost, 0.125);
}

TEST_F(RunsTest, WhatARunPaidAndItsKnownFailuresAreThoseOfItsLatestEnd) {
  begin(record("run-1"));
  RunSummary noted = summary();
  noted.statuses.warned = 2;
  noted.known_failures = 2;
  noted.paid_cost = 0.125;
  finish("run-1", noted);
  ASSERT_TRUE(ledger_->reopen_run("run-1"));
  finish("run-1");
  EXPECT_EQ(ledger_->find_run("run-1")->summary->known_failures, std::nullopt);
  EXPECT_EQ(ledger_->find_run("run-1")->summary->paid_cost, std::nullopt);
}

TEST_F(RunsTest, ARunThatHasNotEndedHasNoSummary) {
  begin(record("run-1"));
  const auto found = ledger_->find_run("run-1");
  ASSERT_TRUE(found);
  EXPECT_FALSE(found->summary);
  EXPECT_FALSE(found->run.selection);
}

TEST_F(RunsTest, TheListIsNewestFirstAndAsLongAsAsked) {
  EXPECT_TRUE(listed(5).empty());
  for (const char* id : {"run-1", "run-2", "run-3"}) begin(record(id));
  EXPECT_EQ(listed(2), (std::vector<std::string>{"run-3", "run-2"}));
  EXPECT_EQ(listed(9), (std::vector<std::string>{"run-3", "run-2", "run-1"}));
}

TEST_F(RunsTest, APrefixNamesARunIfNoOtherBeginsSo) {
  begin(record("abc-1"));
  begin(record("abc-12"));
  begin(record("b%_c"));
  EXPECT_EQ(ledger_->find_run("b")->run.run_id, "b%_c");
  EXPECT_EQ(ledger_->find_run("abc-12")->run.run_id, "abc-12");
  EXPECT_EQ(ledger_->find_run("abc-1")->run.run_id, "abc-1") << "a whole id is no prefix";
  const auto many = ledger_->find_run("abc");
  ASSERT_FALSE(many);
  EXPECT_EQ(many.error().reason, Reason::usage_invalid);
  EXPECT_NE(many.error().message.find("fits more than one run"), std::string::npos) << many.error().message;
  for (const char* unknown : {"x", "%", "abc-123", "ABC", "b_"}) {
    const auto none = ledger_->find_run(unknown);
    ASSERT_FALSE(none) << unknown;
    EXPECT_EQ(none.error().reason, Reason::usage_invalid);
    EXPECT_NE(none.error().message.find("has no run \"" + std::string(unknown) + "\""), std::string::npos);
  }
  EXPECT_FALSE(ledger_->find_run(""));
}

TEST_F(RunsTest, LastIsTheNewestAndATildeCountsBack) {
  EXPECT_FALSE(ledger_->find_run("last")) << "no run is there";
  for (const char* id : {"run-1", "run-2", "run-3"}) begin(record(id));
  EXPECT_EQ(ledger_->find_run("last")->run.run_id, "run-3");
  EXPECT_EQ(ledger_->find_run("last~0")->run.run_id, "run-3");
  EXPECT_EQ(ledger_->find_run("last~2")->run.run_id, "run-1");
  for (const char* unknown :
       {"last~3", "last~", "last~-1", "last~1x", "last~99999999999999999999", "lastly"}) {
    const auto none = ledger_->find_run(unknown);
    ASSERT_FALSE(none) << unknown;
    EXPECT_EQ(none.error().reason, Reason::usage_invalid);
    EXPECT_NE(none.error().message.find("has no run \"" + std::string(unknown) + "\""), std::string::npos);
  }
}

constexpr auto any = [](const PastRun&) { return true; };

TEST_F(RunsTest, TheLatestRunOfASuiteIsTheNewestThatHasEnded) {
  begin(record("run-1"));
  begin(record("run-2"));
  begin(record("run-3"));
  begin(record("other", "/suites/b"));
  EXPECT_FALSE(*ledger_->latest_run("/suites/a", any));
  finish("run-2");
  finish("run-1");
  finish("other");
  const auto latest = ledger_->latest_run("/suites/a", any);
  ASSERT_TRUE(latest && *latest);
  EXPECT_EQ((*latest)->run.run_id, "run-2") << "the one that began last";
  EXPECT_FALSE(*ledger_->latest_run("/suites", any));
}

TEST_F(RunsTest, TheLatestRunMayBeAskedForWithoutThoseOfAMode) {
  const auto is_no_mock = [](const PastRun& past) { return past.run.mode != "mock"; };
  auto mock = record("mocked");
  mock.mode = "mock";
  begin(mock);
  finish("mocked");
  EXPECT_FALSE(*ledger_->latest_run("/suites/a", is_no_mock));
  begin(record("run-1"));
  finish("run-1");
  mock.run_id = "mocked again";
  begin(mock);
  finish("mocked again");
  EXPECT_EQ((*ledger_->latest_run("/suites/a", any))->run.run_id, "mocked again");
  EXPECT_EQ((*ledger_->latest_run("/suites/a", is_no_mock))->run.run_id, "run-1");
}

TEST_F(RunsTest, TheEndOfARunThatNeverBeganIsAnError) {
  const auto finished = ledger_->finish_run("run-9", summary());
  ASSERT_FALSE(finished);
  EXPECT_EQ(finished.error().reason, Reason::ledger_failed);
}

// Flipped bits showed a precision of 1.54.
TEST_F(RunsTest, WhatNoRunCanHaveComeToIsRefused) {
  begin(record("one"));
  finish("one");
  for (const char* damage : {"precision = 1.54", "recall = -0.1", "f1 = 9e999", "passed = 13",
                             "known_failures = 1", "paid_cost = -0.5"}) {
    const auto change = [&](const std::string& set) {
      SQLite::Database db((folder_.path() / "ledger.db").string(), SQLite::OPEN_READWRITE);
      // As in a row from before there were checksums.
      db.exec("UPDATE runs SET checksum = NULL, " + set + " WHERE run_id = 'one'");
    };
    change(damage);
    for (const auto& error : {ledger_->list_runs(9).error(), ledger_->find_run("one").error()}) {
      EXPECT_EQ(error.reason, Reason::ledger_failed) << damage;
      EXPECT_NE(error.message.find("\"one\""), std::string::npos) << error.message;
    }
    change("precision = 1, recall = 0, f1 = NULL, passed = 12, known_failures = 0, paid_cost = 0");
    EXPECT_TRUE(ledger_->find_run("one")) << damage;
  }
}

TEST_F(RunsTest, TheRunsThatABaselineWasMadeOfAreListedLatestFirst) {
  for (const char* run : {"a", "b", "c"}) begin(record(run));
  begin(record("elsewhere", "/suites/b"));
  ASSERT_TRUE(ledger_->note_baseline("c", 5));
  ASSERT_TRUE(ledger_->note_baseline("a", 6));
  ASSERT_TRUE(ledger_->note_baseline("elsewhere", 7));
  const auto runs = ledger_->baseline_runs("/suites/a");
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 2u);
  EXPECT_EQ(runs->front().run.run_id, "a");
  EXPECT_EQ(runs->back().run.run_id, "c");
}

ResultToCommit result_of(UnitId unit, const std::string& worker, std::optional<Error> error = std::nullopt) {
  ResultToCommit one;
  one.result.unit = unit;
  one.result.error = std::move(error);
  if (!one.result.error) one.result.scores.push_back({unit, {}, {}});
  one.trials = {unit};
  one.worker = worker;
  return one;
}

TEST_F(RunsTest, SaysHowFarARunHasComeWhileItGoesOn) {
  begin(record("run-1"));
  begin(record("run-2"));
  const auto path = folder_.path() / "ledger.db";
  const auto beside = Ledger::open_beside_runs(path);
  ASSERT_TRUE(beside) << beside.error().message;
  EXPECT_EQ(beside->progress_of("run-1")->committed, 0u);
  const std::vector<ResultToCommit> results{result_of(0, "a"), result_of(1, "b"),
                                            result_of(2, "b", Error{Reason::rate_limited, "429"})};
  ASSERT_TRUE(ledger_->commit("run-1", results, true));
  const auto progress = beside->progress_of("run-1");
  ASSERT_TRUE(progress) << progress.error().message;
  EXPECT_EQ(progress->committed, 3u) << "what was committed since it was opened";
  EXPECT_EQ(progress->workers, (std::map<std::string, std::uint64_t>{{"a", 1}, {"b", 2}}));
  EXPECT_EQ(progress->errors, (std::map<std::string, std::uint64_t>{{"rate_limited", 1}}));
  EXPECT_EQ(beside->progress_of("run-2")->committed, 0u);
}

TEST_F(RunsTest, WhoLooksBesideRunsChangesNothing) {
  begin(record("run-1"));
  auto beside = Ledger::open_beside_runs(folder_.path() / "ledger.db");
  ASSERT_TRUE(beside) << beside.error().message;
  EXPECT_EQ(beside->find_run("run-1")->run.model, "sim-1");
  const auto begun = beside->begin_run(record("run-2"));
  ASSERT_FALSE(begun);
  EXPECT_EQ(begun.error().reason, Reason::ledger_failed);
  begin(record("run-3"));
  EXPECT_EQ(beside->list_runs(10)->size(), 2u) << "and sees what others write";
}

}  // namespace
}  // namespace sluice
