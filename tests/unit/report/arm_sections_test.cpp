// What a report says of a run's arms, on a page as narrow as a pipe's.
#include "coordinator/report/wording/wording.hpp"
#include "tests/unit/report/report_texts.hpp"
#include "tests/unit/report/sample_run.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::arm_sections_test {

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

class ArmSections : public ::testing::Test {
 protected:
  ArmSections() : aggregates(run.aggregates()), input(run.input(aggregates)) {
    for (const char* name : {"1", "2"}) {
      ArmSummary& arm = arms.arms.emplace_back();
      arm.name = name;
      arm.means = {{ScoreId{MetricId::semantic_similarity_to}, 0.5}, {ScoreId{MetricId::faithfulness}, 0.25}};
    }
    arms.confidence = 0.95;
    ArmMetricComparison compared;
    compared.metric = ScoreId{MetricId::semantic_similarity_to};
    compared.comparison.drop = 0.0;
    compared.comparison.pairs = compared.comparison.units = 6;
    arms.pairs.push_back({0, 1, {compared}});
    run.suite.prompts = {{"1", "", "Answer in one word:\n{{question}}"}, {"2", "", "Answer politely."}};
    input.identity.arms = {{ProviderKind::openai, "sim", "gpt-x", "1"},
                           {ProviderKind::anthropic, "anthropic", "claude-y", "2"}};
    input.arms = &arms;
  }

  sample::SampleRun run;
  Aggregates aggregates;
  RunArms arms;
  ReportInput input;
};

// On 80 columns the Model column was left out, so that nothing named a model.
TEST_F(ArmSections, NameEachArmsModelAndPrompt) {
  for (const std::string& text : {table_of(input, {.columns = 80}), markdown_of(input)}) {
    EXPECT_TRUE(has(text, "1: gpt-x (sim), prompt 1")) << text;
    EXPECT_TRUE(has(text, "Answer in one word: {{question}}")) << text;
  }
  const auto redactor = *Redactor::make(std::vector<RedactionPattern>{{"word", "one [a-z]+"}});
  input.redactor = &redactor;
  for (const std::string& text : {table_of(input, {.columns = 200}), markdown_of(input), html_of(input)}) {
    EXPECT_FALSE(has(text, "one word")) << text;
    EXPECT_TRUE(has(text, "2: claude-y (anthropic), prompt 2")) << text;
  }
}

// Markdown has the run's facts at its end.
TEST_F(ArmSections, TheModelSaysWhereTheArmsStand) {
  EXPECT_TRUE(has(table_of(input, {.columns = 80}), "2 arms, see below (live)"));
  const std::string markdown = markdown_of(input);
  EXPECT_TRUE(has(markdown, "2 arms, see above (live)")) << markdown;
  EXPECT_LT(markdown.find("### Arms"), markdown.find("see above"));
}

// Two arms of one model looked alike.
TEST_F(ArmSections, NameWhatAnArmSetsOfItsRequests) {
  input.identity.arms[1] = {ProviderKind::openai, "sim", "gpt-x", "1", "temperature 1, user \"one word\""};
  for (const std::string& text : {table_of(input, {.columns = 200}), markdown_of(input), html_of(input)}) {
    EXPECT_TRUE(has(text, "1: gpt-x (sim), prompt 1")) << text;
    EXPECT_TRUE(has(text, "2: gpt-x (sim), temperature 1, user ")) << text;
  }
  const auto redactor = *Redactor::make(std::vector<RedactionPattern>{{"word", "one [a-z]+"}});
  input.redactor = &redactor;
  for (const std::string& text : {table_of(input, {.columns = 200}), markdown_of(input), html_of(input)})
    EXPECT_FALSE(has(text, "one word")) << text;
}

