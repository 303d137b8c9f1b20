#include "coordinator/session/resume_run.hpp"

#include "common/wire/messages.hpp"
#include "coordinator/session/run_plan.hpp"
#include "tests/support/nested_json.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::resume_run_test {
namespace {

PastRun past_run() {
  PastRun past;
  past.run.run_id = "1b4e28ba-2fa1";
  past.run.trials = 10;
  past.run.settings = R"({"mode": "live", "temperature": 0, "judge": {"model": "m"}, "trials": "sha256:1"})";
  past.run.config_fingerprint = "sha256:f";
  past.run.plan_identity = "sha256:p";
  past.run.result_layout = wire::result_version;
  return past;
}

void expect_refused(const Result<void>& checked, const std::string& words) {
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().reason, Reason::usage_invalid);
  EXPECT_EQ(checked.error().message.find("run 1b4e28ba cannot be gone on with: "), 0u)
      << checked.error().message;
  EXPECT_NE(checked.error().message.find(words), std::string::npos) << checked.error().message;
}

Result<void> checked(const RunRecord& past, const RunRecord& now) {
  return check_same_run(past, now, [] { return std::string("tests.csv is gone"); });
}

TEST(ResumeRun, ARunWithoutItsEndCanBeGoneOnWith) {
  PastRun past = past_run();
  EXPECT_TRUE(is_unfinished(past)) << "its process died";
  past.summary.emplace();
  past.summary->reason_code = "interrupted";
  EXPECT_TRUE(is_unfinished(past));
  past.summary->reason_code = "";
  past.summary->exit_code = 2;
  EXPECT_TRUE(is_unfinished(past)) << "its report was not written";
  for (const char* reason : {"model_unknown", "parameter_refused", "provider_changed"}) {
    past.summary->reason_code = reason;
    EXPECT_FALSE(is_unfinished(past)) << reason << " would end it again";
    EXPECT_TRUE(check_unfinished(past)) << "what ended it may have been mended since";
  }
  past.summary->reason_code = "cache_miss";
  expect_refused(check_unfinished(past), "start a new run with `--mode live`");
  past.summary->reason_code = "";
  past.summary->exit_code = 1;
  expect_refused(check_unfinished(past), "it came to its end; `sluice rerun`");
}

TEST(ResumeRun, WhatNobodyGoesOnWithIsRefusedInASentence) {
  PastRun past = past_run();
  past.under_way = true;
  expect_refused(check_unfinished(past), "another process works on it");
  past = past_run();
  past.run.settings = R"({"command": "grade", "mode": "live"})";
  expect_refused(check_unfinished(past), "it was made by `sluice grade`");
  past.run.settings = R"({"command": "embed", "mode": "live"})";
  expect_refused(check_unfinished(past), "it only found solved examples");
  past = past_run();
  past.run.result_layout = wire::result_version - 1;
  expect_refused(check_unfinished(past), "another version of sluice");
  past.run.result_layout = 0;
  expect_refused(check_unfinished(past), "an earlier version of sluice began it");
}

// They would be compared by a recursion, beyond the end of the stack.
TEST(ResumeRun, SettingsThatNestDeeplyAreOthers) {
  RunRecord past = past_run().run;
  const RunRecord now = past;
  past.settings = R"({"mode": )" + support::nested_json + "}";
  EXPECT_FALSE(checked(past, now));
}

