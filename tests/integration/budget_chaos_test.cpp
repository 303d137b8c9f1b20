// Whatever becomes of the workers: no window of their starts is over the limit, and no case is lost.

#include "tests/integration/budget_workbench.hpp"

#include <chrono>
#include <csignal>
#include <random>

namespace sluice {
namespace {

using namespace support;

class BudgetChaos : public BudgetWorkbench {
 protected:
  static constexpr RequestLimit limit{200, 20};

  /// Kills, stops and continues workers at random, and starts one for each that was killed.
  class Trouble {
   public:
    Trouble(std::vector<Process>& workers, std::uint64_t seed) : workers_(workers), random_(seed) {
      for (std::size_t i = 0; i < workers.size(); ++i) running_.push_back(i);
    }

    /// How long the fleet has until the next step.
    std::chrono::milliseconds respite() { return std::chrono::milliseconds(pick(20, 120)); }

    template <class StartWorker>
    void step(const StartWorker& start_worker) {
      // Some stand still for less than the lifetime of a permit, some until their leases are lost.
      if (!stopped_.empty() && pick(0, 1) == 0) {
        const auto index = take(stopped_);
        workers_[index].signal(SIGCONT);
        running_.push_back(index);
      } else if (pick(0, 2) == 0) {
        workers_[take(running_)].signal(SIGKILL);
        workers_.push_back(start_worker());
        running_.push_back(workers_.size() - 1);
        ++kills;
      } else if (running_.size() > 1) {
        const auto index = take(running_);
        workers_[index].signal(SIGSTOP);
        stopped_.push_back(index);
        ++stops;
      }
    }
    void calm_down() {
      for (const auto index : stopped_) workers_[index].signal(SIGCONT);
    }

    int kills = 0;
    int stops = 0;

   private:
    std::size_t pick(std::size_t low, std::size_t high) {
      return std::uniform_int_distribution<std::size_t>(low, high)(random_);
    }
    std::size_t take(std::vector<std::size_t>& indices) {
      std::swap(indices[pick(0, indices.size() - 1)], indices.back());
      const auto taken = indices.back();
      indices.pop_back();
      return taken;
    }

    std::vector<Process>& workers_;
    std::mt19937_64 random_;
    std::vector<std::size_t> running_;
    std::vector<std::size_t> stopped_;
  };
};

TEST_F(BudgetChaos, KillsAndStopsAtRandomKeepTheLimitAndLoseNothing) {
  constexpr std::size_t cases = 500;
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  auto simulator = start_simulator({"--latency-ms", "30"});
  write_settings(simulator, limit_keys(limit));
  auto coordinator = start_coordinator(write_questions(cases));
  const auto endpoint = endpoint_of(coordinator);
  auto workers = start_logging_workers(endpoint, 6, 8);
  ASSERT_TRUE(eventually([&] { return starts().size() > 20; })) << workers.front().errors();
  Trouble trouble(workers, seed);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(4);
  while (!coordinator.wait(trouble.respite()) && std::chrono::steady_clock::now() < end) {
    trouble.step([&] { return start_logging_worker(endpoint, 8); });
  }
  trouble.calm_down();
  FleetRun run{finish(coordinator), {}};
  run.report = parse_report(run.finished.output);
  expect_all_passed(run, cases);
  EXPECT_GT(trouble.kills, 0);
  EXPECT_GT(trouble.stops, 0);
  const auto all = starts();
  EXPECT_GE(all.size(), cases);
  expect_within(all, limit);
}

}  // namespace
}  // namespace sluice
