// Control-C: the run ends, at once or when its calls under way have, says so, shows what it has, and what was
// paid for is kept.

#include "tests/support/ledger_rows.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <csignal>
#include <filesystem>
#include <regex>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

using namespace support;

class Interrupt : public Workbench {
 protected:
  static constexpr std::size_t answered = 12;
  /// For calls that never end.
  const Flags at_once{"--drain-timeout", "0"};
  /// A run says where its metrics are once the ledger has it and signals interrupt it; its cache may still be
  /// opening.
  const Flags announced{"--metrics-listen", "127.0.0.1:0"};
  const std::string announcement = "sluice: metrics at ";

  // Twelve cases are answered at once and the others never: what is there when the signal comes is known.
  SimulatorProcess start_stalling_simulator() {
    return start_simulator({R"({"latency_ms": 0, "times": 12})", R"({"fault": "hang"})"}, {});
  }
  /// The two counts that a table tells apart; nothing if one is not there, or nothing was not started.
  static std::pair<std::size_t, std::size_t> errors_and_not_started(const std::string& table) {
    const std::regex counts("([0-9]+) errors?, ([0-9]+) not started");
    std::smatch found;
    if (!std::regex_search(table, found, counts) || found[2] == "0") return {};
    return {std::stoul(found[1]), std::stoul(found[2])};
  }
  /// Sends the signal until the process has ended: with exit code 2, and `why` in its only line of error.
  static Finished insist(Process& process, int signal, const std::string& why) {
    EXPECT_TRUE(eventually([&] {
      process.signal(signal);
      return !process.running();
    }));
    auto finished = finish(process);
    EXPECT_EQ(finished.exit_code, 2);
    const auto lines = finished.error_lines();
    EXPECT_EQ(lines.size(), 1u) << finished.errors;
    EXPECT_NE(lines.empty() ? std::string::npos : lines[0].find(why), std::string::npos) << finished.errors;
    return finished;
  }
  /// Whether the process has taken every signal that was sent to it. Two of a kind that wait are one.
  static bool has_taken_all_signals(const Process& process) {
    const auto status = read_text("/proc/" + std::to_string(process.pid()) + "/status");
    return status.find("\nShdPnd:\t0000000000000000\n") != std::string::npos;
  }
};

TEST_F(Interrupt, EndsAtOnceWithWhatThereIs) {
  const auto stalling = start_stalling_simulator();
  const auto table = folder() / "report.txt";
  auto run = start_sluice(live(stalling) + at_once + Flags{"--report", "table=" + table.string()});
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << run.errors();
  run.signal(SIGINT);
  const auto finished = finish(run);
  EXPECT_LT(finished.duration, std::chrono::seconds(2));
  EXPECT_EQ(finished.exit_code, 2);
  ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
  EXPECT_NE(finished.error_lines()[0].find("interrupted by SIGINT"), std::string::npos) << finished.errors;
  EXPECT_NE(finished.errors.find("sluice: interrupted by SIGINT"), std::string::npos) << finished.errors;
  const auto report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object()) << finished.output.substr(0, 500);
  EXPECT_EQ(schema_findings(report), "");
  EXPECT_EQ(report["verdict"], "error");
  EXPECT_EQ(report["reason_code"], "interrupted");
  EXPECT_EQ(report["metrics"]["errors"], fixture_count() - answered);
  EXPECT_EQ(report["fixture_results"].size(), fixture_count());
  const auto counts = errors_and_not_started(read_text(table));
  EXPECT_EQ(counts.first + counts.second, fixture_count() - answered) << read_text(table);
  // Those under way have no result that could tell of them.
  EXPECT_LE(report["run"]["requests"], answered);
  // Whoever asks later is told the same.
  for (const Flags& later : {Flags{"report", "last"}, Flags{"runs", "show", "last"}}) {
    const auto again = run_sluice(later);
    EXPECT_EQ(errors_and_not_started(again.output), counts) << again.output << again.errors;
  }
}

