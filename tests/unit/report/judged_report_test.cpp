// What the reports show of judge metrics: scores, agreement, rationale, the judge, and what it was paid.
#include "coordinator/report/wording/assessment_wording.hpp"
#include "coordinator/report/wording/wording.hpp"
#include "coordinator/score_files/score_file.hpp"
#include "tests/unit/report/golden.hpp"
#include "tests/unit/report/judged_run.hpp"
#include "tests/unit/report/perturbed_run.hpp"
#include "tests/unit/report/report_texts.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::judged_report_test {

using nlohmann::json;
using sample::judged_by;
using sample::JudgedRun;
using enum MetricId;

class JudgedReport : public ::testing::Test {
 protected:
  JudgedReport() : aggregates(run.aggregates()), input(run.input(aggregates)) {}

  JudgedRun run;
  Aggregates aggregates;
  ReportInput input;
};

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST_F(JudgedReport, LooksAsItShould) {
  expect_golden("judged_report.json", without_version(json_of(input)));
  expect_golden("judged_table_80.txt", table_of(input, {.columns = 80}));
  expect_golden("judged_report.md", markdown_of(input));
  expect_golden("judged_report.junit.xml", junit_of(input));
  expect_golden("judged_report.github.txt", github_of(input));
}

TEST_F(JudgedReport, StatusesFollowFromTheVotes) {
  std::vector<std::string> statuses;
  ASSERT_TRUE(visit_cases(
      run.results, [&](const CaseResult& result) { statuses.emplace_back(to_string(result.status)); }));
  EXPECT_EQ(statuses, (std::vector<std::string>{"pass", "warn", "fail", "fail", "error", "fail"}));
  EXPECT_EQ(input.verdict, RunVerdict::fail);
}

TEST_F(JudgedReport, JsonHasTheVotesOfEachCase) {
  const json report = json::parse(json_of(input));
  EXPECT_EQ(report["judge"],
            json::parse(R"({"provider": "openai", "provider_name": "gateway", "model": "gpt-4o"})"));
  const json& cases = report["fixture_results"];
  EXPECT_EQ(cases[1]["meta"]["assay"]["judge"], json::parse(R"json({"correctness": {
    "rubric": "correctness", "rubric_version": "v2",
    "rubric_hash": "sha256:3a49d1a6dce3eb366a0c647dcfd3dec92f826f80092d7b90d726de6febca59d1", "min_score": 0.5, "passed": true, "score": 0.6666666666666666, "source": "judge",
    "samples": [true, false, true], "scores": [0.75, 0.25, 1.0], "agreement": 0.6666666666666666,
    "rationale": "A week is about\nfive working days. (1 of 3 votes against it: A week is seven days.)"}})json"));
  EXPECT_EQ(cases[1]["metrics"][0]["cause"], "judge_disagrees");
  EXPECT_EQ(cases[1]["metrics"][0]["status"], "warn");
  EXPECT_EQ(cases[1]["metrics"][0]["score"], 0.6666666666666666);
  const json& tie = cases[2]["meta"]["assay"]["judge"]["relevancy"];
  EXPECT_EQ(tie["passed"], false);
  EXPECT_EQ(tie["agreement"], 0.5);
  EXPECT_EQ(tie["source"], "cache");
  EXPECT_EQ(tie["rationale"], "It says nothing. (1 of 2 votes against it: It answers.)");
  EXPECT_EQ(cases[2]["metrics"][0]["cause"], "no_majority");
  EXPECT_EQ(cases[3]["meta"]["assay"]["judge"]["rubric"]["rubric_version"], "mine");
  EXPECT_FALSE(cases[4].contains("meta")) << "an error has no votes";
  EXPECT_EQ(cases[4]["reason_code"], "judge_unparsable");
  EXPECT_EQ(cases[5]["meta"]["assay"]["judge"].size(), 1u);
  EXPECT_EQ(report["run"]["paid_judge_input_tokens"], 4000);
  EXPECT_EQ(report["run"]["paid_judge_output_tokens"], 600);
  EXPECT_EQ(report["run"]["paid_judge_cost"], 0.002);
}

// What a vote had to reach is asked of no score, by `sluice compare` neither.
TEST_F(JudgedReport, TheVotesMinScoreIsNoThreshold) {
  run.suite.cases.held(1).expectations[0].min_score = 0.9;
  const json metric = json::parse(json_of(input))["fixture_results"][1]["metrics"][0];
  EXPECT_TRUE(metric["thresholding"]["min_score"].is_null());
  EXPECT_TRUE(metric["limit"].is_null());
}

