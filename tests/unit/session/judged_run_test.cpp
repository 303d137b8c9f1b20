#include "common/settings/load_settings.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_plan.hpp"
#include "coordinator/session/run_record.hpp"
#include "coordinator/suite/answers/recorded_answers.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::judged_run_test {

/// Cases that are judged, with somebody who judges them or nobody.
class JudgedRunTest : public ::testing::Test {
 protected:
  JudgedRunTest() {
    inputs.suite.rubrics = {{"faithfulness", "v1", "s", "u"}, {"relevancy", "v1", "s", "u"}};
    add_cases(2);
    inputs.suite.cases.push_back(text_case("plain"));
    options.settings = *merge_settings({});
    options.settings.mode.value = Mode::live;
    options.provider.provider.name = "openai";
    options.provider.model = "m";
  }
  static Case text_case(const std::string& id) {
    Case one;
    one.id = id;
    one.kind = CaseKind::text;
    one.content = "prompt of " + id;
    return one;
  }
  void add_cases(int number) {
    for (int i = 0; i < number; ++i) {
      Case one = text_case("case-" + std::to_string(i));
      one.expectations.emplace_back().what.metric = MetricId::relevancy;
      one.expectations[0].judge.emplace().rubric = 1;
      inputs.suite.cases.push_back(one);
    }
  }
  void judge(const std::string& name, Origin origin = Origin::default_value, std::string where = {}) {
    options.settings.judge = {name, origin, std::move(where)};
    if (names_a_provider(name)) options.settings.judge_provider = options.settings.judge;
    options.settings.judge_model.value = "known-judge";
    const auto resolved = resolve_judge(options.settings);
    ASSERT_TRUE(resolved) << resolved.error().message;
    inputs.judge = *resolved;
  }
  RunSettings run_of(const Plan& plan) const {
    RunSettings run = run_settings(options, inputs, "run-1");
    fit_judge(plan, run);
    return run;
  }
  std::string refusal() const {
    const auto plan = make_plan(options, inputs);
    if (plan) return "";
    EXPECT_EQ(plan.error().reason, Reason::usage_invalid);
    return plan.error().message;
  }

  RunOptions options;
  RunInputs inputs;
};

TEST_F(JudgedRunTest, CasesThatNobodyJudgesAreNamedWithBothWaysOut) {
  judge("none");
  EXPECT_EQ(
      refusal(),
      "2 cases have judge metrics (case-0, case-1), and no judge is named: name one with --judge PROVIDER "
      "and --judge-model, or import a cassette that holds their votes (`sluice cache import`), name the "
      "judge that gave them in the same way and run with --mode cached; --judge fake tries them out "
      "without a model");
  judge("none", Origin::flag, "--no-judge");
  EXPECT_NE(refusal().find(", and the judge is \"none\" (--no-judge): name one"), std::string::npos)
      << refusal();
}

// A live run of recorded answers asked for the key of a provider that it never calls.
TEST_F(JudgedRunTest, WhoIsAskedForNothingTakesNoPart) {
  inputs.suite.cases = {text_case("a"), text_case("b")};
  judge("anthropic");
  const auto providers_with = [&](const std::string& answers) {
    auto read = parse_recorded_answers(answers, "a.jsonl");
    EXPECT_TRUE(read) << join_findings(read.error());
    inputs.suite.cases.take(std::make_shared<const RecordedAnswers>(std::move(*read)));
    const auto plan = make_plan(options, inputs);
    EXPECT_TRUE(plan);
    return run_of(**plan).providers.size();
  };
  const std::string a = "{\"id\": \"a\", \"answer\": \"x\"}\n";
  EXPECT_EQ(providers_with(a), 1u) << "b is asked";
  EXPECT_EQ(providers_with(a + "{\"id\": \"b\", \"answer\": \"y\"}\n"), 0u);
}

// `sluice grade` takes another flag for it: --judge says there how answers are compared.
TEST_F(JudgedRunTest, ARunThatGradesIsToldItsOwnFlag) {
  options.grading = RunGrading{};
  judge("none");
  EXPECT_EQ(
      refusal(),
      "2 cases have judge metrics (case-0, case-1), and no judge is named: name one with --judge-provider "
      "PROVIDER and --judge-model, or import a cassette that holds their votes (`sluice cache import`), name "
      "the judge that gave them in the same way and run with --mode cached; --judge-provider fake tries them "
      "out without a model");
}

