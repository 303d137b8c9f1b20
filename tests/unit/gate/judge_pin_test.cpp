// What judge scores are pinned with, and what is said where it changed.
#include "coordinator/gate/judge_pin.hpp"

#include "coordinator/gate/baseline_check.hpp"
#include "coordinator/gate/baseline_export.hpp"
#include "coordinator/gate/judge_changes.hpp"
#include "coordinator/output/sink.hpp"
#include "coordinator/score_files/baseline_file.hpp"
#include "gate_fixture.hpp"

#include <sstream>

#include <gtest/gtest.h>

namespace sluice::judge_pin_test {

using Severity = GateNotice::Severity;

const std::vector<Rubric>& rubrics() {
  static const std::vector<Rubric> all{{"faithfulness", "v1", "You judge.", "{{answer}}"},
                                       {"rubric", "v7", "You judge.", "{{criteria}}: {{answer}}"}};
  return all;
}

RunJudge judge() {
  return {{"openai", "gpt-4o"}, rubrics()};
}

GatedRun run_of(bool strict = false) {
  return {"demo", "sha256:00", "0.1.0", "demo.yaml", "base.json", strict};
}

/// The assessment of a case that is judged by this rubric.
CaseAssessment judged(MetricId metric, std::uint32_t rubric, std::vector<double> scores) {
  Case test = judged_test("q", metric);
  test.expectations[0].judge->rubric = rubric;
  CaseAssessment assessment = assess_votes(gate_of(nullptr), test, votes(std::move(scores), metric));
  for (AssessedMetric& one : assessment.metrics)
    one.expectation = nullptr;  // The test is gone with this call.
  return assessment;
}

CaseAssessment faithful(std::vector<double> scores = {0.9, 0.8, 0.9}) {
  return judged(MetricId::faithfulness, 0, std::move(scores));
}

Baseline exported(const RunJudge& by) {
  BaselineExport pinned({"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"}, "text-embedding-3-small", by);
  pinned.add("q1", faithful());
  pinned.add("q2", judged(MetricId::rubric, 1, {0.9}));
  pinned.add("q3", faithful());
  return *pinned.finish();
}

std::vector<GateNotice> changes(const Baseline& baseline, const RunJudge& now, bool strict = false,
                                std::vector<double> scores = {0.9, 0.8, 0.9}) {
  JudgeChanges watch(baseline, now);
  watch.visit("q1", faithful(scores).metrics);
  watch.visit("q2", judged(MetricId::rubric, 1, {0.9}).metrics);
  watch.visit("q3", faithful(scores).metrics);
  return watch.finish(run_of(strict));
}

TEST(JudgePin, AnEntryNamesJudgeVotesAndRubric) {
  const Baseline baseline = exported(judge());
  EXPECT_EQ(baseline.entry(0).meta, R"({"judge_model":"gpt-4o","judge_provider":"openai","judge_samples":3,)"
                                    R"("metric_version":"1","rubric_hash":")" +
                                        to_prefixed_hex(rubric_hash(rubrics()[0])) +
                                        R"(","rubric_version":"v1"})");
  const JudgePin second = parse_judge_pin(baseline.entry(1).meta);
  EXPECT_EQ(second.judge, (JudgeIdentity{"openai", "gpt-4o"}));
  EXPECT_EQ(second.samples, 1u);
  EXPECT_EQ(second.rubric_version, "v7");
  EXPECT_EQ(second.rubric_hash, to_prefixed_hex(rubric_hash(rubrics()[1])));
  EXPECT_EQ(baseline.entry(2).meta, baseline.entry(0).meta);
}

TEST(JudgePin, SurvivesTheFileAndSaysNothingWhereNothingChanged) {
  StringSink sink;
  {
    const Baseline written = exported(judge());
    write_baseline(written, sink);
  }
  std::istringstream text(sink.text());
  const auto read = parse_baseline(text, "base.json");
  ASSERT_TRUE(read);
  StringSink again;
  write_baseline(*read, again);
  EXPECT_EQ(again.text(), sink.text());
  EXPECT_TRUE(changes(*read, judge()).empty());
}

TEST(JudgePin, AnotherVersionOfARubricIsNamed) {
  const Baseline baseline = exported(judge());
  std::vector<Rubric> newer = rubrics();
  newer[0].version = "v2";
  const RunJudge now({"openai", "gpt-4o"}, newer);
  const auto notices = changes(baseline, now);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].code, "rubric_mismatch");
  EXPECT_EQ(notices[0].severity, Severity::warning);
  EXPECT_TRUE(notices[0].decides);
  EXPECT_EQ(
      notices[0].message,
      "`base.json` has 2 scores by another rubric than this run's (`q1` faithfulness, `q3` faithfulness; v1 "
      "there, v2 here): once you accept what that changes, write it anew with `sluice run demo.yaml --mode "
      "live "
      "--export-baseline base.json`.");
  EXPECT_EQ(changes(baseline, now, true).at(0).severity, Severity::failure);
}

TEST(JudgePin, ARubricOfTheSameVersionInOtherWordsIsNamed) {
  std::vector<Rubric> reworded = rubrics();
  reworded[1].user += " Be strict.";
  const auto notices = changes(exported(judge()), {{"openai", "gpt-4o"}, reworded});
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].code, "rubric_mismatch");
  EXPECT_NE(
      notices[0].message.find("1 score by another rubric than this run's (`q2` rubric; v7 in other words)"),
      std::string::npos)
      << notices[0].message;
}

