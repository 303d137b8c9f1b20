// What becomes of checks of several repeats beside a baseline of several repeats.
#include "coordinator/gate/baseline_export.hpp"
#include "coordinator/gate/repeated_assessment.hpp"
#include "coordinator/gate/statistical_gate.hpp"
#include "coordinator/score_files/baseline_file.hpp"
#include "gate_fixture.hpp"

#include <deque>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>

namespace sluice::pinned_repeats_test {

constexpr auto contains = MetricId::must_contain;

/// A test that makes so many checks by one metric. Assessments refer to it.
const Case& checked_test(std::size_t checks) {
  static std::deque<Case> all;
  Case& test = all.emplace_back(test_of("q", contains));
  test.expectations.resize(checks, test.expectations.front());
  for (std::size_t i = 0; i < checks; ++i) test.expectations[i].what.texts = {std::to_string(i)};
  return test;
}

/// A test with several checks; a row for each repeat.
CaseAssessment repeated_checks(const Baseline* baseline, const std::vector<std::vector<bool>>& repeats) {
  const Case& test = checked_test(repeats.front().size());
  std::deque<std::vector<MetricOutcome>> outcomes;
  std::vector<ScoredAnswer> answers;
  for (const auto& repeat : repeats) {
    auto& of_repeat = outcomes.emplace_back();
    for (const bool passed : repeat) of_repeat.push_back(verdict_of(contains, passed));
    answers.push_back({of_repeat});
  }
  auto all = gate_of(baseline).assess_answers(test, answers, answers.size());
  std::vector<const CaseAssessment*> views;
  for (CaseAssessment& one : all) {
    for (AssessedMetric& metric : one.metrics) metric.detail = {};
    views.push_back(&one);
  }
  return assessment_of_repeats(views);
}

Baseline baseline_of_repeats(const std::vector<std::vector<bool>>& repeats) {
  BaselineExport pins({"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"}, "model");
  pins.add("q", repeated_checks(nullptr, repeats));
  return *pins.finish();
}

// Each check passed in half of the repeats, and so was pinned as passed; the case failed in both.
TEST(PinnedRepeats, UnchangedAnswersThatFailByAnotherCheckInEachRepeatAreNoRegression) {
  const std::vector<std::vector<bool>> answers{{false, true}, {true, false}};
  const Baseline baseline = baseline_of_repeats(answers);
  const CaseAssessment same = repeated_checks(&baseline, answers);
  EXPECT_EQ(same.status, CaseStatus::fail) << "as in the run that was pinned";
  EXPECT_FALSE(same.regressed);
  EXPECT_EQ(same.change(), CaseChange::none);
  for (const AssessedMetric& metric : same.metrics) EXPECT_EQ(metric.cause, MetricCause::not_passed);
}

TEST(PinnedRepeats, ACaseRegressesByAnotherCheckInEachRepeatWhereTheBaseHeld) {
  const std::vector<std::vector<bool>> now{{false, true, true}, {true, false, true}, {true, true, false}};
  const std::vector<bool> all(3, true);
  for (const auto& then :
       std::vector<std::vector<std::vector<bool>>>{{all, all, all}, {all}, {all, now[0]}}) {
    const Baseline baseline = baseline_of_repeats(then);
    const CaseAssessment fell = repeated_checks(&baseline, now);
    EXPECT_TRUE(fell.regressed) << then.size();
    EXPECT_EQ(fell.change(), CaseChange::broke) << "what made it regress is named";
    for (const AssessedMetric& metric : fell.metrics) {
      EXPECT_EQ(metric.status, MetricStatus::flaky);
      EXPECT_EQ(metric.cause, MetricCause::broke);
    }
  }
  const Baseline failed_mostly = baseline_of_repeats({all, now[0], now[1]});
  EXPECT_FALSE(repeated_checks(&failed_mostly, now).regressed);
  const Baseline held = baseline_of_repeats({all, all, all});
  EXPECT_EQ(repeated_checks(&held, {now[0], all, all}).status, CaseStatus::flaky);
  EXPECT_FALSE(repeated_checks(&held, {now[0], all, all}).regressed);
}

TEST(PinnedRepeats, ACheckThatBrokeInMostRepeatsRegressesBesideOneThatIsFlaky) {
  const std::vector<std::vector<bool>> flaky{{true, false}, {true, true}, {true, false}, {true, true}};
  const Baseline baseline = baseline_of_repeats(flaky);
  const CaseAssessment fell =
      repeated_checks(&baseline, {{false, false}, {false, true}, {false, false}, {true, true}});
  EXPECT_TRUE(fell.regressed);
  EXPECT_EQ(fell.metrics[0].cause, MetricCause::broke);
  EXPECT_EQ(fell.metrics[1].cause, MetricCause::not_passed);
}

using Answers = std::vector<std::vector<bool>>;

/// The first check fails always; of the others another one in each repeat.
const Answers by_turns{{false, false, true, true}, {false, true, false, true}, {false, true, true, false}};

// It hid them: in no repeat of the baseline had every check passed.
TEST(PinnedRepeats, ACheckThatAlwaysFailsHidesNoOthers) {
  const std::vector<bool> first_fails{false, true, true, true};
  const Baseline always = baseline_of_repeats(Answers(3, first_fails));
  const CaseAssessment fell = repeated_checks(&always, by_turns);
  EXPECT_EQ(fell.status, CaseStatus::fail);
  EXPECT_TRUE(fell.regressed);
  EXPECT_EQ(fell.change(), CaseChange::broke);
  EXPECT_EQ(fell.metrics[0].cause, MetricCause::still_failing);
  for (std::size_t n = 1; n < 4; ++n) EXPECT_EQ(fell.metrics[n].cause, MetricCause::broke);

  const Baseline mostly = baseline_of_repeats({first_fails, first_fails, {true, true, true, true}});
  EXPECT_TRUE(repeated_checks(&mostly, by_turns).regressed) << "nor one that fails in most repeats";
  const Baseline as_flaky = baseline_of_repeats(by_turns);
  EXPECT_FALSE(repeated_checks(&as_flaky, by_turns).regressed) << "the others failed in the same way";
}

/// In how many of the repeats the test passes, as both sides are compared.
std::pair<double, double> compared_shares(const Answers& then, const Answers& now) {
  const Baseline baseline = baseline_of_repeats(then);
  StatisticalGate tests({&baseline, {}, 0.05, 1});
  tests.add(checked_test(now.front().size()), repeated_checks(&baseline, now));
  const auto assessed = tests.finish();
  EXPECT_EQ(assessed.metrics.size(), 1u);
  const PairedComparison& compared = assessed.metrics.at(0).comparison;
  return {compared.base.value(), compared.current.value()};
}

TEST(PinnedRepeats, HowOftenTestsPassIsComparedWithoutChecksThatFailedInEveryRepeatOfBothSides) {
  using Shares = std::pair<double, double>;
  const Answers held(3, {false, true, true, true});
  EXPECT_EQ(compared_shares(held, by_turns), Shares(1, 0));
  EXPECT_EQ(compared_shares(by_turns, held), Shares(0, 1));
  EXPECT_EQ(compared_shares(held, {{false, true, true, true}}), Shares(1, 1)) << "one repeat now";

  const Answers none(2, {false, false});
  EXPECT_EQ(compared_shares(none, Answers(2, {true, true})), Shares(0, 1));
  EXPECT_EQ(compared_shares(none, none), Shares(0, 0)) << "where all failed, all count";
  EXPECT_EQ(compared_shares(none, {{false, true}, {false, false}}), Shares(0, 0.5))
      << "of checks that failed all, the one that still does is left out";
}

// It was left out of both sides, so that the base passed always, and this run in half of its repeats.
TEST(PinnedRepeats, ACheckThatPassesOnOneSideAloneCountsOnBoth) {
  using Shares = std::pair<double, double>;
  const Answers then(2, {false, true});
  const Answers now{{true, true}, {true, false}};
  EXPECT_EQ(compared_shares(then, now), Shares(0, 0.5));
  EXPECT_EQ(compared_shares(now, then), Shares(0.5, 0));
  EXPECT_EQ(compared_shares(then, {{true, true}, {false, true}, {false, true}, {false, true}}),
            Shares(0, 0.25))
      << "another number of repeats";
}

TEST(PinnedRepeats, AreWrittenAndReadBackByCheck) {
  const Baseline pinned = baseline_of_repeats({{true, false}, {true, false}, {false, false}});
  StringSink sink;
  write_baseline(pinned, sink);
  EXPECT_NE(sink.text().find(R"("repeats": ["110", "000"])"), std::string::npos) << sink.text();
  std::istringstream text(sink.text());
  const auto read = parse_baseline(text, "base.json");
  ASSERT_TRUE(read.has_value()) << read.error().message;
  StringSink again;
  write_baseline(*read, again);
  EXPECT_EQ(again.text(), sink.text());
  EXPECT_EQ(read->passes(read->of_test("q"), passed_ever).of_repeats, (std::vector<double>{1.0, 1.0, 0.0}));
}

TEST(PinnedRepeats, AFileNamesWhatIsWrongWithThem) {
  const auto message = [](const std::string& pinned) {
    std::istringstream text(
        R"({"schema_version": 2, "suite": "s", "assay_version": "1", "created_at": "2025-12-21T12:00:00Z",
            "config_fingerprint": "f", "entries": [{"test_id": "q", "metric": "must_contain", "passed": )" +
        pinned + "}]}");
    const auto read = parse_baseline(text, "base.json");
    return read ? std::string() : read.error().message;
  };
  const std::string one = R"(true, "check": "00000000000000ff", "repeats": )";
  EXPECT_EQ(message(one + R"("110")"), "");
  EXPECT_EQ(message(one + R"("10")"), "") << "half is no majority";
  for (const char* wrong : {"110", R"("")", R"("1x")"})
    EXPECT_NE(message(one + wrong).find("expected a digit for each repeat, 1 or 0"), std::string::npos)
        << wrong;
  EXPECT_EQ(message(one + R"("100")"), "`entries[0].repeats` is `100`, but `passed` says true");
  const std::string two = R"([true, true], "check": ["00000000000000ff", "0000000000000001"], "repeats": )";
  EXPECT_EQ(message(two + R"(["11", "10"])"), "");
  EXPECT_NE(message(two + R"(["11"])").find("expected a list as long as `passed`"), std::string::npos);
  EXPECT_NE(message(two + R"(["11", "1"])").find("expected as many digits as the one before it"),
            std::string::npos);
}

}  // namespace sluice::pinned_repeats_test
