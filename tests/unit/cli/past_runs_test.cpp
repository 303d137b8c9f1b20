#include "coordinator/cli/past_runs/past_runs.hpp"

#include "common/wire/messages.hpp"
#include "coordinator/cli/past_runs/run_table.hpp"
#include "tests/support/temporary_folder.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(PrunedRuns, AreReportedWithWhatTheyFreed) {
  PrunedRuns done;
  done.runs = 12;
  done.results = 3400;
  done.left = 8;
  done.bytes_before = 14'000'000;
  done.bytes_after = 1'200'000;
  done.compacted = true;
  EXPECT_EQ(
      pruned_runs(done, false),
      "removed 12 runs with 3,400 results, 8 runs left; 14,000,000 bytes before, 1,200,000 bytes after\n");
  EXPECT_EQ(pruned_runs(done, true), "would remove 12 runs with 3,400 results, 8 runs left\n");
}

TEST(PrunedRuns, WhatStaysAndWhyIsReported) {
  PrunedRuns done;
  done.runs = 1;
  done.results = 1;
  done.left = 3;
  done.unfinished = 1;
  done.needed = 2;
  EXPECT_EQ(
      pruned_runs(done, false),
      "removed 1 run with 1 result, 3 runs left; 1 stays, being without an end: it may still be going on; "
      "2 stay, being the newest of their suites or what a [baseline] is from; 0 bytes before, "
      "0 bytes after (another process is at work: later runs use the room)\n");
}

// `runs show` said "verdict fail (exit code 0)" of a grade.
TEST(PastRuns, AGradeIsNoRunWithAVerdict) {
  PastRun past;
  past.run.run_id = "1b4e28ba";
  past.run.suite = "capitals";
  past.run.settings = R"({"command": "grade", "mode": "live"})";
  past.summary.emplace();
  past.summary->verdict = "fail";
  const auto has = [](const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
  };
  EXPECT_TRUE(has(run_details(past), "command      sluice grade\n")) << run_details(past);
  EXPECT_TRUE(has(run_details(past), "verdict      graded (exit code 0)\n")) << run_details(past);
  EXPECT_TRUE(has(run_table({past}, 80), " graded ")) << run_table({past}, 80);
  past.run.settings = R"({"command": "calibrate-judge", "mode": "live"})";
  EXPECT_TRUE(has(run_details(past), "verdict      calibrated (exit code 0)\n")) << run_details(past);
  past.summary->exit_code = 2;
  EXPECT_TRUE(has(run_details(past), "verdict      error (exit code 2)\n")) << run_details(past);
  past.run.settings = R"({"mode": "live"})";
  EXPECT_TRUE(has(run_details(past), "command      sluice run\n")) << run_details(past);
  EXPECT_TRUE(has(run_details(past), "verdict      fail (exit code 2)\n")) << run_details(past);
}

// Of a generated corpus it named flags that nobody had given, and that the command does not have.
TEST(PastRuns, WhatWasSelectedIsSaidByWhoSelectedIt) {
  const auto selected = [](const char* settings, const char* flags) {
    PastRun past;
    past.run.run_id = "1b4e28ba";
    past.run.selection = true;
    past.run.settings = settings;
    past.run.flags = flags;
    const std::string details = run_details(past);
    const auto at = details.find("selection    ");
    return details.substr(at, details.find('\n', at) - at);
  };
  EXPECT_EQ(selected(R"({"mode": "live"})", R"({"max-fixtures": ["2"]})"),
            "selection    some of the cases (--categories, --filter or --max-fixtures)");
  EXPECT_EQ(selected(R"({"command": "generate-corpus"})", ""),
            "selection    the files that are worth asking about");
  EXPECT_EQ(selected(R"({"mode": "live"})", R"({"only cases": ["a"]})"),
            "selection    the cases that `sluice rerun` took");
}

