// Checks of a suite that run programs, with real processes on both sides (docs/metrics.md#commands).
#include "tests/support/report_text.hpp"
#include "tests/support/wait.hpp"
#include "tests/support/workbench.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::command_check_runs_test {

using namespace support;
using nlohmann::json;

class CommandChecks : public Workbench {
 protected:
  void SetUp() override {
    write_script("paris.sh",
                 "case \"$(cat)\" in\n"
                 "*'\"answer\": \"It is Paris'*) echo '{\"pass\": true, \"score\": 0.9}' ;;\n"
                 "*) echo '{\"pass\": false, \"score\": 0.2, \"reason\": \"no Paris\"}' ;;\n"
                 "esac\n");
  }
  void write_script(const std::string& name, const std::string& script) {
    write_text(folder() / name, "#!/bin/sh\n" + script);
    std::filesystem::permissions(folder() / name, std::filesystem::perms::owner_all);
  }
  SimulatorProcess start_server() {
    return start_server({R"({"contains": "France", "text": "It is Paris."})",
                         R"({"contains": "Peru", "text": "It is Lima."})"});
  }
  SimulatorProcess start_server(const std::vector<std::string>& rules) {
    auto server = start_simulator(rules, {});
    write_text(folder() / "sluice.toml", "[providers.sim]\nkind = \"openai\"\nbase_url = \"" + server.url() +
                                             "/v1\"\napi_key_env = \"\"\n");
    return server;
  }
  static std::string test(const std::string& id, const std::string& country, const std::string& expected) {
    return "- {id: " + id + ", input: {prompt: 'Capital of " + country + "?'}, expected: " + expected + "}\n";
  }
  void write_suite(const std::string& tests) {
    write_text(folder() / "suite.yaml", "suite: s\ntests:\n" + tests);
  }
  Finished run(const Flags& flags = {}) {
    return run_sluice(Flags{"run", "suite.yaml", "--provider", "sim", "--model", "m", "--format", "json"} +
                      flags);
  }
  static std::map<std::string, std::string> statuses(const Finished& finished) {
    std::map<std::string, std::string> by_id;
    const json report = json::parse(finished.output, nullptr, false);
    if (!report.is_object()) return by_id;
    for (const json& one : report["fixture_results"]) by_id[one["id"]] = one["status"];
    return by_id;
  }
  static json case_of(const Finished& finished, const std::string& id) {
    const json report = json::parse(finished.output, nullptr, false);
    if (!report.is_object()) return {};
    for (const json& one : report["fixture_results"]) {
      if (one["id"] == id) return one;
    }
    return {};
  }
};

const std::string paris = "{type: command, command: [./paris.sh]}";

TEST_F(CommandChecks, PassAndFailAsTheirProgramsSayAlsoOutOfTheCache) {
  const auto server = start_server();
  write_suite(
      test("france", "France", paris) + test("peru", "Peru", paris) +
      test("not", "Peru", "{type: not_command, command: [./paris.sh]}") +
      test("score", "France", "{type: command_score, command: [./paris.sh], min_score: 0.95}") +
      test("group", "Peru",
           "{type: all_of, pass_mark: 0.7, of: [{type: contains, text: Lima, weight: 3}, " + paris + "]}"));
  const std::map<std::string, std::string> expected{
      {"france", "pass"}, {"group", "pass"}, {"not", "pass"}, {"peru", "fail"}, {"score", "fail"}};
  const auto live = run({"--mode", "live"});
  EXPECT_EQ(statuses(live), expected) << live.errors;
  EXPECT_EQ(live.exit_code, 1);
  const auto cached = run({"--mode", "cached", "--repeat", "1", "--perturb", "none"});
  EXPECT_EQ(statuses(cached), expected) << cached.errors;
  EXPECT_NE(case_of(live, "peru").dump().find("score 0.2: no Paris"), std::string::npos) << live.output;
  EXPECT_EQ(case_of(live, "peru")["answer_text"], "It is Lima.");
}

TEST_F(CommandChecks, ArePinnedByABaselineAsOthersAre) {
  const auto server = start_server();
  write_suite(test("france", "France", "[" + paris + ", {type: command_score, command: [./paris.sh]}]") +
              test("peru", "Peru", paris));
  const auto pinned = run({"--mode", "live", "--export-baseline", "base.json"});
  EXPECT_EQ(pinned.exit_code, 1) << pinned.errors;
  const json base = json::parse(read_text(folder() / "base.json"));
  EXPECT_EQ(base["entries"].size(), 3u) << base;
  const auto same = run({"--mode", "cached", "--baseline", "base.json"});
  EXPECT_EQ(same.exit_code, 0) << same.errors;
  EXPECT_EQ(statuses(same).at("peru"), "warn") << "it failed then, too";
  write_script("paris.sh", "cat > /dev/null; echo '{\"pass\": false, \"score\": 0.1}'\n");
  const auto broke = run({"--mode", "cached", "--baseline", "base.json"});
  EXPECT_EQ(broke.exit_code, 1) << broke.errors;
  EXPECT_EQ(statuses(broke).at("france"), "fail");
  EXPECT_NE(broke.output.find("fingerprint_mismatch"), std::string::npos) << "the program is another one";
  EXPECT_NE(broke.output.find("(what differs: the tests or how they are assessed)"), std::string::npos)
      << broke.output;
}

