// What becomes of checks that only pass or fail beside a baseline.
#include "pinned_checks.hpp"

#include "coordinator/gate/baseline_check.hpp"
#include "coordinator/gate/compare.hpp"
#include "coordinator/score_files/baseline_file.hpp"

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::pinned_checks_test {

TEST(PinnedChecks, ACaseBreaksIsFixedOrFailsStill) {
  struct Row {
    std::vector<bool> then;
    std::vector<bool> now;
    CaseStatus status;
    CaseChange change;
    bool regressed;
  };
  const std::vector<Row> rows{
      {{true}, {true}, CaseStatus::pass, CaseChange::none, false},
      {{true}, {false}, CaseStatus::fail, CaseChange::broke, true},
      {{false}, {true}, CaseStatus::pass, CaseChange::fixed, false},
      {{false}, {false}, CaseStatus::warn, CaseChange::still_failing, false},
      {{false, true}, {false, false}, CaseStatus::fail, CaseChange::broke, true},
      {{false, false}, {false, true}, CaseStatus::warn, CaseChange::still_failing, false},
      {{false, true}, {true, false}, CaseStatus::fail, CaseChange::broke, true},
      {{true}, {true, false}, CaseStatus::fail, CaseChange::none, false},
  };
  for (const Row& row : rows) {
    const Baseline baseline = baseline_after(row.then);
    const CaseAssessment assessment = assessed(&baseline, row.now);
    const std::string which = "row " + std::to_string(&row - rows.data());
    EXPECT_EQ(assessment.status, row.status) << which;
    EXPECT_EQ(to_string(assessment.change()), to_string(row.change)) << which;
    EXPECT_EQ(assessment.regressed, row.regressed) << which;
    EXPECT_EQ(assessment.improved,
              row.change == CaseChange::fixed || (row.change == CaseChange::still_failing && row.now.back()))
        << which;
    EXPECT_EQ(assessment.only_known_failures(), row.status == CaseStatus::warn) << which;
  }
}

TEST(PinnedChecks, ACaseThatRegressedByAScoreDroppedWhateverStillFails) {
  const auto change_beside = [](bool check_passed_then) {
    const Baseline baseline = baseline_of(
        {{"q", similarity, 0.9}, {"q", "must_contain", check_passed_then ? 1.0 : 0.0, "", PinKind::checks}});
    Case test = checked_test(1);
    test.expectations.push_back(test_of("q", MetricId::semantic_similarity_to).expectations.front());
    const std::vector outcomes{verdict_of(contains, false), score_of(MetricId::semantic_similarity_to, 0.5)};
    const CaseAssessment assessment = gate_of(&baseline).assess(test, outcomes);
    EXPECT_TRUE(assessment.regressed);
    return assessment.change();
  };
  EXPECT_EQ(change_beside(true), CaseChange::broke);
  EXPECT_EQ(change_beside(false), CaseChange::dropped);
}

/// A test that expects these texts, of which some are missing in the answer.
CaseAssessment expecting(const Baseline* baseline, const std::vector<std::string>& texts,
                         const std::string& missing) {
  Case test = checked_test(texts.size());
  std::vector<MetricOutcome> outcomes;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    test.expectations[i].what.texts = {texts[i]};
    outcomes.push_back(verdict_of(contains, texts[i] != missing));
  }
  CaseAssessment assessment = gate_of(baseline).assess(kept(std::move(test)), outcomes);
  for (AssessedMetric& metric : assessment.metrics) metric.detail = {};
  return assessment;
}

TEST(PinnedChecks, APinIsThatOfItsCheckWhereverItStands) {
  BaselineExport pins({"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"}, "model");
  pins.add("q", expecting(nullptr, {"a", "b"}, "a"));
  const Baseline baseline = *pins.finish();
  EXPECT_TRUE(expecting(&baseline, {"b", "a"}, "b").regressed) << "swapped: b broke";
  EXPECT_EQ(expecting(&baseline, {"b", "a"}, "a").change(), CaseChange::still_failing);
  const CaseAssessment inserted = expecting(&baseline, {"new", "a", "b"}, "new");
  EXPECT_EQ(inserted.status, CaseStatus::fail);
  EXPECT_EQ(inserted.metrics[0].cause, MetricCause::not_passed) << "nothing excuses a new check";
  EXPECT_TRUE(expecting(&baseline, {"b"}, "b").regressed) << "a was removed, and b broke";
  EXPECT_EQ(expecting(&baseline, {"other"}, "other").metrics[0].cause, MetricCause::not_passed);
}