TEST_F(JudgedReport, SaysWhatTheVotesHadToReachByWhichRubric) {
  run.suite.cases.held(3).expectations[0].min_score = 0.75;
  run.suite.rubrics[3].id = "tone";
  const Aggregates all = run.aggregates();
  const ReportInput again = run.input(all);
  for (const std::string& text : {table_of(again, {.columns = 200}), markdown_of(again), junit_of(again)}) {
    EXPECT_TRUE(has(text, "1 of 5 votes reached 0.75")) << text;
    EXPECT_TRUE(has(text, "rubric (tone mine)")) << text;
  }
  const json judged = json::parse(json_of(again))["fixture_results"][3]["meta"]["assay"]["judge"]["rubric"];
  EXPECT_EQ(judged["min_score"], 0.75);
  EXPECT_EQ(judged["rubric"], "tone");
}

TEST_F(JudgedReport, VotesThatAllFailedAreCountedToo) {
  AssessedMetric metric;
  metric.id = faithfulness;
  metric.score = 0.71;
  metric.cause = MetricCause::no_majority;
  metric.votes = VoteTally{.samples = 3, .votes = 3, .passed = 0, .min_score = 0.75, .rationale = {}};
  EXPECT_EQ(wording::assessed(metric),
            "faithfulness 0.71, agreement 1.00 (0 of 3 votes reached 0.75): no majority of the votes passed");
}

// It stood among the ordinary failures, where a smaller drop was a regression.
TEST_F(JudgedReport, ADropWithoutAMajorityIsARegressionInEachFormat) {
  Baseline baseline;
  baseline.add({"judge-004", "rubric", 0.9, {}});
  (void)baseline.seal();
  run.gate = Gate({.suite = {}, .baseline = &baseline, .default_max_drop = 0.05});
  const Aggregates all = run.aggregates();
  const ReportInput gated = run.input(all);
  const json report = json::parse(json_of(gated));
  EXPECT_EQ(report["metrics"]["regressed"], 1);
  EXPECT_EQ(report["fixture_results"][3]["regressed"], true);
  const json& metric = report["fixture_results"][3]["metrics"][0];
  EXPECT_EQ(metric["cause"], "dropped");
  EXPECT_EQ(metric["fails_also_by"], "no_majority");
  EXPECT_EQ(metric["limit"], 0.85);
  EXPECT_EQ(report["fixture_results"][2]["regressed"], false) << "no entry in the baseline";
  EXPECT_FALSE(report["fixture_results"][2]["metrics"][0].contains("fails_also_by"));
  EXPECT_TRUE(has(junit_of(gated), "\" type=\"regression\">"));
  EXPECT_TRUE(has(github_of(gated), "title=Regressed%3A judge-004%3A Outvoted")) << github_of(gated);
  for (const std::string& text : {table_of(gated, {.columns = 200}), markdown_of(gated)}) {
    EXPECT_TRUE(has(text, "Regressions (1)")) << text;
    EXPECT_TRUE(has(text, "dropped by more than")) << text;
    EXPECT_TRUE(has(text, "is allowed, and no majority of the votes passed")) << text;
  }
}

TEST_F(JudgedReport, ARunThatJudgesNothingSaysNothingOfJudges) {
  const sample::SampleRun other;
  const Aggregates all = other.aggregates();
  const ReportInput unjudged = other.input(all);
  const json report = json::parse(json_of(unjudged));
  EXPECT_FALSE(report.contains("judge"));
  EXPECT_FALSE(report["run"].contains("paid_judge_cost"));
  for (const json& one : report["fixture_results"]) EXPECT_FALSE(one.contains("meta"));
  for (const std::string& text : {table_of(unjudged, {.columns = 120}), markdown_of(unjudged)}) {
    EXPECT_FALSE(has(text, "Judge")) << text;
    EXPECT_FALSE(has(text, "for the judge")) << text;
  }
  EXPECT_FALSE(has(junit_of(unjudged), "judge_provider"));
}

