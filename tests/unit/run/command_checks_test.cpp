#include "coordinator/run/command_checks.hpp"

#include "common/defaults.hpp"
#include "coordinator/run/verdict.hpp"

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::command_checks_test {

using nlohmann::json;

TextExpectation command(MetricId metric, const std::string& program = "check", double seconds = 30.0) {
  return {metric, {"[\"" + program + "\"]", R"({"tone":"kind"})", ""}, {seconds}};
}

TextExpectation contains(const std::string& text) {
  return {MetricId::must_contain, {text}};
}

CommandEnd wrote(const std::string& output) {
  return {CommandEnd::Kind::done, output, ""};
}

MetricOutcome outcome(MetricId metric, const std::string& output) {
  return outcome_of_command(command(metric), wrote(output), {});
}

TEST(Verdict, SaysWhetherTheAnswerPasses) {
  EXPECT_EQ(outcome(MetricId::command, R"({"pass": true, "score": 1})").passed, true);
  EXPECT_EQ(outcome(MetricId::command, R"({"pass": false, "reason": "too\nlong"})"),
            (MetricOutcome{MetricId::command, std::nullopt, false, "too long"}));
  EXPECT_EQ(outcome(MetricId::command, R"({"pass": false, "score": 0.25, "reason": "rude"})").detail,
            "score 0.25: rude");
  EXPECT_EQ(outcome(MetricId::command, R"({"pass": false})").detail,
            "the check \"check\" says so, without a reason");
  EXPECT_EQ(outcome(MetricId::not_command, R"({"pass": false})").passed, true);
  EXPECT_EQ(outcome(MetricId::not_command, R"({"pass": true})").detail,
            "it must not pass the check \"check\"");
}

TEST(Verdict, NamesNoPartOfASecretAmongTheArguments) {
  const std::vector<RedactionPattern> patterns{{"key", "sk-[0-9]{20}"}};
  const Redactor redactor = *Redactor::make(patterns);
  for (std::size_t before = 30; before <= defaults::max_quoted_bytes; ++before) {
    const auto named = command(MetricId::command, std::string(before, 'c') + " sk-01234567890123456789");
    const auto failed = outcome_of_command(named, wrote(R"({"pass": false})"), redactor);
    EXPECT_EQ(failed.detail.find("sk-"), std::string::npos) << failed.detail;
  }
}

TEST(Verdict, GivesAScore) {
  EXPECT_EQ(outcome(MetricId::command_score, R"({"score": 0.75, "reason": "fair"})"),
            (MetricOutcome{MetricId::command_score, 0.75, std::nullopt, "fair"}));
  EXPECT_EQ(outcome(MetricId::not_command_score, R"({"score": 0.75})").score, 0.25);
}

TEST(Verdict, ThatIsNoneDecidesNothing) {
  const auto why = [](MetricId metric, const std::string& output) {
    const MetricOutcome one = outcome(metric, output);
    EXPECT_TRUE(one.is_undecided()) << output;
    return one.detail;
  };
  EXPECT_NE(why(MetricId::command, "fine").find("wrote no verdict"), std::string::npos);
  EXPECT_NE(why(MetricId::command, "[true]").find("wrote no verdict"), std::string::npos);
  EXPECT_NE(why(MetricId::command, R"({"score": 1})").find("command_score takes its \"score\""),
            std::string::npos);
  EXPECT_NE(why(MetricId::command, R"({"pass": "yes"})").find("no \"pass\" that is true or false"),
            std::string::npos);
  EXPECT_NE(why(MetricId::command_score, R"({"pass": true})").find("command takes its \"pass\""),
            std::string::npos);
  for (const char* score : {"1.1", "-0.1", "\"1\"", "null", "1e999"})
    EXPECT_FALSE(why(MetricId::command_score, "{\"score\": " + std::string(score) + "}").empty()) << score;
  EXPECT_FALSE(why(MetricId::not_command, "").empty()) << "turned round it is no pass";
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  EXPECT_NE(why(MetricId::command, R"({"pass":true,"a":)" + deep + "}").find("wrote no verdict"),
            std::string::npos);
  const auto slow = outcome_of_command(
      command(MetricId::command), {CommandEnd::Kind::too_slow, "", "the check took longer than 1 s"}, {});
  EXPECT_TRUE(slow.is_undecided());
  EXPECT_EQ(slow.detail, "the check took longer than 1 s");
}

TEST(Verdict, SaysWhereAProgramThatIsAbsentIsLookedFor) {
  const auto why = [](int error_number, const std::string& program = "check") {
    return outcome_of_command(command(MetricId::command, program),
                              {CommandEnd::Kind::not_started, "", "says the system", "", error_number}, {})
        .detail;
  };
  EXPECT_NE(why(ENOENT).find("; it is looked for in PATH"), std::string::npos) << why(ENOENT);
  EXPECT_EQ(why(EACCES), "says the system");
  EXPECT_EQ(why(ENOENT, "./check.py"),
            "says the system; a script must be executable, or follow its interpreter");
}

/// A plan of one case, and a result of it as a worker hands it in.
class CommandChecks : public testing::Test {
 protected:
  void plan_for(std::vector<TextExpectation> expectations) {
    Case one;
    one.id = "t";
    one.kind = CaseKind::text;
    one.content = "Say hello.";
    one.tags = {"nightly"};
    one.command_vars = R"({"most":80,"tone":"kind"})";
    for (TextExpectation& what : expectations) one.expectations.push_back({std::move(what), {}, {}});
    suite = std::make_unique<Suite>();
    suite->cases.push_back(one);
    RequestSettings request;
    request.provider.name = "sim";
    request.model = "m";
    plan.emplace(*Plan::make(*suite, PromptTemplate(), Ontology(), request));
  }
  /// The worker's outcomes are those of what is asked of it.
  CheckedResult checked(const std::string& answer, std::vector<MetricOutcome> of_worker) const {
    RecordResult record;
    UnitResult& result = record.item.result;
    result.unit = 0;
    result.key = plan->key(0);
    result.scores.push_back({0, std::move(of_worker), {}});
    result.observed = ObservedAnswer{answer, "stop", "m-1", 0};
    return *CheckedResult::make(std::move(record), *plan, rules);
  }

  std::unique_ptr<Suite> suite;
  std::optional<Plan> plan;
  CommandRules rules{"/suite", {"SECRET"}, {}};
};

TEST_F(CommandChecks, WorkersHearOfNoCommand) {
  TextExpectation group{MetricId::all_of, {}, {0.5}, 1.0, {contains("a"), command(MetricId::command)}};
  plan_for({command(MetricId::command), contains("b"), group});
  const auto unit = plan->render(0);
  ASSERT_TRUE(unit);
  EXPECT_EQ(unit->tasks.front().texts, (std::vector<TextExpectation>{contains("b"), contains("a")}));
}

TEST_F(CommandChecks, AProgramReadsTheAnswerAndItsCase) {
  plan_for({command(MetricId::command)});
  const CheckedResult result = checked("Hello \"you\"\n", {});
  ASSERT_EQ(result.runs().size(), 1u);
  const CommandRun& run = result.runs().front();
  EXPECT_EQ(run.command.arguments, std::vector<std::string>{"check"});
  EXPECT_EQ(run.command.folder, "/suite");
  EXPECT_EQ(run.command.hidden_variables, std::vector<std::string>{"SECRET"});
  EXPECT_EQ(run.command.time_limit, std::chrono::seconds(30));
  const json input = json::parse(run.input);
  EXPECT_EQ(input["answer"], "Hello \"you\"\n");
  EXPECT_EQ(input["usage"], nullptr) << "nobody named it";
  EXPECT_EQ(input["case"]["id"], "t");
  EXPECT_EQ(input["case"]["prompt"], "Say hello.");
  EXPECT_EQ(input["case"]["tags"], json::array({"nightly"}));
  EXPECT_EQ(input["case"]["repeat"], 1);
  EXPECT_EQ(input["case"]["vars"], (json{{"most", 80}, {"tone", "kind"}}));
  EXPECT_EQ(input["tool_calls"], json::array());
  EXPECT_EQ(input["parameters"]["tone"], "kind");
}

TEST_F(CommandChecks, AProgramReadsTheCallsOfTools) {
  plan_for({command(MetricId::command)});
  const auto calls_of = [&](const std::string& answer) {
    return json::parse(checked(answer, {}).runs().front().input)["tool_calls"];
  };
  const std::string first = R"({"tool_call":{"name":"look_up","arguments":{"order":17,"of":["a"]}}})";
  const std::string last = R"({"tool_call":{"name":"send","arguments":"{\"order\": tru"}})";
  EXPECT_EQ(calls_of("Wait.\n" + first + "\n" + last),
            json::parse(R"([{"name":"look_up","arguments":{"order":17,"of":["a"]}},
                            {"name":"send","arguments":"{\"order\": tru"}])"))
      << "what was cut off is a text";
  EXPECT_EQ(calls_of(first + "\nis what I would call."), json::array());
  const std::string deep = std::string(1000, '[') + std::string(1000, ']');
  EXPECT_EQ(calls_of(R"({"tool_call":{"name":"send","arguments":")" + deep + "\"}}")[0]["arguments"], deep)
      << "programs read no more levels than that";
}

