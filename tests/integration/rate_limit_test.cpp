// A provider that says when to come again is not called before.

#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <map>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using namespace support;

/// How long a call that was on its way when the answer 429 was written may take to reach the simulator's log.
/// Far below the second that the answer names.
constexpr std::int64_t on_its_way_us = 300'000;

/// What a log shows of the silences that a provider asked for.
struct Silence {
  std::size_t refused = 0;
  std::size_t answered_late = 0;  ///< Answers that made room for a case when calls had to have stopped.
};

class RateLimit : public Workbench {
 protected:
  /// No call starts before the time that the provider named, but for those that were on their way when it
  /// refused the first one.
  static Silence expect_silence(const std::vector<SimulatorEvent>& log) {
    Silence silence;
    std::int64_t first_refusal = 0;  // Since the last silence ended.
    std::int64_t closed_until = 0;
    std::map<std::string, std::int64_t> content_closed_until;
    for (const auto& event : log) {
      const bool is_closed = event.at_us < closed_until && event.at_us > first_refusal + on_its_way_us;
      if (event.kind == "answer" && event.status == 429) {
        ++silence.refused;
        EXPECT_EQ(event.retry_after_ms, 1000);
        if (event.at_us >= closed_until) first_refusal = event.at_us;
        closed_until = event.at_us + 1000 * event.retry_after_ms;
        content_closed_until[event.content] = closed_until;
      } else if (event.kind == "answer" && is_closed) {
        ++silence.answered_late;
      } else if (event.kind == "start") {
        EXPECT_FALSE(is_closed) << "case " << event.content << ", " << event.at_us - first_refusal
                                << " us after the first 429";
        // The call that was refused: it has got the answer, so there is no excuse.
        if (const auto own = content_closed_until.find(event.content); own != content_closed_until.end()) {
          EXPECT_GE(event.at_us, own->second) << "case " << event.content;
        }
      }
    }
    return silence;
  }
};

TEST_F(RateLimit, ABurstOf429IsSurvivedAndNoCallComesTooEarly) {
  let_all_workers_call();
  auto simulator = start_simulator({"--fail-first", "100,429,1"});
  // Fewer calls at a time than cases: those that wait for a place must respect the pause as well.
  const auto finished = run_sluice(live(simulator) + Flags{"--max-concurrent", "40"});
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  EXPECT_EQ(comparable_part(finished.output), reference_report());
  const auto report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object());
  EXPECT_EQ(report["metrics"]["errors"], 0);
  EXPECT_EQ(report["run"]["rate_limited"], 100);
  EXPECT_EQ(report["run"]["requests"], 100 + fixture_count());
  EXPECT_EQ(report["run"]["retries"], 100);

  const auto log = simulator.final_events();
  EXPECT_EQ(expect_silence(log).refused, 100u);
}

// What a refused call's own wait does not show: while it lasts, other cases get a place, and they wait too.
TEST_F(RateLimit, ACaseThatGetsAPlaceDuringAPauseWaitsToo) {
  let_all_workers_call();
  // Of each 40 calls at a time half are refused, and the others are answered, and make room for other cases,
  // when the provider has been asking for silence for long: nothing that starts then was on its way.
  const std::string answered = R"({"latency_ms": 700, "times": 20})";
  const std::string refused = R"({"latency_ms": 100, "status": 429, "retry_after": 1, "times": 20})";
  auto simulator = start_simulator({answered, refused, answered, refused}, {});
  const auto finished = run_sluice(live(simulator) + Flags{"--max-concurrent", "40"});
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  EXPECT_EQ(comparable_part(finished.output), reference_report());
  const auto log = simulator.final_events();
  const auto silence = expect_silence(log);
  EXPECT_EQ(silence.refused, 40u);
  EXPECT_GE(silence.answered_late, 20u) << "nobody was tempted";
}

// Retry-After: 86400 failed case after case for hours.
TEST_F(RateLimit, ASilenceBeyondTheTimeOfACaseStopsTheRunAndNamesItsEnd) {
  auto simulator = start_simulator({"--fail-first", "100,429,86400"});
  const auto finished = run_sluice(live(simulator));
  EXPECT_EQ(finished.exit_code, 2) << finished.output;
  EXPECT_NE(finished.errors.find("answers again at 20"), std::string::npos) << finished.errors;
  EXPECT_LE(simulator.final_events().size(), 100u);
}

TEST_F(RateLimit, ASilenceThatEndsBeforeTheDeadlineIsWaitedFor) {
  auto simulator = start_simulator({"--fail-first", "5,429,3"});
  const auto finished = run_sluice(live(simulator) + Flags{"--case-timeout", "2", "--deadline", "120"});
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  EXPECT_EQ(comparable_part(finished.output), reference_report());
}

// The pause reaches a worker process that was not refused itself.
TEST_F(RateLimit, APauseReachesTheOtherWorkers) {
  // The first worker's call takes long; meanwhile the second worker's second one is refused.
  auto simulator =
      start_simulator({R"({"latency_ms": 1500, "times": 1})", R"({"latency_ms": 100, "times": 1})",
                       R"({"status": 429, "retry_after": 2, "times": 1})"},
                      {});
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", "tcp://127.0.0.1:0"});
  const auto endpoint = endpoint_of(coordinator);
  auto first = start_worker(endpoint, {"--max-concurrent", "1"});
  ASSERT_TRUE(eventually([&] { return simulator.count("start") == 1; })) << first.errors();
  auto second = start_worker(endpoint, {"--max-concurrent", "1"});
  const auto finished = finish(coordinator);
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  EXPECT_EQ(comparable_part(finished.output), reference_report());

  std::int64_t refused_at = -1;
  for (const auto& event : simulator.final_events()) {
    if (event.kind == "answer" && event.status == 429) refused_at = event.at_us;
    if (event.kind != "start" || refused_at < 0) continue;
    // One hop to the coordinator and one to the other worker.
    const auto after = event.at_us - refused_at;
    EXPECT_FALSE(after > on_its_way_us && after < 2'000'000) << "a call " << after << " us after the 429";
  }
  EXPECT_GT(refused_at, 0);
}

// ... and one that joins while the provider asks for silence.
TEST_F(RateLimit, AWorkerThatJoinsDuringAPauseWaitsToo) {
  auto simulator = start_simulator({R"({"status": 429, "retry_after": 2, "times": 1})"}, {});
  auto coordinator = start_sluice(live(simulator) + Flags{"--listen", "tcp://127.0.0.1:0"});
  const auto endpoint = endpoint_of(coordinator);
  auto first = start_worker(endpoint, {"--max-concurrent", "1"});
  ASSERT_TRUE(eventually([&] { return simulator.count("answer") == 1; })) << first.errors();
  auto late = start_worker(endpoint);
  const auto finished = finish(coordinator);
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  EXPECT_EQ(comparable_part(finished.output), reference_report());

  const auto events = simulator.final_events();
  ASSERT_GE(events.size(), 3u);
  ASSERT_EQ(events[1].status, 429);
  // There was one call in flight, so nothing can have been under way.
  EXPECT_EQ(events[2].kind, "start");
  EXPECT_GE(events[2].at_us - events[1].at_us, 2'000'000);
}

}  // namespace
}  // namespace sluice
