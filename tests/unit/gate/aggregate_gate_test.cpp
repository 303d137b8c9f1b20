#include "coordinator/gate/aggregate_gate.hpp"

#include "coordinator/gate/fixture_changes.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

AggregateBaseline pinned(std::optional<double> precision, std::optional<double> recall,
                         std::optional<double> f1) {
  AggregateBaseline baseline;
  baseline.precision = precision;
  baseline.recall = recall;
  baseline.f1 = f1;
  return baseline;
}

TEST(AggregateGate, TakesTheWorstOfThree) {
  const auto assessed = assess_aggregates(pinned(0.90, 0.85, 0.87), 0.92, 0.84, 0.80, 0.05);
  ASSERT_EQ(assessed.metrics.size(), 3u);
  EXPECT_EQ(assessed.metrics[0].outcome, AggregateOutcome::no_drop);
  EXPECT_EQ(assessed.metrics[1].outcome, AggregateOutcome::within_limit);
  EXPECT_EQ(assessed.metrics[2].outcome, AggregateOutcome::beyond_limit);
  EXPECT_EQ(assessed.outcome, AggregateOutcome::beyond_limit);
  EXPECT_EQ(assessed.metrics[0].delta(), 0.02);
  EXPECT_EQ(assessed.metrics[1].delta(), -0.01);
  EXPECT_EQ(assessed.metrics[2].delta(), -0.07);
}

TEST(AggregateGate, ADropOfExactlyTheThresholdIsWithinIt) {
  const auto outcome = [](double current, double baseline, double threshold) {
    return assess_aggregates(pinned(baseline, {}, {}), current, 0.0, 0.0, threshold).outcome;
  };
  EXPECT_EQ(outcome(0.85, 0.92, 0.07), AggregateOutcome::within_limit);
  EXPECT_EQ(outcome(0.85, 0.90, 0.05), AggregateOutcome::within_limit);
  EXPECT_EQ(outcome(0.849999999, 0.90, 0.05), AggregateOutcome::beyond_limit);
  EXPECT_EQ(outcome(0.90, 0.90, 0.0), AggregateOutcome::no_drop);
  EXPECT_EQ(outcome(0.89, 0.90, 0.0), AggregateOutcome::beyond_limit);
}

TEST(AggregateGate, ComparesOnlyWhatTheManifestPins) {
  const auto none = assess_aggregates(pinned({}, {}, {}), 0.1, 0.1, 0.1, 0.05);
  EXPECT_EQ(none.outcome, AggregateOutcome::not_compared);
  EXPECT_EQ(none.metrics[0].delta(), std::nullopt);
  const auto one = assess_aggregates(pinned({}, 0.5, {}), 0.1, 0.5, 0.1, 0.05);
  EXPECT_EQ(one.outcome, AggregateOutcome::no_drop);
  EXPECT_EQ(one.metrics[0].outcome, AggregateOutcome::not_compared);
}

TEST(AggregateGate, NamesWhatTheManifestDoesNotPin) {
  const auto assessed = assess_aggregates(pinned(0.9, {}, {}), 0.9, 0.8, 0.7, 0.05);
  for (const bool strict : {false, true}) {
    const auto notice = missing_aggregates_notice(assessed, "m.toml", strict);
    ASSERT_TRUE(notice);
    EXPECT_EQ(notice->code, "missing_aggregates");
    EXPECT_EQ(notice->severity, strict ? GateNotice::Severity::failure : GateNotice::Severity::warning);
    EXPECT_NE(notice->message.find("`m.toml` does not have what this run has (recall, f1)"),
              std::string::npos)
        << notice->message;
    EXPECT_NE(notice->message.find("`sluice update-baseline --force`"), std::string::npos);
  }
}

// A manifest of another model or prompt passed without a word, even under --strict.
TEST(AggregateGate, WarnsOfAnotherModelAndPromptAndFailsUnderStrict) {
  AggregateBaseline baseline = pinned(0.9, {}, {});
  EXPECT_TRUE(mismatch_notices(baseline, "m", "1.0.0", "m.toml", true).empty()) << "it names neither";
  baseline.model = "m";
  baseline.prompt_version = "1.0.0";
  EXPECT_TRUE(mismatch_notices(baseline, "m", "1.0.0", "m.toml", true).empty());
  for (const bool strict : {false, true}) {
    const auto severity = strict ? GateNotice::Severity::failure : GateNotice::Severity::warning;
    const auto notices = mismatch_notices(baseline, "n", "1.1.0", "m.toml", strict);
    ASSERT_EQ(notices.size(), 2u);
    EXPECT_EQ(notices[0].code, "model_mismatch");
    EXPECT_EQ(notices[0].severity, severity);
    EXPECT_TRUE(notices[0].decides);
    EXPECT_EQ(
        notices[0].message,
        "the [baseline] table of `m.toml` was measured with the model `m`, and this run has `n`: where that "
        "is "
        "intended, pin the new one with `sluice update-baseline --force` after a run without --baseline.");
    EXPECT_EQ(notices[1].code, "prompt_mismatch");
    EXPECT_EQ(notices[1].severity, severity);
  }
}