TEST_F(CommandChecks, WhatACommandSaysIsRedactedBeforeItIsShortened) {
  rules.redactor = *Redactor::make(std::vector<RedactionPattern>{{"mail", "[a-z]+@[a-z]+\\.io"}});
  plan_for({command(MetricId::command)});
  const std::string mail = " jane@home.io";
  const auto detail = [&](CommandEnd end) {
    CheckedResult result = checked("b", {});
    result.take(0, end);
    return result.finish().item.result.scores[0].metrics[0].detail;
  };
  for (std::size_t length = 0; length < 700; ++length) {
    const std::string text = std::string(length, 'x') + mail + std::string(100, 'y');
    EXPECT_EQ(detail({CommandEnd::Kind::failed, "", "it failed", text}).find("jane"), std::string::npos)
        << length;
    EXPECT_EQ(
        detail({CommandEnd::Kind::failed, "", "it failed", mail + std::string(length, 'x')}).find("home"),
        std::string::npos)
        << length;
    EXPECT_EQ(detail(wrote(text)).find("jane"), std::string::npos) << length;
    EXPECT_EQ(detail(wrote(R"({"pass": false, "reason": ")" + text + "\"}")).find("jane"), std::string::npos)
        << length;
  }
}

TEST_F(CommandChecks, OutcomesComeInTheOrderOfTheSuite) {
  plan_for({command(MetricId::command), contains("b"), command(MetricId::command_score, "score")});
  CheckedResult result = checked("b", {{MetricId::must_contain, std::nullopt, true, ""}});
  ASSERT_EQ(result.runs().size(), 2u);
  EXPECT_FALSE(result.is_done());
  result.take(1, wrote(R"({"score": 0.5})"));
  EXPECT_FALSE(result.is_done());
  result.take(0, wrote(R"({"pass": false, "reason": "no"})"));
  ASSERT_TRUE(result.is_done());
  const RecordResult done = result.finish();
  const auto& metrics = done.item.result.scores.front().metrics;
  ASSERT_EQ(metrics.size(), 3u);
  EXPECT_EQ(metrics[0], (MetricOutcome{MetricId::command, std::nullopt, false, "no"}));
  EXPECT_EQ(metrics[1].id, MetricId::must_contain);
  EXPECT_EQ(metrics[2].score, 0.5);
  EXPECT_EQ(done.item.result.shown_text, "b") << "the worker had no metric to show it for";
}

