// A run that stopped goes on where it was: nothing is lost, and nothing that is in the ledger or at a worker
// is paid for again.

#include "tests/support/ledger_rows.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <string>
#include <thread>

#include <nlohmann/json.hpp>

namespace sluice::resume_test {

using namespace support;
using nlohmann::json;

class Resume : public Workbench {
 protected:
  static constexpr std::size_t answered = 12;

  void SetUp() override {
    write_text(folder() / "sluice.toml",
               "[providers.openai]\ncache_identity = \"one provider on two ports\"\n");
  }
  /// Twelve cases are answered at once and the others never.
  SimulatorProcess start_stalling_simulator() {
    return start_simulator({R"({"latency_ms": 0, "times": 12})", R"({"fault": "hang"})"}, {});
  }
  static Flags at(const SimulatorProcess& simulator) { return {"--base-url", simulator.url() + "/v1"}; }

  /// A run that is killed with twelve results in the ledger and none in a cache.
  void kill_a_run(const Flags& more = {"--no-cache"}) {
    const auto stalling = start_stalling_simulator();
    auto run = start_sluice(live(stalling) + more);
    ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << run.errors();
    run.signal(SIGKILL);
    ASSERT_EQ(run.wait(), 128 + SIGKILL);
  }
  json listed() {
    const auto runs = run_sluice({"runs", "list", "--format", "json"});
    EXPECT_EQ(runs.exit_code, 0) << runs.errors;
    return json::parse(runs.output, nullptr, false);
  }
  /// How often each request was answered.
  static std::map<std::string, int> answers_in(SimulatorProcess& simulator) {
    std::map<std::string, int> answers;
    for (const auto& event : simulator.final_events()) {
      if (event.kind == "answer") ++answers[event.content];
    }
    return answers;
  }
};

TEST_F(Resume, AKilledRunGoesOnFromTheLedgerWhateverBecameOfTheCaches) {
  kill_a_run();
  const json runs = listed();
  ASSERT_EQ(runs.size(), 1u);
  const std::string id = runs[0]["run_id"];
  EXPECT_EQ(runs[0]["under_way"], false);
  EXPECT_EQ(runs[0]["resume"], "sluice run --resume " + id.substr(0, 8));
  const auto table = run_sluice({"runs", "list"});
  EXPECT_NE(table.output.find("`sluice run --resume " + id.substr(0, 8) + "` goes on with it"),
            std::string::npos)
      << table.output;

  const auto simulator = start_simulator();
  const auto resumed = run_sluice(Flags{"run", "--resume"} + at(simulator));
  EXPECT_EQ(resumed.exit_code, 1) << resumed.errors;
  EXPECT_EQ(comparable_part(resumed.output), reference_report());
  const auto report = parse_report(resumed.output);
  EXPECT_EQ(report["run_id"], id) << "it is the same run";
  EXPECT_EQ(simulator.count("start"), fixture_count() - answered);
  EXPECT_EQ(report["run"]["requests"], fixture_count()) << "what the first part spent counts";
  EXPECT_NE(resumed.errors.find("going on with run " + id.substr(0, 8) + " of /"), std::string::npos)
      << "which suite it is of: " << resumed.errors;
  EXPECT_NE(resumed.errors.find(": 12 of "), std::string::npos) << resumed.errors;
  const auto shown = run_sluice({"runs", "show", id, "--format", "json"});
  const json ended = json::parse(shown.output, nullptr, false);
  EXPECT_EQ(ended["verdict"], "fail") << shown.output << shown.errors;
  EXPECT_TRUE(ended["resume"].is_null());

  const auto again = run_sluice(Flags{"run", "--resume"} + at(simulator));
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_NE(again.errors.find("no run is unfinished"), std::string::npos) << again.errors;
  const auto named = run_sluice(Flags{"run", "--resume", id.substr(0, 8)} + at(simulator));
  EXPECT_EQ(named.exit_code, 2);
  EXPECT_NE(named.errors.find("it came to its end"), std::string::npos) << named.errors;
}

// Workers of the last part may be dead: it had waited two minutes for them.
TEST_F(Resume, DoesNotWaitForAsManyWorkersAsBefore) {
  const auto stalling = start_stalling_simulator();
  const Flags fleet{"--no-cache", "--listen", "tcp://127.0.0.1:0", "--expect-workers", "2"};
  auto run = start_sluice(live(stalling) + fleet);
  auto first = start_worker(endpoint_of(run));
  auto second = start_worker(endpoint_of(run));
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << run.errors();
  run.signal(SIGKILL);
  ASSERT_EQ(run.wait(), 128 + SIGKILL);
  for (auto* worker : {&first, &second}) {
    worker->signal(SIGKILL);
    worker->wait();
  }
  const auto simulator = start_simulator();
  auto resumed = start_sluice(Flags{"run", "--resume", "--listen", "tcp://127.0.0.1:0"} + at(simulator));
  auto third = start_worker(endpoint_of(resumed));
  const auto finished = finish(resumed);
  EXPECT_LT(finished.duration, std::chrono::seconds(60)) << finished.errors;
  EXPECT_EQ(comparable_part(finished.output), reference_report());
  third.wait();
}

TEST_F(Resume, ReportsAreGatedAsTheLastPartWas) {
  kill_a_run();
  const auto simulator = start_simulator();
  const auto resumed = run_sluice(Flags{"run", "--resume", "--min-pass-rate", "0.01"} + at(simulator));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
  const auto again = parse_report(run_sluice({"report", "last", "--format", "json"}).output);
  EXPECT_EQ(again["verdict"], parse_report(resumed.output)["verdict"]);
  EXPECT_EQ(again["pass_rate"], parse_report(resumed.output)["pass_rate"]);
  EXPECT_FALSE(again["pass_rate"].is_null());
}

TEST_F(Resume, AnInterruptNamesTheCommandThatGoesOn) {
  const auto stalling = start_stalling_simulator();
  const auto began = std::chrono::steady_clock::now();
  const std::string pins = (folder() / "pins.json").string();
  auto run = start_sluice(
      live(stalling) + Flags{"--drain-timeout", "0", "--export-baseline", pins, "--report", "csv=it's.csv"});
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << run.errors();
  run.signal(SIGINT);
  const auto finished = finish(run);
  EXPECT_EQ(finished.exit_code, 2);
  std::this_thread::sleep_for(std::chrono::seconds(2));
  const std::string id = parse_report(finished.output)["run_id"];
  const std::string command = "sluice run --resume " + id.substr(0, 8);
  EXPECT_NE(finished.errors.find("sluice: continue with `" + command + " --export-baseline " + pins +
                                 " --report 'csv=it'\\''s.csv'`"),
            std::string::npos)
      << finished.errors;

  const auto simulator = start_simulator();
  const auto resumed = run_sluice(Flags{"run", "--resume", id.substr(0, 8)} + at(simulator));
  EXPECT_EQ(resumed.exit_code, 1) << resumed.errors;
  EXPECT_EQ(comparable_part(resumed.output), reference_report());
  EXPECT_EQ(resumed.errors.find("continue with"), std::string::npos) << resumed.errors;
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
  const double took =
      parse_report(run_sluice({"report", id, "--format", "json"}).output)["run"]["duration_seconds"];
  EXPECT_GT(took, 0.0);
  EXPECT_LT(took, passed.count() - 2) << "in which nothing ran";
  EXPECT_EQ(parse_report(resumed.output)["run"]["duration_seconds"], took) << "it had that of the last part";
  EXPECT_GT(took, parse_report(finished.output)["run"]["duration_seconds"]);
}

TEST_F(Resume, AChangeIsRefusedWithTheDifference) {
  kill_a_run();
  const auto simulator = start_simulator();
  const auto other = run_sluice(Flags{"run", "--resume", "--temperature", "0.5"} + at(simulator));
  EXPECT_EQ(other.exit_code, 2);
  ASSERT_EQ(other.error_lines().size(), 1u) << other.errors;
  EXPECT_NE(other.errors.find("temperature was 0.1 and is 0.5"), std::string::npos) << other.errors;
  const auto fewer = run_sluice(Flags{"run", "--resume", "--max-fixtures", "3"} + at(simulator));
  EXPECT_EQ(fewer.exit_code, 2);
  EXPECT_NE(fewer.errors.find("and would have 3 now"), std::string::npos) << fewer.errors;
  EXPECT_EQ(simulator.count("start"), 0u);
  // Speed, price and gate are nobody's business.
  const auto resumed =
      run_sluice(Flags{"run", "--resume", "--max-concurrent", "2", "--strict", "--max-tokens", "100000000"} +
                 at(simulator));
  EXPECT_EQ(resumed.exit_code, 1) << resumed.errors;
  EXPECT_EQ(parse_report(resumed.output)["run"]["requests"], fixture_count());
}

TEST_F(Resume, ASuiteThatHasChangedIsRefused) {
  const auto stalling = start_simulator({R"({"fault": "hang"})"}, {});
  write_text(
      folder() / "suite.yaml",
      "suite: s\ntests:\n  - {id: a, input: {prompt: first}, expected: {type: must_contain, text: x}}\n");
  auto run = start_sluice(
      Flags{"run", "suite.yaml", "--mode", "live", "--provider", "openai", "--model", "m"} + at(stalling));
  ASSERT_TRUE(eventually([&] { return stalling.count("start") == 1; })) << run.errors();
  run.signal(SIGKILL);
  run.wait();
  write_text(
      folder() / "suite.yaml",
      "suite: s\ntests:\n  - {id: a, input: {prompt: first}, expected: {type: must_contain, text: y}}\n");
  const auto changed = run_sluice({"run", "suite.yaml", "--resume"});
  EXPECT_EQ(changed.exit_code, 2);
  EXPECT_NE(changed.errors.find("the suite, its expectations, the prompt or the ontology has changed"),
            std::string::npos)
      << changed.errors;
}

TEST_F(Resume, ARunThatIsUnderWayIsNotGoneOnWith) {
  const auto stalling = start_stalling_simulator();
  auto run = start_sluice(live(stalling));
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << run.errors();
  const json runs = listed();
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0]["under_way"], true);
  EXPECT_TRUE(runs[0]["resume"].is_null());
  const std::string id = runs[0]["run_id"];
  const auto named = run_sluice({"run", "--resume", id});
  EXPECT_EQ(named.exit_code, 2);
  EXPECT_NE(named.errors.find("another process works on it right now"), std::string::npos) << named.errors;
  const auto latest = run_sluice({"run", "--resume"});
  EXPECT_EQ(latest.exit_code, 2);
  EXPECT_NE(latest.errors.find("no run is unfinished, but run " + id.substr(0, 8)), std::string::npos)
      << latest.errors;
  run.signal(SIGKILL);
  run.wait();
}

