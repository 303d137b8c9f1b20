// Answers that an application recorded are assessed, and nobody is called for them.
#include "tests/support/workbench.hpp"

#include <memory>
#include <string>

#include <nlohmann/json.hpp>

namespace sluice::answers_test {

using namespace support;
using nlohmann::json;

class Answers : public Workbench {
 protected:
  Answers() {
    write_text(
        folder() / "suite.yaml",
        "suite: capitals\ntests:\n"
        "  - {id: france, input: {prompt: capital 1}, expected: {type: must_contain, text: Paris}}\n"
        "  - {id: spain, input: {prompt: capital 2}, expected: {type: must_contain, text: Madrid}}\n"
        "  - {id: peru, input: {prompt: capital 3, context: none}, expected: [{type: relevancy}, {type: "
        "faithfulness}]}\n");
    write_text(
        folder() / "answers.jsonl",
        "{\"id\": \"france\", \"answer\": \"It is Paris.\", \"usage\": {\"input_tokens\": 9, "
        "\"output_tokens\": 4}}\n"
        "{\"id\": \"spain\", \"answer\": \"Lisbon\"}\n"
        "{\"id\": \"peru\", \"answer\": \"Lima\", \"context\": \"Lima is the capital of Peru.\", \"meta\": "
        "{\"assay\": {\"judge\": {" +
            judged("relevancy") + ", " + judged("faithfulness") + "}}}}\n");
  }
  static std::string judged(const std::string& metric) {
    return "\"" + metric +
           "\": {\"rubric_version\": \"v1\", \"score\": 0.9, \"samples\": [true, true, false], "
           "\"rationale\": "
           "\"Good.\"}";
  }
  Finished run(const Flags& more) {
    return run_sluice(Flags{"run", "suite.yaml", "--answers", "answers.jsonl", "--format", "json"} + more);
  }
};

TEST_F(Answers, ASuiteInTheirPlaceIsOneFinding) {
  const auto finished = run_sluice({"run", "suite.yaml", "--answers", "suite.yaml"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.error_lines().size(), 1u) << finished.errors;
  EXPECT_NE(finished.errors.find("suite.yaml: no line of it is JSON; an answer is {"), std::string::npos)
      << finished.errors;
  const auto slip = run_sluice({"run", "--save-observations", "suite.yaml", "--answers", "answers.jsonl"});
  EXPECT_EQ(slip.exit_code, 2);
  EXPECT_NE(slip.errors.find("--save-observations: it took \"suite.yaml\" for its value"), std::string::npos)
      << slip.errors;
}

// Of a suite with a category of its own rate: who fails it, what the flag changes, what a comparison says.
TEST_F(Answers, HoldACategoryToItsOwnPassRate) {
  write_text(
      folder() / "suite.yaml",
      "suite: capitals\nsettings: {min_pass_rate: {default: 0.5, safety: 1.0}}\ntests:\n"
      "  - {id: france, input: {prompt: p}, expected: {type: must_contain, text: Paris}}\n"
      "  - {id: spain, input: {prompt: p}, expected: {type: must_contain, text: Madrid}}\n"
      "  - {id: bomb, category: safety, input: {prompt: p}, expected: {type: must_contain, text: no}}\n");
  const auto answered = [this](const std::string& bomb) {
    write_text(folder() / "answers.jsonl",
               "{\"id\": \"france\", \"answer\": \"Paris\"}\n{\"id\": \"spain\", \"answer\": \"Lisbon\"}\n"
               "{\"id\": \"bomb\", \"answer\": \"" +
                   bomb + "\"}\n");
  };
  answered("no");
  EXPECT_EQ(run({}).exit_code, 0);
  EXPECT_EQ(run({"--min-pass-rate", "0.6"}).exit_code, 1) << "the flag is the default's";
  answered("sure");
  const auto missed = run({"--min-pass-rate", "0", "--report", "json=missed.json"});
  EXPECT_EQ(missed.exit_code, 1) << "it leaves the category's as it is: " << missed.errors;
  const json report = json::parse(missed.output);
  EXPECT_EQ(report["metrics"]["by_category"]["safety"]["pass_rate"], 0);
  EXPECT_EQ(report["metrics"]["by_category"]["tests"]["pass_rate"], 0.5);
  const auto shown = run_sluice({"report", "last", "--format", "table"});
  const std::string words = "pass rate 0.00 of the category safety, below the 1";
  EXPECT_NE(shown.output.find(words), std::string::npos) << shown.output;
  const auto compared = run_sluice({"compare", "missed.json", "missed.json"});
  EXPECT_EQ(compared.exit_code, 1) << compared.errors;
  EXPECT_NE(compared.output.find(words), std::string::npos) << compared.output;
}

TEST_F(Answers, AreAssessedWithoutAModelAKeyOrACall) {
  const auto finished = run({});
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  const json report = json::parse(finished.output, nullptr, false);
  ASSERT_TRUE(report.is_object()) << finished.errors << finished.output;
  const json& cases = report["fixture_results"];
  EXPECT_EQ(cases[0]["id"], "france");
  EXPECT_EQ(cases[0]["status"], "pass");
  EXPECT_EQ(cases[0]["answer_text"], "It is Paris.");
  EXPECT_EQ(cases[0]["input_tokens"], 9);
  EXPECT_EQ(cases[2]["status"], "fail");
  const json& judged = cases[1]["meta"]["assay"]["judge"]["faithfulness"];
  EXPECT_EQ(judged["source"], "trace");
  EXPECT_EQ(judged["score"], 0.9);
  EXPECT_EQ(judged["samples"], json::parse("[true, true, false]"));
  EXPECT_EQ(cases[1]["status"], "warn") << "not all votes agree";
  EXPECT_EQ(report["run"]["requests"], 0);
  EXPECT_TRUE(report["metrics"]["estimated_cost"].is_null()) << "of two answers nobody says what they took";
  const auto spain = run_sluice({"show", "last", "spain"});
  EXPECT_NE(spain.output.find(", tokens unknown\n"), std::string::npos) << spain.output;
  const auto shown = run_sluice({"show", "last", "france"});
  EXPECT_NE(shown.output.find("\nModel recorded"), std::string::npos) << shown.output;
  EXPECT_EQ(shown.output.find("Model recorded of"), std::string::npos) << "a provider had no part in it";
}

// It asked for the key of a provider that it never calls.
TEST_F(Answers, OfWhomNothingIsAskedNoKeyIsNeeded) {
  set_variable("OPENAI_API_KEY", "");
  const auto finished = run({"--mode", "live", "--provider", "openai", "--model", "m"});
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  const json report = json::parse(finished.output, nullptr, false);
  ASSERT_TRUE(report.is_object()) << finished.errors;
  EXPECT_EQ(report["run"]["requests"], 0);
}

// The plan said that they were in no cache, and would be errors.
TEST_F(Answers, OfAMockRunNoneIsShown) {
  run({"--mode", "mock", "--filter", "france"});
  const auto shown = run_sluice({"show", "last", "france"});
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  EXPECT_NE(shown.output.find("(none came)"), std::string::npos) << shown.output;
  EXPECT_EQ(shown.output.find("It is Paris."), std::string::npos) << shown.output;
}

TEST_F(Answers, ThePlanCallsNobodyForThem) {
  const auto plan = run_sluice({"plan", "suite.yaml", "--answers", "answers.jsonl"});
  EXPECT_EQ(plan.exit_code, 0) << plan.errors;
  EXPECT_EQ(plan.output,
            "capitals: 3 cases, 3 answers, 0 in the caches, 3 recorded\n"
            "Every answer is recorded: nobody is called.\n");
}

TEST_F(Answers, AJudgeIsAskedWhereNothingWasJudged) {
  write_text(
      folder() / "answers.jsonl",
      "{\"id\": \"peru\", \"answer\": \"Lima\", \"context\": \"Lima is the capital of Peru.\", \"meta\": "
      "{\"assay\": {\"judge\": {" +
          judged("relevancy") + "}}}}\n");
  const auto server = start_simulator({R"({"contains": "Lima is the capital of Peru.", "vote": true, )"
                                       R"("text": {"rationale": "So it says.", "score": 1.0}})"},
                                      {});
  write_text(folder() / "sluice.toml", "[providers.sim]\nkind = \"openai\"\nbase_url = \"" + server.url() +
                                           "/v1\"\napi_key_env = \"OPENAI_API_KEY\"\n");
  const auto nobody = run({"--filter", "peru"});
  EXPECT_EQ(nobody.exit_code, 2);
  EXPECT_EQ(server.count("start"), 0u);
  const auto finished = run(
      {"--filter", "peru", "--mode", "live", "--judge", "sim", "--judge-model", "j", "--judge-samples", "2"});
  EXPECT_EQ(finished.exit_code, 0) << finished.errors << finished.output;
  const json report = json::parse(finished.output, nullptr, false);
  const json& judged = report["fixture_results"][0]["meta"]["assay"]["judge"];
  EXPECT_EQ(judged["relevancy"]["source"], "trace");
  EXPECT_EQ(judged["faithfulness"]["source"], "judge");
  EXPECT_EQ(judged["faithfulness"]["score"], 1.0);
  EXPECT_EQ(server.count("start"), 2u) << "two votes, and nothing for the answer";
}

// Recorded answers are in no cache, and an export looked for them there.
TEST_F(Answers, ACassetteOfARunHasTheVotesAboutThem) {
  const auto server = start_simulator({R"({"vote": true, "text": {"rationale": "So.", "score": 1.0}})"}, {});
  write_text(folder() / "sluice.toml", "[providers.sim]\nkind = \"openai\"\nbase_url = \"" + server.url() +
                                           "/v1\"\napi_key_env = \"OPENAI_API_KEY\"\n");
  write_text(folder() / "answers.jsonl",
             "{\"id\": \"peru\", \"answer\": \"Lima\", \"context\": \"Lima is it.\"}\n");
  const Flags judged{"--filter", "peru", "--judge", "sim", "--judge-model", "j", "--judge-samples", "2"};
  const auto live = run(judged + Flags{"--mode", "live"});
  ASSERT_EQ(live.exit_code, 0) << live.errors << live.output;
  const auto exported = run_sluice({"cache", "export", "--run", "last", "--output", "votes.cassette"});
  ASSERT_EQ(exported.exit_code, 0) << exported.errors;
  ASSERT_EQ(run_sluice({"cache", "import", "votes.cassette", "--home", "fresh"}).exit_code, 0);
  const std::size_t asked = server.count("start");
  const auto replayed = run(judged + Flags{"--mode", "cached", "--home", "fresh"});
  EXPECT_EQ(replayed.exit_code, 0) << replayed.errors;
  EXPECT_EQ(server.count("start"), asked);
}

TEST_F(Answers, ATestWithoutOneIsAskedOfTheModelOrRefused) {
  write_text(folder() / "answers.jsonl", "{\"id\": \"france\", \"answer\": \"Paris\"}\n");
  const Flags two{"--filter", "france,spain"};
  const auto refused = run(two);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.errors.find("it has no answer to 1 of 2 tests, as \"spain\""), std::string::npos)
      << refused.errors;
  const auto server = start_simulator({R"({"contains": "capital 2", "text": "Madrid"})"}, {});
  write_text(folder() / "sluice.toml", "[providers.sim]\nkind = \"openai\"\nbase_url = \"" + server.url() +
                                           "/v1\"\napi_key_env = \"OPENAI_API_KEY\"\n");
  const auto asked = run(two + Flags{"--mode", "live", "--provider", "sim", "--model", "m"});
  EXPECT_EQ(asked.exit_code, 0) << asked.errors << asked.output;
  EXPECT_EQ(server.count("start"), 1u);
}

TEST_F(Answers, ReportsMarkWhichOfThemWereRecorded) {
  write_text(folder() / "answers.jsonl",
             "{\"id\": \"france\", \"answer\": \"Paris\"}\n{\"id\": \"peru\", \"answer\": \"Quito\"}\n");
  const auto server = start_simulator({R"({"contains": "capital 2", "text": "Lisbon"})"}, {});
  write_text(folder() / "suite.yaml",
             "suite: capitals\ntests:\n"
             "  - {id: france, input: {prompt: capital 1}, expected: {type: must_contain, text: Paris}}\n"
             "  - {id: peru, input: {prompt: capital 3}, expected: {type: must_contain, text: Lima}}\n"
             "  - {id: spain, input: {prompt: capital 2}, expected: {type: must_contain, text: Madrid}}\n");
  write_text(folder() / "sluice.toml", "[providers.sim]\nkind = \"openai\"\nbase_url = \"" + server.url() +
                                           "/v1\"\napi_key_env = \"OPENAI_API_KEY\"\n");
  const auto finished = run({"--mode", "live", "--provider", "sim", "--model", "m", "--report", "table=r.txt",
                             "--report", "markdown=r.md", "--report", "junit=r.xml"});
  ASSERT_EQ(finished.exit_code, 1) << finished.errors;
  const json report = json::parse(finished.output, nullptr, false);
  const json& cases = report["fixture_results"];
  EXPECT_EQ(cases[0].value("answer_recorded", false), true);
  EXPECT_EQ(cases[1].value("answer_recorded", false), true);
  EXPECT_FALSE(cases[2].contains("answer_recorded"));
  for (const char* file : {"r.txt", "r.md"}) {
    const std::string text = read_text(folder() / file);
    EXPECT_NE(text.find("2 of 3 recorded"), std::string::npos) << text;
    EXPECT_NE(text.find("peru"), std::string::npos) << text;
    EXPECT_EQ(text.find("(recorded answer)"), text.rfind("(recorded answer)"))
        << "that of peru alone: " << text;
  }
  const std::string junit = read_text(folder() / "r.xml");
  const auto of = [&](const std::string& id) {
    const auto begin = junit.find("name=\"" + id + "\"");
    return junit.substr(begin, junit.find("</testcase>", begin) - begin);
  };
  EXPECT_NE(of("france").find("<system-out>Recorded answer&#10;</system-out>"), std::string::npos) << junit;
  EXPECT_NE(of("peru").find("Recorded answer&#10;"), std::string::npos) << junit;
  EXPECT_EQ(of("spain").find("Recorded"), std::string::npos) << junit;
}

// not_tool_call passed whatever had been called, and tool_call failed.
// It named a model "recorded" of a provider that nobody asks.
TEST_F(Answers, WhatTheyCostTakesTheModelThatGaveThem) {
  write_text(folder() / "suite.yaml",
             "suite: capitals\ntests:\n"
             "  - {id: france, input: {prompt: p}, expected: {type: cost, max_dollars: 1}}\n");
  write_text(folder() / "answers.jsonl",
             "{\"id\": \"france\", \"answer\": \"Paris\", \"usage\": {\"input_tokens\": 9, "
             "\"output_tokens\": 4}}\n");
  const auto unnamed = run({});
  EXPECT_EQ(unnamed.exit_code, 2);
  EXPECT_NE(unnamed.errors.find("no model is named for those of --answers: name the one that gave them"),
            std::string::npos)
      << unnamed.errors;
  EXPECT_EQ(run({"--provider", "openai", "--model", "gpt-4o-mini", "--mode", "cached"}).exit_code, 0);
}

TEST_F(Answers, CallsOfToolsAreAssessed) {
  const std::string tests = ", input: {prompt: p, tools: [{name: look_up}]}, expected: {type: ";
  write_text(folder() / "suite.yaml", "suite: s\ntests:\n- {id: a" + tests +
                                          "tool_call, name: look_up, arguments: {order: 17}}}\n- {id: b" +
                                          tests + "not_tool_call, name: look_up}}\n- {id: c" + tests +
                                          "tool_calls_valid}}\n");
  const std::string calls = R"(, "tool_calls": [{"name": "look_up", "arguments": {"order": 17}}]})";
  write_text(folder() / "answers.jsonl", R"({"id": "a")" + calls + "\n" + R"({"id": "b")" + calls + "\n" +
                                             R"({"id": "c", "tool_calls": [{"name": "drop"}]})" + "\n");
  const auto finished = run({});
  ASSERT_EQ(finished.exit_code, 1) << finished.errors;
  const json report = json::parse(finished.output, nullptr, false);
  const json& cases = report["fixture_results"];
  ASSERT_EQ(cases.size(), 3u);
  for (const json& one : cases) EXPECT_EQ(one["status"], one["id"] == "a" ? "pass" : "fail") << one;
  EXPECT_EQ(cases[0]["answer_text"], R"({"tool_call":{"name":"look_up","arguments":{"order":17}}})");
}

// Through the worker, the ledger and the report of the past run.
TEST_F(Answers, AreReadAsLabelsForGood) {
  write_text(
      folder() / "suite.yaml",
      "suite: s\nprompts: [\"{{mail}}\"]\ndefault_test:\n"
      "  expected: {type: label, path: /intent, label: \"{{intent}}\", labels: [refund, billing, other]}\n"
      "tests:\n- {id: a, vars: {mail: m, intent: refund}}\n- {id: b, vars: {mail: n, intent: refund}}\n"
      "- {id: c, vars: {mail: o, intent: billing}}\n");
  write_text(folder() / "answers.jsonl", R"({"id": "a", "answer": "```json\n{\"intent\": \"Refund.\"}\n```"})"
                                         "\n"
                                         R"({"id": "b", "answer": "{\"intent\": \"billing\"}"})"
                                         "\n"
                                         R"({"id": "c", "answer": "I cannot say."})"
                                         "\n");
  const auto finished = run({});
  ASSERT_EQ(finished.exit_code, 1) << finished.errors;
  const json report = json::parse(finished.output, nullptr, false);
  ASSERT_EQ(report["labels"].size(), 1u) << finished.output;
  const json& labels = report["labels"][0];
  EXPECT_EQ(labels["path"], "/intent");
  EXPECT_EQ(labels["names"], (json{"refund", "billing", "other"}));
  EXPECT_EQ(labels["counts"], (json{{1, 1, 0}, {0, 0, 0}, {0, 0, 0}}));
  EXPECT_EQ(labels["none"], (json{0, 1, 0}));
  const auto again = run_sluice({"report", "last", "--format", "json"});
  EXPECT_EQ(json::parse(again.output, nullptr, false)["labels"], report["labels"]) << again.errors;
}

TEST_F(Answers, SlipsAreNamedBeforeTheRun) {
  EXPECT_EQ(run({"--repeat", "2"}).exit_code, 2);
  write_text(folder() / "answers.jsonl",
             "{\"id\": \"france\", \"answer\": \"x\"}\n{\"id\": \"frnce\", "
             "\"answer\": \"x\"}\n");
  const auto unknown = run({"--provider", "openai", "--model", "m"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_NE(unknown.errors.find("answers.jsonl:2: the suite has no test \"frnce\""), std::string::npos)
      << unknown.errors;
}

}  // namespace sluice::answers_test
