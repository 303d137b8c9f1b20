// A score that is pinned of what its test asked before is not compared with what the test asks now.
#include "baseline_file_text.hpp"
#include "compare_fixture.hpp"
#include "coordinator/gate/baseline_check.hpp"
#include "coordinator/gate/baseline_export.hpp"
#include "coordinator/suite/canonical_case.hpp"
#include "gate_fixture.hpp"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::asked_otherwise_test {

Case test_by(const std::string& criteria, Thresholding thresholding = {}) {
  Case test = judged_test("t", MetricId::rubric, thresholding);
  test.expectations[0].judge->criteria = criteria;
  return test;
}

Baseline pinned_by(const std::string& criteria, double score) {
  Baseline baseline;
  baseline.header = {"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"};
  BaselineEntry entry{"t", "rubric", score, ""};
  entry.asks = score_digest(test_by(criteria).expectations[0]);
  baseline.add(entry);
  EXPECT_FALSE(baseline.seal());
  return baseline;
}

AssessedMetric assessed(const Gate& gate, const Case& test, double score) {
  return assess_votes(gate, test, votes({score}, MetricId::rubric)).metrics.at(0);
}

GatedRun run_of(bool strict = false) {
  GatedRun run{"demo", "sha256:00", "0.1.0", "demo.yaml", "base.json"};
  run.strict = strict;
  return run;
}

TEST(AskedOtherwise, IsNoDrop) {
  const Baseline baseline = pinned_by("polite", 1.0);
  const AssessedMetric same = assessed(gate_of(&baseline), test_by("polite"), 0.6);
  EXPECT_EQ(same.cause, MetricCause::dropped);
  EXPECT_FALSE(same.asked_otherwise);

  const AssessedMetric other = assessed(gate_of(&baseline), test_by("polite and short"), 0.6);
  EXPECT_TRUE(other.asked_otherwise);
  EXPECT_EQ(other.cause, MetricCause::missing_in_baseline);
  EXPECT_EQ(other.status, MetricStatus::warn);
  EXPECT_FALSE(other.baseline);
}

TEST(AskedOtherwise, IsNothingToAScoreThatNoBaselineJudges) {
  const Baseline baseline = pinned_by("polite", 1.0);
  const AssessedMetric alone = assessed(gate_of(&baseline), test_by("short", absolute(0.5)), 0.6);
  EXPECT_FALSE(alone.asked_otherwise);
  EXPECT_EQ(alone.status, MetricStatus::pass);
}

TEST(AskedOtherwise, IsNotKnownOfAnEntryThatDoesNotSayWhatWasAsked) {
  const Baseline baseline = baseline_of({{"t", "rubric", 1.0}});
  EXPECT_EQ(assessed(gate_of(&baseline), test_by("short"), 0.6).cause, MetricCause::dropped);
}

TEST(AskedOtherwise, IsOneNoticeForAllOfThem) {
  const Baseline baseline = pinned_by("polite", 1.0);
  const AssessedMetric other = assessed(gate_of(&baseline), test_by("short"), 0.6);
  MissingEntries entries;
  entries.visit("t", {&other, 1});
  const auto notices = entries.finish(run_of());
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].code, "expectation_mismatch");
  EXPECT_EQ(notices[0].severity, GateNotice::Severity::warning);
  EXPECT_EQ(notices[0].message,
            "`base.json` has 1 score of what the tests asked before (`t` rubric), which nothing is compared "
            "with: once you accept what is asked now, write it anew with `sluice run demo.yaml --mode live "
            "--export-baseline base.json`.");
  EXPECT_EQ(entries.finish(run_of(true)).at(0).severity, GateNotice::Severity::failure);
  GatedRun rerun = run_of();
  rerun.is_rerun = true;
  EXPECT_TRUE(entries.finish(rerun).empty());
  UnusedEntries unused(baseline);
  unused.visit("t", {&other, 1});
  EXPECT_FALSE(unused.finish(run_of())) << "one notice says it";
}