TEST(PinnedChecks, RepeatsStandBesideThePins) {
  BaselineExport pins({"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"}, "model");
  const CaseAssessment assessment = repeated(nullptr, {true, false, true});
  pins.add("q", assessment);
  const Baseline baseline = *pins.finish();
  StringSink sink;
  write_baseline(baseline, sink);
  std::istringstream file(sink.text());
  const auto read = parse_baseline(file, "base.json");
  ASSERT_TRUE(read) << to_text(read.error());
  EXPECT_NEAR(read->score("q", passed_name).value_or(0.0), 2.0 / 3.0, 1e-9);
  const NextCase next = cases_of(*read);
  const auto first = next();
  ASSERT_TRUE(first && *first != nullptr);
  EXPECT_EQ((*first)->passes, (std::vector<double>{1.0, 0.0, 1.0}));
  EXPECT_EQ((*first)->metrics.size(), 1u) << "it is no score of the test";
  UnusedEntries unused(*read);
  unused.visit("q", assessment.metrics);
  EXPECT_FALSE(unused.finish({}));
}

TEST(PinnedChecks, APinThatNoCheckTakesIsAnUnusedEntry) {
  BaselineExport pins({"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"}, "model");
  pins.add("q", expecting(nullptr, {"a", "b"}, "a"));
  const Baseline baseline = *pins.finish();
  const auto is_unused = [&](const std::vector<std::string>& texts) {
    UnusedEntries unused(baseline);
    unused.visit("q", expecting(&baseline, texts, "").metrics);
    return unused.finish({}).has_value();
  };
  EXPECT_FALSE(is_unused({"b", "a"}));
  EXPECT_FALSE(is_unused({"b", "new", "a"}));
  EXPECT_TRUE(is_unused({"b"}));
  EXPECT_TRUE(is_unused({"b", "c"}));
}

TEST(PinnedChecks, AFileThatDoesNotSayWhichCheckItPinsPinsAnOnlyOne) {
  const auto pinned = [](const std::vector<double>& checks) {
    Baseline baseline;
    BaselineEntry entry{"q", "must_contain", 0.0, ""};
    entry.kind = PinKind::checks;
    if (checks.size() > 1) entry.scores = checks;
    baseline.add(entry);
    baseline.seal();
    return baseline;
  };
  const Baseline one = pinned({0.0});
  EXPECT_EQ(assessed(&one, {false}).status, CaseStatus::warn);
  EXPECT_EQ(assessed(&one, {false, true}).status, CaseStatus::fail);
  const Baseline two = pinned({0.0, 1.0});
  EXPECT_EQ(assessed(&two, {false, true}).status, CaseStatus::fail);
}

TEST(PinnedChecks, AFailureThatTheBaselineDoesNotHaveFailsAsEver) {
  const Baseline scores_alone = baseline_of({{"q", similarity, 0.9}});
  const CaseAssessment assessment = assessed(&scores_alone, {false});
  EXPECT_EQ(assessment.status, CaseStatus::fail);
  EXPECT_EQ(assessment.metrics[0].cause, MetricCause::not_passed);
  EXPECT_EQ(assessment.change(), CaseChange::none);
}

TEST(PinnedChecks, AKnownFailureIsPinnedAsFailedAndAFlakyCheckByItsMajority) {
  CaseAssessment known = assessed(nullptr, {false});
  take_as_known_failure(known);
  EXPECT_FALSE(known.metrics[0].holds());
  EXPECT_TRUE(repeated(nullptr, {true, false, true}).metrics[0].holds());
  EXPECT_FALSE(repeated(nullptr, {false, false, true}).metrics[0].holds());
}

