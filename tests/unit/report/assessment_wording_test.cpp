#include "coordinator/report/wording/assessment_wording.hpp"

#include "coordinator/report/wording/case_explanation.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

AssessedMetric metric(std::optional<double> score, std::optional<double> baseline,
                      std::optional<double> limit, MetricCause cause = MetricCause::none) {
  return {.id = MetricId::claims_f1,
          .score = score,
          .baseline = baseline,
          .limit = limit,
          .status = MetricStatus::fail,
          .cause = cause,
          .detail = {}};
}

TEST(AssessmentWording, ScoresThatDifferAreShownToDiffer) {
  EXPECT_EQ(wording::decimals_for({0.85, 0.92}), 2);
  EXPECT_EQ(wording::decimals_for({0.871, 0.87}), 3);
  EXPECT_EQ(wording::decimals_for({0.8549, 0.8551}), 4);
  EXPECT_EQ(wording::decimals_for({0.5, 0.5, std::nullopt}), 2);
  EXPECT_EQ(wording::decimals_for({0.5, 0.500000001}), 9);
  // Less than a billionth apart is equal to the gate.
  EXPECT_EQ(wording::decimals_for({0.5, 0.50000000001}), 2);
}

TEST(AssessmentWording, AAssessedMetricIsOneLine) {
  EXPECT_EQ(wording::assessed(metric(0.85, 0.92, 0.87, MetricCause::dropped)),
            "claims_f1 0.92 → 0.85 (-0.07), limit 0.87: dropped by more than is allowed");
  EXPECT_EQ(wording::assessed(metric(0.8, std::nullopt, 0.85, MetricCause::below_min_score)),
            "claims_f1 0.80, limit 0.85: below the score asked for");
  EXPECT_EQ(wording::assessed(metric(0.8699, 0.9, 0.87, MetricCause::dropped)),
            "claims_f1 0.9000 → 0.8699 (-0.0301), limit 0.8700: dropped by more than is allowed");
  EXPECT_EQ(wording::assessed(metric(std::nullopt, 0.9, 0.85, MetricCause::became_undefined)),
            "claims_f1 0.90 → –, limit 0.85: undefined now (0/0)");
  EXPECT_EQ(wording::assessed(metric(0.9, std::nullopt, std::nullopt, MetricCause::missing_in_baseline)),
            "claims_f1 0.90: no entry in the baseline");
}

// "0.79 → 0.13 (-0.67)" was read as an error.
TEST(AssessmentWording, ADifferenceIsThatOfTheShownNumbers) {
  const AssessedMetric fell = metric(0.126, 0.793, std::nullopt);
  EXPECT_EQ(wording::assessed(fell), "claims_f1 0.79 → 0.13 (-0.66)");
  EXPECT_EQ(fell.delta(), -0.667) << "programs get the exact one";
  EXPECT_EQ(wording::words_for(AggregateComparison{"f1", 0.126, 0.793}).delta, "-0.66");
  EXPECT_EQ(wording::words_for(metric(0.5, 0.5, std::nullopt)).delta, "+0.00");
}

TEST(AssessmentWording, ADropNamesWhatElseFailsTheMetric) {
  AssessedMetric fell = metric(0.1, 0.9, 0.85, MetricCause::dropped);
  fell.own_cause = MetricCause::no_majority;
  EXPECT_EQ(wording::assessed(fell),
            "claims_f1 0.90 → 0.10 (-0.80), limit 0.85: dropped by more than is allowed, and no majority of "
            "the votes passed");
  fell.spared = MetricCause::dropped;
  fell.cause = MetricCause::judge_kappa_low;
  EXPECT_EQ(wording::assessed(fell),
            "claims_f1 0.90 → 0.10 (-0.80), limit 0.85: dropped by more than is allowed, and no majority of "
            "the votes passed, by a judge whose kappa is too low");
  AssessedMetric low = metric(0.1, std::nullopt, 0.85, MetricCause::below_min_score);
  low.own_cause = MetricCause::below_min_score;
  EXPECT_EQ(wording::assessed(low), "claims_f1 0.10, limit 0.85: below the score asked for");
}

// A rubric without a limit of its mean had a dash, though its votes had to reach 0.5.
TEST(AssessmentWording, TheLimitThatDecidesMayBeThatOfEachVote) {
  const auto limit = [](std::uint32_t samples, std::optional<double> of_mean,
                        MetricCause cause = MetricCause::none) {
    AssessedMetric judged = metric(0.1, std::nullopt, of_mean, cause);
    judged.votes =
        VoteTally{.samples = samples, .votes = samples, .passed = 0, .min_score = 0.5, .rationale = {}};
    return wording::words_for(judged).limit;
  };
  EXPECT_EQ(limit(1, std::nullopt), "0.50");
  EXPECT_EQ(limit(3, std::nullopt), "0.50 a vote");
  EXPECT_EQ(limit(1, 0.85), "0.85");
  EXPECT_EQ(limit(1, 0.35), "0.50");
  EXPECT_EQ(limit(3, 0.85, MetricCause::no_majority), "0.50 a vote");
  EXPECT_EQ(limit(3, 0.85, MetricCause::dropped), "0.85");
}