TEST(JudgePin, AnotherJudgeIsNamed) {
  const Baseline baseline = exported(judge());
  const auto first = [&](const JudgeIdentity& now) {
    const auto notices = changes(baseline, {now, rubrics()});
    return notices.size() == 1 ? notices[0].code + ": " + notices[0].message : "no notice";
  };
  EXPECT_NE(first({"openai", "gpt-5"})
                .find("judge_mismatch: `base.json` has 3 scores by another judge than this "
                      "run's (`q1` faithfulness, `q2` rubric, `q3` faithfulness; gpt-4o "
                      "(openai) there, gpt-5 (openai) here)"),
            std::string::npos)
      << first({"openai", "gpt-5"});
  EXPECT_NE(first({"gemini", "gpt-4o"}).find("gpt-4o (gemini) here"), std::string::npos)
      << "another provider";
  EXPECT_NE(first({"fake", ""}).find("gpt-4o (openai) there, fake here"), std::string::npos);
}

TEST(JudgePin, AnotherNumberOfVotesIsNamed) {
  const auto notices = changes(exported(judge()), judge(), true, {0.9, 0.9, 0.9, 0.9, 0.9});
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].code, "judge_samples_mismatch");
  EXPECT_EQ(notices[0].severity, Severity::failure);
  EXPECT_NE(
      notices[0].message.find("2 scores by another number of votes than this run's (`q1` faithfulness, `q3` "
                              "faithfulness; 3 there, 5 here)"),
      std::string::npos)
      << notices[0].message;
}

TEST(JudgePin, WhatAFileDoesNotSayIsNotCompared) {
  for (const char* meta : {"", "{}", R"({"metric_version":"1"})",
                           R"({"judge_samples":"many","judge_model":7,"rubric_version":[]})",
                           R"({"judge_model":"other"})", R"({"judge_samples":3,"rubric_version":"v1"})"}) {
    const Baseline baseline = baseline_of({{"q1", "faithfulness", 0.9, meta}});
    EXPECT_TRUE(changes(baseline, judge(), true).empty()) << meta;
  }
  const Baseline similar = baseline_of({{"q1", similarity, 0.9, R"({"judge_samples":9})"}});
  EXPECT_TRUE(changes(similar, judge()).empty()) << "of another metric";
}

// A run from a cache need not know who judged; then nobody is named as another judge.
TEST(JudgePin, AJudgeThatNobodyNamedIsNotCompared) {
  const RunJudge unnamed({}, rubrics());
  EXPECT_TRUE(changes(exported(judge()), unnamed).empty());
  EXPECT_EQ(exported(unnamed).entry(0).meta.find("judge_provider"), std::string_view::npos);
}

TEST(JudgePin, ForeignBytesInAFileAndAModelsNameAreHarmless) {
  const Baseline baseline = exported({{"openai", "gpt\xff\n4o"}, rubrics()});
  EXPECT_NE(baseline.entry(0).meta.find("gpt\xef\xbf\xbd\\n4o"), std::string_view::npos);
  const auto notices = changes(baseline, judge());
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].message.find('\n'), std::string::npos) << notices[0].message;
}

TEST(JudgeIdentity, IsThatOfTheRunsSettings) {
  RunSettings run;
  run.providers = {{.name = "main",
                    .kind = ProviderKind::openai,
                    .base_url = {},
                    .cache_identity = {},
                    .api_key_env = {},
                    .max_tokens_field = {}},
                   {.name = "second",
                    .kind = ProviderKind::anthropic,
                    .base_url = {},
                    .cache_identity = {},
                    .api_key_env = {},
                    .max_tokens_field = {}}};
  EXPECT_EQ(judge_identity(run), JudgeIdentity{}) << "nothing is judged";
  run.judge.provider = "second";
  run.judge.model = "claude";
  run.judge.judge = Judge::model;
  EXPECT_EQ(judge_identity(run), (JudgeIdentity{"anthropic", "claude"}));
  EXPECT_EQ(judge_identity(run).in_words(), "claude (second)") << "as the settings call it";
  const RunJudge named(judge_identity(run), {});
  EXPECT_EQ(named.pin_of({}).judge->in_words(), "claude (anthropic)") << "as a baseline has it";
  run.judge.judge = Judge::none;
  EXPECT_EQ(judge_identity(run), (JudgeIdentity{"anthropic", "claude"})) << "its votes are in the cache";
  run.judge.judge = Judge::fake;
  EXPECT_EQ(judge_identity(run), (JudgeIdentity{"fake", ""}));
  EXPECT_EQ(judge_identity(run).in_words(), "fake");
  run.judge.judge = Judge::none;
  run.judge.provider = "nobody";
  EXPECT_EQ(judge_identity(run), JudgeIdentity{});
}

TEST(JudgeIdentity, OnlyAFakeJudgeGetsANotice) {
  EXPECT_FALSE(fake_judge_notice({}));
  EXPECT_FALSE(fake_judge_notice({"openai", "fake"}));
  const auto notice = fake_judge_notice({"fake", ""});
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->code, "fake_judge");
  EXPECT_EQ(notice->severity, Severity::info);
}

}  // namespace sluice::judge_pin_test