TEST_F(JudgedRunTest, OfManyCasesTheFirstAreNamed) {
  inputs.suite.cases = {};
  add_cases(9);
  judge("none");
  EXPECT_TRUE(refusal().starts_with(
      "9 cases have judge metrics (case-0, case-1, case-2, case-3, case-4, and 4 more), and"))
      << refusal();
  inputs.suite.cases = {};
  add_cases(1);
  EXPECT_TRUE(refusal().starts_with("1 case has judge metrics (case-0), and")) << refusal();
}

TEST_F(JudgedRunTest, ACachedRunNeedsToKnowWhoseVotesItReplays) {
  options.settings.mode.value = Mode::cached;
  judge("none");
  EXPECT_EQ(
      refusal(),
      "2 cases have judge metrics (case-0, case-1), and no judge is named: import a cassette that holds "
      "their votes (`sluice cache import`) and name the judge that gave them with --judge PROVIDER and "
      "--judge-model, or have them judged in --mode live with --judge PROVIDER and --judge-model; --judge "
      "fake tries them out without a model");
  options.settings.judge_provider = {"openai", Origin::suite, "suite.yaml:3"};
  judge("none", Origin::flag, "--judge");
  EXPECT_EQ(refusal(), "") << "those of the judge that the suite names";
  options.settings.mode.value = Mode::live;
  EXPECT_NE(refusal(), "") << "a live run would have to call";
}

TEST_F(JudgedRunTest, WhereNothingIsJudgedNobodyIsNeeded) {
  judge("none");
  inputs.suite.cases = {text_case("plain")};
  EXPECT_EQ(refusal(), "");
}

TEST_F(JudgedRunTest, WorkersLearnWhoJudgesAndWhoseKeyThatNeeds) {
  judge("anthropic");
  options.judge_refresh = true;
  const auto plan = make_plan(options, inputs);
  ASSERT_TRUE(plan) << plan.error().message;
  const RunSettings run = run_of(**plan);
  EXPECT_EQ(run.judge.judge, Judge::model);
  EXPECT_EQ(run.judge.provider, "anthropic");
  EXPECT_EQ(run.judge.model, "known-judge");
  EXPECT_TRUE(run.judge.refresh);
  EXPECT_EQ(run.judge.rubrics, std::vector{inputs.suite.rubrics[1]}) << "no case uses the other";
  ASSERT_EQ(run.providers.size(), 2u);
  EXPECT_EQ(run.providers[1].name, "anthropic");
  EXPECT_EQ(governor_config(options.settings, run).providers.size(), 2u) << "its limits hold for votes";
}

TEST_F(JudgedRunTest, AJudgeAtTheRunsOwnProviderIsNoSecondOne) {
  judge("openai");
  options.provider.provider = *inputs.judge.provider;
  const auto plan = make_plan(options, inputs);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(run_of(**plan).providers.size(), 1u);
}

TEST_F(JudgedRunTest, AJudgeThatNoCaseNeedsIsAskedForNoKey) {
  judge("anthropic");
  inputs.suite.cases = {text_case("plain")};
  const auto plan = make_plan(options, inputs);
  ASSERT_TRUE(plan) << plan.error().message;
  const RunSettings run = run_of(**plan);
  EXPECT_EQ(run.judge, JudgeSettings());
  EXPECT_EQ(run.providers.size(), 1u);
  inputs.embedding = {{"anthropic", "e"}, inputs.judge.provider};
  EXPECT_EQ(run_of(**plan).providers.size(), 2u) << "it embeds";
}

