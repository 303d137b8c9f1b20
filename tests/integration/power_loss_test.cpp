// What a loss of power leaves, with `--durable` and without: the programs run over a disk that keeps what was
// synced (tests/power_loss/synced_files.cpp), are killed, and that is what the next ones find.
#include "tests/support/power_loss.hpp"

#include "tests/support/ledger_rows.hpp"
#include "tests/support/raw_worker.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <csignal>
#include <filesystem>
#include <optional>
#include <string>

namespace sluice::power_loss_test {

using namespace support;
namespace fs = std::filesystem;

class PowerLossTest : public Workbench {
 protected:
  static constexpr std::size_t answered = 12;

  void SetUp() override {
#if defined(__SANITIZE_ADDRESS__)
    GTEST_SKIP() << "the address sanitizer lets no other library go before it";
#endif
    write_text(folder() / "sluice.toml",
               "[providers.openai]\ncache_identity = \"one provider on two ports\"\n");
  }
  /// Twelve cases are answered at once and the others never.
  SimulatorProcess start_stalling_simulator() {
    return start_simulator({R"({"latency_ms": 0, "times": 12})", R"({"fault": "hang"})"}, {});
  }
  /// What is started from now on runs over the disk, or not any more.
  void over_the_disk(bool is_on) {
    for (const auto& [name, value] : power.variables()) set_variable(name, is_on ? value : std::string());
  }
  Process start_over_the_disk(const Flags& flags) {
    over_the_disk(true);
    auto process = start_sluice(flags);
    over_the_disk(false);
    return process;
  }
  static void cut_power(Process& process) {
    process.signal(SIGKILL);
    EXPECT_EQ(process.wait(), 128 + SIGKILL);
  }
  /// The home as it lies on the disk now.
  fs::path home_afterwards() {
    power.leave_what_was_synced(elsewhere.path() / "afterwards");
    return elsewhere.path() / "afterwards" / "home";
  }
  /// A run of one process that loses its power with twelve results in the ledger.
  void lose_a_run(const Flags& more) {
    const auto stalling = start_stalling_simulator();
    auto run = start_over_the_disk(live(stalling) + more);
    ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << run.errors();
    cut_power(run);
  }
  Finished resume(const fs::path& in, const SimulatorProcess& simulator) {
    return run_sluice({"run", shipped_fixtures().string(), "--resume", "--home", in.string(), "--base-url",
                       simulator.url() + "/v1"});
  }
  /// What is wrong is named and repaired, and the run goes on or is made anew, with so many calls at most.
  void expect_the_reference_after_a_repair(const fs::path& left, std::size_t calls) {
    if (run_sluice({"doctor", "--home", left.string()}).exit_code != 0) {
      const auto repaired = run_sluice({"doctor", "--repair", "--home", left.string()});
      EXPECT_NE(repaired.exit_code, 2) << repaired.output << repaired.errors;
    }
    const auto simulator = start_simulator();
    const auto listed = run_sluice({"runs", "list", "--home", left.string()});
    ASSERT_EQ(listed.exit_code, 0) << listed.errors;
    const bool is_there = listed.output.find("--resume") != std::string::npos;
    const auto next =
        is_there ? resume(left, simulator) : run_sluice(live(simulator) + Flags{"--home", left.string()});
    EXPECT_EQ(next.exit_code, 1) << next.errors;
    EXPECT_EQ(comparable_part(next.output), reference_report());
    EXPECT_LE(simulator.count("start"), calls);
  }