TEST(PastRuns, CasesThatWereNotStartedAreNoErrors) {
  PastRun past;
  past.run.run_id = "1b4e28ba";
  past.summary.emplace();
  past.summary->statuses.errors = 200;
  past.summary->not_started = 190;
  EXPECT_NE(run_details(past).find("0 failed, 10 errors, 190 not started\n"), std::string::npos)
      << run_details(past);
}

TEST(PastRuns, ARunOfTextsHasNeitherTheClaimsPromptNorItsScores) {
  PastRun past;
  past.run.run_id = "1b4e28ba";
  past.summary.emplace();
  past.summary->statuses.passed = 3;
  EXPECT_EQ(run_details(past).find("prompt "), std::string::npos) << run_details(past);
  EXPECT_EQ(run_details(past).find("recall"), std::string::npos) << run_details(past);
  EXPECT_NE(run_table({past}, 80).find(" 3 passed "), std::string::npos) << run_table({past}, 80);
  EXPECT_NE(run_as_json(past).find(R"("prompt_version": null)"), std::string::npos) << run_as_json(past);
  past.run.prompt_version = "1.0.0";
  // Every case ended in an error.
  EXPECT_NE(run_details(past).find("\nprompt       v1.0.0 ("), std::string::npos) << run_details(past);
  EXPECT_NE(run_details(past).find("\nrecall       "), std::string::npos) << run_details(past);
  EXPECT_EQ(run_table({past}, 80).find(" passed "), std::string::npos) << run_table({past}, 80);
  past.summary->scores.recall = 0.5;
  EXPECT_NE(run_details(past).find("\nprompt       v1.0.0 ("), std::string::npos) << run_details(past);
  EXPECT_NE(run_details(past).find("\nrecall       0.50\n"), std::string::npos) << run_details(past);
}

// A report calls them known failures, and this called them warned.
TEST(PastRuns, KnownFailuresAreNamedAsInAReport) {
  const auto details = [](const StatusCounts& statuses, const char* verdict,
                          std::optional<std::uint64_t> known = std::nullopt) {
    PastRun past;
    past.summary.emplace();
    past.summary->statuses = statuses;
    past.summary->known_failures = known;
    past.summary->verdict = verdict;
    return run_details(past);
  };
  const std::string passed = details({.passed = 3, .warned = 2}, "pass");
  EXPECT_NE(passed.find("5: 3 passed, 2 known failures, 0 flaky"), std::string::npos) << passed;
  const std::string review = details({.passed = 3, .warned = 2}, "review");
  EXPECT_NE(review.find("5: 3 passed, 2 warned or known to fail, 0 flaky"), std::string::npos) << review;
  EXPECT_NE(details({.passed = 3}, "pass").find("3: 3 passed, 0 warned, 0 flaky"), std::string::npos);
  const std::string both = details({.passed = 3, .warned = 5}, "review", 2);
  EXPECT_NE(both.find("8: 3 passed, 2 known failures, 3 warned, 0 flaky"), std::string::npos) << both;
  const std::string none = details({.passed = 3, .warned = 2}, "fail", 0);
  EXPECT_NE(none.find("5: 3 passed, 2 warned, 0 flaky"), std::string::npos) << none;
  const std::string all = details({.passed = 3, .warned = 1, .failed = 1}, "fail", 1);
  EXPECT_NE(all.find("5: 3 passed, 1 known failure, 0 flaky"), std::string::npos) << all;
}

TEST(PastRuns, HowManyFailuresWereKnownIsNullInJsonWhereNobodyKnows) {
  PastRun past;
  past.summary.emplace();
  past.summary->statuses.warned = 2;
  const auto has = [&](const std::string& words) {
    return run_as_json(past).find(words) != std::string::npos;
  };
  EXPECT_TRUE(has(R"("known_failures": null)")) << run_as_json(past);
  EXPECT_TRUE(has(R"("paid_cost": null)")) << run_as_json(past);
  past.summary->verdict = "pass";
  EXPECT_TRUE(has(R"("known_failures": 2)")) << run_as_json(past);
  past.summary->known_failures = 1;
  past.summary->paid_cost = 0.25;
  EXPECT_TRUE(has(R"("known_failures": 1)")) << run_as_json(past);
  EXPECT_TRUE(has(R"("paid_cost": 0.25)")) << run_as_json(past);
  past.summary.reset();
  EXPECT_TRUE(has(R"("known_failures": null)")) << run_as_json(past);
}