TEST_F(CommandChecks, ThatGiveNoVerdictAreErrorsOfTheirCaseAlone) {
  const auto server = start_server();
  write_script("broken.sh", "echo 'Traceback' >&2; echo 'KeyError: answer' >&2; exit 3\n");
  write_suite(test("broken", "France", "{type: command, command: [./broken.sh]}") +
              test("same", "France", "{type: contains, text: Paris}") +
              test("slow", "Peru", "{type: command, command: [sleep, '600'], timeout_seconds: 0.2}") +
              test("gone", "Peru", "{type: command, command: [no-such-check]}"));
  const auto finished = run({"--mode", "live"});
  const std::map<std::string, std::string> expected{
      {"broken", "error"}, {"gone", "error"}, {"same", "pass"}, {"slow", "error"}};
  EXPECT_EQ(statuses(finished), expected) << finished.errors << finished.output;
  EXPECT_EQ(case_of(finished, "broken")["reason_code"], "check_undecided");
  const auto says = [&](const std::string& id, const std::string& what) {
    const auto shown = run_sluice({"show", "last", id});
    EXPECT_NE(shown.output.find(what), std::string::npos) << shown.output << shown.errors;
  };
  says("broken", "KeyError: answer");
  says("slow", "timeout_seconds would give it more");
  says("gone", "it is looked for in PATH: install it there");
}

TEST_F(CommandChecks, SeeNoSecret) {
  const auto server = start_server();
  write_script("env.sh", "cat > /dev/null; env | grep -c KEY > seen.txt; echo '{\"pass\": true}'\n");
  write_suite(test("t", "France", "{type: command, command: [./env.sh]}"));
  set_variable("OPENAI_API_KEY", "sk-secret-of-the-user");
  EXPECT_EQ(run({"--mode", "live"}).exit_code, 0);
  EXPECT_EQ(read_text(folder() / "seen.txt"), "0\n");
}

TEST_F(CommandChecks, OfFilesThatNobodyNamedAreRefused) {
  const auto server = start_server();
  write_text(
      folder() / "more.jsonl",
      R"({"id":"t","input":{"prompt":"France"},"expected":{"type":"command","command":["./paris.sh"]}})"
      "\n");
  write_text(folder() / "suite.yaml", "suite: s\ntests_file: more.jsonl\n");
  const auto refused = run({"--mode", "live"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.errors.find("more.jsonl:1 has a check that runs a command"), std::string::npos)
      << refused.errors;
  EXPECT_NE(refused.errors.find("--allow-commands"), std::string::npos);
  EXPECT_EQ(server.count("start"), 0u);
  const std::string note =
      "suite.yaml: note: more.jsonl:1 has a check that runs a command, and the file was not named on the "
      "command "
      "line, but by the suite that was: `sluice run` needs --allow-commands";
  const auto validated = run_sluice({"validate-fixtures", "suite.yaml"});
  EXPECT_EQ(validated.exit_code, 0) << validated.errors;
  EXPECT_NE(validated.output.find(note), std::string::npos) << validated.output;
  const Flags plan{"plan", "suite.yaml", "--provider", "sim", "--model", "m"};
  const auto planned = run_sluice(plan);
  EXPECT_EQ(planned.exit_code, 0) << planned.errors;
  EXPECT_NE(planned.errors.find("needs --allow-commands"), std::string::npos) << planned.errors;
  EXPECT_EQ(run_sluice(plan + Flags{"--allow-commands"}).errors.find("--allow-commands"), std::string::npos);
  EXPECT_EQ(run({"--mode", "live", "--allow-commands"}).exit_code, 0);
  // What a run was allowed, another one is not: its suite may have changed.
  const auto again = run_sluice({"rerun", "last"});
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  write_suite(test("peru", "Peru", paris));
  EXPECT_EQ(run({"--mode", "live"}).exit_code, 1) << "its file was named";
  const auto rerun = run_sluice({"rerun", "last"});
  EXPECT_EQ(rerun.exit_code, 2) << rerun.errors;
  EXPECT_NE(rerun.errors.find("by the settings or a past run"), std::string::npos) << rerun.errors;
  EXPECT_EQ(run_sluice({"rerun", "last", "--allow-commands"}).exit_code, 1);
}

TEST_F(CommandChecks, RunAtTheCoordinatorAndNotWhereAWorkerIs) {
  const auto server = start_server();
  write_script("here.sh", "cat > /dev/null; pwd > where.txt; echo '{\"pass\": true}'\n");
  write_suite(test("t", "France", "{type: command, command: [./here.sh]}"));
  auto coordinator = start_sluice({"run", "suite.yaml", "--provider", "sim", "--model", "m", "--mode", "live",
                                   "--listen", "tcp://127.0.0.1:0", "--format", "json"});
  const auto worker = run_worker(endpoint_of(coordinator));
  EXPECT_EQ(worker.exit_code, 0) << worker.errors;
  const auto finished = finish(coordinator);
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  EXPECT_EQ(read_text(folder() / "where.txt"), folder().string() + "\n");
}

TEST_F(CommandChecks, AreKilledWhenTheRunIsInterrupted) {
  const auto server = start_server();
  write_script("slow.sh", "echo begun > begun.txt; sleep 600\n");
  // Such a program has a process group of its own.
  write_suite(
      test("t", "France", "{type: command, command: [timeout, '600', ./slow.sh], timeout_seconds: 600}"));
  auto process = start_sluice(
      {"run", "suite.yaml", "--provider", "sim", "--model", "m", "--mode", "live", "--format", "json"});
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(folder() / "begun.txt"); }));
  const auto began = std::chrono::steady_clock::now();
  process.signal(SIGINT);
  const auto finished = finish(process);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(20))
      << "the drain timeout is 25 s";
  EXPECT_EQ(finished.exit_code, 2) << finished.errors;
  const json report = json::parse(finished.output, nullptr, false);
  ASSERT_TRUE(report.is_object()) << finished.output;
  EXPECT_GT(report["run"]["paid_input_tokens"], 0) << "the answer was paid for";
  EXPECT_NE(finished.errors.find("interrupted"), std::string::npos) << finished.errors;
  const std::string id = report["run_id"];
  const std::string command = "sluice run --resume " + id.substr(0, 8) + " --allow-commands";
  EXPECT_NE(finished.errors.find("continue with `" + command + "`"), std::string::npos) << finished.errors;
  const auto shown = run_sluice({"runs", "show", "last"});
  EXPECT_NE(shown.output.find(command + "\n"), std::string::npos) << shown.output;
}

