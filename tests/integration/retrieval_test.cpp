// Solved examples from the suite to the model's prompt, the report, the ledger and calibrate-bands.

#include "tests/support/workbench.hpp"

#include <memory>
#include <string>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

namespace sluice::retrieval_test {

using namespace support;
using nlohmann::json;

class Retrieval : public Workbench {
 protected:
  Retrieval() {
    write_text(folder() / "plugins/upgrades/plugin.yaml",
               "# ours\nhigh_floor: 0.9  # cautious\ndegraded_floor: 0.3\n");
    write_text(
        folder() / "solved.jsonl",
        R"({"id": "log4j", "input": "Raise the version of log4j in this pom.xml to 2.17.", "answer": "2.17 it is"})"
        "\n");
    write_suite("{from: solved.jsonl, plugin: upgrades, task_class: bump}",
                "embedding_model: lexical-ngrams-v1");
    // What the model is shown decides what it says.
    simulator_ = std::make_unique<SimulatorProcess>(
        start_simulator({answer("near match with low confidence", "guided"), answer("2.17 it is", "followed"),
                         answer("e", "alone")},
                        {}));
    write_text(folder() / "sluice.toml", "[providers.sim]\nkind = \"openai\"\nbase_url = \"" +
                                             simulator_->url() + "/v1\"\napi_key_env = \"OPENAI_API_KEY\"\n");
  }

  void write_suite(const std::string& examples, const std::string& settings) {
    const auto test = [](const std::string& id, const std::string& prompt, const std::string& expected,
                         const std::string& more = "") {
      return "  - {id: " + id + ", category: " + (id == "far" ? "songs" : "java") + ", input: {prompt: \"" +
             prompt + "\"}, expected: {type: exact_match, text: " + expected + "}" + more + "}\n";
    };
    write_text(folder() / "suite.yaml",
               "suite: upgrades\nexamples: " + examples + "\nsettings: {provider: sim, " + settings +
                   "}\nmodel: m-1\ntests:\n" +
                   test("same", "Raise the version of log4j in this pom.xml to 2.17.", "followed") +
                   test("near", "Raise the version of jackson in this pom.xml to 2.9.", "guided") +
                   test("far", "Sing me something!", "alone") +
                   test("without", "Raise the version of log4j in this pom.xml to 2.17.", "alone",
                        ", examples: false"));
  }
  static std::string answer(const std::string& contains, const std::string& text) {
    return R"({"contains": ")" + contains + R"(", "text": ")" + text + R"("})";
  }