TEST(PinnedChecks, AFlakyKnownFailureIsPinnedByItsMajorityToo) {
  CaseAssessment mostly_passed = repeated(nullptr, {true, false, true});
  take_as_known_failure(mostly_passed);
  EXPECT_EQ(mostly_passed.metrics[0].cause, MetricCause::known_failure);
  EXPECT_TRUE(mostly_passed.metrics[0].holds());
  CaseAssessment mostly_failed = repeated(nullptr, {false, false, true});
  take_as_known_failure(mostly_failed);
  EXPECT_FALSE(mostly_failed.metrics[0].holds());
}

TEST(PinnedChecks, RepeatsBesideAPinOfAFailureArePinnedByTheirMajorityAndFixedWhenAllPass) {
  const Baseline failed = baseline_after({false});
  const CaseAssessment mostly_passed = repeated(&failed, {false, true, true});
  EXPECT_EQ(mostly_passed.change(), CaseChange::still_failing);
  EXPECT_TRUE(mostly_passed.metrics[0].holds());
  EXPECT_FALSE(mostly_passed.metrics[0].is_fixed());
  EXPECT_FALSE(repeated(&failed, {false, false, true}).metrics[0].holds());
  EXPECT_TRUE(repeated(&failed, {true, true, true}).metrics[0].is_fixed());
}

TEST(PinnedChecks, RepeatsBreakByAMajorityAndFailStillByAny) {
  const Baseline passed = baseline_after({true});
  EXPECT_EQ(repeated(&passed, {false, false, true}).change(), CaseChange::broke);
  EXPECT_TRUE(repeated(&passed, {false, false, true}).regressed);
  const CaseAssessment flaky = repeated(&passed, {false, true, true});
  EXPECT_EQ(flaky.status, CaseStatus::flaky);
  EXPECT_EQ(flaky.metrics[0].cause, MetricCause::not_passed) << "the base may have been as flaky";
  EXPECT_EQ(repeated(&passed, {false, true, true}).change(), CaseChange::none);
  const Baseline failed = baseline_after({false});
  EXPECT_EQ(repeated(&failed, {false, false, true}).change(), CaseChange::still_failing);
  EXPECT_EQ(repeated(&failed, {false, false, true}).status, CaseStatus::warn);
  EXPECT_EQ(repeated(&failed, {true, true, true}).change(), CaseChange::fixed);
}

TEST(PinnedChecks, AreWrittenAndReadBack) {
  const Baseline pinned = baseline_after({true, false});
  StringSink sink;
  write_baseline(pinned, sink);
  EXPECT_NE(sink.text().find(R"("metric": "must_contain", "passed": [true, false], "check": [")"),
            std::string::npos)
      << sink.text();
  std::istringstream text(sink.text());
  const auto read = parse_baseline(text, "base.json");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  StringSink again;
  write_baseline(*read, again);
  EXPECT_EQ(again.text(), sink.text());
  EXPECT_EQ(read->score("q", "must_contain"), std::nullopt) << "it is no score";
}

