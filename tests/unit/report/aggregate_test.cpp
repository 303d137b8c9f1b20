// What a run's results come to: scores, and sums by category.
#include "coordinator/report/wording/wording.hpp"
#include "coordinator/suite/answers/recorded_answers.hpp"
#include "tests/unit/report/gated_run.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using sample::MemorySource;
using sample::SampleRun;
using sample::scored;

TEST(Scores, AreUndefinedOnlyForZeroByZero) {
  EXPECT_EQ(scores_of(Counts{}), Scores{});
  EXPECT_EQ(scores_of(Counts{0, 2, 0}), (Scores{0.0, std::nullopt, 0.0}));
  EXPECT_EQ(scores_of(Counts{0, 0, 2}), (Scores{std::nullopt, 0.0, 0.0}));
  EXPECT_EQ(scores_of(Counts{3, 1, 3}), (Scores{0.75, 0.5, 0.6}));
}

TEST(Scores, WeightedSumsKeepSmallWeightsBesideLargeOnes) {
  WeightedCounts counts;
  counts.add({1, 0, 0}, 1e16);
  for (int i = 0; i < 10; ++i) counts.add({1, 0, 0}, 0.5);
  counts.add({0, 1, 0}, 1.0);
  EXPECT_EQ(counts.true_positives(), 1e16 + 5.0);
  EXPECT_EQ(counts.false_positives(), 1.0);
}

TEST(Aggregate, AgreesWithHandCalculation) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  EXPECT_EQ(aggregates.all.statuses, (StatusCounts{.passed = 2, .failed = 3, .errors = 2}));
  EXPECT_EQ(aggregates.all.counts, (Counts{2, 3, 4}));
  const Scores scores = scores_of(aggregates.all.counts);
  EXPECT_DOUBLE_EQ(*scores.precision, 2.0 / 5);
  EXPECT_DOUBLE_EQ(*scores.recall, 2.0 / 6);
  EXPECT_DOUBLE_EQ(*scores.f1, 4.0 / 11);
  // Weighted by hand: TP 1 + 2, FP 2 * 1 + 0.5 * 2, FN 1 + 2 * 1 + 0.5 * 2.
  EXPECT_EQ(aggregates.all.weighted.true_positives(), 3.0);
  EXPECT_EQ(aggregates.all.weighted.false_positives(), 3.0);
  EXPECT_EQ(aggregates.all.weighted.false_negatives(), 4.0);
  EXPECT_EQ(aggregates.usage, (PaidTokens{4700, 850, 0}));
  EXPECT_EQ(aggregates.estimated_cost, 0.0081);
}

TEST(Aggregate, KeepsCategoriesApartAndErrorsOutOfTheirScores) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ASSERT_EQ(aggregates.by_category.size(), 6u);
  const Totals& tls = aggregates.by_category.at("tls");
  EXPECT_EQ(tls.statuses, (StatusCounts{.failed = 1, .errors = 1}));
  EXPECT_EQ(tls.counts, (Counts{0, 2, 2}));
  const Totals& secrets = aggregates.by_category.at("secrets");
  EXPECT_EQ(secrets.statuses, (StatusCounts{.errors = 1}));
  EXPECT_EQ(secrets.counts, Counts{});
  const Totals& negative = aggregates.by_category.at("negative");
  EXPECT_EQ(negative.statuses, (StatusCounts{.passed = 1}));
  EXPECT_EQ(scores_of(negative.counts), Scores{});
}

TEST(Aggregate, EachScoreHasItsMeanOverTheCasesThatHaveIt) {
  Suite suite;
  const auto add = [&](std::string id, const std::string& name) {
    Case one = sample::text_case(std::move(id), "p", MetricId::semantic_similarity_to, {"a"});
    one.expectations.front().name = name;
    one.expectations.front().min_score = 0.5;
    suite.cases.push_back(std::move(one));
  };
  add("a", "");
  add("b", "");
  add("c", "tone");
  MemorySource source;
  const std::vector<double> scores{0.25, 0.75, 1.0};
  for (TrialId trial = 0; trial < 3; ++trial) {
    source.trials.push_back(sample::answered(
        trial, "an answer", {MetricId::semantic_similarity_to, scores[trial], std::nullopt, ""}));
  }
  const Gate gate;
  const auto aggregates = aggregate(sample::results_of(suite, source, gate), {});
  ASSERT_TRUE(aggregates);
  ASSERT_EQ(aggregates->scores.size(), 2u);
  const ScoreTotal& unnamed = aggregates->scores.at({MetricId::semantic_similarity_to});
  EXPECT_EQ(unnamed.cases, 2u);
  EXPECT_EQ(unnamed.failed, 1u);
  EXPECT_EQ(unnamed.mean(), 0.5);
  EXPECT_EQ(unnamed.lowest, 0.25);
  EXPECT_EQ(aggregates->scores.at({MetricId::semantic_similarity_to, "tone"}).mean(), 1.0);
}

