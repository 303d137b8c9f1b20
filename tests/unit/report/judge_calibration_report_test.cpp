// What the reports show of a gate that asks for a calibration of its judge.
#include "coordinator/report/commands/compare_report.hpp"
#include "coordinator/report/wording/judge_wording.hpp"
#include "coordinator/score_files/score_file.hpp"
#include "tests/unit/report/golden.hpp"
#include "tests/unit/report/judged_run.hpp"
#include "tests/unit/report/report_texts.hpp"

#include <functional>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::judge_calibration_report_test {

using nlohmann::json;
using sample::JudgedRun;

/// Of a rubric of the run by gpt-4o.
JudgeCalibration calibration(const Rubric& rubric, std::uint32_t samples, double kappa, double low) {
  JudgeCalibration one;
  one.key = {"judged", rubric.id, rubric.id, rubric.version, to_prefixed_hex(rubric_hash(rubric)),
             "openai", "gpt-4o",  samples};
  one.against = "labels";
  one.run_id = "11111111-2222-4333-8444-555555555555";
  one.calibrated_at_ms = 1'767'225'600'000;
  one.answers = 100;
  one.cases = 90;
  one.kappa = kappa;
  one.kappa_low = low;
  one.kappa_high = 0.95;
  return one;
}

/// The judged run under a gate that asks for a kappa of 0.6: relevancy is calibrated and not well enough,
/// correctness well enough, the others not.
class JudgeCalibrationReport : public ::testing::Test {
 protected:
  JudgeCalibrationReport() { ask({"openai", "gpt-4o"}); }

  void ask(const JudgeIdentity& judge) {
    const auto& rubrics = run.suite.rubrics;
    required = std::make_shared<const RequiredCalibrations>(
        0.6, RunJudge(judge, rubrics),
        std::vector{calibration(rubrics[2], 2, 0.72, 0.48), calibration(rubrics[1], 3, 0.85, 0.7)});
    Gate::Config config = run.gate.config();
    config.calibrations = required;
    run.gate = Gate(std::move(config));
    CalibrationFold fold(required);
    EXPECT_TRUE(visit_cases(run.results, [&](const CaseResult& result) { fold.add(result.metrics()); }));
    calibrations = fold.finish(rubrics);
    aggregates = run.aggregates();
  }
  std::vector<GateNotice> notices(bool strict = false) const {
    return wording::calibration_notices(calibrations, "evals/my suite.yaml", strict);
  }
  ReportInput input() const {
    ReportInput input = run.input(aggregates);
    input.calibrations = &calibrations;
    input.gate.notices = notices();
    return input;
  }

  JudgedRun run;
  std::shared_ptr<const RequiredCalibrations> required;
  RunCalibrations calibrations;
  Aggregates aggregates;
};

/// Without the line breaks of a page.
std::string in_one_line(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

TEST_F(JudgeCalibrationReport, LooksAsItShould) {
  expect_golden("calibrated_report.json", without_version(json_of(input())));
  expect_golden("calibrated_table_80.txt", table_of(input(), {.columns = 80}));
  expect_golden("calibrated_report.md", markdown_of(input()));
  expect_golden("calibrated_report.junit.xml", junit_of(input()));
  expect_golden("calibrated_report.github.txt", github_of(input()));
}

TEST_F(JudgeCalibrationReport, ThreeNoticesSayWhatIsMissingHowLowKappaIsAndWhatToDo) {
  const auto all = notices();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].code, "judge_uncalibrated");
  EXPECT_EQ(all[0].severity, GateNotice::Severity::warning);
  EXPECT_EQ(
      all[0].message,
      "the gate asks for a kappa of at least 0.6, and the ledger has no calibration of gpt-4o (openai) for "
      "`faithfulness v1` with 1 vote, `faithfulness v1` with 3 votes, `rubric mine` with 5 votes: what it "
      "would fail only warns; make one by `sluice calibrate-judge 'evals/my suite.yaml' --labels "
      "labels.jsonl` with this run's settings.");
  EXPECT_EQ(all[1].code, "judge_kappa_low");
  EXPECT_EQ(
      all[1].message,
      "the gate asks for a kappa of at least 0.6 at the lower end of its interval, which the judge gpt-4o "
      "(openai) does not reach (`relevancy v1` with 2 votes: kappa 0.72 (95 %: 0.48 to 0.95) by 100 "
      "answers beside labels): what it would fail only warns; where only the lower end is below, label more "
      "answers, else mend the "
      "rubric or let another model judge; then again `sluice calibrate-judge 'evals/my suite.yaml' "
      "--labels labels.jsonl` with this run's settings.");
  EXPECT_EQ(all[2].code, "judge_calibrated");
  EXPECT_EQ(all[2].severity, GateNotice::Severity::info);
  EXPECT_EQ(all[2].message,
            "the judge gpt-4o (openai) has a kappa of at least 0.6, as the gate asks for (`correctness v2` "
            "with 3 votes: kappa 0.85 (95 %: 0.70 to 0.95) by 100 answers beside labels).");
  for (const GateNotice& one : notices(true)) {
    EXPECT_EQ(one.severity == GateNotice::Severity::failure, one.code != "judge_calibrated") << one.code;
    EXPECT_EQ(one.message.find("only warns"), std::string::npos) << one.message;
  }
}