TEST_F(CommandChecks, AProgramForVerdictAndScoreIsRunOnce) {
  plan_for({command(MetricId::command), command(MetricId::command_score)});
  CheckedResult result = checked("x", {});
  ASSERT_EQ(result.runs().size(), 1u);
  result.take(0, wrote(R"({"pass": true, "score": 0.5})"));
  const RecordResult done = result.finish();
  EXPECT_EQ(done.item.result.scores.front().metrics.front().passed, true);
  EXPECT_EQ(done.item.result.scores.front().metrics.back().score, 0.5);
}

TEST_F(CommandChecks, GroupsWeighThemWithWhatTheWorkerFound) {
  TextExpectation of_program = command(MetricId::command_score);
  of_program.numbers.push_back(0.5);
  of_program.weight = 3.0;
  const TextExpectation inner{MetricId::any_of, {}, {1}, 1.0, {contains("z"), of_program}};
  plan_for({{MetricId::all_of, {}, {1.0}, 1.0, {contains("a"), inner}}});
  const auto came_to = [&](const std::string& verdict) {
    CheckedResult result = checked("a", {{MetricId::must_contain, std::nullopt, true, ""},
                                         {MetricId::must_contain, std::nullopt, false, "not found: \"z\""}});
    result.take(0, wrote(verdict));
    return result.finish().item.result.scores.front().metrics.front();
  };
  EXPECT_EQ(came_to(R"({"score": 0.5})").passed, true);
  EXPECT_EQ(came_to(R"({"score": 0.4})").passed, false);
  EXPECT_TRUE(came_to("nothing").is_undecided());
}