// A manifest of another corpus was a baseline like any.
TEST(AggregateGate, WarnsOfAnotherCorpusAndFailsUnderStrict) {
  Manifest manifest;
  EXPECT_FALSE(corpus_mismatch_notice(manifest, 3, "m.toml", true)) << "it does not say";
  manifest.total_fixtures = 3;
  EXPECT_FALSE(corpus_mismatch_notice(manifest, 3, "m.toml", true));
  manifest.total_fixtures = 61;
  for (const bool strict : {false, true}) {
    const auto notice = corpus_mismatch_notice(manifest, 1, "m.toml", strict);
    ASSERT_TRUE(notice);
    EXPECT_EQ(notice->code, "corpus_mismatch");
    EXPECT_EQ(notice->severity, strict ? GateNotice::Severity::failure : GateNotice::Severity::warning);
    EXPECT_TRUE(notice->decides);
    EXPECT_NE(
        notice->message.find("of a corpus of 61 fixtures (`total_fixtures`), and this suite has 1 fixture:"),
        std::string::npos)
        << notice->message;
  }
}

TEST(AggregateGate, NamesTheFixturesThatGotWorseAndBetter) {
  const auto notice = fixtures_changed_notice(
      {{"a", 0.5, 0.4}, {"b", 0.9, 0.1}, {"c", 0.3, 0.3}, {"d", 0.2, 1.0}, {"e", 0.0, std::nullopt}},
      "1b4e28ba", "m.toml");
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->severity, GateNotice::Severity::info);
  EXPECT_EQ(notice->message,
            "since run 1b4e28ba, which the [baseline] table of `m.toml` was made of, 2 of 5 fixtures got "
            "worse in F1 (`b` 0.90 -> 0.10, `a` 0.50 -> 0.40), and 2 better (`e` 0.00 -> none, `d` 0.20 -> "
            "1.00).");
  EXPECT_NE(fixtures_changed_notice({{"a", 0.5, 0.4}}, "1b4e28ba", "m.toml")
                ->message.find("the only fixture got worse in F1 (`a` 0.50 -> 0.40), and 0 better."),
            std::string::npos);
  EXPECT_NE(fixtures_changed_notice({{"a", 0.998, 0.996}}, "1b4e28ba", "m.toml")
                ->message.find("got worse in F1 (`a` 0.998 -> 0.996)"),
            std::string::npos)
      << "it was 1.00 -> 1.00";
  EXPECT_FALSE(fixtures_changed_notice({}, "1b4e28ba", "m.toml"));
  EXPECT_FALSE(fixtures_changed_notice({{"a", 0.5, 0.5}, {"b", std::nullopt, std::nullopt}}, "1b4e28ba", "m"))
      << "nothing has changed";
  const std::vector<FixtureScores> many(7, {"x", 0.5, 0.4});
  EXPECT_NE(fixtures_changed_notice(many, "1b4e28ba", "m.toml")->message.find(", and 2 more), and 0 better."),
            std::string::npos);
}

TEST(AggregateGate, WhatTheRunHasNotEitherIsNotMissing) {
  const auto assessed = assess_aggregates(pinned(0.9, 0.8, {}), std::nullopt, 0.8, std::nullopt, 0.05);
  EXPECT_FALSE(missing_aggregates_notice(assessed, "m.toml", true));
}

TEST(AggregateGate, ATableWithoutScoresPinsNone) {
  AggregateBaseline baseline;
  baseline.model = "m";
  EXPECT_FALSE(pins_scores(baseline));
  EXPECT_TRUE(pins_scores(pinned({}, {}, 0.0)));
}

TEST(AggregateGate, AnAggregateThatBecameUndefinedIsBeyondTheLimit) {
  const auto assessed = assess_aggregates(pinned(0.0, {}, {}), std::nullopt, 0.5, 0.5, 1.0);
  EXPECT_EQ(assessed.outcome, AggregateOutcome::beyond_limit);
}

}  // namespace
}  // namespace sluice
