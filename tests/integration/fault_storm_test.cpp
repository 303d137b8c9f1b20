// Whatever goes wrong at the provider: the report is the same as if nothing had (docs/delivery.md, "Byte
// identity").

#include "tests/integration/budget_workbench.hpp"

#include <random>

namespace sluice {
namespace {

using namespace support;

class FaultStorm : public BudgetWorkbench {
 protected:
  static constexpr const char* patient = "rate_limit_initial_delay_ms = 10\nrate_limit_max_retries = 8\n";

  /// The comparable part of the report that a provider without faults leads to.
  std::string faultless(const std::filesystem::path& suite) {
    auto simulator = start_simulator();
    write_settings(simulator, "", patient);
    const auto finished = run_sluice({"run", suite.string(), "--format", "json", "--no-cache"});
    EXPECT_EQ(finished.exit_code, 0) << finished.errors;
    return comparable_part(finished.output);
  }
};

struct NamedFault {
  std::string name;
  Flags flags;

  friend void PrintTo(const NamedFault& fault, std::ostream* out) { *out << fault.name; }
};

class EveryFault : public FaultStorm, public ::testing::WithParamInterface<NamedFault> {};

TEST_P(EveryFault, LeavesTheReportAsItWas) {
  constexpr std::size_t cases = 60;
  const auto suite = write_questions(cases);
  const auto expected = faultless(suite);
  auto simulator = start_simulator(GetParam().flags + Flags{"--max-faults", "3"});
  write_settings(simulator, "", patient);
  const auto run = run_fleet(suite, 2, 10, {"--request-timeout", "0.5"});
  expect_all_passed(run, cases);
  EXPECT_TRUE(comparable_part(run.finished.output) == expected) << run.finished.output.substr(0, 2000);
  EXPECT_GT(starts().size(), cases) << "nothing went wrong";
}

INSTANTIATE_TEST_SUITE_P(OfTheSimulator, EveryFault,
                         ::testing::Values(NamedFault{"TooManyRequests", {"--error-rate", "0.05,429"}},
                                           NamedFault{"TooManyRequestsWithADelay",
                                                      {"--error-rate", "0.1,429", "--retry-after", "0.1"}},
                                           NamedFault{"TooManyRequestsUntilADate",
                                                      {"--error-rate", "0.03,429", "--retry-after", "0.1",
                                                       "--delay-form", "date"}},
                                           NamedFault{"Overloaded", {"--error-rate", "0.05,529"}},
                                           NamedFault{"InternalError", {"--error-rate", "0.3,500"}},
                                           NamedFault{"Unavailable", {"--error-rate", "0.3,503"}},
                                           NamedFault{"NoAnswer", {"--hang-rate", "0.1"}},
                                           NamedFault{"ConnectionClosed", {"--drop-rate", "0.3"}},
                                           NamedFault{"ConnectionClosedAfterEachAnswer",
                                                      {"--drop-rate", "0.1", "--keep-alive-max", "1"}},
                                           NamedFault{"BodyCut", {"--truncate-body-rate", "0.3"}},
                                           NamedFault{"BodyMalformed", {"--malformed-rate", "0.3"}}),
                         [](const auto& named) { return named.param.name; });

TEST_F(FaultStorm, OfAllFaultsAtOnceLeavesTheReportAsItWas) {
  constexpr std::size_t cases = 1000;
  const auto suite = write_questions(cases);
  const auto expected = faultless(suite);
  const std::uint64_t seed = std::random_device()();
  SCOPED_TRACE("seed " + std::to_string(seed));
  auto simulator = start_simulator({"--latency-lognormal", "10,0.5", "--storm", "0.1", "--max-faults", "4",
                                    "--seed", std::to_string(seed)});
  write_settings(simulator, "", patient);
  const auto run = run_fleet(suite, 4, 25, {"--request-timeout", "0.5"});
  expect_all_passed(run, cases);
  EXPECT_TRUE(comparable_part(run.finished.output) == expected) << run.finished.output.substr(0, 2000);
  EXPECT_GT(starts().size(), cases + cases / 20);
}

}  // namespace
}  // namespace sluice