TEST_F(Resume, ABudgetCountsWhatEarlierPartsSpentAndCanBeRaised) {
  constexpr std::uint64_t budget = 12'000;
  const auto simulator = start_simulator();
  const Flags flags{"--no-cache", "--max-output-tokens", "500"};
  const auto paid_by = [](const json& report) {
    return report["run"]["paid_input_tokens"].get<std::uint64_t>() +
           report["run"]["paid_output_tokens"].get<std::uint64_t>();
  };
  const auto cut = parse_report(
      run_sluice(live(simulator) + flags + Flags{"--max-tokens", std::to_string(budget)}).output);
  ASSERT_EQ(cut["reason_code"], "token_budget_spent");
  const auto paid_calls = cut["run"]["requests"].get<std::size_t>();
  const auto same = parse_report(run_sluice({"run", "--resume"}).output);
  ASSERT_EQ(same["reason_code"], "token_budget_spent");
  EXPECT_GE(paid_by(same), paid_by(cut));
  EXPECT_LE(paid_by(same), budget);
  EXPECT_LE(same["run"]["requests"].get<std::size_t>(), paid_calls + 1) << "a smaller case may fit";
  const auto raised = run_sluice({"run", "--resume", "--max-tokens", "100000000"});
  EXPECT_EQ(raised.exit_code, 1) << raised.errors;
  EXPECT_EQ(simulator.count("start"), fixture_count()) << "each case once, in three parts";
  EXPECT_EQ(comparable_part(raised.output), comparable_part(run_sluice(live(simulator) + flags).output));
}