// "0.5000003, limit 0.5000000: below the score asked for" stood beside a mean of repeats of which one missed
// it.
TEST(AssessmentWording, OfALimitOfEachRepeatItSaysHowManyMissedIt) {
  AssessedMetric flaky = metric(0.50000025, std::nullopt, 0.5, MetricCause::below_min_score);
  flaky.repeat_scores = {0.0, 0.666667, 0.666667, 0.666667};
  EXPECT_EQ(wording::assessed(flaky),
            "claims_f1 0.50, limit 0.50 a repeat: 1 of 4 repeats below the score asked for");
  flaky.repeat_scores = {0.4999, 0.5001};
  EXPECT_EQ(wording::assessed(flaky),
            "claims_f1 0.5000, limit 0.5000 a repeat: 1 of 2 repeats below the score asked for");
  flaky.spared = MetricCause::below_min_floor;
  flaky.cause = MetricCause::known_failure;
  EXPECT_EQ(wording::assessed(flaky),
            "claims_f1 0.5000, limit 0.5000 a repeat: 1 of 2 repeats below the floor, a known failure");
  flaky.spared = MetricCause::none;
  flaky.cause = MetricCause::below_min_floor;
  flaky.repeat_scores = {0.5, 0.5};
  EXPECT_EQ(wording::assessed(flaky), "claims_f1 0.50, limit 0.50 a repeat: below the floor")
      << "a third is undefined";
  flaky.cause = MetricCause::dropped;
  flaky.baseline = 0.9;
  flaky.score = 0.4;
  EXPECT_EQ(wording::assessed(flaky),
            "claims_f1 0.90 → 0.40 (-0.50), limit 0.50: dropped by more than is allowed")
      << "that is asked of the mean";
}

TEST(AssessmentWording, AnImprovementMayBeToExtractNothing) {
  const Case fixture;
  CaseResult result{.fixture = fixture, .counts = {}};
  AssessedMetric cleared = metric(std::nullopt, 0.0, std::nullopt);
  cleared.status = MetricStatus::pass;
  AssessedMetric rose = metric(0.9, 0.8, 0.75);
  rose.status = MetricStatus::pass;
  result.assessment.metrics = {cleared, rose};
  EXPECT_EQ(wording::improvements(result), "claims_f1 0.00 → –, claims_f1 0.80 → 0.90 (+0.10)");
}

TEST(AssessmentWording, PointsAreHundredthsOfAScore) {
  EXPECT_EQ(wording::points(-0.02), "2 points");
  EXPECT_EQ(wording::points(0.01), "1 point");
  EXPECT_EQ(wording::points(0.05), "5 points");
  EXPECT_EQ(wording::points(0.0025), "0.25 points");
  EXPECT_EQ(wording::points(0.00001), "under 0.01 points");
  EXPECT_EQ(wording::points(0.85 - 0.92), "7 points");
}

TEST(AssessmentWording, DropsOfAggregates) {
  EXPECT_EQ(wording::dropped({.name = "recall", .current = 0.76, .baseline = 0.78}),
            "Recall dropped by 2 points (0.78 to 0.76)");
  EXPECT_EQ(wording::dropped({.name = "precision", .current = std::nullopt, .baseline = 0.85}),
            "Precision is undefined now (was 0.85)");
}

/// Why a case of one check failed that was answered so.
std::string explained(TextExpectation what, const std::string& answer) {
  Case fixture;
  fixture.kind = CaseKind::text;
  AssessedMetric failed = metric(std::nullopt, std::nullopt, std::nullopt);
  failed.id = what.metric;
  fixture.expectations.emplace_back().what = std::move(what);
  UnitResult unit;
  unit.shown_text = answer;
  CaseResult result{.fixture = fixture, .status = CaseStatus::fail, .unit = &unit, .counts = {}};
  result.assessment.metrics = {failed};
  CaseDetails details;
  return wording::plain_text(wording::explanation(result, {}, details));
}

