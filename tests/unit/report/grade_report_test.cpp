#include "coordinator/report/commands/grade_report.hpp"

#include "coordinator/merge/run_grades.hpp"
#include "tests/unit/report/gated_run.hpp"
#include "tests/unit/report/report_texts.hpp"

#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::grade_report_test {

using nlohmann::json;
using namespace sample;

/// Four tests of two categories; the last one's judge gave no comparison.
class GradeReport : public ::testing::Test {
 protected:
  GradeReport() {
    suite.name = "capitals";
    for (const auto& [id, category] : {std::pair{"france@new", "europe"},
                                       {"spain@new", "europe"},
                                       {"peru@new", "america"},
                                       {"chile@new", "america"}}) {
      Case one = text_case(id, id, MetricId::must_contain, {"x"});
      one.category = category;
      suite.cases.push_back(std::move(one));
    }
    source.trials = {graded(0, {0.75, "Better.", "llm:j", OrderedScores{1.0, 0.5 + 0.0}}),
                     graded(1, {0.25, "Worse.", "llm:j", OrderedScores{0.25, 0.25}}),
                     graded(2, {0.5, "A tie.", "llm:j", OrderedScores{0.9, 0.1}}),
                     errored(3, 3, {Reason::grade_unparsable, "the judge's answer is no comparison"})};
    results.trials = 4;
  }

  static CommittedTrial graded(TrialId trial, Grade grade) {
    CommittedTrial result = answered(trial, "x", {MetricId::must_contain, std::nullopt, true, ""});
    result.unit.grade = GradingResult{
        std::move(grade), {"old", "", {100, 10}, true, 0}, {"new", "", {100, 20}, false, 400 + 100 * trial}};
    return result;
  }
  RunGrades grades() const { return *run_grades(results, 0.95, 7); }
  static GradeReportInput input(const RunGrades& grades) {
    return {grades,
            GradeJudge::llm,
            "capitals",
            "run-1",
            {"old", ProviderKind::openai, "openai", "m-1", 0.5},
            {"new", ProviderKind::anthropic, "anthropic", "m-2", std::nullopt},
            0.95,
            0.75,
            std::nullopt};
  }

  Suite suite;
  MemorySource source;
  Gate gate;
  RunResults results = results_of(suite, source, gate);
};

TEST_F(GradeReport, FoldsGradesByTestAndCategory) {
  const RunGrades run = grades();
  ASSERT_EQ(run.tests.size(), 4u);
  EXPECT_EQ(run.grader_id, "llm:j");
  EXPECT_EQ(run.tests[0].id, "france");
  EXPECT_EQ(run.tests[0].quality, 0.75);
  EXPECT_EQ(run.tests[3].quality, std::nullopt) << "never a score of 0";
  EXPECT_EQ(run.tests[3].reason, Reason::grade_unparsable);
  EXPECT_EQ(run.all.graded, 3u);
  EXPECT_EQ(run.all.errors, 1u);
  EXPECT_EQ(run.all.quality.proportion(), 0.5);
  EXPECT_EQ(run.by_category.at("europe").quality.proportion(), 0.5);
  EXPECT_EQ(run.by_category.at("america").errors, 1u);
  EXPECT_EQ(run.all.candidate.usage, (Usage{300, 60}));
  EXPECT_EQ(run.all.candidate.mean_latency_ms(), 500.0);
  EXPECT_EQ(run.all.baseline.mean_latency_ms(), std::nullopt) << "what a cache gave took no time";
}

// Both were billed, but the rows of the arms showed nothing of a pair whose comparison could not be read.
TEST_F(GradeReport, CountsWhatAnswersWithoutAGradeTook) {
  UnitResult& ungraded = source.trials[3].unit;
  ungraded.usage = {70, 7};
  ungraded.spend.paid.of(CallKind::answer) = {210, 21};  // Called for three times; the last one was read.
  ungraded.spend.paid.of(CallKind::baseline) = {60, 6};
  ungraded.spend.paid.of(CallKind::judge) = {900, 90};
  const RunGrades run = grades();
  EXPECT_EQ(run.all.candidate.usage, (Usage{370, 67}));
  EXPECT_EQ(run.all.baseline.usage, (Usage{360, 36}));
  EXPECT_EQ(run.by_category.at("america").candidate.usage, (Usage{170, 27}));
  EXPECT_EQ(run.by_category.at("europe").candidate.usage, (Usage{200, 40}));
  EXPECT_EQ(run.all.graded, 3u);
}

TEST_F(GradeReport, CountsFlipsAsThePositionBiasDoes) {
  const RunGrades run = grades();
  EXPECT_EQ(run.all.compared_twice, 3u);
  EXPECT_EQ(run.all.position_flips, 2u) << "a tie in one order alone is one";
  ASSERT_TRUE(run.bias);
  EXPECT_EQ(run.bias->pairs, 3u);
  EXPECT_EQ(run.bias->flips, run.all.position_flips);
  EXPECT_EQ(run.bias->toward_second, 2u) << "the candidate did better where it stood second";
}