TEST_F(Resume, AReportThatCouldNotBeWrittenIsWrittenWithoutACall) {
  const auto simulator = start_simulator();
  const auto full = run_sluice_into("/dev/full", live(simulator) + Flags{"--no-cache"});
  EXPECT_EQ(full.exit_code, 2);
  // The same command would have failed again.
  EXPECT_NE(full.errors.find("sluice: the run is complete: `sluice report "), std::string::npos)
      << full.errors;
  const auto resumed = run_sluice({"run", "--resume"});
  EXPECT_EQ(resumed.exit_code, 1) << resumed.errors;
  EXPECT_EQ(comparable_part(resumed.output), reference_report());
  EXPECT_EQ(parse_report(resumed.output)["run"]["requests"], fixture_count()) << "those of the first part";
}

// A port that was taken, or a call log that could not be opened, left "cases 0" and "paid tokens 0" of it.
TEST_F(Resume, ASetUpThatFailsLeavesWhatTheLedgerKnowsOfTheRun) {
  const auto simulator = start_simulator();
  ASSERT_EQ(run_sluice_into("/dev/full", live(simulator) + Flags{"--no-cache"}).exit_code, 2);
  const auto shown = [&] { return run_sluice({"runs", "show", "last", "--format", "json"}).output; };
  const auto failed = [&] { return run_sluice({"rerun", "last", "--failed", "--dry-run"}).output; };
  const std::string shown_before = shown();
  const std::string failed_before = failed();
  EXPECT_NE(failed_before.find("fail  "), std::string::npos) << failed_before;
  const auto taken = simulator.url().substr(simulator.url().rfind(':'));
  for (const Flags& flags :
       {Flags{"--call-log", "/nonexistent/x"}, Flags{"--listen", "tcp://127.0.0.1" + taken},
        Flags{"--metrics-listen", taken}}) {
    const auto resumed = run_sluice(Flags{"run", "--resume"} + flags);
    EXPECT_EQ(resumed.exit_code, 2) << resumed.errors;
    EXPECT_EQ(shown(), shown_before) << flags.front();
    EXPECT_EQ(failed(), failed_before) << flags.front();
  }
  const auto resumed = run_sluice({"run", "--resume"});
  EXPECT_EQ(resumed.exit_code, 1) << resumed.errors;
  EXPECT_EQ(comparable_part(resumed.output), reference_report());
}

