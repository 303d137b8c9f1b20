// Where answers come from: live through the cache, cached without a call, --refresh and --no-cache.

#include "tests/support/raw_worker.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <csignal>
#include <fstream>
#include <vector>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

namespace sluice {
namespace {

using namespace support;
using nlohmann::json;

class Cache : public Workbench {
 protected:
  // Runs, and returns the object `run` of a report that equals the reference in all else.
  json facts_of_run(const Flags& flags) {
    const auto finished = run_sluice(flags);
    EXPECT_EQ(finished.exit_code, 1) << finished.errors;
    EXPECT_EQ(comparable_part(finished.output), reference_report());
    const auto report = parse_report(finished.output);
    return report.is_object() ? report["run"] : json::object();
  }

  /// Has a cache of the home as another process would. Returns what to close.
  int hold(const std::string& cache) const {
    const auto file = home() / "cache" / cache / "LOCK.sluice";
    const int lock = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    EXPECT_GE(lock, 0) << file;
    EXPECT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
    return lock;
  }

  static json result_of(const json& report, const std::string& id) {
    for (const auto& result : report["fixture_results"]) {
      if (result["id"] == id) return result;
    }
    return {};
  }
};

TEST_F(Cache, CachedRepeatsWhatLiveFoundWithoutACall) {
  const auto simulator = start_simulator();
  const auto filled = facts_of_run(live(simulator));
  EXPECT_EQ(filled["requests"], fixture_count());
  EXPECT_EQ(filled["cache_hits"], 0);
  EXPECT_EQ(filled["mode"], "live");
  const auto replayed = facts_of_run(cached(simulator));
  EXPECT_EQ(replayed["requests"], 0);
  EXPECT_EQ(replayed["cache_hits"], fixture_count());
  EXPECT_EQ(replayed["paid_input_tokens"], 0);
  EXPECT_EQ(replayed["mode"], "cached");
}

TEST_F(Cache, CachedNeedsNeitherProviderNorKey) {
  auto simulator = start_simulator();
  const auto flags = cached(simulator);
  EXPECT_EQ(facts_of_run(live(simulator))["requests"], fixture_count());
  simulator.final_events();  // The provider is gone.
  set_variable("OPENAI_API_KEY", "");
  EXPECT_EQ(facts_of_run(flags)["cache_hits"], fixture_count());
}

// Each case had the run's whole sentence, which counts them and names the first ones.
TEST_F(Cache, CachedSaysOfEachCaseWhatItLacks) {
  const auto simulator = start_simulator();
  const auto missed =
      run_sluice(cached(simulator) + Flags{"--report", "json=" + (folder() / "missed.json").string()});
  EXPECT_EQ(missed.exit_code, 2) << missed.output;
  EXPECT_EQ(missed.error_lines().size(), 1u) << missed.errors;
  const json report = json::parse(read_text(folder() / "missed.json"), nullptr, false);
  ASSERT_EQ(report["run"]["errors"].size(), fixture_count()) << report["run"];
  for (const auto& message : report["run"]["errors"])
    EXPECT_EQ(message, "no cache holds all that this case needs; `--mode live` asks for it");
  EXPECT_NE(report["run"]["cut_short"].get<std::string>().find("no cache holds the answers of "),
            std::string::npos);
}

// Each had the cache to itself, and the others said that no cache held the answers: `--mode live` would ask.
TEST_F(Cache, CachedRunsShareTheCacheWithEachOtherAndWithALiveRun) {
  const auto simulator = start_simulator();
  const auto flags = cached(simulator);
  facts_of_run(live(simulator));
  const auto stalling = start_simulator({R"({"fault": "hang"})"}, {});
  auto busy = start_sluice(live(stalling));
  ASSERT_TRUE(eventually([&] { return stalling.count("start") > 0; })) << busy.errors();
  std::vector<Process> runs;
  for (int i = 0; i < 3; ++i) runs.push_back(start_sluice(flags));
  for (auto& run : runs) {
    const auto finished = finish(run);
    EXPECT_EQ(finished.exit_code, 1) << finished.errors;
    EXPECT_EQ(comparable_part(finished.output), reference_report());
  }
  EXPECT_FALSE(std::filesystem::exists(home() / "cache" / "worker-1")) << "a replay stores nothing";
  // What it lacks may be what the other one stores now: nobody is told to pay.
  const auto lacking = run_sluice(with(flags, "--model", "another"));
  EXPECT_EQ(lacking.exit_code, 2) << lacking.output;
  EXPECT_NE(lacking.errors.find("another process has the cache " + (home() / "cache" / "worker-0").string() +
                                " open"),
            std::string::npos)
      << lacking.errors;
  EXPECT_NE(lacking.errors.find("run again when it has ended"), std::string::npos) << lacking.errors;
  const std::string all = std::to_string(fixture_count());
  EXPECT_NE(lacking.errors.find("all that is needed for " + all + " of " + all + " cases"), std::string::npos)
      << lacking.errors;
  EXPECT_EQ(lacking.errors.find("--mode live"), std::string::npos) << lacking.errors;
  busy.signal(SIGKILL);
  busy.wait();
}

// It paid again without a word.
TEST_F(Cache, LiveNamesACacheThatAnotherProcessHolds) {
  const auto simulator = start_simulator();
  facts_of_run(live(simulator));
  const auto held = home() / "cache" / "worker-0";
  const int lock = hold("worker-0");
  const std::string words = "the cache " + held.string() + " is in use by another process, and what it alone";
  const auto refreshed = run_sluice(live(simulator) + Flags{"--refresh"});
  EXPECT_EQ(refreshed.errors.find(words), std::string::npos) << refreshed.errors;
  // Recorded answers are looked for in no cache.
  write_text(folder() / "s.yaml",
             "suite: s\ntests:\n- {id: a, input: {prompt: p}, expected: {type: exact_match, text: x}}\n");
  write_text(folder() / "a.jsonl", "{\"id\": \"a\", \"answer\": \"x\"}\n");
  const auto recorded = run_sluice({"run", "s.yaml", "--answers", "a.jsonl"});
  EXPECT_EQ(recorded.exit_code, 0) << recorded.errors;
  EXPECT_EQ(recorded.errors.find("is in use"), std::string::npos) << recorded.errors;
  std::filesystem::remove_all(home() / "cache" / "worker-1");
  const auto paid = run_sluice(live(simulator));
  ::close(lock);
  EXPECT_NE(paid.errors.find(words), std::string::npos) << paid.errors;
}

// Neither said a word: a cached run that no cache held the answer, and a live one paid again.
TEST_F(Cache, ACacheThatCannotBeOpenedIsNamedOnce) {
  const auto simulator = start_simulator();
  facts_of_run(live(simulator));
  const auto lost = home() / "cache" / "gpu-7";
  std::filesystem::rename(home() / "cache" / "worker-0", lost);
  std::filesystem::rename(lost / "db" / "CURRENT", lost / "CURRENT");
  const std::string words = "cannot open the cache " + lost.string();
  for (const auto& [run, consequence] : {std::pair(cached(simulator), "`sluice doctor --repair`"),
                                         std::pair(live(simulator), "is asked and paid for again")}) {
    const auto finished = run_sluice(run);
    const auto at = finished.errors.find(words);
    ASSERT_NE(at, std::string::npos) << finished.errors;
    EXPECT_EQ(finished.errors.find(words, at + 1), std::string::npos) << finished.errors;
    EXPECT_NE(finished.errors.find(consequence, at), std::string::npos) << finished.errors;
  }
}

// Each second run of such a cache found it empty: its tables had been removed.
TEST_F(Cache, OneThatLostItsListsOfTablesIsRefusedUntilItIsRepaired) {
  const auto simulator = start_simulator();
  facts_of_run(live(simulator));
  const auto database = home() / "cache" / "worker-0" / "db";
  std::filesystem::remove(database / "CURRENT");
  const auto calls = simulator.count("start");
  for (const auto& flags : {cached(simulator), cached(simulator), live(simulator), live(simulator)}) {
    const auto refused = run_sluice(flags);
    EXPECT_EQ(refused.exit_code, 2) << refused.errors;
    EXPECT_NE(refused.errors.find("`sluice doctor --repair`"), std::string::npos) << refused.errors;
  }
  EXPECT_FALSE(std::filesystem::exists(database / "CURRENT"));
  EXPECT_EQ(simulator.count("start"), calls) << "nothing was paid for again";
  ASSERT_EQ(run_sluice({"doctor", "--repair"}).exit_code, 0);
  EXPECT_EQ(facts_of_run(cached(simulator))["cache_hits"], fixture_count());
}

TEST_F(Cache, LiveWarnsBeforeItPaysForWhatAnEmptiedCacheHeld) {
  const auto simulator = start_simulator();
  facts_of_run(live(simulator));
  std::filesystem::rename(home() / "cache" / "worker-0" / "db", folder() / "db");
  const auto replayed = run_sluice(cached(simulator));
  EXPECT_EQ(replayed.exit_code, 2);
  EXPECT_NE(replayed.errors.find("`sluice doctor --repair`"), std::string::npos) << replayed.errors;
  const std::string words = "has an ID, but no database: what it held is asked and paid for again";
  const auto paid = run_sluice(live(simulator));
  EXPECT_NE(paid.errors.find(words), std::string::npos) << paid.errors;
  EXPECT_EQ(run_sluice(live(simulator)).errors.find(words), std::string::npos) << "it has one again";
}

// The run stopped, and so did each that went on with it; nothing named `sluice doctor`.
TEST_F(Cache, ADamagedBlockIsAnErrorOfItsCasesOrAskedForAgain) {
  const auto simulator = start_simulator();
  facts_of_run(live(simulator));
  std::filesystem::path table;
  for (const auto& entry : std::filesystem::directory_iterator(home() / "cache" / "worker-0" / "db"))
    if (entry.path().extension() == ".sst") table = entry.path();
  ASSERT_FALSE(table.empty());
  std::fstream file(table, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(1000) << std::string(30, '\x5a');
  file.close();
  const auto replayed = run_sluice(cached(simulator));
  EXPECT_EQ(replayed.exit_code, 1) << replayed.errors;
  const auto report = parse_report(replayed.output);
  const std::size_t lost = report["metrics"]["errors"];
  EXPECT_GT(lost, 0u);
  EXPECT_LT(lost, fixture_count());
  EXPECT_EQ(report["run"]["errors"].size(), lost);
  for (const auto& [id, message] : report["run"]["errors"].items()) {
    EXPECT_EQ(result_of(report, id)["reason_code"], "message_malformed");
    EXPECT_NE(message.get<std::string>().find("`sluice doctor --repair`"), std::string::npos) << message;
  }

  const auto asked = run_sluice(live(simulator));
  EXPECT_EQ(asked.exit_code, 1) << asked.errors;
  EXPECT_EQ(comparable_part(asked.output), reference_report());
  EXPECT_EQ(parse_report(asked.output)["run"]["requests"], lost);
  EXPECT_NE(asked.errors.find("live runs ask for what is damaged again"), std::string::npos) << asked.errors;
  EXPECT_EQ(facts_of_run(cached(simulator))["cache_hits"], fixture_count()) << "they were stored anew";
}

TEST_F(Cache, LiveReadsThroughRefreshRenewsNoCacheIgnores) {
  const auto simulator = start_simulator();
  EXPECT_EQ(facts_of_run(live(simulator) + Flags{"--no-cache"})["requests"], fixture_count());
  EXPECT_FALSE(std::filesystem::exists(home() / "cache")) << "--no-cache should write nothing";
  EXPECT_EQ(facts_of_run(live(simulator))["requests"], fixture_count());

  const auto again = facts_of_run(live(simulator));
  EXPECT_EQ(again["requests"], 0);
  EXPECT_EQ(again["cache_hits"], fixture_count());
  const auto refreshed = facts_of_run(live(simulator) + Flags{"--refresh"});
  EXPECT_EQ(refreshed["requests"], fixture_count());
  EXPECT_EQ(refreshed["cache_hits"], 0);
  const auto ignored = facts_of_run(live(simulator) + Flags{"--no-cache"});
  EXPECT_EQ(ignored["requests"], fixture_count());
  EXPECT_EQ(ignored["cache_hits"], 0);
}

TEST_F(Cache, RefreshedAnswersReplaceTheOldOnes) {
  // The first answer to this file differs from all later ones.
  const auto simulator = start_simulator(
      {R"({"contains": "Listener set-up of the payment concentrator", "text": "{\"claims\":[]}", "times": 1})"},
      {});
  const auto first = run_sluice(live(simulator));
  EXPECT_EQ(result_of(parse_report(first.output), "tls-009")["status"], "fail");
  EXPECT_EQ(comparable_part(run_sluice(cached(simulator)).output), comparable_part(first.output));
  EXPECT_EQ(facts_of_run(live(simulator) + Flags{"--refresh"})["requests"], fixture_count());
  EXPECT_EQ(facts_of_run(cached(simulator))["requests"], 0);
}

// The next run took the older answer of its own cache, and pinned it: the refresh was undone without a word.
TEST_F(Cache, WhatARefreshPutIntoAnotherCacheStays) {
  // The first answer to this file differs from all later ones.
  const auto simulator = start_simulator(
      {R"({"contains": "Listener set-up of the payment concentrator", "text": "{\"claims\":[]}", "times": 1})"},
      {});
  const auto first = run_sluice(live(simulator));
  EXPECT_EQ(result_of(parse_report(first.output), "tls-009")["status"], "fail");
  const int first_cache = hold("worker-0");
  EXPECT_EQ(facts_of_run(live(simulator) + Flags{"--refresh"})["requests"], fixture_count());
  ::close(first_cache);
  EXPECT_EQ(facts_of_run(live(simulator))["requests"], 0);
  EXPECT_EQ(facts_of_run(cached(simulator))["requests"], 0);
  // A live run does not read what another process has: what that alone holds is paid for, as a warning says.
  const int second_cache = hold("worker-1");
  EXPECT_EQ(facts_of_run(live(simulator))["requests"], 1);
  ::close(second_cache);
}

// Two worker processes, each with a cache of its own that holds a part of the answers.
TEST_F(Cache, EveryWorkerLooksBeforeAnAnswerIsMissing) {
  const auto simulator = start_simulator();
  const std::string here = (folder() / "here").string();
  const std::string there = (folder() / "there").string();
  const Flags some{"--categories", "auth,edge,jwt"};
  const Flags others{"--categories", "negative,secrets,tls"};
  EXPECT_EQ(run_sluice(live(simulator) + some + Flags{"--home", here}).exit_code, 1);
  EXPECT_EQ(run_sluice(live(simulator) + others + Flags{"--home", there}).exit_code, 1);
  std::filesystem::rename(folder() / "there" / "cache" / "worker-0", folder() / "there" / "cache" / "other");

  auto coordinator = start_sluice(cached(simulator) + Flags{"--listen", "tcp://127.0.0.1:0"});
  const auto endpoint = endpoint_of(coordinator);
  // Somebody who takes nothing is connected until both are there: one of them alone would end the run with
  // what it lacks.
  RawWorker idle(endpoint);
  idle.send(wire::Hello{44, "idle", "", SLUICE_VERSION, 1});
  const auto welcome = idle.receive_only<wire::Welcome>();
  ASSERT_TRUE(welcome);
  idle.send(wire::Ready{welcome->settings.run_id, {}, 0, {}});
  auto first = start_worker(endpoint, {"--home", here, "--name", "worker-0"});
  ASSERT_TRUE(has_logged(coordinator, "worker worker-0 is there")) << first.errors();
  auto second = start_worker(endpoint, {"--home", there, "--name", "other"});
  ASSERT_TRUE(has_logged(coordinator, "worker other is there")) << second.errors();
  idle.send(wire::Goodbye{"nothing to do"});
  const auto finished = finish(coordinator);
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  EXPECT_EQ(comparable_part(finished.output), reference_report());
  const auto report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report["run"]["requests"], 0);
  EXPECT_EQ(report["run"]["cache_hits"], fixture_count());
  for (const auto& worker : report["run"]["workers"]) {
    EXPECT_EQ(worker["units"] > 0, worker["name"] != "idle") << worker;
  }
  EXPECT_EQ(first.wait(), 0) << first.errors();
  EXPECT_EQ(second.wait(), 0) << second.errors();
}

TEST_F(Cache, NonAnswersAreReplayedAsTheSameErrors) {
  const auto simulator = start_simulator(
      {R"({"contains": "Listener set-up of the payment concentrator", "refusal": true})",
       R"({"contains": "Client talks to the container registry", "fault": "length"})",
       R"({"contains": "mqtts://broker.greenhouse.example.org", "text": "I would rather talk about the weather."})"},
      {});
  const auto first = run_sluice(live(simulator));
  EXPECT_EQ(first.exit_code, 1) << first.errors;
  const auto report = parse_report(first.output);
  ASSERT_TRUE(report.is_object());
  const std::vector<std::pair<std::string, std::string>> expected{
      {"tls-009", "refusal"}, {"tls-005", "truncated"}, {"secrets-008", "unparsable_answer"}};
  for (const auto& [id, reason] : expected) {
    EXPECT_EQ(result_of(report, id)["status"], "error") << id;
    EXPECT_EQ(result_of(report, id)["reason_code"], reason) << id;
  }
  EXPECT_EQ(report["metrics"]["errors"], expected.size());
  EXPECT_EQ(schema_findings(report), "");

  const auto replayed = run_sluice(cached(simulator));
  EXPECT_EQ(replayed.exit_code, 1) << replayed.errors;
  EXPECT_EQ(comparable_part(replayed.output), comparable_part(first.output));
  EXPECT_EQ(parse_report(replayed.output)["run"]["requests"], 0);

  // Live asks again for those, and for those alone.
  const auto again = run_sluice(live(simulator));
  EXPECT_EQ(parse_report(again.output)["run"]["requests"], expected.size());
}

}  // namespace
}  // namespace sluice