// It was `p = 0.000`.
TEST_F(GradeReport, AnUnlikelyBiasHasNoChanceOfZero) {
  RunGrades run = grades();
  run.bias->bias = 0.4;
  run.bias->p = 0.0001;
  StringSink sink;
  write_grade_table(input(run), {.columns = 200}, sink);
  EXPECT_NE(sink.text().find("0.001)."), std::string::npos) << sink.text();
  EXPECT_EQ(sink.text().find("0.000"), std::string::npos) << sink.text();
}

TEST_F(GradeReport, WithoutAGradeThereIsNoScore) {
  source.trials = {errored(0, 0, {Reason::timed_out, "late"})};
  results.trials = 1;
  const RunGrades run = grades();
  EXPECT_EQ(run.all.quality.proportion(), std::nullopt);
  EXPECT_FALSE(run.bias);
  StringSink sink;
  write_grade_json(input(run), sink);
  const json report = json::parse(sink.text());
  EXPECT_TRUE(report["all"]["quality_score"].is_null());
  EXPECT_TRUE(report["all"]["interval"].is_null());
  EXPECT_TRUE(report["position_bias"].is_null());
  EXPECT_EQ(report["tests"][0]["reason_code"], "timed_out");
}

TEST_F(GradeReport, JsonHasTestsCategoriesAndBothArms) {
  const RunGrades run = grades();
  StringSink sink;
  write_grade_json(input(run), sink);
  const json report = json::parse(sink.text());
  EXPECT_EQ(report["judge"], "llm");
  EXPECT_EQ(report["paid_cost"], 0.75);
  EXPECT_EQ(report["baseline"], json::parse(R"({"arm": "old", "provider": "openai", "provider_name": "openai",
    "model": "m-1", "input_tokens": 300, "output_tokens": 30, "estimated_cost": 0.5,
    "mean_latency_ms": null})"));
  EXPECT_EQ(report["candidate"]["estimated_cost"], nullptr);
  EXPECT_EQ(report["candidate"]["mean_latency_ms"], 500.0);
  ASSERT_EQ(report["by_category"].size(), 2u);
  EXPECT_EQ(report["by_category"][0]["category"], "america");
  EXPECT_EQ(report["tests"][1], json::parse(R"({"id": "spain", "category": "europe", "quality_score": 0.25,
    "grades": 1, "errors": 0, "position_flips": 0, "notes": "Worse.", "reason_code": null})"));
  EXPECT_LT(report["all"]["interval"][0], 0.5);
  EXPECT_GT(report["all"]["interval"][1], 0.5);
}

TEST_F(GradeReport, TheTableSaysWhatAScoreMeansAndObeysNobody) {
  source.trials[0].unit.grade->grade.notes = "Good.\x1b[31m\nmore";
  const RunGrades run = grades();
  StringSink sink;
  write_grade_table(input(run), {.columns = 100}, sink);
  const std::string& text = sink.text();
  EXPECT_NE(text.find("0.50: as good as the baseline's answer"), std::string::npos) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_LT(text.find("chile"), text.find("spain")) << "what has no grade comes first\n" << text;
  EXPECT_LT(text.find("spain"), text.find("france")) << text;
  EXPECT_NE(text.find("2 of 3 pairs changed sides with the order"), std::string::npos) << text;
  EXPECT_NE(text.find("This run paid $0.75."), std::string::npos) << text;
}

// In 80 columns the notes were left out, and with them why a test had no grade.
TEST_F(GradeReport, NotesAreCutToWhatATerminalLeavesThem) {
  source.trials[1].unit.grade->grade.notes = "Worse in what matters, " + std::string(100, 'x');
  const RunGrades run = grades();
  for (const std::size_t columns : {80u, 60u}) {
    StringSink sink;
    write_grade_table(input(run), {.columns = columns}, sink);
    EXPECT_NE(sink.text().find("Worse in what matters"), std::string::npos) << sink.text();
    EXPECT_NE(sink.text().find("grade_unparsable: the judge"), std::string::npos) << sink.text();
    expect_lines_within(sink.text(), columns);
  }
}

// They ended at 120 columns, and notes at 60, however wide the terminal was.
TEST_F(GradeReport, TablesUseTheWholeTerminal) {
  source.trials[1].unit.grade->grade.notes = "Worse in what matters, " + std::string(90, 'x') + ".";
  const RunGrades run = grades();
  StringSink sink;
  write_grade_table(input(run), {.columns = 180}, sink);
  EXPECT_NE(sink.text().find(std::string(90, 'x') + "."), std::string::npos) << sink.text();
}

TEST_F(GradeReport, RepeatsThatAgreeNarrowNothing) {
  const auto interval = [this](std::uint32_t repeats) {
    TrialTable table(repeats);
    source.trials.clear();
    for (std::size_t one = 0; one < suite.cases.size(); ++one) (void)table.add_case(0);
    for (TrialId trial = 0; trial < table.trial_count(); ++trial)
      source.trials.push_back(graded(trial, {0.5, "", "llm:j"}));
    RunResults of_run = results_of(suite, source, gate);
    of_run.trials = table.trial_count();
    of_run.table = &table;
    const RunGrades run = *run_grades(of_run, 0.95, 7);
    EXPECT_EQ(run.all.graded, 4u * repeats);
    return run.all.quality.interval(0.95);
  };
  EXPECT_EQ(interval(9), interval(1));
}

}  // namespace sluice::grade_report_test