TEST(AskedOtherwise, ChangesWithWhatDecidesOnAScoreAlone) {
  const Expectation asked = test_by("polite").expectations[0];
  const std::vector<std::function<void(Expectation&)>> others{
      [](Expectation& one) { one.judge->criteria = "short"; },
      [](Expectation& one) { one.judge->reference = "r"; },
      [](Expectation& one) { one.judge->context = "c"; },
      [](Expectation& one) { one.what.metric = MetricId::correctness; },
      [](Expectation& one) { one.what.texts = {"r"}; },
  };
  for (std::size_t i = 0; i < others.size(); ++i) {
    Expectation other = asked;
    others[i](other);
    EXPECT_NE(score_digest(other), score_digest(asked)) << i;
  }
  const std::vector<std::function<void(Expectation&)>> alike{
      [](Expectation& one) { one.min_score = 0.9; },
      [](Expectation& one) { one.name = "tone"; },
      [](Expectation& one) { one.thresholding.max_drop = 0.5; },
      [](Expectation& one) { one.judge->samples = 5; },
      [](Expectation& one) { one.judge->rubric = 7; },
      [](Expectation& one) { one.judge->rubric_hash[0] = 1; },
  };
  for (std::size_t i = 0; i < alike.size(); ++i) {
    Expectation same = asked;
    alike[i](same);
    EXPECT_EQ(score_digest(same), score_digest(asked)) << i;
  }
  EXPECT_EQ(score_digest({.what = {MetricId::claims_f1}, .thresholding = {}, .min_score = {}}), 0u);
}

TEST(AskedOtherwise, IsSeenByWhatAnExportWrote) {
  const Case test = test_by("polite");
  BaselineExport made({"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"}, "");
  made.add("t", assess_votes(gate_of(nullptr), test, votes({0.9}, MetricId::rubric)));
  const std::string text = baseline_file_test::written(*made.finish());
  const std::string asks =
      R"("score": 0.9, "asks": ")" + digest_text(score_digest(test.expectations[0])) + "\"";
  EXPECT_NE(text.find(asks), std::string::npos) << text;
  const auto read = baseline_file_test::parse(text);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(baseline_file_test::written(*read), text);
  EXPECT_TRUE(assessed(gate_of(&*read), test_by("short"), 0.6).asked_otherwise);
  EXPECT_FALSE(assessed(gate_of(&*read), test, 0.6).asked_otherwise);
  baseline_file_test::expect_finding(
      baseline_file_test::with_entries(R"({"test_id": "t", "metric": "rubric", "score": 1, "asks": "12"})"),
      7, "`entries[0].asks` is the text `12`, expected 16 hex digits");
}

TEST(AskedOtherwise, IsKeptOfEachEntryHoweverManyShareIt) {
  Baseline baseline;
  const auto digest_of_nth = [](int n) { return static_cast<ScoreDigest>(1 + n % 3 * 64); };
  for (int n = 0; n < 100; ++n) {
    const std::string id = "t" + std::to_string(1000 + n);
    BaselineEntry entry{id, "rubric", 0.5, ""};
    entry.asks = digest_of_nth(n);
    baseline.add(entry);
    const CheckDigest check = digest_of_nth(n + 1);
    BaselineEntry checked{id, "must_contain", 1.0, "", {}, PinKind::checks, {&check, 1}};
    if (n % 2 == 0) checked.repeats = n % 4 == 0 ? "110" : "111";
    baseline.add(checked);
  }
  ASSERT_FALSE(baseline.seal());
  for (int n = 0; n < 100; ++n) {
    const BaselineEntry check = baseline.entry(static_cast<std::size_t>(2 * n));
    ASSERT_EQ(check.checks.size(), 1u);
    EXPECT_EQ(check.checks[0], digest_of_nth(n + 1));
    EXPECT_EQ(check.repeats, n % 2 != 0 ? "" : n % 4 == 0 ? "110" : "111") << n;
    EXPECT_EQ(baseline.entry(static_cast<std::size_t>(2 * n + 1)).asks, digest_of_nth(n));
  }
}

TEST(AskedOtherwise, IsNotComparedInFilesEither) {
  using compare_test::scored;
  const auto side = [](double score, ScoreDigest asks) {
    ComparedCase one = scored("t", score);
    one.metrics[0].asks = asks;
    return compare_test::cases_of({one});
  };
  const auto same = compare_test::compare_all(side(1.0, 7), side(0.2, 7));
  EXPECT_EQ(compare_test::change(same, "t"), RowChange::regression);
  const auto unknown = compare_test::compare_all(side(1.0, 0), side(0.2, 7));
  EXPECT_EQ(compare_test::change(unknown, "t"), RowChange::regression);
  const auto other = compare_test::compare_all(side(1.0, 6), side(0.2, 7));
  EXPECT_EQ(compare_test::change(other, "t"), RowChange::missing_in_baseline);
  EXPECT_EQ(other.summary.regressions, 0u);
  EXPECT_EQ(other.summary.missing_in_current, 0u);
  EXPECT_EQ(other.summary.tests.judged_otherwise, std::vector<std::string>{"t"});
  EXPECT_EQ(other.summary.verdict, RunVerdict::review);
}

}  // namespace sluice::asked_otherwise_test