// The report said both, and this the first alone, which caches may have paid for.
TEST(PastRuns, WhatTheRunPaidStandsBesideWhatItsAnswersCost) {
  PastRun past;
  past.summary.emplace();
  past.summary->estimated_cost = 1.5;
  const auto cost = [&] {
    const std::string details = run_details(past);
    const auto at = details.find("\ncost ") + 1;
    return details.substr(at, details.find('\n', at) - at);
  };
  EXPECT_EQ(cost(), "cost         $1.50 for all answers") << "of a run from before it was noted";
  past.summary->paid_cost = 0.0;
  EXPECT_EQ(cost(), "cost         $1.50 for all answers; paid in this run: $0.00");
  past.summary->paid_cost = 0.00123;
  EXPECT_EQ(cost(), "cost         $1.50 for all answers; paid in this run: $0.0012");
  past.summary->estimated_cost.reset();
  EXPECT_TRUE(cost().ends_with("what its answers took; paid in this run: $0.0012")) << cost();
}

// A failed gate stood as `fail 44 passed`, and a flaky run as `0 passed`.
TEST(PastRuns, TheResultOfTextsIsWhatSaysMostOfTheRun) {
  const auto result = [](const StatusCounts& statuses, const char* verdict, std::uint64_t not_started = 0,
                         std::optional<std::uint64_t> known = std::nullopt) {
    PastRun past;
    past.summary.emplace();
    past.summary->known_failures = known;
    past.summary->statuses = statuses;
    past.summary->verdict = verdict;
    past.summary->not_started = not_started;
    return result_words(past);
  };
  EXPECT_EQ(result({.passed = 44, .flaky = 1, .failed = 20, .errors = 3}, "fail"), "20 failed");
  EXPECT_EQ(result({.passed = 44, .flaky = 1, .errors = 1}, "error"), "1 error");
  EXPECT_EQ(result({.passed = 44, .errors = 20}, "error", 20), "20 not started");
  EXPECT_EQ(result({.flaky = 4}, "review"), "4 flaky");
  EXPECT_EQ(result({.passed = 3, .warned = 2}, "review"), "2 warned");
  EXPECT_EQ(result({.passed = 3, .warned = 2}, "pass"), "3 passed") << "known failures";
  EXPECT_EQ(result({.warned = 2}, "pass"), "2 known to fail") << "it was 0 passed";
  EXPECT_EQ(result({.passed = 3, .warned = 5}, "review", 0, 3), "2 warned") << "3 known failures";
  EXPECT_EQ(result({.passed = 3, .warned = 2}, "review", 0, 2), "3 passed") << "something else warns";
  EXPECT_EQ(result({.warned = 2}, "review", 0, 2), "2 known to fail");
  PastRun graded;
  graded.run.settings = R"({"command": "grade"})";
  graded.summary.emplace();
  graded.summary->statuses = {.passed = 5, .failed = 2};
  EXPECT_EQ(result_words(graded), "7 answered") << "of its answers none is a test that passed or failed";
  // One that died stood as `error 0 passed`.
  graded.summary->statuses = {.errors = 40};
  graded.run.prompt_version = "1.0.0";
  EXPECT_EQ(result_words(graded), "40 errors");
  graded.summary->not_started = 40;
  EXPECT_EQ(result_words(graded), "40 not started");
}