// "Tests needed" was left out on 100 columns, and with it what to do about an undecided comparison.
TEST_F(ArmSections, HaveEveryColumnWhateverTheWidth) {
  for (const std::size_t columns : {80, 100, 120}) {
    const std::string text = table_of(input, {.columns = columns});
    for (const char* heading : {" needed ", " Interval ", " faithfulness ", " p50 ", " p95 "})
      EXPECT_TRUE(has(text, heading)) << heading << text;
    expect_lines_within(text, columns);
  }
}

// The table of four arms was 86 columns wide on 80.
TEST_F(ArmSections, DifferencesFitWithArmsBelowOneAnother) {
  for (const char* name : {"gpt-5-mini/short", "gpt-5-mini/polite", "gpt-5-nano/short", "gpt-5-nano/polite"})
    arms.arms.emplace_back().name = name;
  arms.arms.erase(arms.arms.begin(), arms.arms.begin() + 2);
  arms.pairs.clear();
  arms.differing = 1;
  arms.differences = {
      {"egypt-and-more", {CaseStatus::pass, CaseStatus::fail, std::nullopt, CaseStatus::error}}};
  const std::string text = table_of(input, {.columns = 80});
  expect_lines_within(text, 80);
  EXPECT_TRUE(has(text, "│ egypt-and-more │ pass ")) << text;
  EXPECT_TRUE(has(text,
                  "│ Test           │ gpt-5-mini/ │ gpt-5-mini/ │ gpt-5-nano/ │ gpt-5-nano/ │\n"
                  "│                │ short       │ polite      │ short       │ polite      │\n"))
      << text;
  EXPECT_TRUE(has(text, "│ not started │")) << text;
}

TEST_F(ArmSections, DifferencesByErrorsAloneAreALine) {
  arms.differing_by_errors = 5;
  EXPECT_FALSE(has(table_of(input, {.columns = 80}), "Tests that differ")) << "the errors are listed";
  arms.differing = 1;
  arms.differences = {{"egypt", {CaseStatus::pass, CaseStatus::fail}}};
  for (const std::string& text : {table_of(input, {.columns = 80}), markdown_of(input)}) {
    EXPECT_TRUE(has(text, "Tests that differ between arms (1)")) << text;
    EXPECT_TRUE(has(text, "5 more tests differ by errors alone")) << text;
  }
}

// Failures were headed "peru@mini/polite: peru".
TEST(CaseTitle, DoesNotRepeatTheId) {
  Case one;
  one.id = "peru@mini/polite";
  for (const auto& [name, title] :
       {std::pair("peru", "peru@mini/polite"), std::pair("", "peru@mini/polite"),
        std::pair("peru@mini/polite", "peru@mini/polite"), std::pair("per", "peru@mini/polite: per"),
        std::pair("Capital", "peru@mini/polite: Capital")}) {
    one.name = name;
    EXPECT_EQ(wording::title(one), title);
  }
}

// Arms that differ behind the `…` could not be told apart, and a pair stood in three tables.
TEST_F(ArmSections, APairStandsInOneTableWithBothNamesWhole) {
  arms.arms[0].name = "claude-haiku-4-5/polite-and-long";
  arms.arms[1].name = "claude-haiku-4-5/short-and-long";
  const std::string text = table_of(input, {.columns = 80});
  expect_lines_within(text, 80);
  EXPECT_TRUE(has(text, "│ claude-haiku-4-5/short-and-long vs claude-haiku-4-5/polite-and-long ")) << text;
  EXPECT_EQ(occurrences(text, "short-and-long vs "), 1u) << text;
}

// Of a run that was stopped each arm had as many errors as tests.
TEST_F(ArmSections, WhatWasNotStartedIsNoError) {
  arms.arms[0].totals.statuses.errors = 7;
  arms.arms[0].totals.not_started = 5;
  const std::string text = table_of(input, {.columns = 120});
  EXPECT_TRUE(has(text, "│ Errors │ Not started │")) << text;
  EXPECT_TRUE(has(text, "│      2 │           5 │")) << text;
}

