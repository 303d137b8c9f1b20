#pragma once

#include "common/defaults.hpp"
#include "tests/properties/simulated_fleet.hpp"

#include <cmath>
#include <string>

namespace sluice::testing {

/// What a run came to.
struct LimitedRun {
  bool is_done = false;
  double seconds = 0;
  std::uint64_t refused = 0;
  BudgetFacts facts;
};

/// One server, and what the user says of it.
struct LimitedRow {
  std::string name;
  ProviderNature nature;
  ProviderLimits said;
  LearnedLimits learned;
  std::size_t count = 1000;
  wire::CallSize size{};  ///< Of each call, as it is reserved and used.
  std::uint32_t workers = 1;
  std::uint32_t in_flight = 50;  ///< Over all workers,
  bool is_bound = true;          ///< as somebody set it; else it is the client's alone that only retries.
  BootTime variation = std::chrono::milliseconds(2);
  std::size_t poisoned = 0;
  std::uint64_t seed = 1;
};

inline std::vector<PlannedCall> calls_of(const LimitedRow& row) {
  auto planned = calls(row.count, row.size, row.size);
  for (std::size_t i = 0; i < row.poisoned; ++i)
    planned[(i + 1) * row.count / (row.poisoned + 1)].is_poisoned = true;
  return planned;
}

inline LimitedRun run_fleet(const LimitedRow& row) {
  FleetProvider provider;
  provider.limits = row.said;
  provider.learned = row.learned;
  provider.nature = row.nature;
  provider.calls = calls_of(row);
  FleetOptions options;
  options.seed = row.seed;
  options.workers = row.workers;
  options.max_concurrent_named = row.is_bound;
  options.max_concurrent =
      row.is_bound ? std::max(1u, row.in_flight / row.workers) : defaults::max_concurrent;
  options.network.delay_max = std::chrono::milliseconds(2);
  options.arrival_jitter = row.variation;
  options.patience = std::chrono::hours(3);
  options.request_timeout = std::chrono::minutes(2);
  Fleet fleet(options, {provider});
  LimitedRun run;
  run.is_done = fleet.run();
  run.seconds = static_cast<double>(fleet.elapsed().count()) * 1e-6;
  run.refused = fleet.refused();
  run.facts = fleet.facts();
  return run;
}

/// A client that makes so many calls at a time, and each again after the delay that its refusal names, or
/// after a back-off.
class RetryingClient {
 public:
  explicit RetryingClient(const LimitedRow& row)
      : row_(row), provider_(events_, row.nature), random_(row.seed), left_(row.count) {
    planned_ = calls_of(row);
    for (std::uint32_t i = 0; i < row.in_flight; ++i) next();
  }
  LimitedRun run() {
    while (left_ > 0 && events_.step(EventQueue::beginning + std::chrono::hours(3))) continue;
    return {left_ == 0,
            static_cast<double>((events_.now() - EventQueue::beginning).count()) * 1e-6,
            provider_.refused(),
            {}};
  }

 private:
  void next() {
    if (begun_ < planned_.size()) attempt(planned_[begun_++], 0);
  }
  BootTime up_to(BootTime most) {
    return BootTime(std::uniform_int_distribution<BootTime::rep>(0, most.count())(random_));
  }
  void attempt(const PlannedCall& call, std::uint32_t tries) {
    events_.after(up_to(row_.variation), [this, call, tries] {
      provider_.arrive(call.used, call.is_poisoned, [this, call, tries](const Reply& reply) {
        const bool is_over =
            reply.outcome == Outcome::answered || (call.is_poisoned && tries >= defaults::max_retries);
        if (is_over) {
          --left_;
          return next();
        }
        auto wait = reply.named_delay;
        if (wait == BootTime::zero())
          wait = up_to(std::chrono::milliseconds(500) * (1 << std::min(tries, 6u)));
        events_.after(wait, [this, call, tries] { attempt(call, tries + 1); });
      });
    });
  }

  LimitedRow row_;
  EventQueue events_;
  SimulatedProvider provider_;
  std::mt19937_64 random_;
  std::vector<PlannedCall> planned_;
  std::size_t begun_ = 0;
  std::size_t left_;
};

/// How long the calls take where each is made at the first instant at which the server admits it.
inline double ideal_seconds(const LimitedRow& row) {
  LimitedServer server(SimulatedProvider::all_limits(row.nature), EventQueue::beginning);
  const double tokens = static_cast<double>(row.size.input_tokens) + row.size.output_tokens;
  auto now = EventQueue::beginning;
  std::deque<BootTime> ends;
  for (std::size_t i = 0; i < row.count; ++i) {
    const auto end_calls = [&] {
      while (!ends.empty() && ends.front() <= now) {
        ends.pop_front();
        server.ended();
      }
    };
    const auto wait_for_end = [&] {
      now = std::max(now, ends.front());
      end_calls();
    };
    end_calls();
    while (ends.size() >= row.in_flight) wait_for_end();
    while (const auto wait = server.admit(now, tokens)) {
      const auto next = now + *wait;
      if (!ends.empty() && ends.front() < next) {
        wait_for_end();
      } else {
        now = next;
      }
    }
    ends.push_back(now + row.nature.latency);
  }
  return static_cast<double>((ends.back() - EventQueue::beginning).count()) * 1e-6;
}

}  // namespace sluice::testing