  std::unique_ptr<SimulatorProcess> simulator_;
};

TEST_F(Retrieval, AHitIsShownAsAnExampleANearMatchAsGuidanceAndAMissNotAtAll) {
  const auto run = run_sluice({"run", "suite.yaml", "--mode", "live", "--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.errors << run.output;
  const json report = json::parse(run.output);
  const json& retrieval = report["retrieval"];
  EXPECT_EQ(retrieval["plugin"], "upgrades");
  EXPECT_EQ(retrieval["embedder"], "lexical-ngrams-v1");
  EXPECT_EQ(retrieval["hit"], (json{{"cases", 1}, {"passed", 1}}));
  EXPECT_EQ(retrieval["degraded"], (json{{"cases", 1}, {"passed", 1}}));
  EXPECT_EQ(retrieval["miss"], (json{{"cases", 1}, {"passed", 1}}));
  EXPECT_EQ(retrieval["by_category"]["java"]["degraded"]["cases"], 1);
  EXPECT_EQ(retrieval["by_category"]["songs"]["miss"]["cases"], 1);
  EXPECT_TRUE(eventually([&] { return simulator_->count("start") == 4; }))
      << "nothing was called for embeddings";

  const auto again = run_sluice({"run", "suite.yaml", "--mode", "cached"});
  EXPECT_EQ(again.exit_code, 0) << "what is shown is part of the key, and the same: " << again.errors;
  EXPECT_NE(again.output.find("Solved examples"), std::string::npos) << again.output;
}

TEST_F(Retrieval, OtherFloorsAreOtherRequests) {
  ASSERT_EQ(run_sluice({"run", "suite.yaml", "--mode", "live"}).exit_code, 0);
  write_text(folder() / "plugins/upgrades/plugin.yaml", "high_floor: 0.4\ndegraded_floor: 0.3\n");
  const auto run = run_sluice({"run", "suite.yaml", "--mode", "cached"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.errors.find("near"), std::string::npos) << run.errors;
}

/// Solved examples found by the embeddings of a provider, which workers get before the run.
class RetrievalByProvider : public Retrieval {
 protected:
  RetrievalByProvider() {
    write_suite("{from: solved.jsonl, plugin: upgrades, task_class: bump}",
                "embedding_provider: sim, embedding_model: emb-1");
  }
  static const Flags& live() {
    static const Flags flags{"run", "suite.yaml", "--mode", "live", "--format", "json"};
    return flags;
  }
  json runs() {
    const auto listed = run_sluice({"runs", "list", "--format", "json"});
    return json::parse(listed.output, nullptr, false);
  }
  std::size_t calls() { return simulator_->count("start"); }
};

TEST_F(RetrievalByProvider, FindsThemInARunBeforeAndReplaysThem) {
  const auto run = run_sluice(live());
  ASSERT_EQ(run.exit_code, 0) << run.errors << run.output;
  EXPECT_NE(run.errors.find("finding solved examples by 3 embeddings"), std::string::npos) << run.errors;
  const json report = json::parse(run.output);
  EXPECT_EQ(report["retrieval"]["embedder"], "emb-1");
  EXPECT_EQ(report["retrieval"]["hit"], (json{{"cases", 1}, {"passed", 1}}));
  EXPECT_EQ(report["retrieval"]["degraded"], (json{{"cases", 1}, {"passed", 1}}));
  EXPECT_EQ(report["retrieval"]["miss"], (json{{"cases", 1}, {"passed", 1}}));
  EXPECT_EQ(report["run"]["requests"], 5) << "four answers, and one call for three texts";
  EXPECT_GT(report["run"]["paid_embedding_tokens"], 0);
  EXPECT_TRUE(eventually([&] { return calls() == 5; }));
  EXPECT_EQ(runs().size(), 1u) << runs();

  const auto again = run_sluice(live());
  EXPECT_EQ(again.exit_code, 0) << again.errors;
  EXPECT_EQ(json::parse(again.output)["run"]["requests"], 0);
  const auto cached = run_sluice(with(live(), "--mode", "cached"));
  EXPECT_EQ(cached.exit_code, 0) << cached.errors;
  EXPECT_EQ(json::parse(cached.output)["retrieval"], report["retrieval"]);
  EXPECT_EQ(calls(), 5u);
}

TEST_F(RetrievalByProvider, ACassetteOfARunHasTheEmbeddingsThatFoundThem) {
  ASSERT_EQ(run_sluice(live()).exit_code, 0);
  ASSERT_EQ(run_sluice({"cache", "export", "--output", "own.cassette"}).exit_code, 0);
  write_text(folder() / "others.yaml",
             "suite: others\nmodel: m-1\nsettings: {embedding_provider: sim, embedding_model: emb-1, "
             "provider: sim}\ntests:\n  - {id: x, input: {prompt: hello}, expected: {type: "
             "semantic_similarity_to, text: good day, min_score: 0}}\n");
  const auto other = run_sluice({"run", "others.yaml", "--mode", "live"});
  ASSERT_EQ(other.exit_code, 0) << other.errors;
  const auto exported = run_sluice({"cache", "export", "--run", "last~1", "--output", "run.cassette"});
  ASSERT_EQ(exported.exit_code, 0) << exported.errors;
  EXPECT_EQ(read_text(folder() / "run.cassette"), read_text(folder() / "own.cassette")) << exported.output;
}

TEST_F(RetrievalByProvider, IsShownFromTheLedgerAndBoundedByThePlan) {
  const auto plan = run_sluice({"plan", "suite.yaml", "--mode", "live", "--format", "json"});
  ASSERT_EQ(plan.exit_code, 0) << plan.errors;
  json embeddings;
  const json planned = json::parse(plan.output);
  for (const json& one : planned["calls"]) {
    if (one["for"] == "embeddings") embeddings = one;
  }
  EXPECT_EQ(embeddings["calls"], 3) << plan.output;
  ASSERT_EQ(run_sluice(live()).exit_code, 0);
  const auto shown = run_sluice({"show", "last", "near"});
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  EXPECT_NE(shown.output.find("near match with low confidence"), std::string::npos) << shown.output;
  EXPECT_NE(shown.output.find("guided"), std::string::npos) << shown.output;
  EXPECT_NE(shown.output.find("Solved example\n  degraded: log4j, similarity 0."), std::string::npos)
      << shown.output;
  const auto far = run_sluice({"show", "last", "far", "--json"});
  EXPECT_EQ(json::parse(far.output, nullptr, false)["retrieval"]["outcome"], "miss") << far.output;
  const auto without = run_sluice({"show", "last", "without", "--json"});
  EXPECT_FALSE(json::parse(without.output, nullptr, false).contains("retrieval")) << without.output;
}

TEST_F(RetrievalByProvider, ItsBudgetsAreThoseOfTheRun) {
  const auto run = run_sluice(live() + Flags{"--max-tokens", "120"});
  EXPECT_EQ(run.exit_code, 1) << run.errors;
  EXPECT_NE(run.errors.find("of 120 tokens"), std::string::npos) << "as it was given: " << run.errors;
  const auto none = run_sluice(with(live(), "--home", "other") + Flags{"--max-tokens", "3"});
  EXPECT_EQ(none.exit_code, 2) << none.errors;
  EXPECT_NE(none.errors.find("solved examples were not found"), std::string::npos) << none.errors;
}

TEST_F(RetrievalByProvider, FloorsAreCalibratedForOneEmbedder) {
  ASSERT_EQ(run_sluice(live()).exit_code, 0);
  const Flags calibrate{"calibrate-bands", "plugins/upgrades/plugin.yaml"};
  const auto one = run_sluice(calibrate);
  EXPECT_NE(one.output.find("3 cases: no proposal"), std::string::npos) << one.output << one.errors;
  ASSERT_EQ(run_sluice(live() + Flags{"--embedding-model", "lexical-ngrams-v1"}).exit_code, 0);
  const auto several = run_sluice(calibrate);
  EXPECT_EQ(several.exit_code, 2);
  EXPECT_NE(several.errors.find("(emb-1, lexical-ngrams-v1)"), std::string::npos) << several.errors;
  const auto named = run_sluice(calibrate + Flags{"--embedding-model", "emb-1"});
  EXPECT_NE(named.output.find("3 cases: no proposal"), std::string::npos) << named.output << named.errors;
}

TEST_F(RetrievalByProvider, AHarvestIsRefusedBeforeTextsAreEmbeddedForNothing) {
  const auto run = run_sluice(live() + Flags{"--harvest", "notes.txt"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.errors.find(".jsonl"), std::string::npos) << run.errors;
  EXPECT_EQ(calls(), 0u);
}

TEST_F(RetrievalByProvider, ThePlanKnowsWhatTheLedgerShowsOfThem) {
  ASSERT_EQ(run_sluice(live()).exit_code, 0);
  const auto plan = run_sluice({"plan", "suite.yaml", "--mode", "live", "--format", "json"});
  ASSERT_EQ(plan.exit_code, 0) << plan.errors;
  EXPECT_EQ(json::parse(plan.output)["held"], 4) << plan.output;
}

TEST_F(RetrievalByProvider, ACachedRunWithoutThemSaysSoAndAsksNobody) {
  const auto run = run_sluice(with(live(), "--mode", "cached"));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.errors.find("solved examples were not found, and no test was asked"), std::string::npos)
      << run.errors;
  EXPECT_NE(run.errors.find("the cache does not hold the embedding"), std::string::npos) << run.errors;
  EXPECT_EQ(calls(), 0u);
  const json left = runs();
  ASSERT_EQ(left.size(), 1u) << left;
  EXPECT_EQ(left[0]["suite"], "upgrades (solved examples)");
  EXPECT_EQ(left[0]["command"], "embed");
}

// The report of an earlier run stayed in its file, and passed for this one's.
TEST_F(RetrievalByProvider, AReportSaysThatNothingWasEmbedded) {
  const Flags to_files{"--output", "report.json", "--report", "junit=report.xml"};
  ASSERT_EQ(run_sluice(live() + to_files).exit_code, 0);
  const std::string before = json::parse(read_text(folder() / "report.json"))["run_id"];
  const auto run = run_sluice(with(with(live(), "--mode", "cached"), "--home", "other") + to_files);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.error_lines().size(), 1u) << run.errors;
  const json report = json::parse(read_text(folder() / "report.json"), nullptr, false);
  ASSERT_TRUE(report.is_object());
  EXPECT_NE(report["run_id"], before);
  EXPECT_EQ(report["verdict"], "error") << report;
  EXPECT_EQ(report["fixture_results"].size(), 4u);
  for (const json& one : report["fixture_results"]) EXPECT_EQ(one["status"], "error");
  EXPECT_NE(read_text(folder() / "report.xml").find("solved examples were not found"), std::string::npos);
}

TEST_F(RetrievalByProvider, WorkersOfAFleetStayForTheRunThatFollows) {
  auto sluice = start_sluice(live() + Flags{"--listen", "tcp://127.0.0.1:0", "--workers", "0"});
  auto worker = start_worker(endpoint_of(sluice));
  const auto finished = finish(sluice);
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  EXPECT_EQ(json::parse(finished.output, nullptr, false)["retrieval"]["degraded"]["passed"], 1)
      << finished.output;
  EXPECT_EQ(finish(worker).exit_code, 0);
}

TEST_F(Retrieval, ValidateFixturesCountsThemAndNamesWhatIsWrong) {
  const auto good = run_sluice({"validate-fixtures", "suite.yaml"});
  EXPECT_EQ(good.exit_code, 0) << good.output << good.errors;
  EXPECT_NE(good.output.find("1 solved example (plugin upgrades)"), std::string::npos) << good.output;
  write_text(folder() / "solved.jsonl", "{\"id\": \"a\", \"input\": \"b\"}\n");
  write_text(folder() / "plugins/upgrades/plugin.yaml", "# ours\nhigh_floor: 0.2\n");
  const auto bad = run_sluice({"validate-fixtures", "suite.yaml"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_NE(bad.output.find("solved.jsonl:1: missing \"answer\""), std::string::npos) << bad.output;
  EXPECT_NE(
      bad.output.find("plugins/upgrades/plugin.yaml:2: \"degraded_floor\" and \"high_floor\" are crossed"),
      std::string::npos)
      << bad.output;
}

TEST_F(Retrieval, CalibrateBandsSaysHowManyCasesAreMissingAndLeavesTheFileAlone) {
  const Flags calibrate{"calibrate-bands", "plugins/upgrades/plugin.yaml"};
  const auto before = run_sluice(calibrate);
  EXPECT_EQ(before.exit_code, 0) << before.errors;
  EXPECT_NE(before.output.find("has been retrieved for yet"), std::string::npos) << before.output;
  ASSERT_EQ(run_sluice({"run", "suite.yaml", "--mode", "live"}).exit_code, 0);
  ASSERT_EQ(run_sluice({"run", "suite.yaml", "--mode", "cached"}).exit_code, 0);
  const auto after = run_sluice(calibrate + Flags{"--write"});
  EXPECT_EQ(after.exit_code, 0) << after.errors;
  EXPECT_NE(after.output.find("task class \"bump\", 3 cases: no proposal: about 117 more cases"),
            std::string::npos)
      << "each test once, however often it ran: " << after.output;
  EXPECT_NE(after.errors.find("stays as it is"), std::string::npos) << after.errors;
  EXPECT_EQ(read_text(folder() / "plugins/upgrades/plugin.yaml"),
            "# ours\nhigh_floor: 0.9  # cautious\ndegraded_floor: 0.3\n");
}

TEST_F(Retrieval, CalibrateBandsWritesFloorsAndKeepsComments) {
  // Of 150 tests as near as they are to the example, the farther ones fail.
  std::string tests;
  for (int i = 0; i < 150; ++i) {
    const std::string prompt =
        i % 3 == 0   ? "Raise the version of log4j in this pom.xml to 2.17. " + std::to_string(i)
        : i % 3 == 1 ? "Raise the version of jackson in that pom.xml to 2." + std::to_string(i)
                     : "Sing me song number " + std::to_string(i);
    const bool passes = i % 3 == 0 || (i % 3 == 1 && i % 2 == 0);
    tests += "  - {id: t-" + std::to_string(i) + ", input: {prompt: \"" + prompt +
             "\"}, expected: {type: regex_match, pattern: " + (passes ? "." : "never") + "}}\n";
  }
  write_text(folder() / "suite.yaml",
             "suite: upgrades\nexamples: {from: solved.jsonl, plugin: upgrades}\nmodel: m-1\n"
             "settings: {provider: sim, embedding_model: lexical-ngrams-v1}\ntests:\n" +
                 tests);
  const auto run = run_sluice({"run", "suite.yaml", "--mode", "live"});
  ASSERT_EQ(run.exit_code, 1) << run.errors;
  const auto shown = run_sluice({"calibrate-bands", "plugins/upgrades/plugin.yaml", "--format", "json"});
  ASSERT_EQ(shown.exit_code, 0) << shown.errors;
  const json proposal = json::parse(shown.output).at(0);
  EXPECT_EQ(proposal["cases"], 150);
  ASSERT_TRUE(proposal.contains("high_floor")) << shown.output;
  EXPECT_EQ(proposal["hit"], (json{{"cases", 50}, {"passed", 50}}));
  EXPECT_EQ(proposal["miss"], (json{{"cases", 50}, {"passed", 0}}));
  EXPECT_EQ(read_text(folder() / "plugins/upgrades/plugin.yaml"),
            "# ours\nhigh_floor: 0.9  # cautious\ndegraded_floor: 0.3\n")
      << "without --write nothing is written";
  const auto written = run_sluice({"calibrate-bands", "plugins/upgrades/plugin.yaml", "--write"});
  ASSERT_EQ(written.exit_code, 0) << written.errors;
  const std::string text = read_text(folder() / "plugins/upgrades/plugin.yaml");
  EXPECT_EQ(text.find("# ours\nhigh_floor: 0."), 0u) << text;
  EXPECT_NE(text.find("  # cautious\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("0.9 "), std::string::npos) << text;
}

TEST_F(Retrieval, HarvestAddsWhatPassedAndNeverFromARunThatWasShownExamples) {
  const auto helped = run_sluice({"run", "suite.yaml", "--mode", "live", "--harvest", "solved.jsonl"});
  EXPECT_EQ(helped.exit_code, 2);
  EXPECT_NE(helped.errors.find("answers that had help"), std::string::npos) << helped.errors;
  EXPECT_EQ(simulator_->count("start"), 0u) << "refused before it is paid for";

  write_text(folder() / "suite.yaml",
             "suite: upgrades\nmodel: m-1\nsettings: {provider: sim}\ntests:\n"
             "  - {id: log4j, input: {prompt: \"a tee\"}, expected: {type: exact_match, text: alone}}\n"
             "  - {id: good, category: tea, input: {prompt: \"a tee\"}, expected: {type: exact_match, text: "
             "alone}}\n"
             "  - {id: bad, input: {prompt: \"a tee\"}, expected: {type: exact_match, text: other}}\n");
  const auto run = run_sluice({"run", "suite.yaml", "--mode", "live", "--harvest", "solved.jsonl"});
  EXPECT_EQ(run.exit_code, 1) << run.errors;
  EXPECT_NE(run.errors.find("added 1 solved example to solved.jsonl"), std::string::npos) << run.errors;
  EXPECT_EQ(
      read_text(folder() / "solved.jsonl"),
      R"({"id": "log4j", "input": "Raise the version of log4j in this pom.xml to 2.17.", "answer": "2.17 it is"})"
      "\n"
      R"({"id": "good", "input": "a tee", "answer": "alone", "tags": ["tea"]})"
      "\n");

  write_text(folder() / "notes.jsonl", "not examples\n");
  const auto other = run_sluice({"run", "suite.yaml", "--mode", "live", "--harvest", "notes.jsonl"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_EQ(read_text(folder() / "notes.jsonl"), "not examples\n");
}

// A result keeps the beginning of a long answer alone, and such answers were left out.
TEST_F(Retrieval, HarvestTakesLongAnswersWhole) {
  std::string whole;
  for (int i = 0; i < 500; ++i) whole += "ä" + std::to_string(i) + " ";
  const std::string secret =
      "sk_"
      "live_0123456789abcdef0123456789abcdef";
  const auto provider = start_simulator({answer("recipe", whole + secret), answer("e", "short")}, {});
  write_text(folder() / "sluice.toml",
             "[redaction]\nshipped = [\"keys\"]\n[providers.sim]\nkind = \"openai\"\n"
             "base_url = \"" +
                 provider.url() + "/v1\"\napi_key_env = \"OPENAI_API_KEY\"\n");
  write_text(folder() / "suite.yaml",
             "suite: kitchen\nmodel: m-1\nsettings: {provider: sim}\ntests:\n"
             "  - {id: long, input: {prompt: \"a recipe\"}, expected: {type: must_contain, text: ä1}}\n"
             "  - {id: brief, input: {prompt: \"tea\"}, expected: {type: exact_match, text: short}}\n");
  const auto run = run_sluice({"run", "suite.yaml", "--mode", "live", "--harvest", "new.jsonl"});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_NE(run.errors.find("added 2 solved examples to new.jsonl\n"), std::string::npos) << run.errors;
  std::istringstream lines(read_text(folder() / "new.jsonl"));
  std::string line;
  std::getline(lines, line);  // That of `brief`: they come in the order of the cases.
  std::getline(lines, line);
  EXPECT_EQ(json::parse(line, nullptr, false)["answer"], whole + "[redacted keys]") << line;

  // Nobody keeps it whole: it is left out, and that is said.
  const auto unkept = run_sluice(
      {"run", "suite.yaml", "--mode", "live", "--no-cache", "--home", "fresh", "--harvest", "other.jsonl"});
  EXPECT_EQ(unkept.exit_code, 0) << unkept.errors;
  EXPECT_NE(unkept.errors.find("added 1 solved example to other.jsonl; 1 answer left out, since no cache"),
            std::string::npos)
      << unkept.errors;
}

// Both read the file, and the later one replaced what the other had added.
TEST_F(Retrieval, TwoRunsThatHarvestIntoOneFileLoseNothing) {
  write_text(folder() / "answers.jsonl", "{\"id\": \"tea\", \"answer\": \"alone\"}\n");
  write_text(folder() / "suite.yaml",
             "suite: kitchen\nmodel: m-1\nsettings: {provider: sim}\ntests:\n"
             "  - {id: tea, input: {prompt: \"a tea\"}, expected: {type: must_contain, text: alone}}\n");
  // One who locks the folder itself, as `flock . sluice run ...` does, kept the run waiting for ever.
  const int whole_folder = ::open(folder().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(::flock(whole_folder, LOCK_EX), 0);
  const auto lock = folder() / ".new.jsonl.lock";
  const int other = ::open(lock.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0644);
  ASSERT_EQ(::flock(other, LOCK_EX), 0);
  auto run = start_sluice(
      {"run", "suite.yaml", "--mode", "live", "--answers", "answers.jsonl", "--harvest", "new.jsonl"});
  ASSERT_TRUE(has_logged(run, "another process adds to new.jsonl")) << run.errors();
  write_text(folder() / "new.jsonl", "{\"id\": \"other\", \"input\": \"a mug\", \"answer\": \"mug\"}\n");
  ::close(other);
  const auto finished = finish(run);
  ::close(whole_folder);
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  EXPECT_FALSE(std::filesystem::exists(lock)) << "it went with the run";
  const auto both = read_text(folder() / "new.jsonl");
  EXPECT_NE(both.find("\"other\""), std::string::npos) << both;
  EXPECT_NE(both.find("\"tea\""), std::string::npos) << both;
}

TEST_F(Retrieval, HarvestTakesRecordedAnswersWhole) {
  const std::string whole = std::string(3000, 'x') + " end";
  write_text(folder() / "answers.jsonl", "{\"id\": \"long\", \"answer\": \"" + whole + "\"}\n");
  write_text(folder() / "suite.yaml",
             "suite: kitchen\nmodel: m-1\nsettings: {provider: sim}\ntests:\n"
             "  - {id: long, input: {prompt: \"a recipe\"}, expected: {type: must_contain, text: end}}\n");
  const auto run = run_sluice(
      {"run", "suite.yaml", "--mode", "live", "--answers", "answers.jsonl", "--harvest", "new.jsonl"});
  ASSERT_EQ(run.exit_code, 0) << run.errors;
  EXPECT_EQ(json::parse(read_text(folder() / "new.jsonl"), nullptr, false)["answer"], whole);
}

}  // namespace sluice::retrieval_test