// A server that reports no tokens was free, and the sum over all answers was that of the others.
TEST_F(ArmSections, TokensThatNobodyKnowsAreNull) {
  arms.arms[0].unknown_usages = 1;
  arms.arms[1].usage.of(CallKind::answer) = {10, 20};
  run.source.trials[0].unit.usage = {};
  run.source.trials[0].unit.spend.add_answer(CallKind::answer, {});
  const Aggregates with_unknown = run.aggregates();
  ReportInput unknown = run.input(with_unknown);
  unknown.identity.arms = input.identity.arms;
  unknown.arms = &arms;
  const auto report = nlohmann::json::parse(json_of(unknown));
  for (const char* member : {"input_tokens", "output_tokens"}) {
    EXPECT_TRUE(report["arms"][0][member].is_null()) << member;
    EXPECT_TRUE(report["metrics"][member].is_null()) << member;
    EXPECT_TRUE(report["fixture_results"][0][member].is_null()) << member;
    EXPECT_TRUE(report["fixture_results"][1][member].is_number()) << member;
  }
  EXPECT_EQ(report["arms"][1]["output_tokens"], 20);
  EXPECT_TRUE(report["metrics"]["total_tokens"].is_null());
}

// Where each arm is silent the metric was left out without a word.
TEST_F(ArmSections, AScoreThatIsUndefinedIsADashWithANote) {
  const std::string dash = "A dash under a score of claims is 0/0:";
  const std::string silence =
      "Where no claim is expected, precision and F1 of an answer without claims count";
  for (const std::string& text : {table_of(input, {.columns = 400}), markdown_of(input), html_of(input)}) {
    EXPECT_FALSE(has(text, dash)) << text;
    EXPECT_FALSE(has(text, silence)) << text;
  }
  for (ArmSummary& arm : arms.arms) arm.means.emplace(ScoreId{MetricId::claims_f1}, std::nullopt);
  for (const std::string& text : {table_of(input, {.columns = 400}), markdown_of(input), html_of(input)}) {
    EXPECT_TRUE(has(text, dash)) << text;
    EXPECT_FALSE(has(text, silence)) << text;
  }
  EXPECT_TRUE(has(table_of(input, {.columns = 400}), " claims_f1 "));
  EXPECT_TRUE(nlohmann::json::parse(json_of(input))["arms"][0]["means"].at("claims_f1").is_null());
  arms.arms[0].means[ScoreId{MetricId::claims_f1}] = 1.0;
  arms.arms[1].means[ScoreId{MetricId::claims_f1}] = 0.5;
  arms.counts_silence = true;
  const std::string text = markdown_of(input);
  EXPECT_TRUE(has(text, silence)) << text;
  EXPECT_FALSE(has(text, dash)) << text;
}

TEST_F(ArmSections, NothingIsComparedThatNobodyAnswered) {
  arms.pairs.front().metrics.clear();
  EXPECT_FALSE(has(table_of(input, {.columns = 120}), "Arms compared"));
}

TEST_F(ArmSections, AnIntervalWithoutZeroBesideUndecidedIsExplained) {
  ArmMetricComparison& one = arms.pairs.front().metrics.front();
  one.comparison.drop = 0.15;
  one.comparison.pairs = one.comparison.units = 20;
  one.comparison.changed_units = 3;
  one.intervals.drop = Interval{0.05, 0.35};
  const std::string text = table_of(input, {.columns = 120});
  EXPECT_TRUE(has(text, "-35.0 to -5.0")) << text;
  EXPECT_TRUE(has(text, "So undecided may stand beside an interval without 0.")) << text;
  EXPECT_FALSE(has(text, "docs/")) << text;
  one.intervals.drop = Interval{-0.05, 0.35};
  EXPECT_FALSE(has(table_of(input, {.columns = 120}), "So undecided"));
}

