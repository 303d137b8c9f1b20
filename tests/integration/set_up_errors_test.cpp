// What cannot work ends with exit code 2 and one sentence that says what was wrong and what to do.

#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <csignal>
#include <fstream>

namespace sluice {
namespace {

using namespace support;

const std::string any_port = "tcp://127.0.0.1:0";

class SetUpErrors : public Workbench {
 protected:
  void SetUp() override { set_variable("SLUICE_RATE_LIMIT_INITIAL_DELAY_MS", "1"); }

  // Exit code 2, nothing on stdout, and one sentence with all these words.
  static void expect_one_sentence(const Finished& finished, const std::vector<std::string>& words) {
    EXPECT_EQ(finished.exit_code, 2) << finished.errors;
    EXPECT_EQ(finished.output, "");
    ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
    for (const auto& word : words) {
      EXPECT_NE(finished.error_lines()[0].find(word), std::string::npos)
          << word << " in: " << finished.errors;
    }
  }

  /// An endpoint on which nobody listens.
  static std::string closed_endpoint() { return "127.0.0.1:1"; }
};

TEST_F(SetUpErrors, AWorkerWithoutACoordinator) {
  const auto endpoint = "tcp://" + closed_endpoint();
  const auto finished = run_worker(endpoint, {"--coordinator-timeout", "1"});
  expect_one_sentence(finished, {"no coordinator has answered for 1 s", "sluice run --listen"});
  EXPECT_LT(finished.duration, std::chrono::seconds(5));
}

// It was told that the coordinator was silent.
TEST_F(SetUpErrors, AWorkerAtAPortWhereNobodyListens) {
  const auto endpoint = "tcp://" + closed_endpoint();
  const auto finished = run_worker(endpoint, {"--orphan-timeout", "6"});
  const auto words = "the connection to " + endpoint + " is refused";
  expect_one_sentence(finished, {"no coordinator has answered for 6 s", words, "sluice run --listen"});
  EXPECT_NE(finished.errors.find("warning: " + words), std::string::npos) << finished.errors;
  EXPECT_EQ(finished.errors.find("is silent"), std::string::npos) << finished.errors;
}

TEST_F(SetUpErrors, AWorkerThatIsGivenNoValidAddress) {
  expect_one_sentence(run_worker("127.0.0.1:5555"), {"tcp://HOST:PORT"});
  expect_one_sentence(run_worker("tcp://:5555"), {"tcp://HOST:PORT"});
  expect_one_sentence(run_worker("tcp://127.0.0.1:0"), {"--connect", "from 1 to 65535"});
}

TEST_F(SetUpErrors, AWorkerWithTooLongAName) {
  expect_one_sentence(run_worker("tcp://" + closed_endpoint(), {"--name", std::string(300, 'x')}),
                      {"--name", "at most 255 bytes", "300"});
}

// A name of other bytes was refused as a malformed message each second, until nobody had answered; a timeout
// of `nan` was over before it began.
TEST_F(SetUpErrors, AWorkerWithFlagsThatMakeNoSense) {
  const auto endpoint = "tcp://" + closed_endpoint();
  expect_one_sentence(run_worker(endpoint, {"--name", "gpu\xff"}), {"--name must be valid UTF-8"});
  expect_one_sentence(run_worker(endpoint, {"--name", "gpu\x1b[31m"}), {"--name must not contain control"});
  expect_one_sentence(run_worker(endpoint, {"--name", ""}), {"--name must not be empty"});
  expect_one_sentence(run_worker(endpoint, {"--fleet-key", ""}), {"--fleet-key must name a file"});
  expect_one_sentence(run_worker(endpoint, {"--orphan-timeout", "nan"}),
                      {"--orphan-timeout must be a number from 0.1 to 86400, not \"nan\""});
  expect_one_sentence(run_worker(endpoint, {"--orphan-timeout"}),
                      {"--orphan-timeout takes one value", "sluice-worker --help"});
  expect_one_sentence(run_worker(endpoint, {"--log-level", "debugg"}),
                      {"--log-level must be \"error\", \"warn\"", "did you mean \"debug\"?"});
}

// Some said that nothing was recorded yet, others that a lock in it could not be opened.
TEST_F(SetUpErrors, AHomeThatIsAFile) {
  const std::string file = (folder() / "file").string();
  std::ofstream(file) << "x";
  set_variable("SLUICE_HOME", file);
  for (const Flags& command :
       {Flags{"run", shipped_fixtures().string(), "--mode", "mock"}, Flags{"runs", "list"},
        Flags{"cache", "stats"}, Flags{"doctor"}, Flags{"show", "last", "a"}})
    expect_one_sentence(run_sluice(command), {"SLUICE_HOME", "the home " + file + " is a file", "folder"});
  expect_one_sentence(run_sluice({"runs", "list", "--home", "file"}), {"--home", "the home file is a file"});
}

// ZeroMQ aborted the run.
TEST_F(SetUpErrors, TooFewFilesMayBeOpen) {
  auto run = start_sluice_after("ulimit -n 20", {"run", shipped_fixtures().string(), "--mode", "mock"});
  expect_one_sentence(finish(run), {"may open 20 files", "at least 64", "ulimit -n"});
}

TEST_F(SetUpErrors, AProviderAtAClosedPort) {
  const auto simulator = start_simulator();
  const auto finished =
      run_sluice(with(live(simulator), "--base-url", "http://" + closed_endpoint() + "/v1"));
  expect_one_sentence(finished, {closed_endpoint(), "--base-url"});
}

TEST_F(SetUpErrors, AProviderWhoseNameCannotBeResolved) {
  set_variable("OPENAI_API_KEY", "");
  write_text(folder() / "sluice.toml", "[providers.openai]\napi_key_env = \"\"\n");
  const auto simulator = start_simulator();
  const auto finished = run_sluice(with(live(simulator), "--base-url", "http://does-not-exist.invalid/v1"));
  expect_one_sentence(finished, {"does-not-exist.invalid", "--base-url"});
}

TEST_F(SetUpErrors, ARefusedKeyStopsTheRun) {
  auto simulator = start_simulator({"--require-key", "another-key"});
  const auto finished = run_sluice(live(simulator));
  expect_one_sentence(finished, {"401", "OPENAI_API_KEY"});
  EXPECT_EQ(finished.errors.find("key-for-tests"), std::string::npos)
      << "the key itself is nobody's business";
  std::size_t starts = 0;
  for (const auto& event : simulator.final_events()) starts += event.kind == "start" ? 1 : 0;
  EXPECT_GE(starts, 1u);
  EXPECT_LE(starts, 10u) << "the run should stop, not fail case by case";
}

// Its log ended with "working on run", and its exit code was 0.
TEST_F(SetUpErrors, ARefusedKeyOfOneWorkerIsSaidOnBothSides) {
  let_all_workers_call();
  const auto simulator = start_simulator({"--require-key", "key-for-tests"});
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", any_port, "--expect-workers", "2"});
  const auto endpoint = endpoint_of(coordinator);
  const auto good = start_worker(endpoint, {"--name", "gpu-7"});
  set_variable("OPENAI_API_KEY", "a-wrong-key");
  auto bad = start_worker(endpoint, {"--name", "gpu-8"});
  const auto run = finish(coordinator);
  EXPECT_EQ(comparable_part(run.output), reference_report()) << run.errors;
  const auto ended = finish(bad);
  EXPECT_EQ(ended.exit_code, 2) << ended.errors;
  const std::string words = " gets no more work: provider \"openai\" answered 401";
  for (const std::string& said : {run.errors, ended.errors}) {
    EXPECT_NE(said.find("OPENAI_API_KEY"), std::string::npos) << said;
    EXPECT_EQ(said.find("a-wrong-key"), std::string::npos) << said;
  }
  EXPECT_NE(run.errors.find("worker gpu-8" + words), std::string::npos) << run.errors;
  EXPECT_NE(ended.errors.find("error: this worker" + words), std::string::npos) << ended.errors;
}

TEST_F(SetUpErrors, NoKey) {
  const auto simulator = start_simulator();
  set_variable("OPENAI_API_KEY", "");
  const auto finished = run_sluice(live(simulator));
  expect_one_sentence(finished, {"API key", "OPENAI_API_KEY", "api_key_env"});
  const auto first = finished.errors.find("needs an API key");
  ASSERT_NE(first, std::string::npos);
  EXPECT_EQ(finished.errors.find("needs an API key", first + 1), std::string::npos)
      << "the log repeats it: " << finished.errors;
}

TEST_F(SetUpErrors, NoKeyAtTheOnlyWorker) {
  const auto simulator = start_simulator();
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", any_port, "--worker-timeout", "1"});
  const auto endpoint = endpoint_of(coordinator);
  set_variable("OPENAI_API_KEY", "");
  auto worker = start_worker(endpoint, {"--name", "keyless"});
  expect_one_sentence(finish(coordinator), {"keyless", "OPENAI_API_KEY"});
  EXPECT_EQ(worker.wait(), 2) << "it could do nothing";
  EXPECT_NE(worker.errors().find("OPENAI_API_KEY"), std::string::npos) << worker.errors();
}

TEST_F(SetUpErrors, AKeylessWorkerDoesNotEndARunThatOthersCanServe) {
  const auto simulator = start_simulator();
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", any_port});
  const auto endpoint = endpoint_of(coordinator);
  set_variable("OPENAI_API_KEY", "");
  auto keyless = start_worker(endpoint, {"--name", "keyless"});
  ASSERT_TRUE(has_logged(coordinator, "worker keyless gets no work"));
  set_variable("OPENAI_API_KEY", "sk-test");
  auto healthy = start_worker(endpoint, {"--name", "healthy"});
  EXPECT_EQ(finish(coordinator).exit_code, 1) << "some cases fail, none for want of a key";
  EXPECT_EQ(healthy.wait(), 0) << healthy.errors();
  EXPECT_EQ(keyless.wait(), 2);
}

TEST_F(SetUpErrors, NoWorkerInTime) {
  const auto simulator = start_simulator();
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", any_port, "--worker-timeout", "1"});
  const auto endpoint = endpoint_of(coordinator);
  const auto finished = finish(coordinator);
  expect_one_sentence(finished, {"no worker was connected for 1 s", "sluice-worker --connect " + endpoint});
  EXPECT_LT(finished.duration, std::chrono::seconds(5));
}

TEST_F(SetUpErrors, APortInUse) {
  const auto simulator = start_simulator();
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", any_port});
  const auto endpoint = endpoint_of(coordinator);
  expect_one_sentence(run_sluice(live(simulator) + Flags{"--listen", endpoint}),
                      {"cannot listen on " + endpoint, "in use"});
}

TEST_F(SetUpErrors, ListeningBeyondLoopbackNeedsAWord) {
  const auto simulator = start_simulator();
  expect_one_sentence(run_sluice(live(simulator) + Flags{"--listen", "tcp://0.0.0.0:0"}),
                      {"tcp://0.0.0.0:0", "--insecure"});
  auto insecure = start_sluice(live(simulator) + Flags{"--listen", "tcp://0.0.0.0:0", "--insecure"});
  EXPECT_TRUE(endpoint_of(insecure).starts_with("tcp://0.0.0.0:"));
}

TEST_F(SetUpErrors, ANamedCacheInUse) {
  let_all_workers_call();
  const auto simulator = start_simulator({R"({"fault": "hang"})"}, {});
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", any_port, "--drain-timeout", "0"});
  const auto endpoint = endpoint_of(coordinator);
  auto first = start_worker(endpoint, {"--name", "gpu-7"});
  ASSERT_TRUE(has_logged(coordinator, "worker gpu-7 is there")) << first.errors();
  expect_one_sentence(run_worker(endpoint, {"--name", "gpu-7"}), {"gpu-7", "another process"});
  // A worker without a name takes the next free place.
  auto unnamed = start_worker(endpoint);
  EXPECT_TRUE(eventually([&] { return simulator.count("start") == 10; })) << unnamed.errors();
  coordinator.signal(SIGINT);
  EXPECT_EQ(coordinator.wait(), 2);
}

TEST_F(SetUpErrors, AnEmptyCacheInCachedMode) {
  const auto simulator = start_simulator();
  const auto finished = run_sluice(cached(simulator));
  expect_one_sentence(finished, {"auth-001", "auth-002", "the same command with `--mode live`",
                                 std::to_string(fixture_count()) + " of " + std::to_string(fixture_count())});
  EXPECT_EQ(simulator.count("start"), 0u);
}

}  // namespace
}  // namespace sluice