TEST_F(JudgedReport, TheFakeJudgeIsNamedInEveryFormat) {
  input.identity.judge = {"fake", ""};
  input.gate.notices.push_back(*fake_judge_notice(input.identity.judge));
  for (const std::string& text : {json_of(input), table_of(input, {.columns = 200}), markdown_of(input),
                                  junit_of(input), github_of(input)}) {
    EXPECT_TRUE(has(text, "the fake judge gave the scores")) << text;
  }
  EXPECT_TRUE(has(github_of(input), "::notice title=Judge%3A fake_judge::")) << github_of(input);
  EXPECT_TRUE(has(junit_of(input), "name=\"judge_provider\" value=\"fake\""));
}

TEST_F(JudgedReport, TheJudgesCostStandsApart) {
  EXPECT_EQ(
      wording::cost(input),
      "800 tokens ($0.0014); paid in this run: 11,100 tokens ($0.01), of that for the judge: 4,600 tokens "
      "($0.0020)");
  input.paid_cost.reset();
  input.paid_judge_cost.reset();
  EXPECT_TRUE(wording::cost(input).ends_with(
      "paid in this run: 11,100 tokens, of that for the judge: 4,600 tokens, price of the judge unknown"))
      << wording::cost(input);
  input.facts.unmetered = Spend::bit(CallKind::judge);
  EXPECT_TRUE(wording::cost(input).ends_with("for the judge: 4,600 tokens, and those of votes unknown"))
      << wording::cost(input);
  input.facts.unmetered |= Spend::bit(CallKind::embedding);
  EXPECT_TRUE(wording::cost(input).ends_with("for the judge: 4,600 tokens, and those of embeddings unknown"))
      << wording::cost(input);
}

TEST_F(JudgedReport, AWarningForAMissingEntryShowsTheVotesThatDisagree) {
  Baseline baseline;
  (void)baseline.seal();
  run.gate = Gate({.suite = {}, .baseline = &baseline, .default_max_drop = 0.05});
  const Aggregates all = run.aggregates();
  const ReportInput beside = run.input(all);
  for (const std::string& text :
       {table_of(beside, {.columns = 120}), markdown_of(beside), github_of(beside)}) {
    EXPECT_TRUE(has(text, "2 of 3 votes reached 0.5")) << text;
    EXPECT_TRUE(has(text, "A week is about five working days.")) << text;
  }
}

TEST_F(JudgedReport, VotesThatDoNotFitTheCaseAreADefect) {
  const auto status_with = [&](const auto& change) {
    JudgedRun broken;
    change(broken.source.trials[1].unit.scores[0]);
    std::string reason;
    EXPECT_TRUE(visit_cases(broken.results, [&](const CaseResult& result) {
      if (result.fixture.id == "judge-002" && result.error != nullptr)
        reason = to_string(result.error->reason);
    }));
    return reason;
  };
  EXPECT_EQ(status_with([](TrialScore&) {}), "");
  EXPECT_EQ(status_with([](TrialScore& score) { score.judged.clear(); }), "internal_error");
  EXPECT_EQ(status_with([](TrialScore& score) { score.judged.push_back(score.judged[0]); }),
            "internal_error");
  EXPECT_EQ(status_with([](TrialScore& score) { score.judged[0].metric = faithfulness; }), "internal_error");
  EXPECT_EQ(status_with([](TrialScore& score) { score.judged[0].votes.clear(); }), "internal_error");
  EXPECT_EQ(status_with([](TrialScore& score) { score.judged[0].votes[0].score = 0.5; }), "internal_error");
  EXPECT_EQ(status_with([](TrialScore& score) { score.metrics[0].passed = false; }), "internal_error");
  EXPECT_EQ(status_with([](TrialScore& score) { score.metrics[0].passed.reset(); }), "internal_error");
  EXPECT_EQ(status_with([](TrialScore& score) { score.metrics.clear(); }), "internal_error");
}

// --- Repeats
// ---------------------------------------------------------------------------------------------------

/// One case with three repeats and three answers to a perturbed form of it.
struct RepeatedJudgedRun {
  Suite suite;
  sample::MemorySource source;
  Gate gate;
  TrialTable table{3};

