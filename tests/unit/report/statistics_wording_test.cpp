// What the reports say of the tests over all cases: numbers that fit each other, what to do, what fell most.
#include "coordinator/report/wording/statistics_wording.hpp"

#include "coordinator/report/commands/compare_report.hpp"
#include "coordinator/report/wording/wording.hpp"
#include "tests/unit/report/gated_run.hpp"
#include "tests/unit/report/report_texts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using nlohmann::json;
using wording::change_words;
using wording::upper_limit;

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

std::string words_of(double base, double current, std::optional<double> limit) {
  const auto words = change_words(base, current, limit);
  return words.base + " " + words.current + " " + words.drop;
}

TEST(ChangeWords, ContradictNeitherEachOtherNorTheLimit) {
  EXPECT_EQ(words_of(0.853, 0.807, 0.05), "0.853 0.807 0.046") << "0.85 - 0.81 is not 0.05";
  EXPECT_EQ(words_of(0.9, 0.8, 0.05), "0.90 0.80 0.10");
  EXPECT_EQ(words_of(0.9, 0.85, 0.05), "0.90 0.85 0.05") << "exactly the limit is shown as it";
  EXPECT_EQ(words_of(0.9, 0.8504, 0.05), "0.9000 0.8504 0.0496") << "below the limit, and shown so";
  EXPECT_EQ(words_of(0.7, 0.7496, 0.05), "0.7000 0.7496 -0.0496");
  EXPECT_EQ(words_of(0.854, 0.846, std::nullopt), "0.854 0.846 0.008");
  EXPECT_EQ(words_of(0.8, 0.8, 0.05), "0.80 0.80 0.00");
  EXPECT_EQ(words_of(128.0 / 150, 121.0 / 150, 0.05), "0.853 0.807 0.046") << "no number of digits would do";
  EXPECT_EQ(words_of(0.5, 0.5 + 1e-8, 0.05), "0.50000000 0.50000001 -0.00000001");
}

TEST(ChangeWords, AreDashesWhereASideIsUndefined) {
  const auto words = change_words(0.5, std::nullopt, 0.05);
  EXPECT_EQ(words.base + words.current + words.drop, "0.50––");
}