// Four of five that the worker had begun waited for the one place, and stood among the errors.
TEST_F(Interrupt, WhatNoCallWasMadeForWasNotStarted) {
  const auto stalling = start_stalling_simulator();
  const auto table = folder() / "report.txt";
  auto run = start_sluice(live(stalling) + at_once +
                          Flags{"--max-in-flight", "1", "--report", "table=" + table.string()});
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << run.errors();
  ASSERT_TRUE(eventually([&] { return stalling.count("start") > answered; })) << run.errors();
  run.signal(SIGINT);
  const auto finished = finish(run);
  const std::size_t not_started = fixture_count() - answered - 1;
  EXPECT_EQ(errors_and_not_started(read_text(table)), std::pair(std::size_t{1}, not_started))
      << read_text(table);
  EXPECT_NE(finished.errors.find(" 1 error, " + std::to_string(not_started) + " not started; "),
            std::string::npos)
      << finished.errors;
}

// An answer that is a moment away was paid for, or will be.
TEST_F(Interrupt, CallsUnderWayAreFinishedFirst) {
  const auto slow = start_simulator({R"({"latency_ms": 0, "times": 12})", R"({"latency_ms": 1500})"}, {});
  auto run = start_sluice(live(slow));
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << run.errors();
  ASSERT_TRUE(eventually([&] { return slow.count("start") > answered; }));
  run.signal(SIGINT);
  EXPECT_TRUE(eventually([&] {
    const std::string words = run.errors();
    return words.find("sluice: interrupted by SIGINT: waiting up to 25 s for ") != std::string::npos;
  })) << run.errors();
  const auto finished = finish(run);
  EXPECT_EQ(finished.exit_code, 2);
  const auto report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object()) << finished.output.substr(0, 500);
  EXPECT_EQ(report["reason_code"], "interrupted");
  const auto started = slow.count("start");
  EXPECT_GT(started, answered);
  EXPECT_EQ(report["metrics"]["errors"], fixture_count() - started) << "every call that was made counts";
  EXPECT_EQ(slow.count("gone"), 0u);
  EXPECT_EQ(ledger_rows(home()).size(), started);
}

// As GNU timeout stops a program: one SIGTERM for the process, and at once another for its group.
TEST_F(Interrupt, TwoSignalsAtOnceLeaveTheReport) {
  const auto stalling = start_stalling_simulator();
  const auto output = folder() / "report.json";
  auto run = start_sluice(live(stalling) + at_once + Flags{"--output", output.string()});
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << run.errors();
  run.signal(SIGTERM);
  ASSERT_TRUE(eventually([&] { return has_taken_all_signals(run); }));
  run.signal(SIGTERM);
  const auto finished = finish(run);
  EXPECT_EQ(finished.exit_code, 2);
  ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
  const auto report = parse_report(read_text(output));
  ASSERT_TRUE(report.is_object()) << finished.errors;
  EXPECT_EQ(report["reason_code"], "interrupted");
  EXPECT_EQ(report["metrics"]["errors"], fixture_count() - answered);
}

// It ended a run like `kill -9`: without a report.
TEST_F(Interrupt, AHangUpEndsItLikeAnyOtherSignal) {
  const auto stalling = start_stalling_simulator();
  auto run = start_sluice(live(stalling) + at_once);
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << run.errors();
  run.signal(SIGHUP);
  const auto finished = finish(run);
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.errors.find("interrupted by SIGHUP"), std::string::npos) << finished.errors;
  EXPECT_EQ(parse_report(finished.output)["reason_code"], "interrupted");
}

TEST_F(Interrupt, AHangUpUnderNohupEndsNothing) {
  const auto stalling = start_stalling_simulator();
  auto run = start_sluice_after("trap '' HUP", live(stalling) + at_once);
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << run.errors();
  run.signal(SIGHUP);
  run.signal(SIGTERM);
  const auto finished = finish(run);
  EXPECT_EQ(finished.errors.find("SIGHUP"), std::string::npos) << finished.errors;
  EXPECT_NE(finished.errors.find("interrupted by SIGTERM"), std::string::npos) << finished.errors;
}