  explicit RepeatedJudgedRun(const std::vector<std::vector<double>>& votes_of_trials) {
    suite.name = "judged";
    suite.rubrics = {{"faithfulness", "v1", "You judge.", "{{answer}}"}};
    suite.cases = {sample::judged_case("judge-001", "Repeated", faithfulness)};
    EXPECT_TRUE(table.add_case(1));
    for (TrialId trial = 0; trial < votes_of_trials.size(); ++trial) {
      std::vector<Vote> votes;
      for (const double score : votes_of_trials[trial]) {
        votes.push_back({score, "repeat " + std::to_string(trial) + (score < 0.5 ? " against" : " for")});
      }
      source.trials.push_back(
          sample::voted(trial, "Answer " + std::to_string(trial), judged_by(faithfulness, votes)));
    }
  }

  RunResults results() const {
    RunResults all = sample::results_of(suite, source, gate);
    all.trials = table.trial_count();
    all.table = &table;
    return all;
  }

  RunStability stability() const {
    std::vector<PerturbationFacts> facts(1);
    facts[0].name = "crlf";
    facts[0].version = "1";
    facts[0].changed = 1;
    RunStabilityFold fold({facts, table.repeats(), {}});
    EXPECT_TRUE(visit_cases(results(), [&](const CaseResult& result) { fold.add(result); }));
    return fold.finish();
  }

  std::string report() const {
    const RunResults all = results();
    const Aggregates aggregates = *aggregate(all, nullptr);
    const RunStability of_run = stability();
    ReportInput input = sample::input_of(all, aggregates);
    input.stability = &of_run;
    return json_of(input);
  }
};

const std::vector<double> good{0.9, 0.8, 0.7};
const std::vector<double> disputed{0.9, 0.1, 0.7};
const std::vector<double> bad{0.1, 0.9, 0.2};

TEST(JudgedRepeats, JsonHasTheVotesOfEach) {
  const RepeatedJudgedRun run({good, bad, disputed, good, good, good});
  const json one = json::parse(run.report())["fixture_results"][0];
  EXPECT_EQ(one["status"], "flaky");
  const json& judged = one["meta"]["assay"]["judge"]["faithfulness"];
  EXPECT_EQ(judged["rubric_version"], "v1");
  EXPECT_EQ(judged["passed"], false) << "the repeat that is shown is the first that failed";
  ASSERT_EQ(judged["repeats"].size(), 3u) << "perturbed answers are none";
  EXPECT_EQ(judged["repeats"][0]["samples"], (std::vector<bool>{true, true, true}));
  EXPECT_EQ(judged["repeats"][1]["samples"], (std::vector<bool>{false, true, false}));
  EXPECT_EQ(judged["repeats"][2]["agreement"], 2.0 / 3);
  EXPECT_EQ(judged["rationale"], judged["repeats"][1]["rationale"]);
  EXPECT_FALSE(judged["repeats"][1].contains("rubric_version"));
}

TEST(JudgedRepeats, ReportsForPeopleCountTheVotesOfAllRepeats) {
  const RepeatedJudgedRun run({good, bad, disputed, good, good, good});
  const RunResults results = run.results();
  const Aggregates aggregates = *aggregate(results, nullptr);
  const RunStability stability = run.stability();
  ReportInput input = sample::input_of(results, aggregates);
  input.stability = &stability;
  const std::string table = table_of(input, {.columns = 160});
  EXPECT_TRUE(has(table,
                  "faithfulness 0.59, 6 of 9 votes reached 0.5: in 1 of 3 repeats no majority of the votes "
                  "passed"))
      << table;
  EXPECT_TRUE(has(table, "repeat 1 against")) << table;
}

TEST(JudgedRepeats, TextsOnWhichTheMajorityAgreesAreTheSameToStability) {
  const RepeatedJudgedRun run({good, disputed, good, good, disputed, bad});
  const RunStability stability = run.stability();
  EXPECT_EQ(stability.flips, 1u);
  EXPECT_NEAR(*stability.stability(), 2.0 / 3, 1e-9);
}