TEST(ResumeRun, TheDifferenceIsNamed) {
  const RunRecord past = past_run().run;
  RunRecord now = past;
  EXPECT_TRUE(checked(past, now));
  now.settings = R"({"mode": "live", "temperature": 0.5, "judge": {"model": "n"}, "trials": "sha256:2"})";
  expect_refused(checked(past, now),
                 R"(judge.model was "m" and is "n"; temperature was 0 and is 0.5; go back)");
  now.settings = R"({"mode": "live", "judge": {"model": "m"}, "seed": 1, "trials": "sha256:1"})";
  expect_refused(checked(past, now), "seed was not set and is 1; temperature was 0 and is not set");
  RunRecord there = past;
  there.settings = R"({"providers": [{"name": "openai", "cache_identity": "http://one"}]})";
  now.settings = R"({"providers": [{"name": "openai", "cache_identity": "http://two"}]})";
  expect_refused(
      checked(there, now),
      R"(providers.openai.cache_identity (unset, it is base_url) was "http://one" and is "http://two")");
  now = past;
  now.trials = 12;
  now.config_fingerprint = "sha256:g";
  now.plan_identity = "sha256:q";
  expect_refused(checked(past, now), "it had 10 trials, and would have 12 now");
  now.trials = 10;
  expect_refused(
      checked(past, now),
      "the suite, its expectations, the prompt or the ontology has changed since (tests.csv is gone); "
      "go back");
  now.config_fingerprint = past.config_fingerprint;
  expect_refused(checked(past, now), "its cases, or what they ask");
  now = past;
  now.settings = R"({"mode": "live", "temperature": 0, "judge": {"model": "m"}, "trials": "sha256:2"})";
  expect_refused(checked(past, now), "its cases, or what they ask");
}

TEST(ResumeRun, TheFilesThatChangedAreNamedWithTheirFirstLineThatDid) {
  SuiteCopy past;
  past.suite = "/evals/geo/suite.yaml";
  past.files = {{"/evals/geo/suite.yaml", "a\nb\nc\n"},
                {"/evals/geo/tests.csv", "q\n1\n"},
                {"/evals/geo/prompts/short.txt", "Be brief."},
                {"/etc/prices.toml", ""}};
  SuiteCopy now = past;
  EXPECT_EQ(changed_files(past, now), "");
  now.files["/evals/geo/suite.yaml"] = "a\nb\nd\n";
  now.files["/evals/geo/tests.csv"] = "q\n1\n2\n";
  now.files.erase("/evals/geo/prompts/short.txt");
  now.files["/evals/more.csv"] = "q\n";
  EXPECT_EQ(changed_files(past, now),
            "prompts/short.txt is gone, suite.yaml from line 3, tests.csv from line 3, ../more.csv is new");
  for (int i = 0; i < 4; ++i) now.files["/evals/geo/t" + std::to_string(i) + ".csv"] = "";
  EXPECT_EQ(changed_files(past, now),
            "prompts/short.txt is gone, suite.yaml from line 3, tests.csv from line 3, t0.csv is new, "
            "t1.csv is new and 3 more");
}

TEST(ResumeRun, ARunOfAnEarlierSluiceLacksMembersAndGoesOn) {
  const RunRecord past = past_run().run;
  RunRecord now = past;
  now.settings =
      R"({"mode": "live", "temperature": 0, "judge": {"model": "m"}, "judged_by": "sha256:9", "runs_commands": true, "trials": "sha256:1"})";
  EXPECT_TRUE(checked(past, now));
}

TEST(ResumeRun, LeasesNameTheCachesThatPinsDoNot) {
  RunController::Config config;
  config.affinities = affinities_of(std::vector<Digest>(4));
  config.holders = {"cache-a"};
  config.affinities[1].holder = 1;
  const std::vector<NotedLease> leases{{0, "cache-b"}, {1, "cache-b"}, {2, "cache-a"}, {9, "cache-b"}};
  add_noted_leases(leases, config);
  EXPECT_EQ(config.holders, (std::vector<std::string>{"cache-a", "cache-b"}));
  EXPECT_EQ(config.earlier_caches, (std::set<std::string>{"cache-a", "cache-b"}));
  EXPECT_EQ(config.affinities[0].holder, 2u);
  EXPECT_EQ(config.affinities[1].holder, 1u) << "the pin knows better";
  EXPECT_EQ(config.affinities[2].holder, 1u);
  EXPECT_EQ(config.affinities[3].holder, 0u);
}

TEST(ResumeRun, TheCommandNamesTheRunByItsFirstDigits) {
  RunRecord run;
  run.run_id = "1b4e28ba-2fa1-11d2";
  run.settings = R"({"mode": "live"})";
  EXPECT_EQ(resume_command(run), "sluice run --resume 1b4e28ba");
}

}  // namespace
}  // namespace sluice::resume_run_test