TEST(Aggregate, AnswersWhoseUsageNobodyKnowsCostAnUnknownSum) {
  Suite suite;
  suite.cases = {sample::make_case("a-1", "one"), sample::make_case("b-1", "two")};
  const auto of = [&](const Spend& spend, const Digest& answer) {
    MemorySource source;
    source.trials = {scored(0, 0, {}, {}, {100, 10}), scored(1, 1, {}, {}, {})};
    UnitResult& unknown = source.trials[1].unit;
    unknown.spend = spend;
    unknown.answer = answer;
    const Gate gate;
    const auto aggregates =
        aggregate(sample::results_of(suite, source, gate), [](const PaidByArm&) { return 0.25; });
    return aggregates ? *aggregates : Aggregates{};
  };
  Spend called;
  called.add_answer(CallKind::answer, {});
  Spend cached;
  cached.cache_hit = true;
  for (const Spend& spend : {called, cached}) {
    const Aggregates aggregates = of(spend, sha256("answer"));
    EXPECT_EQ(aggregates.unknown_usages, 1u);
    EXPECT_EQ(aggregates.estimated_cost, std::nullopt) << "and not that of the others alone";
    EXPECT_EQ(aggregates.known_usage(), std::nullopt);
  }
  EXPECT_EQ(of(called, {}).estimated_cost, 0.25) << "no answer came";
  EXPECT_EQ(of({}, sha256("answer")).estimated_cost, 0.25) << "nobody was called";
}

// Recorded answers without `usage` were said to have taken 0 tokens, at a cost of nothing.
TEST(Aggregate, WhatARecordedAnswerTookIsUnknownUnlessItWasRecorded) {
  Suite suite;
  Case recorded = sample::make_case("a-1", "one");
  recorded.recorded = std::make_shared<AnsweredTest>();
  suite.cases = {recorded};
  const auto of = [&](const Usage& usage, bool is_mock) {
    MemorySource source;
    source.trials = {scored(0, 0, {}, {}, usage)};
    source.trials[0].unit.answer = sha256("answer");
    const Gate gate;
    RunResults results = sample::results_of(suite, source, gate);
    results.is_mock = is_mock;
    const auto aggregates = aggregate(results, [](const PaidByArm&) { return 0.25; });
    return aggregates ? *aggregates : Aggregates{};
  };
  EXPECT_EQ(of({}, false).unknown_usages, 1u);
  EXPECT_EQ(of({}, false).estimated_cost, std::nullopt);
  EXPECT_EQ(of({100, 10}, false).estimated_cost, 0.25);
  EXPECT_EQ(of({}, true).unknown_usages, 0u) << "of a mock run none is assessed";
  const SampleRun run;
  const Aggregates unknown = of({}, false);
  EXPECT_TRUE(wording::cost(run.input(unknown)).starts_with("tokens of 1 answer unknown"))
      << wording::cost(run.input(unknown));
}

TEST(Aggregate, CountsAnAnswerThatSeveralCasesShareOnce) {
  Suite suite;
  suite.cases = {sample::make_case("a-1", "one"), sample::make_case("b-1", "two"),
                 sample::make_case("c-1", "three")};
  MemorySource source;
  source.trials = {scored(0, 0, {}, {}, {100, 10}), scored(1, 1, {}, {}, {30, 3}),
                   scored(2, 0, {}, {}, {100, 10})};
  const Gate gate;
  const RunResults results = sample::results_of(suite, source, gate);
  const auto aggregates = aggregate(results, nullptr);
  ASSERT_TRUE(aggregates);
  EXPECT_EQ(aggregates->usage, (PaidTokens{130, 13, 0}));
  EXPECT_EQ(aggregates->estimated_cost, std::nullopt);
  EXPECT_EQ(aggregates->all.statuses.passed, 3u);
}

}  // namespace
}  // namespace sluice