TEST(PastRuns, WhereAnswersAreRecordedNoProviderIsNamed) {
  PastRun past;
  past.run.provider = "gemini";
  past.run.model = "flash";
  EXPECT_NE(run_details(past).find("\nmodel        flash (gemini)\n"), std::string::npos)
      << run_details(past);
  past.run.model = "recorded";
  EXPECT_NE(run_details(past).find("\nmodel        recorded\n"), std::string::npos) << run_details(past);
}

// Models were cut where they differ, and "74 passed" stood under "P R F1".
TEST(PastRuns, AModelStandsWholeBelowItsRunWhereTheLineIsFull) {
  PastRun past;
  past.run.run_id = "1b4e28ba-2fa1";
  past.run.suite = "capitals";
  past.run.mode = "live";
  past.run.model = "gpt-5-mini, claude-haiku-4-5";
  past.summary.emplace();
  past.summary->verdict = "regression";
  past.summary->statuses.passed = 74;
  PastRun other = past;
  other.run.model = "gpt-5-mini";
  EXPECT_EQ(run_table({past, other}, 80),
            "RUN      STARTED     SUITE    MODE VERDICT    RESULT    CASES MODEL\n"
            "1b4e28ba 01-01 00:00 capitals live regression 74 passed    74\n"
            "  gpt-5-mini, claude-haiku-4-5\n"
            "1b4e28ba 01-01 00:00 capitals live regression 74 passed    74 gpt-5-mini\n");
  const std::string wide = run_table({past, other}, 120);
  EXPECT_NE(wide.find("  74 passed     74  gpt-5-mini, claude-haiku-4-5\n"), std::string::npos) << wide;
}

TEST(PastRuns, WhatRunsCostStandsWhereAnyPaidAndTheLineHasRoom) {
  PastRun past;
  past.run.run_id = "1b4e28ba-2fa1";
  past.run.suite = "capitals";
  past.run.mode = "live";
  past.run.model = "gpt-5-mini";
  past.summary.emplace();
  past.summary->verdict = "pass";
  past.summary->statuses.passed = 74;
  PastRun older = past;
  past.summary->paid_cost = 0.0;
  EXPECT_EQ(run_table({past, older}, 120).find("COST"), std::string::npos) << "nobody paid anything";
  PastRun paid = past;
  paid.summary->paid_cost = 1234.5;
  EXPECT_EQ(run_table({past, older, paid}, 80),
            "RUN      STARTED     SUITE    MODE VERDICT RESULT    CASES     COST MODEL\n"
            "1b4e28ba 01-01 00:00 capitals live pass    74 passed    74    $0.00 gpt-5-mini\n"
            "1b4e28ba 01-01 00:00 capitals live pass    74 passed    74          gpt-5-mini\n"
            "1b4e28ba 01-01 00:00 capitals live pass    74 passed    74 $1234.50 gpt-5-mini\n");
  // A model that had room in its line has it still, and so has the suite's name.
  PastRun longer = paid;
  longer.run.model = "gpt-5-mini-of-now";
  const std::string whole = run_table({paid, longer}, 80);
  EXPECT_EQ(whole.find("COST"), std::string::npos) << whole;
  EXPECT_NE(whole.find("   74 gpt-5-mini-of-now\n"), std::string::npos) << whole;
  EXPECT_NE(run_table({paid, longer}, 90).find("COST"), std::string::npos);
  PastRun named = paid;
  named.run.suite = "capitals-of-the-world";
  named.run.model = "m";
  const std::string suite = run_table({named}, 80);
  EXPECT_EQ(suite.find("COST"), std::string::npos) << suite;
  EXPECT_NE(suite.find(" capitals-of-the-world "), std::string::npos) << suite;
  // One that stands below its run in any case takes nothing from what others paid.
  longer.run.model = "gpt-5-mini, claude-haiku-4-5, gemini-flash";
  EXPECT_NE(run_table({paid, longer}, 80).find("   74 $1234.50 gpt-5-mini\n"), std::string::npos)
      << run_table({paid, longer}, 80);
  longer.summary->paid_cost.reset();
  EXPECT_EQ(run_table({paid, longer}, 80).find(" \n"), std::string::npos);
}