TEST_F(JudgeCalibrationReport, TheFakeJudgeIsNeverCalibrated) {
  ask({"fake", ""});
  const auto all = notices();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].code, "judge_uncalibrated");
  EXPECT_NE(all[0].message.find("the fake judge, which every mock run has, is never calibrated"),
            std::string::npos)
      << all[0].message;
}

TEST_F(JudgeCalibrationReport, EveryFormatSaysWhyAFailureOnlyWarns) {
  for (const std::string& text :
       {table_of(input(), {.columns = 300}), markdown_of(input()), junit_of(input()), github_of(input())}) {
    EXPECT_NE(in_one_line(text).find("passed, by a judge that is not calibrated ("), std::string::npos)
        << text;
    EXPECT_NE(in_one_line(text).find("passed, by a judge whose kappa is too low: kappa 0.72 (95"),
              std::string::npos)
        << text;
  }
  const json report = json::parse(json_of(input()));
  const json& tie = report["fixture_results"][2];
  EXPECT_EQ(tie["status"], "warn");
  EXPECT_EQ(tie["metrics"][0]["cause"], "judge_kappa_low");
  EXPECT_EQ(tie["metrics"][0]["would_fail_by"], "no_majority");
  EXPECT_EQ(tie["meta"]["assay"]["judge"]["relevancy"]["calibration"], "kappa_low");
  EXPECT_EQ(report["fixture_results"][3]["metrics"][0]["cause"], "judge_uncalibrated");
  EXPECT_EQ(report["fixture_results"][5]["status"], "fail") << "its text fails it";
}

TEST_F(JudgeCalibrationReport, CompareReadsWhatTheRunFound) {
  std::istringstream text(json_of(input()));
  const auto read = parse_report(text, "report.json");
  ASSERT_TRUE(read) << to_text(read.error());
  const ReportScores& scores = *read;
  ComparedCase one;
  std::vector<std::string> standings;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    scores.read(i, one);
    for (const ComparedMetric& metric : one.metrics)
      standings.emplace_back(metric.calibration ? to_string(*metric.calibration) : "none");
  }
  EXPECT_EQ(standings,
            (std::vector<std::string>{"missing", "calibrated", "kappa_low", "missing", "none", "missing"}));
}

TEST_F(JudgeCalibrationReport, AStandingThatThereIsNotIsRefused) {
  std::string text = json_of(input());
  const std::string known = "\"calibration\": \"kappa_low\"";
  ASSERT_NE(text.find(known), std::string::npos);
  text.replace(text.find(known), known.size(), "\"calibration\": \"good\"");
  std::istringstream stream(text);
  const auto read = parse_report(stream, "report.json");
  ASSERT_FALSE(read);
  EXPECT_NE(to_text(read.error()).find("calibrated, missing, other_criteria, fake or kappa_low"),
            std::string::npos)
      << to_text(read.error());
}

// The rows had a cell more than the table had columns, and Markdown dropped it.
TEST_F(JudgeCalibrationReport, CompareNamesTheCauseOfEachRow) {
  CompareReportInput compared;
  compared.current.kind = "report";
  compared.visit = [](const std::function<void(const ScoreComparison&)>& visit) {
    ScoreComparison row;
    row.test_id = "t1";
    row.metric = "rubric";
    row.score = 0.0;
    row.status = MetricStatus::warn;
    row.cause = MetricCause::judge_kappa_low;
    visit(row);
    row.test_id = "t2";
    row.baseline = 0.9;
    row.limit = 0.85;
    row.status = MetricStatus::fail;
    row.change = RowChange::regression;
    row.cause = MetricCause::dropped;
    row.further_cause = MetricCause::no_majority;
    visit(row);
    row.test_id = "t3";
    row.baseline = row.limit = std::nullopt;
    row.change = RowChange::not_compared;
    row.cause = MetricCause::no_majority;
    row.further_cause = MetricCause::none;
    row.votes = VoteTally{.samples = 1, .votes = 1, .passed = 0, .min_score = 0.5, .rationale = {}};
    visit(row);
    return CompareSummary{};
  };
  StringSink markdown;
  ASSERT_TRUE(write_compare_markdown(compared, markdown));
  EXPECT_NE(markdown.text().find(" Limit | Cause |"), std::string::npos) << markdown.text();
  EXPECT_NE(markdown.text().find("| judge kappa low |"), std::string::npos) << markdown.text();
  EXPECT_NE(markdown.text().find("| 0.85 | dropped, no majority |"), std::string::npos) << markdown.text();
  EXPECT_NE(markdown.text().find("| 0.50 | no majority |"), std::string::npos) << markdown.text();
}

}  // namespace sluice::judge_calibration_report_test