TEST_F(Interrupt, AUserWhoInsistsEndsARunThatCannotEndByItself) {
  const auto stalling = start_stalling_simulator();
  // The report goes to a pipe that nobody reads.
  const auto pipe = folder() / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  auto run = start_sluice(live(stalling) + at_once + Flags{"--output", pipe.string()});
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << run.errors();
  const auto finished = insist(run, SIGTERM, "interrupted by SIGTERM");
  EXPECT_NE(finished.errors.find("sluice: continue with `sluice run --resume "), std::string::npos)
      << finished.errors;
}

TEST_F(Interrupt, LeavesACacheThatTheNextRunUses) {
  write_text(folder() / "sluice.toml",
             "[providers.openai]\ncache_identity = \"one provider on two ports\"\n");
  const auto stalling = start_stalling_simulator();
  auto run = start_sluice(live(stalling) + at_once);
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << run.errors();
  run.signal(SIGINT);
  EXPECT_EQ(finish(run).exit_code, 2);

  const auto simulator = start_simulator();
  const auto again = run_sluice(live(simulator));
  EXPECT_EQ(again.exit_code, 1) << again.errors;
  EXPECT_EQ(comparable_part(again.output), reference_report());
  const auto facts = parse_report(again.output)["run"];
  EXPECT_EQ(facts["cache_hits"], answered);
  EXPECT_EQ(facts["requests"], fixture_count() - answered);
}

/// Whoever opens a cache waits until it lets go: for a lease of a file of it.
class HeldCache {
 public:
  explicit HeldCache(const std::filesystem::path& cache)
      : file_(::open((cache / "db" / "CURRENT").c_str(), O_RDONLY | O_CLOEXEC)) {
    ::signal(SIGIO, SIG_IGN);  // It comes when somebody waits.
    is_held_ = ::fcntl(file_, F_SETLEASE, F_WRLCK) == 0;
  }
  HeldCache(const HeldCache&) = delete;
  HeldCache& operator=(const HeldCache&) = delete;
  ~HeldCache() { ::close(file_); }

  /// False where the file system has no leases.
  bool is_held() const { return is_held_; }
  bool is_awaited() const { return ::fcntl(file_, F_GETLEASE) != F_WRLCK; }
  void let_go() { ::fcntl(file_, F_SETLEASE, F_UNLCK); }

 private:
  int file_;
  bool is_held_ = false;
};

// It ended without a report, and left that of an earlier run in its place.
TEST_F(Interrupt, WhileTheCacheOpensIsARunThatEndsWithItsReport) {
  const auto simulator = start_simulator();
  ASSERT_EQ(run_sluice(live(simulator)).exit_code, 1);
  HeldCache cache(home() / "cache" / "worker-0");
  if (!cache.is_held()) GTEST_SKIP() << "this file system has no leases";
  const auto output = folder() / "report.json";
  write_text(output, "of an earlier run");
  auto run = start_sluice(live(simulator) + announced + Flags{"--output", output.string()});
  ASSERT_TRUE(has_logged(run, announcement)) << run.errors();
  ASSERT_TRUE(eventually([&] { return cache.is_awaited(); })) << run.errors();
  run.signal(SIGINT);
  EXPECT_TRUE(has_logged(run, "sluice: interrupted by SIGINT: the run ends when its cache is open; "));
  cache.let_go();
  const auto finished = finish(run);
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.error_lines().size(), 1u) << finished.errors;
  EXPECT_NE(finished.errors.find("sluice: continue with `sluice run --resume "), std::string::npos)
      << finished.errors;
  const auto report = parse_report(read_text(output));
  ASSERT_TRUE(report.is_object()) << finished.errors;
  EXPECT_EQ(report["reason_code"], "interrupted");
  EXPECT_EQ(report["metrics"]["errors"], fixture_count());
}