TEST(AssessmentWording, NumbersAreNamedAsInTheSuite) {
  const auto expected = [](TextExpectation what) {
    const std::string text = explained(std::move(what), "x");
    return text.substr(0, text.find('\n'));
  };
  EXPECT_EQ(expected({.metric = MetricId::levenshtein, .texts = {"sitting"}, .numbers = {2}}),
            "Expected: levenshtein \"sitting\" max_distance 2");
  EXPECT_EQ(expected({.metric = MetricId::not_latency, .texts = {}, .numbers = {1}}),
            "Expected: not_latency max_ms 1");
  EXPECT_EQ(expected({.metric = MetricId::cost, .texts = {}, .numbers = {0.5, 2, 8}}),
            "Expected: cost max_dollars 0.5")
      << "the prices are not the suite's";
  const TextExpectation rouge{.metric = MetricId::rouge_n, .texts = {"let me see"}, .numbers = {1, 0.4}};
  EXPECT_EQ(expected({.metric = MetricId::any_of, .texts = {}, .numbers = {1}, .parts = {rouge}}),
            "Expected: any_of (rouge_n \"let me see\" n 1 min_score 0.4)");
  EXPECT_EQ(expected({.metric = MetricId::all_of, .texts = {}, .numbers = {0.5}, .parts = {rouge}}),
            "Expected: all_of pass_mark 0.5 (rouge_n \"let me see\" n 1 min_score 0.4)");
  EXPECT_EQ(
      expected({.metric = MetricId::tool_calls, .texts = {"f", "{}", "g", "{\"a\":1}"}, .numbers = {1}}),
      "Expected: tool_calls f {}, g {\"a\": 1} in this order");
  EXPECT_EQ(expected({.metric = MetricId::tool_call, .texts = {"f", "{\"a\":1}"}}),
            "Expected: tool_call f {\"a\": 1}");
  // Its quotes stood within quotes, and lines ended within its words.
  EXPECT_EQ(expected({.metric = MetricId::json_schema,
                      .texts = {"{\"required\":[\"a\",\"b,\\\":\"],\"type\":\"object\"}"}}),
            "Expected: json_schema {\"required\": [\"a\", \"b,\\\":\"], \"type\": \"object\"}");
}

TEST(AssessmentWording, AnAnswerWithoutWordsIsSaidToBeOne) {
  const TextExpectation what{.metric = MetricId::must_contain, .texts = {"a"}};
  EXPECT_EQ(explained(what, ""), "Expected: must_contain \"a\"\nGot: An empty answer\n");
  EXPECT_EQ(explained(what, " \n\t "), "Expected: must_contain \"a\"\nGot: White space alone\n");
  EXPECT_EQ(explained(what, " b"), "Expected: must_contain \"a\"\nGot:  b\n");
}

/// A check by `text` that failed beside a baseline; `was`: what that pins of it, if anything.
AssessedMetric failed_check(std::optional<bool> was) {
  AssessedMetric check = metric(std::nullopt, std::nullopt, std::nullopt, MetricCause::not_passed);
  check.id = MetricId::must_contain;
  check.asked_by_name = true;
  check.baseline_passed = was;
  if (was) check.cause = *was ? MetricCause::broke : MetricCause::still_failing;
  if (was == false) check.status = MetricStatus::warn;
  return check;
}

std::vector<wording::CaseLine> explained(const std::vector<AssessedMetric>& metrics,
                                         const std::vector<std::string>& texts) {
  Case fixture;
  fixture.kind = CaseKind::text;
  for (const std::string& text : texts)
    fixture.expectations.emplace_back().what = {.metric = MetricId::must_contain, .texts = {text}};
  CaseResult result{.fixture = fixture, .status = CaseStatus::fail, .counts = {}};
  result.assessment.metrics = metrics;
  CaseDetails details;
  return wording::explanation(result, {}, details);
}

// JUnit's failure named a check that had failed before, and no report told it from the one that broke.
TEST(AssessmentWording, EachFailedCheckSaysHowItStandsToTheBaselineAndWhatBrokeComesFirst) {
  const auto lines = explained({failed_check(false), failed_check(std::nullopt), failed_check(true)},
                               {"old", "added", "broken"});
  EXPECT_EQ(wording::plain_text(lines),
            "Change: broke: a check that passed when the baseline was made; another failed then, too\n"
            "Expected (broke): must_contain \"broken\"\n"
            "Expected (new): must_contain \"added\"\n"
            "Expected (still failing): must_contain \"old\"\n");
  EXPECT_TRUE(wording::headline(lines).starts_with("Expected (broke): must_contain \"broken\""))
      << wording::headline(lines);
}