TEST(ChangeWords, AddUpAndStayOnTheSideOfTheLimit) {
  const auto in_billionths = [](const std::string& text) { return billionths(std::atof(text.c_str())); };
  std::mt19937_64 random(17);
  std::uniform_int_distribution<std::int64_t> any(0, 1'000'000'000);
  std::uniform_int_distribution<std::int64_t> close(-120'000'000, 120'000'000);
  constexpr std::array limits{0.01, 0.05, 0.1, 0.3};
  for (int i = 0; i < 20'000; ++i) {
    const double base = from_billionths(any(random));
    const double current = std::clamp(
        i % 2 == 0 ? from_billionths(any(random)) : base - from_billionths(close(random)), 0.0, 1.0);
    const double limit = limits[static_cast<std::size_t>(i / 2) % limits.size()];
    const auto words = change_words(base, current, limit);
    const auto shown = in_billionths(words.drop);
    const auto truth = billionths(base) - billionths(current);
    ASSERT_EQ(shown, in_billionths(words.base) - in_billionths(words.current)) << base << " " << current;
    ASSERT_EQ(std::abs(shown) >= billionths(limit), std::abs(truth) >= billionths(limit))
        << base << " " << current << " " << limit;
    ASSERT_LE(std::abs(shown - truth), 5'000'000) << base << " " << current;
  }
}

TEST(UpperLimit, IsRoundedUpwardsAndStaysOnItsSide) {
  EXPECT_EQ(upper_limit(0.042, 0.05), "0.042") << "0.05 is the limit itself";
  EXPECT_EQ(upper_limit(0.031, 0.05), "0.04") << "the drop is below 0.031, and so below 0.04";
  EXPECT_EQ(upper_limit(0.0496, 0.05), "0.0496");
  EXPECT_EQ(upper_limit(0.05, 0.05), "0.05");
  EXPECT_EQ(upper_limit(0.0504, 0.05), "0.06");
  EXPECT_EQ(upper_limit(1.0, 0.05), "1.00");
  EXPECT_EQ(upper_limit(std::nullopt, 0.05), "–");
}

Thresholding statistical(double min_effect) {
  Thresholding thresholding;
  thresholding.mode = ThresholdMode::statistical;
  thresholding.min_effect = min_effect;
  return thresholding;
}

std::string id_of(std::size_t number) {
  return "q" + std::string(number < 10 ? "00" : "0") + std::to_string(number);
}

/// The tests of cases that each had `base`, and now have these scores.
StatisticalAssessment assessed(double base, std::span<const double> now, double min_effect = 0.05) {
  StatisticalGate gate({nullptr, statistical(min_effect), 0.05, 1});
  for (std::size_t i = 0; i < now.size(); ++i) {
    const std::string id = id_of(i);
    gate.add({id, "", ScoreId{MetricId::claims_f1}, std::span(&base, 1), now.subspan(i, 1)});
  }
  return gate.finish();
}

/// `number` cases of which the first `fallen` lost more and more.
std::vector<double> after_a_fall(std::size_t number, std::size_t fallen) {
  std::vector<double> now(number, 0.85);
  for (std::size_t i = 0; i < fallen; ++i) now[i] = 0.6 - 0.02 * static_cast<double>(i);
  return now;
}

class StatisticsWording : public ::testing::Test {
 protected:
  StatisticsWording() : aggregates(run.aggregates()), input(run.input(aggregates)) {}

  void assess(const StatisticalAssessment& assessment) { input.gate.statistics = assessment; }

  std::string sentence(const StatisticalAssessment& assessment) {
    assess(assessment);
    return wording::statistics_lines(input.gate).at(0).words;
  }

  sample::GatedSample run;
  Aggregates aggregates;
  ReportInput input;
};

TEST_F(StatisticsWording, AnUnchangedSuiteIsReportedPlainly) {
  const std::vector<double> same(8, 0.85);
  EXPECT_EQ(sentence(assessed(0.85, same)),
            "mean claims_f1 0.85 → 0.85 over 8 cases: nothing changed (underpowered: 8 cases could not "
            "reliably show a drop below 0.76; to exclude one of 0.05 take 59 cases)");
  input.verdict = RunVerdict::review;
  EXPECT_TRUE(has(wording::reason_for(input), "no score changed, but so few cases cannot exclude a drop"))
      << wording::reason_for(input);
}

TEST_F(StatisticsWording, CasesOfOnePromptAreCountedByWhatWasAsked) {
  const double base = 0.85;
  StatisticalGate gate({nullptr, statistical(0.05), 0.05, 1});
  for (std::uint32_t i = 0; i < 16; ++i) {
    const std::string id = id_of(i);
    ScorePair pair{id, "", ScoreId{MetricId::claims_f1}, std::span(&base, 1), std::span(&base, 1)};
    pair.answers = i / 2;
    gate.add(pair);
  }
  EXPECT_EQ(
      sentence(gate.finish()),
      "mean claims_f1 0.85 → 0.85 over 16 cases: nothing changed (underpowered: 8 separately asked cases "
      "could not reliably show a drop below 0.76; to exclude one of 0.05 take 59 separately asked cases)");
}

// One category of 400 cases and 59 of one "find one in four runs of five": they are as good as 1.3.
TEST_F(StatisticsWording, CategoriesOfUnequalSizeClaimNoPower) {
  const double score = 1.0;
  StatisticalGate gate({nullptr, statistical(0.05), 0.05, 1});
  for (std::uint32_t i = 0; i < 459; ++i) {
    const std::string id = id_of(i);
    ScorePair pair{id, "", ScoreId{MetricId::claims_f1}, std::span(&score, 1), std::span(&score, 1)};
    pair.answers = i < 400 ? 0 : i;
    gate.add(pair);
  }
  const std::string words = sentence(gate.finish());
  EXPECT_TRUE(has(words,
                  "60 separately asked cases could not reliably show any drop; to exclude one of 0.05 take "
                  "2,663 separately asked cases of sizes as unequal as theirs"))
      << words;
}

TEST_F(StatisticsWording, TooFewChangesSayWhatToDo) {
  std::vector<double> now(8, 0.85);
  now[0] = now[1] = now[2] = 0.1;
  const std::string words = sentence(assessed(0.85, now));
  EXPECT_TRUE(
      has(words, "(drop 0.28) over 8 cases: underpowered: 8 cases could not reliably show a drop below 0."))
      << words;
  EXPECT_TRUE(has(words, "; to exclude one of 0.05 take ")) << words;
  EXPECT_FALSE(has(words, "repeats")) << "eight cases exclude no drop of 0.05, however often they are asked";
  EXPECT_TRUE(words.ends_with("; 3 changed, and fewer than 5 cannot be significant")) << words;
  EXPECT_EQ(wording::statistics_lines(input.gate).at(1).words,
            "Until a drop that matters can be told, min_floor in settings.thresholding fails each case below "
            "it, and --strict fails a run that is underpowered");
  EXPECT_FALSE(has(wording::reason_for(input), "no score changed"));
}

TEST_F(StatisticsWording, RepeatsAreNamedWhereTheyHelp) {
  std::vector<double> noisy;
  for (int i = 0; i < 80; ++i) noisy.push_back(i % 2 == 0 ? 0.2 : 0.8);
  const std::string words = sentence(assessed(0.5, noisy));
  EXPECT_TRUE(has(words, " cases, or more repeats of these")) << words;
  const std::string warning = github_of(input);
  EXPECT_TRUE(has(warning, "or more repeats of these%0AUntil a drop that matters can be told, min_floor"))
      << warning;
}

TEST_F(StatisticsWording, WhatIsUndecidedThoughThereAreEnoughIsNoLackOfCases) {
  std::vector<double> now(100, 1.0);
  for (std::size_t i = 0; i < 4; ++i) now[i] = 0.0;
  StatisticalAssessment assessment = assessed(1.0, now);
  ASSERT_EQ(assessment.decision, ChangeDecision::underpowered);
  assessment.metrics[0].decision.units_needed = 90;
  const std::string words = sentence(assessment);
  EXPECT_TRUE(
      has(words,
          "underpowered: a drop of 0.05 can be neither shown nor excluded, though 100 cases "
          "exclude one in four runs of five where nothing changed: more cases or repeats would decide "
          "it"))
      << words;
}

TEST_F(StatisticsWording, WhereOnlyTheUndefinedIsInTheWayMoreCasesAreNotAskedFor) {
  StatisticalGate gate({nullptr, statistical(0.1), 0.05, 1});
  const double score = 0.9;
  for (std::size_t i = 0; i < 40; ++i) {
    gate.add({id_of(i), "", ScoreId{MetricId::claims_f1}, std::span(&score, 1),
              std::span(&score, i == 3 ? 0u : 1u), i == 3});
  }
  EXPECT_EQ(sentence(gate.finish()),
            "mean claims_f1 0.90 → 0.90 over 39 cases: underpowered; left out as undefined now: `q003` "
            "claims_f1; 1 "
            "case became undefined in some repeat or in all, so that no drop can be excluded");
}

TEST_F(StatisticsWording, ARegressionNamesTheCasesThatFellMostEverywhere) {
  assess(assessed(0.85, after_a_fall(60, 25)));
  ASSERT_EQ(input.gate.statistics->decision, ChangeDecision::regression);
  const std::string table = table_of(input, {100, false});
  EXPECT_TRUE(
      has(table, "\nLargest drops of claims_f1:\n  q024: 0.85 → 0.12, drop 0.73\n  q023: 0.85 → 0.14"))
      << table;
  EXPECT_TRUE(has(table, "\n  q015: 0.85 → 0.30, drop 0.55\n  and 15 more cases fell\n")) << table;
  const std::string markdown = markdown_of(input);
  EXPECT_TRUE(has(markdown, "- Largest drops of claims_f1:\n  - q024: 0.85 → 0.12, drop 0.73\n") ||
              has(markdown, "- Largest drops of claims\\_f1:\n  - q024: 0.85 → 0.12, drop 0.73\n"))
      << markdown;
  EXPECT_TRUE(has(markdown, "\n  - and 15 more cases fell\n")) << markdown;
  const std::string junit = junit_of(input);
  EXPECT_TRUE(has(junit, "&#10;Largest drops of claims_f1:&#10;  q024: 0.85 → 0.12, drop 0.73&#10;"))
      << junit;
  EXPECT_TRUE(has(junit, "&#10;  and 15 more cases fell&#10;</failure>")) << junit;
  const std::string github = github_of(input);
  EXPECT_TRUE(has(github, "%0ALargest drops of claims_f1:%0A  q024: 0.85 → 0.12, drop 0.73%0A")) << github;
  EXPECT_EQ(occurrences(github, "Largest drops"), 1u);
  for (const std::string& text : {table, markdown, junit, github}) {
    EXPECT_EQ(occurrences(text, "drop 0."), 11u) << "ten cases, and the mean: " << text;
  }
}

TEST_F(StatisticsWording, TheArmIsNamedWhereTheRunHasArms) {
  assess(assessed(0.85, after_a_fall(60, 25)));
  EXPECT_FALSE(has(json_of(input), "\"arm\""));
  input.gate.statistics->metrics.at(0).arm = "mini";
  EXPECT_TRUE(wording::statistics_lines(input.gate).at(0).words.starts_with("arm mini: mean claims_f1 0.85"));
  const std::string table = table_of(input, {120, false});
  EXPECT_TRUE(has(table, "\nLargest drops of claims_f1, arm mini:\n")) << table;
  EXPECT_TRUE(has(table, "│ Arm ")) << table;
  EXPECT_TRUE(has(markdown_of(input), "arm mini: mean claims")) << markdown_of(input);
  EXPECT_TRUE(has(junit_of(input), "arm mini: mean claims_f1")) << junit_of(input);
  EXPECT_TRUE(has(github_of(input), "arm mini: mean claims_f1")) << github_of(input);
  const json metric = json::parse(json_of(input))["baseline_comparison"]["statistics"]["metrics"][0];
  EXPECT_EQ(metric["arm"], "mini");
}

TEST_F(StatisticsWording, TheJsonHasTheLargestDropsOfEachMetric) {
  assess(assessed(0.85, after_a_fall(60, 25)));
  const json metric = json::parse(json_of(input))["baseline_comparison"]["statistics"]["metrics"][0];
  EXPECT_EQ(metric["dropped_cases"], 25);
  ASSERT_EQ(metric["largest_drops"].size(), 10u);
  EXPECT_EQ(metric["largest_drops"][0],
            json::parse(R"({"test_id": "q024", "base": 0.85, "current": 0.12, "drop": 0.73})"));
  assess(assessed(0.85, std::vector<double>(60, 0.9)));
  const json risen = json::parse(json_of(input))["baseline_comparison"]["statistics"]["metrics"][0];
  EXPECT_EQ(risen["dropped_cases"], 0);
  EXPECT_EQ(risen["largest_drops"], json::array());
}

TEST_F(StatisticsWording, NoCaseIsNamedWithoutARegression) {
  std::vector<double> now(8, 0.85);
  now[0] = 0.1;
  assess(assessed(0.85, now));
  for (const std::string& text : {table_of(input, {100, false}), markdown_of(input), github_of(input)}) {
    EXPECT_FALSE(has(text, "Largest drops")) << text;
  }
}

TEST_F(StatisticsWording, AFewDropsAreAllNamed) {
  assess(assessed(0.85, after_a_fall(12, 10)));
  ASSERT_EQ(input.gate.statistics->decision, ChangeDecision::regression);
  EXPECT_FALSE(has(table_of(input, {100, false}), " more case"));
  assess(assessed(0.85, after_a_fall(12, 11)));
  EXPECT_TRUE(has(table_of(input, {100, false}), "and 1 more case fell"));
}

TEST_F(StatisticsWording, ForeignIdsBreakNoFormat) {
  StatisticalGate gate({nullptr, statistical(0.05), 0.05, 1});
  const double base = 0.9;
  const double now = 0.1;
  const std::string tail = "\x1b[31m|<b>&@me\n::error::" + std::string(200, 'x');
  for (std::size_t i = 0; i < 12; ++i) {
    gate.add({id_of(i) + tail, "", ScoreId{MetricId::claims_f1}, std::span(&base, 1), std::span(&now, 1)});
  }
  assess(gate.finish());
  EXPECT_FALSE(has(table_of(input, {80, false}), "\x1b"));
  expect_lines_within(table_of(input, {80, false}), 80);
  EXPECT_FALSE(has(markdown_of(input), "<b>"));
  EXPECT_FALSE(has(github_of(input), "\n::error::x"));
  EXPECT_FALSE(has(junit_of(input), "<b>"));
  EXPECT_FALSE(has(junit_of(input), "\x1b"));
  EXPECT_LT(markdown_of(input).size(), 65536u);
}

TEST_F(StatisticsWording, TheTableAndTheSentenceShowTheSameNumbers) {
  // 60 cases that fell by 0.046 each: less than matters, though no chance.
  const std::vector<double> now(60, 0.807);
  assess(assessed(0.853, now));
  const std::string table = table_of(input, {120, false});
  EXPECT_TRUE(has(table, "│    0.853 │   0.807 │ 0.046 │")) << table;
  EXPECT_TRUE(has(table, "mean claims_f1 0.853 → 0.807 (drop 0.046) over 60 cases: underpowered")) << table;
}

TEST_F(StatisticsWording, CompareNamesTheSameCases) {
  CompareReportInput compared;
  compared.base = {"base.json", "baseline", {}};
  compared.current = {"now.json", "report", {}};
  compared.gate.statistics = assessed(0.85, after_a_fall(60, 25));
  compared.visit = [](const auto&) { return CompareSummary{}; };
  StringSink table;
  ASSERT_TRUE(write_compare_table(compared, {.columns = 80}, table));
  EXPECT_TRUE(has(table.text(), "\nLargest drops of claims_f1:\n  q024: 0.85 → 0.12, drop 0.73\n"))
      << table.text();
  EXPECT_TRUE(has(table.text(), "\n  and 15 more cases fell\n"));
  expect_lines_within(table.text(), 80);
  StringSink markdown;
  ASSERT_TRUE(write_compare_markdown(compared, markdown));
  EXPECT_TRUE(has(markdown.text(), ":\n  - q024: 0.85 → 0.12, drop 0.73\n")) << markdown.text();
  StringSink text;
  ASSERT_TRUE(write_compare_json(compared, text));
  EXPECT_EQ(json::parse(text.text())["statistics"]["metrics"][0]["largest_drops"].size(), 10u);
}

}  // namespace
}  // namespace sluice
