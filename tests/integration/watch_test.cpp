// `sluice run --watch`: a change runs the suite again, and asks only what has changed.

#include "tests/support/workbench.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>

namespace sluice::watch_test {

using namespace support;

class Watch : public Workbench {
 protected:
  void write_suite(const std::string& question) {
    std::filesystem::create_directories((folder() / "suite"));
    std::ofstream(suite())
        << "suite: watched\nmodel: m\nsettings: {provider: openai}\ntests:\n"
           "  - {id: first, input: {prompt: \"One?\"}, expected: {type: must_not_contain, text: zzz}}\n"
           "  - {id: second, input: {prompt: \""
        << question << "\"}, expected: {type: must_not_contain, text: zzz}}\n";
  }
  static std::size_t times_waiting(const Process& watching) {
    const std::string words = "waiting for a change";
    const auto text = watching.errors();
    std::size_t times = 0;
    for (auto at = text.find(words); at != std::string::npos; at = text.find(words, at + 1)) ++times;
    return times;
  }
  std::string suite() const { return ((folder() / "suite") / "suite.yaml").string(); }
};

TEST_F(Watch, AChangeRunsItAgainAndAsksOnlyWhatHasChanged) {
  auto simulator = start_simulator();
  write_suite("Two?");
  auto watching =
      start_sluice(Flags{"run", suite(), "--mode", "live", "--base-url", simulator.url() + "/v1", "--watch",
                         "--report", "json=" + ((folder() / "suite") / "report.json").string()});
  const auto waits = [&](std::size_t times) {
    return eventually([&] { return times_waiting(watching) >= times; });
  };
  ASSERT_TRUE(waits(1)) << watching.errors();
  write_suite("And two?");
  ASSERT_TRUE(waits(2)) << watching.errors();
  EXPECT_NE(watching.errors().find("suite.yaml changed"), std::string::npos) << watching.errors();
  std::ofstream(suite()) << "suite: [";
  ASSERT_TRUE(waits(3)) << "a mistake does not end it: " << watching.errors();
  write_suite("And two?");
  ASSERT_TRUE(waits(4)) << watching.errors();
  watching.signal(SIGINT);
  const auto finished = finish(watching);
  EXPECT_EQ(finished.exit_code, 0) << "that of the last run: " << finished.errors;
  std::size_t answered = 0;
  for (const auto& event : simulator.final_events()) answered += event.kind == "answer" ? 1 : 0;
  EXPECT_EQ(answered, 3u) << "what had not changed came from the cache";
}

TEST_F(Watch, WhatARunWritesBesideItsSuiteDoesNotCount) {
  const auto simulator = start_simulator();
  write_suite("Two?");
  set_variable("SLUICE_HOME", "");
  std::ofstream(folder() / "suite" / "sluice.toml")
      << "[eval]\ndatabase_path = \"" << (folder() / "suite" / "observations.db").string() << "\"\n";
  const auto in_suite = [&](const char* name) { return (folder() / "suite" / name).string(); };
  auto watching = start_sluice({"run", suite(), "--mode", "live", "--base-url", simulator.url() + "/v1",
                                "--watch", "--home", in_suite("home") + "/", "--config",
                                in_suite("sluice.toml"), "--save-observations", "--report",
                                "json=" + in_suite("report.json"), "--call-log", in_suite("calls.jsonl")});
  ASSERT_TRUE(has_logged(watching, "waiting for a change")) << watching.errors();
  write_suite("And two?");
  ASSERT_TRUE(eventually([&] { return times_waiting(watching) == 2; })) << watching.errors();
  write_suite("Three?");
  ASSERT_TRUE(eventually([&] { return times_waiting(watching) == 3; })) << watching.errors();
  watching.signal(SIGTERM);
  const auto finished = finish(watching);
  EXPECT_EQ(times_waiting(watching), 3u) << "a run for each change, and no more: " << finished.errors;
}

// It went on paying, and nobody could see it.
TEST_F(Watch, ARunEndsWhenItsWatcherIsKilled) {
  const auto simulator = start_simulator({R"({"latency_ms": 1500})"}, {});
  write_suite("Two?");
  auto watching = start_sluice({"run", suite(), "--mode", "live", "--base-url", simulator.url() + "/v1",
                                "--watch", "--drain-timeout", "0"});
  ASSERT_TRUE(eventually([&] { return simulator.count("start") > 0; })) << watching.errors();
  watching.signal(SIGKILL);
  EXPECT_TRUE(has_logged(watching, "interrupted by SIGTERM")) << watching.errors();
  EXPECT_TRUE(eventually([&] { return !watching.output().empty(); })) << "its report";
}

TEST_F(Watch, RunsThatOthersTakePartInAreNotWatched) {
  write_suite("Two?");
  for (const Flags& flags : {Flags{"--resume"}, Flags{"--listen", "tcp://127.0.0.1:0"}}) {
    const auto refused = run_sluice(Flags{"run", suite(), "--watch"} + flags);
    EXPECT_EQ(refused.exit_code, 2);
    EXPECT_NE(refused.errors.find("--watch goes with neither"), std::string::npos) << refused.errors;
  }
}

TEST_F(Watch, ASuiteThatIsMissingIsNotWaitedFor) {
  const auto run = run_sluice(Flags{"run", (folder() / "mistyped.yaml").string(), "--watch"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.errors.find("mistyped.yaml"), std::string::npos) << run.errors;
  EXPECT_EQ(run.errors.find("waiting for a change"), std::string::npos) << run.errors;
}

TEST_F(Watch, ASuiteInTheHomeFolderIsRefused) {
  write_suite("Two?");
  const auto refused = run_sluice({"run", suite(), "--watch=true", "--home", folder().string()});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.errors.find("name another folder with --home"), std::string::npos) << refused.errors;
}

}  // namespace sluice::watch_test