  PowerLoss power{folder()};
  TemporaryFolder elsewhere;  ///< For what the power left.
};

TEST_F(PowerLossTest, TakesNothingThatADurableRunHasCommitted) {
  lose_a_run({"--durable"});
  const auto left = home_afterwards();
  EXPECT_EQ(ledger_rows(left).size(), answered);
  const auto exported = run_sluice({"cache", "export", "--output", (folder() / "run.cassette").string(),
                                    "--run", "last", "--home", left.string()});
  EXPECT_EQ(exported.exit_code, 0) << "an answer of a committed result is in no cache: " << exported.errors;
  const auto checked = run_sluice({"doctor", "--home", left.string()});
  EXPECT_EQ(checked.exit_code, 0) << checked.output;

  const auto simulator = start_simulator();
  const auto resumed = resume(left, simulator);
  EXPECT_EQ(resumed.exit_code, 1) << resumed.errors;
  EXPECT_EQ(comparable_part(resumed.output), reference_report());
  EXPECT_EQ(simulator.count("start"), fixture_count() - answered) << "nothing is paid twice";
}

// Whoever else is at the ledger writes its log into the file, and begins it anew.
TEST_F(PowerLossTest, TakesNothingOfADurableRunBecauseOfAnotherOneThatIsNot) {
  const auto stalling = start_stalling_simulator();
  auto run = start_over_the_disk(live(stalling) + Flags{"--durable", "--no-cache"});
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << run.errors();
  const auto simulator = start_simulator();
  std::string large = "suite: large\ntests:\n";
  for (int i = 0; i < 12'000; ++i) {
    const auto number = std::to_string(i);
    large += "  - {id: case-" + number + ", input: {prompt: \"question " + number +
             "\"}, expected: {type: must_contain, text: right}}\n";
  }
  write_text(folder() / "large.yaml", large);
  over_the_disk(true);
  const auto other = run_sluice({"run", (folder() / "large.yaml").string(), "--mode", "live", "--provider",
                                 "openai", "--model", "sim-1", "--base-url", simulator.url() + "/v1",
                                 "--max-concurrent", "100", "--no-cache", "--quiet"});
  over_the_disk(false);
  EXPECT_NE(other.exit_code, 2) << other.errors;
  EXPECT_GT(fs::file_size(home() / "ledger.db"), 500'000u) << "nothing went from the log into the file";
  cut_power(run);
  const auto left = home_afterwards();
  const auto checked = run_sluice({"doctor", "--home", left.string()});
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  const auto resumed = resume(left, simulator);
  EXPECT_EQ(resumed.exit_code, 1) << resumed.errors;
  EXPECT_EQ(comparable_part(resumed.output), reference_report());
  EXPECT_NE(resumed.errors.find("12 of "), std::string::npos) << resumed.errors;
}

// In a new home, whose names are on the disk. Nothing is promised but that it is noticed.
TEST_F(PowerLossTest, TakesAllOfARunThatIsNotDurable) {
  lose_a_run({});
  power.leave_all_names(elsewhere.path() / "afterwards");
  const auto left = elsewhere.path() / "afterwards" / "home";
  expect_the_reference_after_a_repair(left, fixture_count());
}

// A disk may have written any of what was not synced.
TEST_F(PowerLossTest, IsNoticedWhateverTheDiskHasWritten) {
  reference_report();  // Made in this home, it would change the files that are mixed.
  for (const bool durable : {true, false}) {
    fs::remove_all(home());
    lose_a_run(durable ? Flags{"--durable"} : Flags{});
    for (std::uint32_t seed = 1; seed <= 4; ++seed) {
      SCOPED_TRACE((durable ? "durable, seed " : "not durable, seed ") + std::to_string(seed));
      const auto mixture = elsewhere.path() / std::to_string(seed + (durable ? 100 : 0));
      power.leave_a_mixture(mixture, seed);
      const auto left = mixture / "home";
      if (durable) {
        EXPECT_EQ(ledger_rows(left).size(), answered);
      }
      expect_the_reference_after_a_repair(left, fixture_count() - (durable ? answered : 0));
    }
  }
}

TEST_F(PowerLossTest, NoResultIsAcknowledgedBeforeItIsOnTheDisk) {
  const auto simulator = start_simulator();
  auto coordinator =
      start_over_the_disk(live(simulator) + Flags{"--durable", "--listen", "tcp://127.0.0.1:0"});
  RawWorker worker(endpoint_of(coordinator));
  worker.send(wire::Hello{42, "by-hand", "", SLUICE_VERSION, 5});
  const auto welcome = worker.receive_only<wire::Welcome>();
  ASSERT_TRUE(welcome);
  EXPECT_TRUE(welcome->settings.durable) << "workers sync what they store, too";
  const auto run_id = welcome->settings.run_id;
  worker.send(wire::Ready{run_id, {}, 5, {}});
  const auto work = worker.receive_only<wire::Work>();
  ASSERT_TRUE(work);
  ASSERT_EQ(work->units.size(), 5u);
  for (std::size_t i = 0; i < work->units.size(); ++i) {
    worker.send(wire::Report{run_id, 5, {work->units[i].unit}, {result_of(work->units[i])}});
    ASSERT_TRUE(worker.receive_only<wire::Ack>());
    // As if the power went with the acknowledgement: what is synced after this is not looked at.
    const auto now = elsewhere.path() / ("after-" + std::to_string(i));
    coordinator.stop();
    power.leave_what_was_synced(now);
    EXPECT_EQ(ledger_rows(now / "home").size(), i + 1);
    coordinator.signal(SIGCONT);
  }
  cut_power(coordinator);
}

// Its coordinator keeps its power: what that has heard of is in the worker's cache.
TEST_F(PowerLossTest, AWorkerReportsNoAnswerBeforeItIsOnTheDisk) {
  const auto simulator = start_simulator({R"({"latency_ms": 15})"}, {});
  auto coordinator = start_sluice(live(simulator) + Flags{"--durable", "--listen", "tcp://127.0.0.1:0",
                                                          "--home", (folder() / "other").string()});
  const auto endpoint = endpoint_of(coordinator);
  over_the_disk(true);
  auto worker = start_worker(endpoint, {"--max-concurrent", "3"});
  over_the_disk(false);
  const fs::path of_coordinator = folder() / "other";
  ASSERT_TRUE(eventually([&] { return ledger_rows(of_coordinator).size() >= 20; })) << worker.errors();
  cut_power(worker);
  cut_power(coordinator);
  const auto reported = ledger_rows(of_coordinator).size();
  ASSERT_LT(reported, fixture_count()) << "it was over before the power went";
  fs::copy(home_afterwards() / "cache", of_coordinator / "cache", fs::copy_options::recursive);
  const auto exported = run_sluice({"cache", "export", "--output", (folder() / "run.cassette").string(),
                                    "--run", "last", "--home", of_coordinator.string()});
  EXPECT_EQ(exported.exit_code, 0) << "an answer of a reported result is in no cache: " << exported.errors;
}

}  // namespace sluice::power_loss_test
