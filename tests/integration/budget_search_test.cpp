// A server that states no limit: the number in flight is searched for.

#include "tests/integration/budget_workbench.hpp"

namespace sluice {
namespace {

using namespace support;

class BudgetSearch : public BudgetWorkbench {
 protected:
  /// The most requests that were in the server at a time, by its log, in the last quarter of the run, when it
  /// has searched.
  static std::size_t most_in_flight(std::span<const SimulatorEvent> events) {
    std::size_t in_flight = 0;
    std::size_t most = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
      in_flight = events[i].kind == "start" ? in_flight + 1 : in_flight - 1;
      if (i >= events.size() / 4 * 3) most = std::max(most, in_flight);
    }
    return most;
  }
};

// Two workers of five calls would take 10 ms a case; the server can do 5.
TEST_F(BudgetSearch, FindsThatAServerCanDoMore) {
  constexpr std::size_t cases = 1600;
  auto simulator = start_simulator({"--latency-ms", "100", "--places", "20"});
  write_settings(simulator, "");
  const auto run = run_fleet(write_questions(cases), 2, std::nullopt);
  expect_all_passed(run, cases);
  const auto all = starts();
  const double ideal = cases * 0.1 / 20;
  EXPECT_LT(seconds_between(all, 0, all.size() - 1), 2 * ideal);
  const auto most = most_in_flight(simulator.final_events());
  EXPECT_GE(most, 15u);
  EXPECT_LE(most, 80u) << "beyond 20 they only wait in line";
}

// --max-concurrent 5 made 461 calls at once.
TEST_F(BudgetSearch, ANumberThatWasNamedIsABound) {
  constexpr std::size_t cases = 400;
  auto simulator = start_simulator({"--latency-ms", "20", "--places", "100"});
  write_settings(simulator, "", "max_concurrent = 3\n");
  const auto run = run_fleet(write_questions(cases), 2, std::nullopt);
  expect_all_passed(run, cases);
  EXPECT_LE(most_in_flight(simulator.final_events()), 6u);
}

TEST_F(BudgetSearch, EndsAtMaxInFlight) {
  constexpr std::size_t cases = 400;
  auto simulator = start_simulator({"--latency-ms", "50", "--places", "100"});
  write_settings(simulator, "max_in_flight = 12\n");
  const auto run = run_fleet(write_questions(cases), 1, std::nullopt);
  expect_all_passed(run, cases);
  const auto most = most_in_flight(simulator.final_events());
  EXPECT_GT(most, 8u) << "beyond the default of 5";
  EXPECT_LE(most, 12u);
}

TEST_F(BudgetSearch, OfAFixedNumberIsNone) {
  constexpr std::size_t cases = 100;
  auto simulator = start_simulator({"--latency-ms", "20", "--places", "20"});
  write_settings(simulator, "max_in_flight = 6\n");
  const auto run = run_fleet(write_questions(cases), 3, 5);
  expect_all_passed(run, cases);
  EXPECT_LE(most_in_flight(simulator.final_events()), 6u);
}

}  // namespace
}  // namespace sluice