TEST_F(ArmSections, LostPromptsAreNotThoseOfNow) {
  input.prompts_are_lost = true;
  const std::string text = table_of(input, {.columns = 120});
  EXPECT_TRUE(has(text, "1: gpt-x (sim), prompt 1\n")) << text;
  EXPECT_FALSE(has(text, "Answer in one word")) << text;
}

// Of a metric that two tests ask for, each pair of four arms had a row that said "undecided".
TEST_F(ArmSections, ComparisonsOfAFewTestsAreCountedInOneLine) {
  ArmMetricComparison few = arms.pairs.front().metrics.front();
  few.metric = ScoreId{MetricId::faithfulness};
  few.comparison.pairs = few.comparison.units = 1;
  ArmMetricComparison decided = few;
  decided.metric = ScoreId{MetricId::relevancy};
  decided.verdict = ArmVerdict::worse;
  arms.pairs.front().metrics.insert(arms.pairs.front().metrics.begin(), few);
  arms.pairs.front().metrics.push_back(few);
  arms.pairs.front().metrics.push_back(decided);
  const std::string line = "2 more comparisons, each over fewer than 5 tests, are undecided;";
  for (const std::string& text : {table_of(input, {.columns = 120}), markdown_of(input), html_of(input)})
    EXPECT_TRUE(has(text, line)) << text;
  const std::string text = table_of(input, {.columns = 120});
  EXPECT_TRUE(has(text, "│ 2 vs 1 │ semantic_similarity_to "))
      << "the pair's name stands in its first row" << text;
  EXPECT_TRUE(has(text, " relevancy ")) << text;
  EXPECT_EQ(occurrences(json_of(input), "\"verdict\": \"undecided\""), 3u) << json_of(input);
}

TEST_F(ArmSections, OneTestHasNoInterval) {
  PairedComparison& compared = arms.pairs.front().metrics.front().comparison;
  compared.pairs = compared.units = 1;
  const std::string text = table_of(input, {.columns = 120});
  EXPECT_TRUE(has(text, "1 comparison over fewer than 5 tests is undecided; `--format json` has it\n"))
      << text;
  EXPECT_FALSE(has(text, "Tests needed")) << "of a table without rows: " << text;
  EXPECT_TRUE(has(json_of(input), "\"interval\": null")) << json_of(input);
}

// On 200 columns headings were broken to stay within 120, with 80 columns free.
TEST_F(ArmSections, TablesUseTheWholeWidthAndWordsDoNot) {
  arms.arms[0].name = std::string(60, 'a');
  const std::string text = table_of(input, {.columns = 200});
  EXPECT_TRUE(has(text, "│ Pass rate │ semantic_similarity_to │ faithfulness │ ")) << text;
  expect_lines_within(text.substr(text.find("Better or worse is")), 120);
}

// Under --baseline 24 rows of comparisons stood before the verdict and the regressions.
TEST_F(ArmSections, ComparisonsStandBehindTheCasesOfAGate) {
  input.gate.kind = BaselineKind::scores;
  input.gate.baseline_file = "baseline.json";
  arms.differing = 1;
  arms.differences = {{"egypt", {CaseStatus::pass, CaseStatus::fail}}};
  for (const std::string& text : {table_of(input, {.columns = 80}), markdown_of(input)}) {
    const auto compared = text.find("Arms compared");
    ASSERT_NE(compared, std::string::npos) << text;
    for (const char* first : {"FAIL", "Failures (", "Errors ("})
      EXPECT_LT(text.find(first), compared) << first << text;
    EXPECT_LT(compared, text.find("Tests that differ between arms")) << text;
  }
  input.gate.kind = BaselineKind::none;
  const std::string text = table_of(input, {.columns = 80});
  EXPECT_LT(text.find("Arms compared"), text.find("Verdict: ")) << text;
  EXPECT_EQ(occurrences(text, "Verdict: "), 1u) << "what the column says was called so, too: " << text;
}

}  // namespace sluice::arm_sections_test