// The ledger takes no more results: those that it has count, and no other is lost without a word.
TEST_F(Resume, AfterAFullDiskItGoesOnWhereTheLedgerStopped) {
  const auto simulator = start_simulator();
  const Flags flags{"--no-cache", "--repeat", "20"};
  const auto full = run_sluice_with_file_limit(300'000, folder() / "report.json", live(simulator) + flags);
  EXPECT_EQ(full.exit_code, 2) << full.errors;
  const auto advice = full.errors.find("check the space and the permissions of the home");
  ASSERT_NE(advice, std::string::npos) << full.errors;
  EXPECT_EQ(full.errors.find("check the space", advice + 1), std::string::npos) << "once: " << full.errors;
  const auto kept = ledger_rows(home()).size();
  ASSERT_GT(kept, 0u);
  ASSERT_LT(kept, 20 * fixture_count());
  const auto resumed = run_sluice({"run", "--resume"});
  EXPECT_NE(resumed.errors.find(": " + std::to_string(kept) + " of 1,220 "), std::string::npos)
      << resumed.errors;
  EXPECT_EQ(comparable_part(resumed.output), comparable_part(run_sluice(live(simulator) + flags).output));
}

TEST_F(Resume, RepeatsOfAPerturbedRunGoOnToo) {
  const Flags robust{"--repeat", "2", "--max-fixtures", "6", "--perturb", "crlf", "--no-cache"};
  kill_a_run(robust);
  const auto simulator = start_simulator();
  const auto resumed = run_sluice(Flags{"run", "--resume"} + at(simulator));
  ASSERT_NE(resumed.exit_code, 2) << resumed.errors;
  const auto undisturbed = run_sluice(live(simulator) + robust);
  EXPECT_EQ(comparable_part(resumed.output), comparable_part(undisturbed.output));
  EXPECT_EQ(resumed.exit_code, undisturbed.exit_code);
}

TEST_F(Resume, AGradingRunIsRefusedInOneSentence) {
  const auto stalling = start_simulator({R"({"fault": "hang"})"}, {});
  write_text(
      folder() / "suite.yaml",
      "suite: s\ntests:\n  - {id: a, input: {prompt: first}, expected: {type: must_contain, text: x}}\n");
  auto grade =
      start_sluice(Flags{"grade", "suite.yaml", "--mode", "live", "--arm", "old=openai:m1", "--arm",
                         "new=openai:m2", "--baseline", "old", "--candidate", "new", "--judge", "exact"} +
                   at(stalling));
  ASSERT_TRUE(eventually([&] { return stalling.count("start") >= 1; })) << grade.errors();
  grade.signal(SIGKILL);
  grade.wait();
  const auto refused = run_sluice({"run", "--resume", "last"});
  EXPECT_EQ(refused.exit_code, 2);
  ASSERT_EQ(refused.error_lines().size(), 1u) << refused.errors;
  EXPECT_NE(refused.errors.find("it was made by `sluice grade`"), std::string::npos) << refused.errors;
  // `sluice runs list` says that it is unfinished.
  const auto latest = run_sluice({"run", "--resume"});
  EXPECT_NE(latest.errors.find(", which was made by `sluice grade`: that command, given anew, finds"),
            std::string::npos)
      << latest.errors;
}

/// A suite whose solved examples are found by embeddings of a provider, in a run of their own.
class ResumeWithExamples : public Resume {
 protected:
  void write_files(const SimulatorProcess& model, const SimulatorProcess& embedder) {
    const auto provider = [](const std::string& name, const SimulatorProcess& simulator) {
      return "[providers." + name + "]\nkind = \"openai\"\nbase_url = \"" + simulator.url() +
             "/v1\"\napi_key_env = \"OPENAI_API_KEY\"\ncache_identity = \"" + name + "\"\n";
    };
    write_text(folder() / "sluice.toml", provider("sim", model) + provider("embedder", embedder));
    write_text(folder() / "plugins/upgrades/plugin.yaml", "high_floor: 0.9\ndegraded_floor: 0.3\n");
    write_text(folder() / "solved.jsonl",
               R"({"id": "log4j", "input": "Raise log4j to 2.17.", "answer": "done"})"
               "\n");
    write_text(
        folder() / "suite.yaml",
        "suite: upgrades\nexamples: {from: solved.jsonl, plugin: upgrades, task_class: bump}\n"
        "settings: {provider: sim, embedding_provider: embedder, embedding_model: e}\nmodel: m-1\ntests:\n"
        "  - {id: a, input: {prompt: Raise log4j to 2.17.}, expected: {type: must_contain, text: x}}\n"
        "  - {id: b, input: {prompt: Sing me something!}, expected: {type: must_contain, text: x}}\n");
  }
  const Flags run_{"run", "suite.yaml", "--mode", "live", "--format", "json", "--no-cache"};
};

TEST_F(ResumeWithExamples, WhatTheCasesWereShownIsKnown) {
  const auto embedder = start_simulator();
  const auto stalling = start_simulator({R"({"fault": "hang"})"}, {});
  write_files(stalling, embedder);
  auto run = start_sluice(run_);
  ASSERT_TRUE(eventually([&] { return stalling.count("start") == 2; })) << run.errors();
  run.signal(SIGKILL);
  run.wait();
  const auto embedded = embedder.count("start");
  EXPECT_GT(embedded, 0u);
  const auto model = start_simulator({R"({"text": "x"})"}, {});
  write_files(model, embedder);
  const auto resumed = run_sluice({"run", "--resume"});
  EXPECT_EQ(resumed.exit_code, 0) << resumed.errors;
  const auto report = parse_report(resumed.output);
  EXPECT_EQ(report["run"]["requests"], embedded + 2) << "what the run before took counts in every part";
  EXPECT_EQ(embedder.count("start"), embedded) << "nothing is embedded again";
  EXPECT_EQ(comparable_part(resumed.output), comparable_part(run_sluice(run_).output));
}

TEST_F(ResumeWithExamples, TheRunThatFindsThemIsRefusedInOneSentence) {
  const auto embedder = start_simulator({"--outage", "0,600,hang"});
  const auto model = start_simulator();
  write_files(model, embedder);
  auto run = start_sluice(run_);
  ASSERT_TRUE(eventually([&] { return embedder.count("start") == 1; })) << run.errors();
  run.signal(SIGKILL);
  run.wait();
  const auto latest = run_sluice({"run", "--resume"});
  EXPECT_EQ(latest.exit_code, 2);
  EXPECT_NE(latest.errors.find("no run is unfinished"), std::string::npos) << latest.errors;
  const auto named = run_sluice({"run", "--resume", "last"});
  EXPECT_EQ(named.exit_code, 2);
  ASSERT_EQ(named.error_lines().size(), 1u) << named.errors;
  EXPECT_NE(named.errors.find("it only found solved examples for a run that had not begun"),
            std::string::npos)
      << named.errors;
}

// The coordinator alone dies: 11 % of the answered calls were paid again.
TEST_F(Resume, WorkersOutliveTheirCoordinatorAndBringWhatTheyHave) {
  let_all_workers_call();
  auto simulator = start_simulator({"--latency-ms", "400"});
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", "tcp://127.0.0.1:0"});
  const auto endpoint = endpoint_of(coordinator);
  auto first = start_worker(endpoint, {"--name", "w1", "--max-concurrent", "3"});
  auto second = start_worker(endpoint, {"--name", "w2", "--max-concurrent", "3"});
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() >= 4; })) << coordinator.errors();
  ASSERT_TRUE(eventually([&] { return simulator.count("start") > simulator.count("answer"); }));
  coordinator.signal(SIGKILL);
  coordinator.wait();
  auto resumed = start_sluice({"run", "--resume"});
  EXPECT_EQ(endpoint_of(resumed), endpoint) << "where its workers look for it";
  const auto finished = finish(resumed);
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  EXPECT_EQ(comparable_part(finished.output), reference_report());
  EXPECT_EQ(first.wait(), 0) << first.errors();
  EXPECT_EQ(second.wait(), 0) << second.errors();
  for (const auto& [content, times] : answers_in(simulator)) EXPECT_EQ(times, 1) << content;
}

