#pragma once

#include "tests/support/call_log.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>

#include <nlohmann/json.hpp>

namespace sluice::support {

/// Fleets that share the budget of a provider named `limited`, and the logs that their workers keep of every
/// call.
class BudgetWorkbench : public Workbench {
 protected:
  using Json = nlohmann::json;

  /// A limit as a provider means it.
  struct RequestLimit {
    double per_second = 0;
    double burst = 0;
  };

  // --- Files ---

  /// A suite of so many questions, each of which takes a call of its own and is passed by any answer of the
  /// simulator. `expected`: one more expectation, as JSON.
  std::filesystem::path write_questions(std::size_t count, const std::string& expected = "") {
    std::string lines;
    for (std::size_t i = 0; i < count; ++i) {
      const auto id = std::to_string(100'000 + i);
      lines +=
          R"({"id": "q-)" + id + R"(", "input": {"prompt": "Question )" + id +
          R"(: may the order be cancelled?"}, "expected": [{"type": "must_not_contain", "text": "As an AI"})" +
          (expected.empty() ? "" : ", " + expected) + "]}\n";
    }
    write_text(folder() / "questions.jsonl", lines);
    write_text(folder() / "suite.yaml", "suite: questions\ntests_file: questions.jsonl\n");
    return folder() / "suite.yaml";
  }

  /// The sluice.toml that coordinator and workers read.
  void write_settings(const SimulatorProcess& simulator, const std::string& provider_keys,
                      const std::string& eval_keys = "", const std::string& more_tables = "") {
    write_text(folder() / "sluice.toml",
               "[eval]\nprovider = \"limited\"\nmode = \"live\"\nmax_output_tokens = 64\n" + eval_keys +
                   provider_table("limited", simulator) + provider_keys + more_tables);
  }
  static std::string provider_table(const std::string& name, const SimulatorProcess& simulator) {
    return "\n[providers." + name + "]\nkind = \"openai\"\nbase_url = \"" + simulator.url() +
           "/v1\"\napi_key_env = \"\"\ncache_identity = \"" + name + "\"\nmodel = \"sim-1\"\n";
  }
  static std::string limit_keys(const RequestLimit& limit) {
    return "requests_per_minute = " + std::to_string(std::lround(limit.per_second * 60)) +
           "\nburst_seconds = " + std::to_string(limit.burst / limit.per_second) + "\n";
  }

  // --- Processes ---

  Process start_coordinator(const std::filesystem::path& suite, const Flags& flags = {}) {
    return start_sluice(Flags{"run", suite.string(), "--format", "json", "--listen", "tcp://127.0.0.1:0"} +
                        flags);
  }
  /// Without a `max_concurrent` the worker is given none.
  Process start_logging_worker(const std::string& endpoint, std::optional<int> max_concurrent) {
    const auto number = std::to_string(++workers_started_);
    logs_.push_back(folder() / ("calls-" + number + ".jsonl"));
    Flags flags{"--name", "w" + number, "--call-log", logs_.back().string()};
    if (max_concurrent) flags = flags + Flags{"--max-concurrent", std::to_string(*max_concurrent)};
    return start_worker(endpoint, flags);
  }
  std::vector<Process> start_logging_workers(const std::string& endpoint, int count,
                                             std::optional<int> max_concurrent) {
    std::vector<Process> workers;
    for (int i = 0; i < count; ++i) workers.push_back(start_logging_worker(endpoint, max_concurrent));
    return workers;
  }

  /// What a fleet came to. The workers have ended well.
  struct FleetRun {
    Finished finished;
    Json report;
  };
  FleetRun run_fleet(const std::filesystem::path& suite, int workers, std::optional<int> max_concurrent,
                     const Flags& flags = {}) {
    auto coordinator = start_coordinator(suite, flags);
    const auto endpoint = endpoint_of(coordinator);
    auto fleet = start_logging_workers(endpoint, workers, max_concurrent);
    FleetRun run{finish(coordinator), {}};
    run.report = parse_report(run.finished.output);
    // A worker that came too late for the run waits for the next one: it is not asked for its exit code.
    for (auto& worker : fleet) worker.signal(SIGTERM);
    return run;
  }

  // --- What came of it ---

  /// Every case passed, each with the answer of a call.
  static void expect_all_passed(const FleetRun& run, std::size_t cases) {
    EXPECT_EQ(run.finished.exit_code, 0) << run.finished.errors;
    ASSERT_TRUE(run.report.is_object()) << run.finished.errors;
    EXPECT_EQ(schema_findings(run.report), "");
    EXPECT_EQ(run.report["metrics"]["total_fixtures"], cases);
    EXPECT_EQ(run.report["metrics"]["passed"], cases);
    EXPECT_EQ(run.report["metrics"]["errors"], 0) << run.report["run"]["errors"];
  }

  /// When calls started at any worker, by the workers' own logs.
  std::vector<std::int64_t> starts(const std::string& provider = "limited") const {
    std::vector<std::string> texts;
    for (const auto& log : logs_) texts.push_back(read_text(log));
    return merged_starts(texts, provider);
  }
  static void expect_within(const std::vector<std::int64_t>& starts, const RequestLimit& limit) {
    ASSERT_FALSE(starts.empty());
    const auto worst = worst_window(starts, limit.per_second, limit.burst);
    EXPECT_LE(worst.excess, 0) << worst.starts << " starts in " << worst.until_us - worst.from_us << " us";
  }
  static double seconds_between(const std::vector<std::int64_t>& starts, std::size_t first,
                                std::size_t last) {
    return static_cast<double>(starts.at(last) - starts.at(first)) * 1e-6;
  }
  /// How many of the simulator's answers had this status.
  static std::size_t answered(std::span<const SimulatorEvent> events, int status) {
    return static_cast<std::size_t>(std::ranges::count_if(
        events, [status](const auto& event) { return event.kind == "answer" && event.status == status; }));
  }

 private:
  std::vector<std::filesystem::path> logs_;
  int workers_started_ = 0;
};

}  // namespace sluice::support