TEST(PinnedChecks, AFileNamesWhatIsWrongWithThem) {
  const auto message = [](const std::string& entry) {
    std::istringstream text(
        R"({"schema_version": 2, "suite": "s", "assay_version": "1", "created_at": "2025-12-21T12:00:00Z",
            "config_fingerprint": "f", "entries": [{"test_id": "q", "metric": )" +
        entry + "}]}");
    const auto read = parse_baseline(text, "base.json");
    return read ? std::string() : read.error().message;
  };
  EXPECT_EQ(message(R"("must_contain", "passed": true)"), "");
  EXPECT_EQ(message(R"("must_contain", "passed": true, "score": 1)"),
            "`entries[0]` has both `passed` and `score`: keep one of the two");
  EXPECT_EQ(message(R"("must_contain", "passed": true, "check": "00000000000000ff")"), "");
  EXPECT_NE(message(R"("must_contain", "passed": true, "check": "ff")").find("expected 16 hex digits"),
            std::string::npos);
  EXPECT_NE(message(R"("must_contain", "passed": [true, true], "check": ["00000000000000ff"])")
                .find("expected a list as long as `passed`"),
            std::string::npos);
  EXPECT_NE(message(R"("must_contain", "passed": 1)").find("expected true, false, or a list of them"),
            std::string::npos);
  EXPECT_NE(message(R"("must_contain", "passed": [])").find("expected true, false, or a list"),
            std::string::npos);
  EXPECT_NE(message(R"("must_contain", "passed": [true, 0])").find("expected true or false"),
            std::string::npos);
  EXPECT_NE(message(R"("claims_f1", "passed": true)").find("which has a score: expected `score`"),
            std::string::npos);
  EXPECT_EQ(message(R"("of_a_newer_sluice", "passed": [true, false])"), "");
}

TEST(PinnedChecks, AFileOfVersion1IsRead) {
  std::istringstream text(
      R"({"schema_version": 1, "suite": "s", "assay_version": "1", "created_at": "2025-12-21T12:00:00Z",
          "config_fingerprint": "f", "entries": [{"test_id": "q", "metric": "claims_f1", "score": 0.5}]})");
  const auto read = parse_baseline(text, "base.json");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->score("q", "claims_f1"), 0.5);
}

/// A fixture's repeats, each with its forbidden claim or without; scores are the same.
std::vector<CaseAssessment> assessed_fixture(const Baseline* baseline, const std::vector<bool>& free) {
  std::vector<std::vector<MetricOutcome>> outcomes;
  for (const bool passed : free) outcomes.push_back(claims_outcomes(0.5, 0.5, 0.5, false, passed));
  std::vector<ScoredAnswer> answers;
  for (const auto& one : outcomes) answers.push_back({one});
  static const Case fixture = fixture_of("f");
  auto repeats = gate_of(baseline).assess_answers(fixture, answers, answers.size());
  for (CaseAssessment& repeat : repeats) {
    for (AssessedMetric& metric : repeat.metrics) metric.detail = {};
  }
  return repeats;
}

CaseAssessment assessed_together(const std::vector<CaseAssessment>& repeats) {
  std::vector<const CaseAssessment*> views;
  for (const CaseAssessment& one : repeats) views.push_back(&one);
  return assessment_of_repeats(views);
}

Baseline pinned_fixture(const std::vector<bool>& free, bool of_an_arm = false) {
  BaselineExport pins({"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"}, "model");
  if (of_an_arm) pins.pin_scores_alone();
  pins.add("f", assessed_together(assessed_fixture(nullptr, free)));
  return *pins.finish();
}

TEST(PinnedChecks, TheFixtureOfClaimsPinsItsForbiddenClaimsBesideItsScores) {
  for (const bool of_an_arm : {false, true}) {
    const Baseline baseline = pinned_fixture({true, false, true}, of_an_arm);
    ASSERT_EQ(baseline.size(), 4u);
    for (const std::size_t score : {0u, 2u, 3u}) EXPECT_EQ(baseline.entry(score).kind, PinKind::score);
    const BaselineEntry forbidden = baseline.entry(1);
    EXPECT_EQ(forbidden.metric, "claims_forbidden");
    EXPECT_EQ(forbidden.kind, PinKind::checks);
    EXPECT_EQ(forbidden.repeats, "101");
    EXPECT_EQ(forbidden.passed(0), true);
  }
}

TEST(PinnedChecks, AForbiddenClaimIsHeldAgainstItsPin) {
  const Baseline mostly_free = pinned_fixture({true, false, true});
  const Baseline mostly_not = pinned_fixture({false, false, true});
  const auto beside = [](const Baseline& baseline, const std::vector<bool>& free) {
    return assessed_together(assessed_fixture(&baseline, free));
  };
  EXPECT_TRUE(beside(mostly_free, {false, false, true}).regressed);
  EXPECT_EQ(beside(mostly_free, {true, false, true}).status, CaseStatus::flaky);
  EXPECT_EQ(beside(mostly_not, {false, false, false}).status, CaseStatus::warn);
  EXPECT_EQ(beside(mostly_not, {true, true, true}).change(), CaseChange::fixed);
  std::vector<RowChange> changes;
  const auto compared =
      compare(cases_of(mostly_free), cases_of(mostly_not), CompareRules{}, [&](const ScoreComparison& row) {
        if (row.metric == "claims_forbidden") changes.push_back(row.change);
      });
  ASSERT_TRUE(compared);
  EXPECT_EQ(compared->verdict, RunVerdict::regression);
  EXPECT_EQ(changes, std::vector{RowChange::broke});
}

