// What one worker's cache holds is not paid for by another (docs/protocol.md, "Entries of other caches").
#include "tests/integration/budget_workbench.hpp"

#include <csignal>

namespace sluice {
namespace {

using namespace support;

constexpr std::size_t cases = 30;
const char* const similarity = R"({"type": "semantic_similarity_to", "text": "The order may be cancelled"})";

class SingleFlight : public BudgetWorkbench {
 protected:
  /// The governor leaves a lost worker its places until its calls must have ended: that is soon enough here.
  static constexpr const char* short_timeout = "request_timeout_seconds = 3\n";

  void SetUp() override { begin({"--latency-ms", "300"}); }

  /// The providers of answers, which are all alike, and of embeddings. The first one needs a key.
  void begin(const Flags& embedder_flags, const std::string& eval_keys = "",
             const std::string& latency_ms = "100") {
    simulator.emplace(
        start_simulator({R"({"text": "The order may be cancelled."})"}, {"--latency-ms", latency_ms}));
    embedder.emplace(start_simulator(embedder_flags));
    write_text(folder() / "sluice.toml",
               "[eval]\nprovider = \"keyed\"\nmode = \"live\"\nmax_output_tokens = 64\n" + eval_keys +
                   "embedding_provider = \"embedder\"\nembedding_model = \"e\"\n\n[providers.keyed]\n"
                   "kind = \"openai\"\nbase_url = \"" +
                   simulator->url() + "/v1\"\napi_key_env = \"OPENAI_API_KEY\"\nmodel = \"sim-1\"\n" +
                   provider_table("embedder", *embedder));
    suite = write_questions(cases, similarity);
  }

  /// A run with one worker, which then holds everything.
  FleetRun first_run() {
    auto run = run_fleet(suite, 1, 5);
    expect_all_passed(run, cases);
    EXPECT_EQ(simulator->count("start"), cases);
    EXPECT_EQ(embedder->count("start"), 1u);
    return run;
  }
  /// A second run in which the holder is there, but gets no work, since it has no key.
  struct SecondRun {
    Process coordinator;
    std::string endpoint;
    Process holder;
  };
  SecondRun begin_second_run() {
    auto coordinator = start_coordinator(suite);
    const auto endpoint = endpoint_of(coordinator);
    set_variable("OPENAI_API_KEY", "");
    auto holder = start_worker(endpoint, {"--name", "w1"});
    set_variable("OPENAI_API_KEY", "key-for-tests");
    EXPECT_TRUE(has_logged(coordinator, "worker w1 gets no work")) << holder.errors();
    return {std::move(coordinator), endpoint, std::move(holder)};
  }
  static FleetRun completed(SecondRun& second) {
    FleetRun run{finish(second.coordinator), {}};
    run.report = parse_report(run.finished.output);
    expect_all_passed(run, cases);
    return run;
  }

  std::optional<SimulatorProcess> simulator;
  std::optional<SimulatorProcess> embedder;
  std::filesystem::path suite;
};

TEST_F(SingleFlight, EmbeddingsOfEqualTextsArePaidForOnceByTwoWorkers) {
  const auto run = run_fleet(suite, 2, 2);
  expect_all_passed(run, cases);
  for (const auto& worker : run.report["run"]["workers"]) EXPECT_GT(worker["units"], 0) << worker;
  EXPECT_EQ(run.report["run"]["workers"].size(), 2u);
  EXPECT_EQ(simulator->count("start"), cases);
  // An answer and what it is compared with go in one call, of whoever was first.
  EXPECT_EQ(embedder->count("start"), 1u);
}

TEST_F(SingleFlight, ALaterRunHasFromTheHolderWhatItsWorkersLack) {
  const auto first = first_run();
  auto second = begin_second_run();
  auto other = start_worker(second.endpoint, {"--name", "other"});
  const auto run = completed(second);
  EXPECT_EQ(simulator->count("start"), cases) << "no second call for an answer";
  EXPECT_EQ(embedder->count("start"), 1u);
  EXPECT_EQ(run.report["run"]["requests"], 0);
  EXPECT_EQ(run.report["run"]["cache_hits"], cases);
  EXPECT_EQ(comparable_part(run.finished.output), comparable_part(first.finished.output));

  // It has them in its own cache now.
  other.wait();
  auto offline = start_coordinator(suite, {"--mode", "cached"});
  const auto alone = start_worker(endpoint_of(offline), {"--name", "other"});
  const auto third = finish(offline);
  EXPECT_EQ(third.exit_code, 0) << third.errors;
}

// The first worker's call for the embeddings hangs, and the worker is killed in it.
TEST_F(SingleFlight, WhenThePayerIsLostTheNextOnePays) {
  begin({"--outage", "0,3,hang"}, short_timeout);
  auto coordinator = start_coordinator(suite);
  const auto endpoint = endpoint_of(coordinator);
  auto payer = start_worker(endpoint, {"--name", "payer", "--max-concurrent", "2"});
  ASSERT_TRUE(eventually([this] { return embedder->count("start") == 1; })) << payer.errors();
  const auto other = start_worker(endpoint, {"--name", "other", "--max-concurrent", "2"});
  ASSERT_TRUE(eventually([this] { return simulator->count("answer") == 4; })) << other.errors();
  EXPECT_EQ(embedder->count("start"), 1u) << "the other one waits";
  payer.signal(SIGKILL);
  FleetRun run{finish(coordinator), {}};
  run.report = parse_report(run.finished.output);
  expect_all_passed(run, cases);
  EXPECT_EQ(embedder->count("start"), 2u);
}

// Nobody answered what they asked for any more: they hung until the drain timeout, and were lost.
TEST_F(SingleFlight, AnswersUnderWayAtTheEndGetTheirEmbeddings) {
  begin({"--latency-ms", "20"}, "", "1500");
  auto run = start_sluice({"run", suite.string(), "--format", "json"});
  ASSERT_TRUE(eventually([this] { return simulator->count("start") > 0; })) << run.errors();
  run.signal(SIGINT);
  const auto finished = finish(run);
  EXPECT_EQ(finished.exit_code, 2) << finished.errors;
  EXPECT_LT(finished.duration, std::chrono::seconds(15));
  const auto report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object()) << finished.errors;
  EXPECT_EQ(report["reason_code"], "interrupted");
  EXPECT_EQ(report["metrics"]["passed"], simulator->count("start"));
}

TEST_F(SingleFlight, AHolderThatHasStoppedIsNotWaitedFor) {
  begin({"--latency-ms", "300"}, short_timeout);
  first_run();
  auto second = begin_second_run();
  ASSERT_TRUE(second.holder.stop());
  const auto other = start_worker(second.endpoint, {"--name", "other", "--max-concurrent", "30"});
  const auto run = completed(second);
  const auto requests = run.report["run"]["requests"].get<std::size_t>();
  EXPECT_EQ(simulator->count("start") + embedder->count("start"), cases + 1 + requests);
  EXPECT_GT(requests, 0u);
}

}  // namespace
}  // namespace sluice