TEST(PastRuns, WhatStoppedBeforeItsEndComesWithTheCommandThatGoesOn) {
  const auto has = [](const std::string& text, const std::string& words) {
    return text.find(words) != std::string::npos;
  };
  PastRun past;
  past.run.run_id = "1b4e28ba-2fa1";
  past.run.settings = R"({"mode": "live"})";
  past.run.result_layout = wire::result_version;
  PastRun other = past;
  other.run.run_id = "77aa0000-1111";
  const std::string table = run_table({past, other}, 80);
  EXPECT_TRUE(has(table, " unfinished ")) << table;
  EXPECT_TRUE(has(table,
                  "\n1b4e28ba stopped before its end: `sluice run --resume 1b4e28ba` goes on with it "
                  "(1 other stopped before the end too)\n"))
      << table;
  EXPECT_TRUE(has(run_details(past), "go on with   sluice run --resume 1b4e28ba\n")) << run_details(past);
  EXPECT_TRUE(has(run_as_json(past), R"("resume": "sluice run --resume 1b4e28ba")")) << run_as_json(past);
  // It was refused: it names no suite, and so allows no commands.
  past.run.settings = R"({"mode": "live", "runs_commands": true})";
  const std::string command = "sluice run --resume 1b4e28ba --allow-commands";
  EXPECT_TRUE(has(run_table({past}, 80), "`" + command + "` goes on with it\n")) << run_table({past}, 80);
  EXPECT_TRUE(has(run_details(past), "go on with   " + command + "\n")) << run_details(past);
  EXPECT_TRUE(has(run_as_json(past), R"("resume": ")" + command + '"')) << run_as_json(past);
  past.under_way = true;
  EXPECT_TRUE(has(run_table({past}, 80), " running ")) << run_table({past}, 80);
  EXPECT_FALSE(has(run_table({past}, 80), "--resume")) << "a process works on it";
  EXPECT_TRUE(has(run_as_json(past), R"("resume": null)")) << run_as_json(past);
}

TEST(OpenLedger, WarnsThatItBroughtAFileUpToDate) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "ledger.db";
  {
    auto made = open_ledger(file);
    ASSERT_TRUE(made) << made.error().message;
    ASSERT_TRUE(made->begin_run({"run-1", "suite", "live", "openai", "m", "1", 1000, 1}));
  }
  {
    SQLite::Database db(file.string(), SQLite::OPEN_READWRITE);
    for (const char* column :
         {"config_fingerprint", "plan_identity", "settings", "result_layout", "pinned_at_ms",
          "paid_judge_input_tokens", "paid_judge_output_tokens", "paid_baseline_input_tokens",
          "paid_baseline_output_tokens", "flags", "endpoint", "known_failures", "paid_cost"}) {
      db.exec(std::string("ALTER TABLE runs DROP COLUMN ") + column);
    }
    db.exec("DROP TABLE votes");
    db.exec("DROP TABLE calibrations");
    db.exec("DROP TABLE quality");
    db.exec("DROP TABLE retrievals");
    db.exec("DROP TABLE cases");
    db.exec("DROP TABLE limits");
    db.exec("DROP TABLE spends");
    db.exec("DROP TABLE leases");
    db.exec("DROP TABLE asked");
    db.exec("DROP TABLE parts");
    db.exec("DROP TABLE suites");
    db.exec("DROP TABLE run_suites");
    db.exec("PRAGMA user_version = 5");
  }
  ::testing::internal::CaptureStderr();
  const auto opened = open_ledger(file);
  const auto again = open_ledger(file);
  const std::string logged = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(opened) << opened.error().message;
  ASSERT_TRUE(again);
  EXPECT_EQ(logged,
            "sluice: warning: the run ledger " + file.string() +
                " was brought from version 5 to 15, with its 1 run and 0 pins; an earlier sluice does not "
                "open it any more\n");
}

}  // namespace
}  // namespace sluice