TEST_F(CommandChecks, AWorkerThatLeavesOutAMetricPassesNothing) {
  plan_for({command(MetricId::command), contains("b")});
  CheckedResult result = checked("x", {});
  result.take(0, wrote(R"({"pass": true})"));
  EXPECT_TRUE(result.finish().item.result.scores.front().metrics.back().is_undecided());
}

// Such a case passed without its command.
TEST_F(CommandChecks, AWorkerThatSendsNoAnswerPassesNothing) {
  plan_for({contains("b"), command(MetricId::command)});
  RecordResult record;
  record.item.result.unit = 0;
  record.item.result.scores.push_back({0, {{MetricId::must_contain, std::nullopt, true, ""}}, {}});
  auto result = CheckedResult::make(std::move(record), *plan, rules);
  ASSERT_TRUE(result && result->is_done());
  const RecordResult done = result->finish();
  const auto& metrics = done.item.result.scores.front().metrics;
  ASSERT_EQ(metrics.size(), 2u);
  EXPECT_EQ(metrics[0].passed, true);
  EXPECT_TRUE(metrics[1].is_undecided());
  EXPECT_EQ(metrics[1].detail, "the worker sent no answer to check");
}

TEST_F(CommandChecks, AnErrorIsNotChecked) {
  plan_for({command(MetricId::command)});
  RecordResult record;
  record.item.result.error = Error{Reason::refusal, "no"};
  record.item.result.observed = ObservedAnswer{"no", "", "", 0};
  const auto result = CheckedResult::make(std::move(record), *plan, rules);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->runs().empty());
  EXPECT_TRUE(result->is_done());
}

TEST_F(CommandChecks, ARefusalThatIsScoredIsChecked) {
  plan_for({{MetricId::refusal}, command(MetricId::command)});
  RecordResult record;
  UnitResult& refused = record.item.result;
  refused.key = plan->key(0);
  refused.error = Error{Reason::refusal, "declined"};
  refused.scores.push_back({0, {{MetricId::refusal, std::nullopt, true, ""}}, {}});
  refused.observed = ObservedAnswer{"No.", "stop", "m-1", 0};
  auto result = CheckedResult::make(std::move(record), *plan, rules);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->runs().size(), 1u);
  EXPECT_EQ(json::parse(result->runs()[0].input)["answer"], "No.");
  result->take(0, wrote(R"({"pass": true})"));
  const RecordResult done = result->finish();
  ASSERT_EQ(done.item.result.scores.front().metrics.size(), 2u);
  EXPECT_EQ(done.item.result.scores.front().metrics[1].passed, true);
}

}  // namespace sluice::command_checks_test