TEST_F(JudgedRunTest, TheRecordHoldsWhatMakesAJudgement) {
  judge("anthropic");
  const auto settings_of = [&] {
    const auto plan = make_plan(options, inputs);
    return record_of(options, inputs, run_of(**plan), **plan, 0).settings;
  };
  const std::string before = settings_of();
  EXPECT_NE(
      before.find(
          R"("judge": {"provider": "anthropic", "model": "known-judge", "samples": 3, "temperature": 0)"),
      std::string::npos)
      << before;
  EXPECT_NE(before.find(R"("rubrics": ["relevancy v1 sha256:)"), std::string::npos) << before;
  options.settings.judge_samples.value = 5;
  EXPECT_NE(settings_of(), before);
  options.settings.judge_samples.value = 3;
  options.judge_refresh = true;
  EXPECT_EQ(settings_of(), before) << "the same judgement, paid for anew";
  judge("fake");
  EXPECT_NE(settings_of().find(R"("judge": {"provider": "fake", "model": "")"), std::string::npos);
  inputs.suite.cases = {text_case("plain")};
  EXPECT_EQ(settings_of().find("\"judge\""), std::string::npos);
  const auto runs_any = [&] {
    RunRecord record;
    record.settings = settings_of();
    return runs_commands(record);
  };
  EXPECT_FALSE(runs_any());
  inputs.suite.runs_command = "suite.yaml:3";
  EXPECT_TRUE(runs_any());
}

TEST_F(JudgedRunTest, TheFingerprintIsThatOfWhoeverGaveTheVotes) {
  const auto loaded = [&] {
    auto made = load_run_inputs(options, inputs.suite);
    EXPECT_TRUE(made) << join_findings(made.error());
    return made ? std::move(*made) : RunInputs();
  };
  judge("anthropic");
  EXPECT_EQ(loaded().judge.judge.model, "") << "nothing is judged";
  inputs.suite.metrics = {MetricId::relevancy};
  const std::string before = loaded().fingerprint;
  options.settings.judge.value = "none";
  EXPECT_EQ(loaded().fingerprint, before) << "the same votes, from caches";
  for (const auto& change : std::vector<void (*)(Settings&)>{
           [](Settings& s) { s.judge_model.value = "other"; }, [](Settings& s) { s.judge_samples.value = 5; },
           [](Settings& s) { s.judge_temperature.value = 1.0; },
           [](Settings& s) { s.judge_max_tokens.value = 5; },
           [](Settings& s) { s.judge_provider.value = "gemini"; },
           [](Settings& s) { s.judge.value = "fake"; }}) {
    const Settings kept = options.settings;
    change(options.settings);
    EXPECT_NE(loaded().fingerprint, before);
    options.settings = kept;
  }
  options.settings.judge_provider.value = "opnai";
  const auto wrong = load_run_inputs(options, inputs.suite);
  ASSERT_FALSE(wrong);
  EXPECT_NE(join_findings(wrong.error()).find("there is no provider \"opnai\""), std::string::npos);
}

TEST_F(JudgedRunTest, ARunThatGradesKeepsTheJudgeThatComparesAndTheBaselinesProvider) {
  inputs.suite.cases = {};
  inputs.suite.cases.push_back(text_case("plain"));
  judge("openai");
  options.settings.judge_temperature.value = 0.7;
  RunGrading grading{GradeJudge::llm, {}, 42};
  grading.baseline.provider.provider.name = "old";
  grading.baseline.provider.model = "old-model";
  options.grading = inputs.grading = grading;
  options.provider.provider.name = "new";
  const auto plan = make_plan(options, inputs);
  ASSERT_TRUE(plan) << plan.error().message;
  const RunSettings run = run_of(**plan);
  ASSERT_TRUE(run.grading);
  EXPECT_EQ(run.grading->provider, "old");
  EXPECT_EQ(run.grading->model, "old-model");
  EXPECT_EQ(run.grading->llm.model, "known-judge");
  EXPECT_EQ(run.grading->llm.temperature, 0.0) << "whatever the settings say";
  EXPECT_EQ(run.grading->llm.seed, 42);
  std::vector<std::string> names;
  for (const ProviderSettings& provider : run.providers) names.push_back(provider.name);
  EXPECT_EQ(names, (std::vector<std::string>{"new", "openai", "old"}));
  const auto record = record_of(options, inputs, run, **plan, 1000);
  EXPECT_NE(record.settings.find("\"baseline_model\": \"old-model\""), std::string::npos) << record.settings;
}

}  // namespace sluice::judged_run_test