TEST(JudgedRepeats, CompareJudgesAReportAsItsRunWasGated) {
  const std::vector<std::vector<std::vector<double>>> runs{
      {good, good, good, good, good, good},
      {good, disputed, good, good, good, good},
      {good, bad, disputed, good, good, good},
      {bad, bad, disputed, good, good, good},
      {disputed, disputed, disputed, good, good, good},
      {bad, bad, bad, good, good, good},
  };
  for (const double pinned : {0.5, 0.8, 1.0}) {
    Baseline baseline;
    baseline.add({"judge-001", "faithfulness", pinned, {}});
    (void)baseline.seal();
    for (const auto& answers : runs) {
      RepeatedJudgedRun run(answers);
      run.gate = Gate({.suite = {}, .baseline = nullptr, .default_max_drop = 0.25});
      std::istringstream text(run.report());
      const auto read = parse_report(text, "report.json");
      ASSERT_TRUE(read) << to_text(read.error());
      const auto offline =
          compare(cases_of(baseline), cases_of(*read), CompareRules{}, [](const ScoreComparison&) {});
      ASSERT_TRUE(offline);
      run.gate = Gate({.suite = {}, .baseline = &baseline, .default_max_drop = 0.25});
      const Aggregates gated = *aggregate(run.results(), nullptr);
      EXPECT_EQ(offline->verdict_input.statuses, gated.all.statuses) << pinned;
      EXPECT_EQ(offline->verdict_input.regressed, gated.all.regressed);
    }
  }
}

TEST_F(JudgedReport, CompareSeesTheVotesOfOneRepeat) {
  std::istringstream text(json_of(input));
  const auto read = parse_report(text, "report.json");
  ASSERT_TRUE(read) << to_text(read.error());
  ComparedCase outvoted;
  read->read(3, outvoted);
  ASSERT_EQ(outvoted.metrics.at(0).votes.size(), 1u);
  EXPECT_EQ(outvoted.metrics[0].votes[0].min_score, 0.5) << "what each vote had to reach";
  Baseline baseline;
  for (const auto& [id, metric] :
       {std::pair("judge-001", "faithfulness"), std::pair("judge-002", "correctness"),
        std::pair("judge-003", "relevancy"), std::pair("judge-004", "rubric"),
        std::pair("judge-006", "faithfulness")}) {
    baseline.add({id, metric, 0.1, {}});
  }
  (void)baseline.seal();
  std::vector<std::string> rows;
  const auto compared = compare(cases_of(baseline), cases_of(*read), {}, [&](const ScoreComparison& row) {
    rows.push_back(std::string(row.test_id) + ' ' + std::string(to_string(row.status)) + ' ' +
                   std::string(to_string(row.cause)));
  });
  ASSERT_TRUE(compared);
  EXPECT_EQ(rows, (std::vector<std::string>{"judge-001 pass none", "judge-002 warn judge_disagrees",
                                            "judge-003 fail no_majority", "judge-004 fail no_majority",
                                            "judge-006 fail not_passed", "judge-006 pass none"}));
  EXPECT_EQ(compared->disagreements, 1u);
  // A baseline in the place of the report has scores alone.
  const auto scores_alone =
      compare(cases_of(baseline), cases_of(baseline), {}, [](const ScoreComparison&) {});
  EXPECT_EQ(scores_alone->verdict, RunVerdict::pass);
}

TEST_F(JudgedReport, VotesThatAReaderCannotTakeAreNamed) {
  const auto problem_with = [&](const auto& change) {
    json report = json::parse(json_of(input));
    change(report["fixture_results"][1]["meta"]["assay"]["judge"]["correctness"]);
    std::istringstream text(report.dump());
    const auto read = parse_report(text, "report.json");
    return read ? std::string("none") : to_text(read.error());
  };
  EXPECT_EQ(problem_with([](json&) {}), "none");
  const std::string place = "fixture_results[1].meta.assay.judge.correctness";
  EXPECT_EQ(problem_with([](json& judged) {
              judged["samples"] = {true, 1};
            }),
            "report.json:1: `" + place + ".samples[1]` is 1, expected true or false");
  EXPECT_EQ(problem_with([](json& judged) { judged["samples"] = json::array(); }),
            "report.json:1: `" + place + ".samples` holds 0 votes, expected 1 to 99");
  EXPECT_EQ(problem_with([](json& judged) { judged["samples"] = std::vector<bool>(100, true); }),
            "report.json:1: `" + place + ".samples` holds 100 votes, expected 1 to 99");
  EXPECT_EQ(
      problem_with([](json& judged) {
        judged["repeats"] = {judged, judged};
      }),
      "report.json:1: `" + place +
          "` has the votes of 2 repeats, and the metric the scores of 1: use the sluice that wrote it, or "
          "run the suite again");
  EXPECT_EQ(problem_with([](json& judged) { judged = 7; }),
            "report.json:1: `" + place + "` is 7, expected an object");
}

}  // namespace sluice::judged_report_test
