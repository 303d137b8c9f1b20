// What a coordinator's decisions cost by the numbers of workers and of units (docs/scale.md): plan, dispatch,
// budgets and merging are the real ones, workers, network, ledger and time are simulated.
//
//   scale-bench                              the table
//   scale-bench WORKERS UNITS [DEATHS]       one row, and exit code 1 unless every unit came out once
#include "bench/scale/scale_fleet.hpp"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <malloc.h>

namespace sluice::scale {
namespace {

void print_head() {
  std::printf(
      "| workers | units | units/s | run alone, units/s | plan, us | result, us | lease, us | merge, us | "
      "heartbeat, us | its turn, us | join, us | leave, us | death, us | tick, us | state, bytes a unit | at "
      "most | "
      "leases lost | duplicates |\n");
  std::printf("|");
  for (int column = 0; column < 18; ++column) std::printf(" --- |");
  std::printf("\n");
}

void print_row(const FleetOptions& options, const FleetOutcome& outcome) {
  const auto& costs = outcome.costs;
  const auto per_second = [&](std::chrono::nanoseconds cpu) {
    return static_cast<double>(options.units) / (static_cast<double>(cpu.count()) * 1e-9);
  };
  std::printf("| %u | %zu | %.0f | %.0f |", options.workers, options.units,
              per_second(costs.run() + costs.plan.cpu + costs.merge.cpu), per_second(costs.run()));
  for (const StepCost* cost : {&costs.plan, &costs.result, &costs.lease, &costs.merge, &costs.heartbeat,
                               &costs.turn, &costs.join, &costs.leave, &costs.death, &costs.tick}) {
    std::printf(" %.2f |", cost->each_us());
  }
  std::printf(" %.1f | %.1f | %llu | %llu |\n", outcome.begin_bytes_a_unit, outcome.most_bytes_a_unit,
              static_cast<unsigned long long>(outcome.leases_lost),
              static_cast<unsigned long long>(outcome.duplicates));
  std::fflush(stdout);
}

/// False, with a word on stderr, unless every unit came out once.
bool measure(const FleetOptions& options) {
  const FleetOutcome outcome = ScaleFleet(options).run();
  ::malloc_trim(0);
  print_row(options, outcome);
  if (outcome.complete && outcome.settled == options.units && outcome.merged == options.units) return true;
  std::fprintf(stderr, "scale-bench: of %zu units %llu were settled and %llu merged; the run %s\n",
               options.units, static_cast<unsigned long long>(outcome.settled),
               static_cast<unsigned long long>(outcome.merged), outcome.complete ? "ended" : "did not end");
  return false;
}

bool measure_all() {
  bool good = true;
  for (const std::size_t units : {100'000u, 1'000'000u, 10'000'000u}) {
    for (const std::uint32_t workers : {10u, 100u, 1'000u}) {
      good &= measure({workers, units, 100, workers / 10, 1});
    }
  }
  return good;
}

}  // namespace
}  // namespace sluice::scale

int main(int argc, char** argv) {
  using namespace sluice::scale;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() == 1 || arguments.size() > 3) {
    std::fprintf(stderr, "usage: scale-bench [WORKERS UNITS [DEATHS]]\n");
    return 2;
  }
  print_head();
  if (arguments.empty()) return measure_all() ? EXIT_SUCCESS : EXIT_FAILURE;
  FleetOptions options;
  options.workers = static_cast<std::uint32_t>(std::stoul(arguments[0]));
  options.units = std::stoul(arguments[1]) / options.repeats * options.repeats;
  options.deaths =
      arguments.size() > 2 ? static_cast<std::uint32_t>(std::stoul(arguments[2])) : options.workers / 10;
  return measure(options) ? EXIT_SUCCESS : EXIT_FAILURE;
}