TEST(PinnedChecks, ABaselineWithoutItCountsAsFreeOfForbiddenClaims) {
  const Baseline old = baseline_of({{"f", "claims_f1", 0.5}});
  const Baseline now = pinned_fixture({false});
  ComparedMetric forbidden;
  forbidden.name = "claims_forbidden";
  forbidden.passed = false;
  const auto side = [one = ComparedCase{"f", false, {forbidden}},
                     handed = false]() mutable -> Result<const ComparedCase*> {
    return std::exchange(handed, true) ? nullptr : &one;
  };
  const auto compared = compare(cases_of(old), side, CompareRules{}, [](const auto&) {});
  ASSERT_TRUE(compared);
  EXPECT_EQ(compared->broke, 1u);
  EXPECT_EQ(compare(cases_of(now), side, CompareRules{}, [](const auto&) {})->still_failing, 1u);
  UnusedEntries unused(now);
  unused.visit("f", assessed_together(assessed_fixture(&now, {false})).metrics);
  EXPECT_FALSE(unused.finish({})) << "it is answered";
}

TEST(PinnedChecks, TwoFilesAreComparedCheckByCheck) {
  const auto side = [](const std::vector<bool>& passed, bool is_reversed = false) {
    auto one = std::make_shared<ComparedCase>();
    one->test_id = "q";
    for (const bool each : passed) {
      ComparedMetric& check = one->metrics.emplace_back();
      check.name = "must_contain";
      check.passed = each;
      check.asked_by_name = true;
      if (passed.size() > 1) check.check = one->metrics.size();
    }
    if (is_reversed) std::ranges::reverse(one->metrics);
    return NextCase([one, handed = false]() mutable -> Result<const ComparedCase*> {
      if (handed) return nullptr;
      handed = true;
      return one.get();
    });
  };
  std::vector<RowChange> changes;
  const auto summary =
      compare(side({true, false, false, true}), side({false, true, false, true}), CompareRules{},
              [&](const ScoreComparison& row) { changes.push_back(row.change); });
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(changes, (std::vector{RowChange::broke, RowChange::fixed, RowChange::still_failing,
                                  RowChange::unchanged}));
  EXPECT_EQ(summary->verdict, RunVerdict::regression);
  const auto reversed =
      compare(side({false, true}), side({true, false}, true), CompareRules{}, [](const auto&) {});
  ASSERT_TRUE(reversed.has_value());
  EXPECT_EQ(reversed->broke, 1u) << "the second check, which now stands first";
  EXPECT_EQ(reversed->fixed, 1u);
  const Baseline pinned = baseline_after({false});
  const auto beside_file = compare(cases_of(pinned), side({false}), CompareRules{}, [](const auto&) {});
  ASSERT_TRUE(beside_file.has_value());
  EXPECT_EQ(beside_file->still_failing, 1u);
  EXPECT_EQ(beside_file->verdict, RunVerdict::pass) << "it failed before, too";
}

TEST(PinnedChecks, ABaselineThatPinsAFailureAnewIsALowerBar) {
  const auto verdict = [](const Baseline& base, const Baseline& current) {
    return compare(cases_of(base), cases_of(current), CompareRules{}, [](const auto&) {})->verdict;
  };
  const Baseline passed = baseline_after({true, true});
  const Baseline failed = baseline_after({true, false});
  EXPECT_EQ(verdict(passed, failed), RunVerdict::regression);
  EXPECT_EQ(verdict(failed, failed), RunVerdict::pass);
  EXPECT_EQ(verdict(failed, passed), RunVerdict::pass);
}

}  // namespace sluice::pinned_checks_test