// In a suite with a command anywhere, whatever came after the signal was dropped; under --refresh it was paid
// for again.
TEST_F(CommandChecks, WhatCallsUnderWayBringAfterASignalIsCountedAndPaidForOnce) {
  const auto server = start_server({R"({"latency_ms": 1500, "text": "It is Paris."})"});
  constexpr std::size_t count = 12;
  std::string tests = test("command", "France", paris);
  for (std::size_t i = 1; i < count; ++i)
    tests += test("t" + std::to_string(i), "Land " + std::to_string(i), "{type: contains, text: Paris}");
  write_suite(tests);
  const auto passed = [](const Finished& finished) {
    const auto by_id = statuses(finished);
    return static_cast<std::size_t>(
        std::ranges::count(by_id, std::string("pass"), [](const auto& one) { return one.second; }));
  };
  auto process = start_sluice({"run", "suite.yaml", "--provider", "sim", "--model", "m", "--mode", "live",
                               "--refresh", "--format", "json"});
  ASSERT_TRUE(eventually([&] { return server.count("start") > 0; })) << process.errors();
  process.signal(SIGINT);
  const auto interrupted = finish(process);
  EXPECT_EQ(interrupted.exit_code, 2) << interrupted.errors;
  EXPECT_EQ(passed(interrupted), server.count("start")) << interrupted.errors << interrupted.output;
  const auto resumed = run_sluice({"run", "--resume", "--allow-commands", "--format", "json"});
  EXPECT_EQ(passed(resumed), count) << resumed.errors;
  EXPECT_EQ(server.count("start"), count);
}

// Who validated a suite was told by the run.
TEST_F(CommandChecks, AreWarnedOfByWhoeverValidatesTheSuiteAndAreNotRun) {
  write_suite(test("gone", "Peru", "{type: any_of, of: [{type: command, command: [no-such-check]}]}") +
              test("there", "Peru", "[{type: command, command: [sh, -c, 'touch ran']}, " + paris + "]"));
  const auto finished = run_sluice({"validate-fixtures", "suite.yaml"});
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  EXPECT_NE(
      finished.output.find("suite.yaml: warning: the program \"no-such-check\", which checks answers, is "
                           "not in PATH"),
      std::string::npos)
      << finished.output;
  EXPECT_NE(finished.output.find(", 1 warning\n"), std::string::npos) << finished.output;
  EXPECT_FALSE(std::filesystem::exists(folder() / "ran"));
}

TEST_F(CommandChecks, AreWarnedOfBeforeTheFirstCallWhereTheirProgramIsMissing) {
  write_suite(test("gone", "Peru", "{type: any_of, of: [{type: command, command: [no-such-check]}]}") +
              test("there", "Peru", "[{type: command, command: [sh, -c, 'exit 1']}, " + paris + "]"));
  const auto finished =
      run_sluice({"run", "suite.yaml", "--mode", "mock", "--provider", "openai", "--model", "m"});
  const std::string missing = ", which checks answers, is not in PATH";
  EXPECT_NE(finished.errors.find("the program \"no-such-check\"" + missing), std::string::npos)
      << finished.errors;
  EXPECT_EQ(finished.errors.find(missing), finished.errors.rfind(missing)) << "and of no other";
}

}  // namespace sluice::command_check_runs_test
