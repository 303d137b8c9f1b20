// Reports whose scores another judge gave, by another rubric, or by another number of votes.
#include "coordinator/gate/compare.hpp"
#include "coordinator/score_files/score_file.hpp"
#include "tests/unit/report/judged_run.hpp"
#include "tests/unit/report/report_texts.hpp"

#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::compared_judges_test {
namespace {

using sample::JudgedRun;

using Edit = std::function<void(std::string&)>;

void replace_all(std::string& text, std::string_view old, std::string_view by) {
  for (auto at = text.find(old); at != std::string::npos; at = text.find(old, at + by.size()))
    text.replace(at, old.size(), by);
}

/// What `sluice compare` reads of the run's JSON report.
ReportScores read_back(const JudgedRun& run, const JudgeIdentity& judge = {"openai", "gpt-4o", "gateway"},
                       const Edit& edit = {}) {
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.identity.judge = judge;
  std::string report = json_of(input);
  if (edit) edit(report);
  std::istringstream text(report);
  auto scores = parse_report(text, "r.json");
  EXPECT_TRUE(scores) << (scores ? "" : scores.error().message);
  return scores ? std::move(*scores) : ReportScores();
}

std::vector<GateNotice> differences(const ReportScores& base, const ReportScores& current,
                                    bool strict = false) {
  const auto compared = compare(cases_of(base), cases_of(current), {}, [](const ScoreComparison&) {});
  EXPECT_TRUE(compared);
  GatedRun run{"judged", "sha256:00", "0.1.0", "SUITE", "old.json", strict};
  run.current_file = "new.json";
  run.base_is_report = true;
  return compared ? compared->judges.finish(run) : std::vector<GateNotice>();
}

TEST(ComparedJudges, TheSameAreNoNotice) {
  const JudgedRun run;
  EXPECT_TRUE(differences(read_back(run), read_back(run)).empty());
  EXPECT_TRUE(differences(read_back(run), read_back(run, {"openai", "gpt-4o", "main"})).empty())
      << "what the settings call the provider decides nothing";
}

TEST(ComparedJudges, AnotherVersionOfARubricIsNamed) {
  const JudgedRun run;
  JudgedRun later;
  later.suite.rubrics[0].version = "v2";
  const auto notices = differences(read_back(run), read_back(later));
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].code, "rubric_mismatch");
  EXPECT_EQ(notices[0].severity, GateNotice::Severity::warning);
  EXPECT_TRUE(notices[0].decides);
  EXPECT_EQ(notices[0].message,
            "`old.json` has 2 scores by another rubric than `new.json`'s (`judge-001` faithfulness, "
            "`judge-006` faithfulness; v1 there, v2 here): once you accept what that changes, write it anew "
            "with `sluice run SUITE --format json --output old.json`.");
  EXPECT_EQ(differences(read_back(run), read_back(later), true).at(0).severity,
            GateNotice::Severity::failure);
}

TEST(ComparedJudges, ARubricInOtherWordsIsNamedWhereBothReportsHaveItsHash) {
  const JudgedRun run;
  JudgedRun later;
  later.suite.rubrics[3].user += " Be strict.";
  const auto notices = differences(read_back(run), read_back(later));
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_NE(notices[0].message.find("(`judge-004` rubric; mine in other words)"), std::string::npos)
      << notices[0].message;
  const auto without_hash = [](std::string& report) { replace_all(report, "rubric_hash", "unknown"); };
  const ReportScores old = read_back(run, {"openai", "gpt-4o", "gateway"}, without_hash);
  EXPECT_TRUE(differences(old, read_back(later)).empty());
}

TEST(ComparedJudges, AnotherJudgeIsNamed) {
  const JudgedRun run;
  const auto notices = differences(read_back(run), read_back(run, {"gemini", "flash", "google"}));
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].code, "judge_mismatch");
  EXPECT_NE(notices[0].message.find("has 5 scores by another judge than `new.json`'s"), std::string::npos)
      << notices[0].message;
  EXPECT_NE(notices[0].message.find("gpt-4o (gateway) there, flash (google) here"), std::string::npos)
      << notices[0].message;
}

TEST(ComparedJudges, AnotherNumberOfVotesIsNamed) {
  const JudgedRun run;
  const auto fewer = [](std::string& report) {
    replace_all(report, R"("samples": [true, true, true])", R"("samples": [true])");
  };
  const auto notices = differences(read_back(run), read_back(run, {"openai", "gpt-4o", "gateway"}, fewer));
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].code, "judge_samples_mismatch");
  EXPECT_NE(notices[0].message.find("has 1 score by another number of votes than `new.json`'s (`judge-001` "
                                    "faithfulness; 3 there, 1 here)"),
            std::string::npos)
      << notices[0].message;
}

}  // namespace
}  // namespace sluice::compared_judges_test