TEST_F(Interrupt, AUserWhoInsistsWaitsForNoCache) {
  const auto simulator = start_simulator();
  ASSERT_EQ(run_sluice(live(simulator)).exit_code, 1);
  HeldCache cache(home() / "cache" / "worker-0");
  if (!cache.is_held()) GTEST_SKIP() << "this file system has no leases";
  auto run = start_sluice(live(simulator) + announced);
  ASSERT_TRUE(has_logged(run, announcement)) << run.errors();
  ASSERT_TRUE(eventually([&] { return cache.is_awaited(); })) << run.errors();
  const auto finished = insist(run, SIGINT, "interrupted by SIGINT");
  EXPECT_NE(finished.errors.find("sluice: continue with `sluice run --resume "), std::string::npos)
      << finished.errors;
}

// It ended without a word.
TEST_F(Interrupt, AWorkerThatIsStoppedWhileItsCacheOpensSaysSo) {
  const auto simulator = start_simulator();
  ASSERT_EQ(run_sluice(live(simulator)).exit_code, 1);
  HeldCache cache(home() / "cache" / "worker-0");
  if (!cache.is_held()) GTEST_SKIP() << "this file system has no leases";
  auto worker = start_worker("tcp://127.0.0.1:1");
  ASSERT_TRUE(eventually([&] { return cache.is_awaited(); })) << worker.errors();
  worker.signal(SIGTERM);
  const auto finished = finish(worker);
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_NE(finished.errors.find("sluice-worker: stopped by SIGTERM before it took any work"),
            std::string::npos)
      << finished.errors;
}

TEST_F(Interrupt, EndsTheWorkersOfOtherProcessesToo) {
  const auto stalling = start_stalling_simulator();
  auto run = start_sluice(live(stalling) + at_once + Flags{"--listen", "tcp://127.0.0.1:0"});
  auto worker = start_worker(endpoint_of(run));
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << worker.errors();
  run.signal(SIGINT);
  const auto finished = finish(run);
  EXPECT_LT(finished.duration, std::chrono::seconds(2));
  EXPECT_EQ(finished.exit_code, 2);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(worker.wait(), 0) << worker.errors();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

// It printed an error, and ended with exit code 0.
TEST_F(Interrupt, AUserWhoInsistsEndsAWorkerAsARun) {
  const auto stalling = start_stalling_simulator();
  auto run = start_sluice(live(stalling) + at_once + Flags{"--listen", "tcp://127.0.0.1:0"});
  auto worker = start_worker(endpoint_of(run));
  ASSERT_TRUE(eventually([&] { return ledger_rows(home()).size() == answered; })) << worker.errors();
  worker.signal(SIGINT);
  EXPECT_TRUE(has_logged(worker, "press Ctrl-C again, or send one more signal, to end at once"));
  const auto finished = insist(worker, SIGINT, "interrupted by SIGINT");
  EXPECT_NE(finished.errors.find("sluice-worker: calls under way are given up"), std::string::npos)
      << finished.errors;
}

TEST_F(Interrupt, AWorkerThatIsToldToStopOnceEndsWell) {
  auto worker = start_worker("tcp://127.0.0.1:1");
  ASSERT_TRUE(has_logged(worker, "connecting to"));
  worker.signal(SIGTERM);
  const auto finished = finish(worker);
  EXPECT_EQ(finished.exit_code, 0);
  EXPECT_TRUE(finished.error_lines().empty()) << finished.errors;
}

TEST_F(Interrupt, BeforeAnyWorkerCameIsStillARunThatEnds) {
  const auto simulator = start_simulator();
  auto run = start_sluice(live(simulator) + Flags{"--listen", "tcp://127.0.0.1:0"});
  ASSERT_NE(endpoint_of(run), "");
  run.signal(SIGTERM);
  const auto finished = finish(run);
  EXPECT_LT(finished.duration, std::chrono::seconds(2));
  EXPECT_EQ(finished.exit_code, 2);
  ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
  EXPECT_NE(finished.error_lines()[0].find("SIGTERM"), std::string::npos);
  const auto report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object()) << finished.output.substr(0, 500);
  EXPECT_EQ(schema_findings(report), "");
  EXPECT_EQ(report["verdict"], "error");
  EXPECT_EQ(report["metrics"]["errors"], fixture_count());
  EXPECT_EQ(report["fixture_results"][0]["reason_code"], "interrupted");
}

}  // namespace
}  // namespace sluice
