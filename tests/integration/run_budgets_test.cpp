// A deadline, a token budget and a cost budget: what does not get its turn is an error, the rest is reported.

#include "tests/support/loopback_http.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <csignal>
#include <cstdint>
#include <set>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using namespace support;

class RunBudgets : public Workbench {
 protected:
  /// The cases without a status of their own, all of which must name this reason.
  static std::size_t unfinished(const nlohmann::json& report, const std::string& reason) {
    std::size_t count = 0;
    for (const auto& one : report["fixture_results"]) {
      if (one["status"] != "error") continue;
      EXPECT_EQ(one["reason_code"], reason) << one["id"];
      ++count;
    }
    return count;
  }

  nlohmann::json whole_report(const Finished& finished, const std::string& reason) {
    EXPECT_EQ(finished.exit_code, 1) << finished.errors;
    auto report = parse_report(finished.output);
    EXPECT_TRUE(report.is_object()) << finished.output.substr(0, 500);
    if (!report.is_object()) return report;
    EXPECT_EQ(schema_findings(report), "");
    EXPECT_EQ(report["fixture_results"].size(), fixture_count());
    EXPECT_EQ(report["reason_code"], reason);
    EXPECT_EQ(report["verdict"], "error") << "whichever budget it was, and whether or not a case failed";
    EXPECT_TRUE(report["run"]["cut_short"].is_string());
    return report;
  }
};

TEST_F(RunBudgets, ADeadlineEndsTheRunWithWhatThereIs) {
  auto simulator = start_simulator({R"({"latency_ms": 0, "times": 12})", R"({"fault": "hang"})"}, {});
  const auto finished = run_sluice(live(simulator) + Flags{"--deadline", "2s"});
  EXPECT_GE(finished.duration, std::chrono::seconds(2));
  EXPECT_LT(finished.duration, std::chrono::seconds(5));
  const auto report = whole_report(finished, "deadline_reached");
  EXPECT_EQ(unfinished(report, "deadline_reached"), fixture_count() - 12);
  ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
  EXPECT_NE(finished.errors.find("(--deadline) of 2 s was reached"), std::string::npos) << finished.errors;
}

TEST_F(RunBudgets, ATokenBudgetIsNotExceeded) {
  auto simulator = start_simulator();
  constexpr std::uint64_t budget = 12'000;
  const auto finished = run_sluice(
      live(simulator) + Flags{"--max-output-tokens", "500", "--max-tokens", std::to_string(budget)});
  const auto report = whole_report(finished, "token_budget_spent");
  const auto errors = unfinished(report, "token_budget_spent");
  EXPECT_GT(errors, 0u);
  EXPECT_LT(errors, fixture_count()) << "some cases had their turn";
  const auto& run = report["run"];
  EXPECT_LE(run["paid_input_tokens"].get<std::uint64_t>() + run["paid_output_tokens"].get<std::uint64_t>(),
            budget);
  EXPECT_EQ(run["requests"], fixture_count() - errors);
}

TEST_F(RunBudgets, BudgetsThatAreLargeEnoughChangeNothing) {
  auto simulator = start_simulator();
  const auto finished = run_sluice(live(simulator) + Flags{"--deadline", "1h", "--max-tokens", "10000000"});
  EXPECT_EQ(finished.exit_code, 1) << finished.errors;
  EXPECT_EQ(comparable_part(finished.output), reference_report());
}

TEST_F(RunBudgets, ACostBudgetIsNotExceeded) {
  auto simulator = start_simulator();
  write_text(folder() / "prices.toml",
             "version = \"1\"\nas_of = \"2026-01-01\"\n"
             "[[model]]\nprovider = \"openai\"\nmodel = \"sim-1\"\ninput = 1.0\noutput = 4.0\n");
  const auto finished = run_sluice(
      live(simulator) + Flags{"--max-output-tokens", "500", "--max-cost", "0.02", "--prices", "prices.toml"});
  const auto report = whole_report(finished, "cost_budget_spent");
  const auto errors = unfinished(report, "cost_budget_spent");
  EXPECT_GT(errors, 0u);
  EXPECT_LT(errors, fixture_count());
  EXPECT_LE(report["run"]["paid_cost"].get<double>(), 0.02);
  // Whoever asks later is told the same.
  const auto noted = nlohmann::json::parse(run_sluice({"runs", "show", "last", "--format", "json"}).output);
  EXPECT_EQ(noted["paid_cost"], report["run"]["paid_cost"]);
  EXPECT_NE(run_sluice({"runs", "show", "last"}).output.find("; paid in this run: $0.0"), std::string::npos);
}

TEST_F(RunBudgets, ACostBudgetNeedsAPriceBeforeAnyCall) {
  auto simulator = start_simulator();
  const auto finished = run_sluice(live(simulator) + Flags{"--max-cost", "5"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_EQ(finished.output, "");
  ASSERT_EQ(finished.error_lines().size(), 1u) << finished.errors;
  EXPECT_NE(finished.errors.find("--max-cost needs the price of the model \"sim-1\" (openai)"),
            std::string::npos)
      << finished.errors;
  EXPECT_EQ(simulator.count("start"), 0u);
}

std::string get_metrics(const std::string& log) {
  static constexpr std::string_view announcement = "metrics at http://127.0.0.1:";
  const auto at = log.find(announcement);
  if (at == std::string::npos) return "";
  const auto end = log.find_first_not_of("0123456789", at + announcement.size());
  return ask_http(log.substr(0, end), "GET /metrics HTTP/1.0\r\n\r\n");
}

TEST_F(RunBudgets, MetricsAreServedWhileTheRunGoesOn) {
  auto simulator = start_simulator({R"({"latency_ms": 0, "times": 12})", R"({"fault": "hang"})"}, {});
  auto run = start_sluice(live(simulator) + Flags{"--metrics-listen", "127.0.0.1:0", "--drain-timeout", "0"});
  const auto serves = [&](const std::string& line) {
    return eventually([&] { return get_metrics(run.errors()).find(line) != std::string::npos; });
  };
  EXPECT_TRUE(serves("sluice_cases " + std::to_string(fixture_count()) + "\n")) << run.errors();
  EXPECT_TRUE(serves("sluice_requests_total 12\n")) << get_metrics(run.errors());
  EXPECT_TRUE(serves("sluice_provider_calls_total{provider=\"openai\",outcome=\"answered\"} 12\n"))
      << get_metrics(run.errors());
  EXPECT_TRUE(serves("sluice_workers 1\n"));
  run.signal(SIGINT);
  EXPECT_LT(finish(run).duration, std::chrono::seconds(2)) << "the server holds nobody up";
}

TEST_F(RunBudgets, APortOfTheMetricsThatIsTakenEndsTheRunBeforeAnyCall) {
  auto simulator = start_simulator();
  const auto taken = simulator.url().substr(simulator.url().rfind(':'));
  const auto finished = run_sluice(live(simulator) + Flags{"--metrics-listen", taken});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.errors.find("metrics cannot be served at 127.0.0.1" + taken), std::string::npos)
      << finished.errors;
  const auto runs = run_sluice({"runs", "list", "--format", "json"});
  EXPECT_EQ(runs.output.find("run_id"), std::string::npos) << "it never began: " << runs.output;
  EXPECT_EQ(simulator.count("start"), 0u);
}

}  // namespace
}  // namespace sluice