// Both die, and what the worker had stored was in no report yet: another worker paid for it again.
TEST_F(Resume, WhatAKilledWorkerHadStoredIsFoundInItsCache) {
  let_all_workers_call();
  auto simulator = start_simulator({"--latency-ms", "300"});
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", "tcp://127.0.0.1:0"});
  const auto endpoint = endpoint_of(coordinator);
  auto first = start_worker(endpoint, {"--name", "w1", "--max-concurrent", "3"});
  auto second = start_worker(endpoint, {"--name", "w2", "--max-concurrent", "3"});
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() >= 4; })) << coordinator.errors();
  // The coordinator stands still while answers come, so that none of them is committed.
  ASSERT_TRUE(coordinator.stop());
  ASSERT_TRUE(has_logged(first, "the coordinator is silent")) << first.errors();
  ASSERT_TRUE(has_logged(second, "s (--orphan-timeout)")) << second.errors();
  ASSERT_TRUE(eventually([&] { return simulator.count("start") == simulator.count("answer"); }));
  const auto rows = ledger_rows(home()).size();
  EXPECT_GT(simulator.count("answer"), rows);
  for (Process* process : {&coordinator, &first, &second}) {
    process->signal(SIGKILL);
    process->wait();
  }
  auto resumed = start_sluice({"run", "--resume"});
  ASSERT_EQ(endpoint_of(resumed), endpoint);
  // In the other order.
  auto second_again = start_worker(endpoint, {"--name", "w2", "--max-concurrent", "3"});
  auto first_again = start_worker(endpoint, {"--name", "w1", "--max-concurrent", "3"});
  const auto finished = finish(resumed);
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  EXPECT_EQ(comparable_part(finished.output), reference_report());
  for (const auto& [content, times] : answers_in(simulator)) EXPECT_EQ(times, 1) << content;
}

}  // namespace sluice::resume_test