TEST(AssessmentWording, ASingleFailedCheckStandsAsItsCaseAndWithoutABaselineNoneIsNew) {
  EXPECT_EQ(wording::plain_text(explained({failed_check(true)}, {"a"})),
            "Change: broke: it passed when the baseline was made\nExpected: must_contain \"a\"\n");
  EXPECT_EQ(
      wording::plain_text(explained({failed_check(std::nullopt), failed_check(std::nullopt)}, {"a", "b"})),
      "Expected: must_contain \"a\"\nExpected: must_contain \"b\"\n");
}

// Of such a case it was said that it had passed.
TEST(AssessmentWording, ACaseThatBrokeIsSaidToHavePassedOnlyWhereNothingOfItHadFailed) {
  AssessedMetric fixed = failed_check(false);
  fixed.status = MetricStatus::pass;
  fixed.cause = MetricCause::none;
  AssessedMetric low = metric(0.1, 0.2, std::nullopt);
  low.had_failed = true;
  const auto change = [](const std::vector<AssessedMetric>& metrics) {
    return explained(metrics, {"a", "b"}).front().text;
  };
  const std::string passed = "broke: it passed when the baseline was made";
  const std::string other = "broke: a check that passed when the baseline was made; another failed then, too";
  EXPECT_EQ(change({failed_check(true), failed_check(true)}), passed);
  EXPECT_EQ(change({failed_check(true), failed_check(std::nullopt)}), passed) << "a new check";
  EXPECT_EQ(change({failed_check(true), fixed}), other);
  EXPECT_EQ(change({failed_check(true), low}), other) << "a score below its own limit";
}

// What passed was listed as what had been expected, and JUnit's message did not say what to do.
TEST(AssessmentWording, AKnownFailureThatPassedSaysSoAndMissedNothing) {
  AssessedMetric passed = failed_check(std::nullopt);
  passed.status = MetricStatus::warn;
  passed.cause = MetricCause::known_failure_passed;
  Case fixture;
  fixture.kind = CaseKind::text;
  fixture.known_failure = "a gap";
  fixture.expectations.emplace_back().what = {.metric = MetricId::must_contain, .texts = {"a"}};
  UnitResult unit;
  unit.shown_text = "a";
  CaseResult result{.fixture = fixture, .status = CaseStatus::warn, .unit = &unit, .counts = {}};
  result.assessment.metrics = {passed};
  CaseDetails details;
  const auto lines = wording::explanation(result, {}, details);
  const std::string change =
      "Change: passed, though the suite says that it fails: take its `known_failure` out";
  EXPECT_EQ(wording::plain_text(lines), change + "\nGot: a\n");
  EXPECT_EQ(wording::headline(lines), change + "; Got: a");
}

TEST(AssessmentWording, ACheckThatFailedInOtherRepeatsSaysInHowMany) {
  AssessedMetric check = failed_check(std::nullopt);
  check.only_in_other_repeats = true;
  const auto detail = [&] { return explained({check}, {"a"}).back().text; };
  EXPECT_EQ(detail(), "must_contain did not pass in another repeat than the one shown") << "not counted";
  check.repeat_passes = "110";
  EXPECT_EQ(detail(), "must_contain failed in 1 of 3 repeats, not in the one shown");
}

TEST(AssessmentWording, AHeadlineIsTheScoreOrTheFirstExpectation) {
  using enum wording::CaseLineKind;
  EXPECT_EQ(wording::headline({{score, "f1 0.9 → 0.8"}, {expected, "x"}}), "f1 0.9 → 0.8");
  EXPECT_EQ(wording::headline({{expected, "a = 1"}, {rationale, "why"}, {nothing_got, "Not extracted"}}),
            "Expected: a = 1; Got: Not extracted");
  EXPECT_EQ(wording::headline({{detail, "the program asks: why?"}, {got, "b"}}),
            "Detail: the program asks: why? Got: b")
      << "a question mark before a semicolon";
  EXPECT_EQ(wording::headline({{forbidden, "b = 2\nmore"}}), "Forbidden: b = 2");
  EXPECT_EQ(wording::headline({{repeats, "2 of 3 failed"}, {expected, "a"}, {detail, "why"}, {got, "b"}}),
            "Expected: a; Detail: why; Repeats: 2 of 3 failed");
  EXPECT_EQ(wording::headline({{change, "broke"}, {repeats, "2 of 3 failed"}}),
            "Change: broke; Repeats: 2 of 3 failed");
  EXPECT_EQ(wording::headline({{change, "passed"}, {got, "b"}}), "Change: passed; Got: b");
  EXPECT_EQ(wording::headline(std::vector<wording::CaseLine>()), "");
  EXPECT_EQ(wording::plain_text({{expected, "a"}, {got, "b"}}), "Expected: a\nGot: b\n");
}

}  // namespace
}  // namespace sluice
