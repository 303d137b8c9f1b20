// Repeats and perturbations from end to end: what is sent, what is replayed, and what the report makes of it.

#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <fstream>
#include <map>
#include <string>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using namespace support;
using nlohmann::json;

class Robust : public Workbench {
 protected:
  static Flags robust(const SimulatorProcess& simulator) { return run_flags("robust", simulator); }

  /// Two prompts, whose answers a simulator's rules give.
  std::string suite() const {
    const auto path = folder() / "suite.yaml";
    std::ofstream(path) << "suite: robust\nmodel: m\nsettings: {provider: openai}\ntests:\n"
                           "  - id: a\n    input: {prompt: \"What is the capital of France?\"}\n"
                           "    expected: {type: must_contain, text: Paris}\n"
                           "  - id: b\n    input: {prompt: \"What is the capital of Italy?\"}\n"
                           "    expected: {type: must_contain, text: Rome}\n";
    return path.string();
  }

  Flags over_suite(const std::string& mode, const SimulatorProcess& simulator) const {
    return {"run", suite(), "--mode", mode, "--format", "json", "--base-url", simulator.url() + "/v1"};
  }
};

TEST_F(Robust, IsTheSameWithOneWorkerAndFourAndReplaysWithoutACall) {
  const auto simulator = start_simulator();
  const auto one =
      run_sluice(robust(simulator) + Flags{"--repeat", "2", "--home", (folder() / "one").string()});
  EXPECT_EQ(one.exit_code, 1) << one.errors;
  const json report = parse_report(one.output);
  ASSERT_TRUE(report.is_object()) << one.output;
  EXPECT_EQ(schema_findings(report), "");
  const json& details = report["stability_details"];
  EXPECT_EQ(details["repeats"], 2);
  EXPECT_GT(details["trials"], 4 * fixture_count());
  EXPECT_TRUE(report["stability"].is_number());
  EXPECT_EQ(details["overall"]["floor"], 1.0) << "the simulator answers by the text alone";

  const auto four = run_sluice(
      robust(simulator) + Flags{"--repeat", "2", "--workers", "4", "--home", (folder() / "four").string()});
  EXPECT_EQ(comparable_part(four.output), comparable_part(one.output));
  std::size_t busy = 0;
  const json spread = parse_report(four.output);
  for (const auto& worker : spread["run"]["workers"]) busy += worker["units"] > 0 ? 1 : 0;
  EXPECT_EQ(busy, 4u) << "the trials of a case spread over the workers";

  const auto replayed = run_sluice(
      cached(simulator) + Flags{"--perturb", "all", "--repeat", "2", "--home", (folder() / "one").string()});
  EXPECT_EQ(comparable_part(replayed.output), comparable_part(one.output));
  EXPECT_EQ(parse_report(replayed.output)["run"]["requests"], 0);
}

TEST_F(Robust, AThousandCasesInEightTrialsAreTheSameOnFourWorkersThatShareALimit) {
  const auto simulator = start_simulator({"--rps", "3000", "--burst", "3000"});
  const std::string limits = (folder() / "limits.toml").string();
  // Below what the provider takes: this many calls keep the machine so busy that they arrive late.
  std::ofstream(limits) << "[providers.openai]\nrequests_per_minute = 120_000\n";
  std::ofstream tests(folder() / "many.jsonl");
  for (int i = 0; i < 1000; ++i) {
    tests << R"({"id": "case-)" << i << R"(", "input": {"prompt": "What is )" << i
          << R"( and one?"}, "expected": {"type": "must_not_contain", "text": "x)" << i % 7 << "\"}}\n";
  }
  tests.close();
  const std::string path = (folder() / "many.yaml").string();
  std::ofstream(path) << "suite: many\nmodel: m\nsettings: {provider: openai}\ntests_file: many.jsonl\n";
  const Flags flags{"run",
                    path,
                    "--mode",
                    "live",
                    "--format",
                    "json",
                    "--repeat",
                    "8",
                    "--base-url",
                    simulator.url() + "/v1",
                    "--max-concurrent",
                    "32",
                    "--config",
                    limits};
  const auto one = run_sluice(flags + Flags{"--home", (folder() / "one").string()});
  const auto four = run_sluice(flags + Flags{"--workers", "4", "--home", (folder() / "four").string()});
  const json report = parse_report(one.output);
  ASSERT_TRUE(report.is_object()) << one.errors;
  EXPECT_EQ(report["stability_details"]["trials"], 8000);
  for (const auto* run : {&one, &four}) {
    const json facts = parse_report(run->output)["run"];
    EXPECT_EQ(facts["requests"], 8000);
    EXPECT_EQ(facts["rate_limited"], 0) << "each call had a permit of the one limit";
    EXPECT_GE(facts["budget"][0]["permits_used"], 8000);
  }
  EXPECT_EQ(comparable_part(four.output), comparable_part(one.output));
}

TEST_F(Robust, WhatChangesNothingIsNotSent) {
  const auto simulator = start_simulator();
  const auto run = run_sluice(live(simulator) + Flags{"--perturb", "tabs-to-spaces"});
  const json report = parse_report(run.output);
  ASSERT_TRUE(report.is_object()) << run.errors;
  const json& perturbation = report["stability_details"]["perturbations"][0];
  EXPECT_GT(perturbation["unchanged"], 0);
  EXPECT_EQ(report["run"]["requests"], fixture_count() + perturbation["changed"].get<std::size_t>());
  EXPECT_EQ(
      perturbation["changed"].get<std::size_t>() + perturbation["unchanged"].get<std::size_t>() +
          [&] {
            std::size_t skipped = 0;
            for (const auto& why : perturbation["skipped"]) skipped += why["cases"].get<std::size_t>();
            return skipped;
          }(),
      fixture_count());
}

TEST_F(Robust, ProseIsChangedInFormsOfItsOwn) {
  const auto simulator = start_simulator(
      {R"({"contains": "captial of France", "text": "London"})",
       R"({"contains": "of France", "text": "Paris"})", R"({"contains": "of Italy", "text": "Rome"})"},
      {});
  const auto run = run_sluice(over_suite("robust", simulator));
  const json report = parse_report(run.output);
  ASSERT_TRUE(report.is_object()) << run.errors;
  EXPECT_EQ(schema_findings(report), "");
  std::map<std::string, int> changed;
  for (const json& one : report["stability_details"]["perturbations"]) {
    if (one["changed"] > 0) changed[one["name"]] = one["changed"];
  }
  EXPECT_EQ(changed,
            (std::map<std::string, int>{{"final-newline", 2}, {"typos", 2}, {"lowercase-start", 2}}));
  EXPECT_EQ(report["run"]["requests"], 8);
  EXPECT_EQ(report["stability_details"]["most_flipping"], "typos");
  EXPECT_EQ(report["fixture_results"][0]["flips"][0]["perturbed"]["only"][0], "London");
}

TEST_F(Robust, RepeatsThatDisagreeAreFlakyAndAMajorityDecides) {
  const auto simulator =
      start_simulator({R"({"contains": "capital of France", "text": "London", "times": 1})",
                       R"({"contains": "capital of France", "text": "Paris"})",
                       R"({"contains": "capital of Italy", "text": "Milan", "times": 2})",
                       R"({"contains": "capital of Italy", "text": "Rome"})"},
                      {});
  const auto flaky = run_sluice(over_suite("live", simulator) + Flags{"--repeat", "3"});
  const json report = parse_report(flaky.output);
  ASSERT_TRUE(report.is_object()) << flaky.errors;
  EXPECT_EQ(flaky.exit_code, 1);
  EXPECT_EQ(report["fixture_results"][0]["status"], "flaky");
  EXPECT_EQ(report["fixture_results"][0]["repeats"]["failed"], 1);
  EXPECT_EQ(report["fixture_results"][0]["answer_text"], "London") << "what is shown says why";
  EXPECT_EQ(report["fixture_results"][1]["status"], "fail");
  EXPECT_EQ(report["run"]["requests"], 6);
  EXPECT_EQ(report["stability"], nullptr);
  EXPECT_EQ(report["stability_details"]["pass_curve"][0]["pass_at_k"], 0.5);
  EXPECT_EQ(schema_findings(report), "");
  // A run without repeats is answered by the first.
  const auto first = run_sluice(over_suite("cached", simulator));
  EXPECT_EQ(parse_report(first.output)["run"]["cache_hits"], 2) << first.errors;
}

TEST_F(Robust, AnUnstablePromptFailsItsLeastAndItsBaseline) {
  const auto simulator = start_simulator({R"({"contains": "France? indeed", "text": "London"})",
                                          R"({"contains": "capital of France", "text": "Paris"})",
                                          R"({"contains": "capital of Italy", "text": "Rome"})"},
                                         {});
  const std::string baseline = (folder() / "base.json").string();
  const Flags harmless{"--perturb-command", "word=cat; printf ' please'"};
  const Flags harmful{"--perturb-command", "word=cat; printf ' indeed'"};
  const auto pinned =
      run_sluice(over_suite("live", simulator) + harmless + Flags{"--export-baseline", baseline});
  EXPECT_EQ(pinned.exit_code, 0) << pinned.errors;
  EXPECT_EQ(parse_report(pinned.output)["stability"], 1.0);
  EXPECT_EQ(run_sluice(over_suite("cached", simulator) + harmless + Flags{"--min-stability", "1"}).exit_code,
            0);
  EXPECT_EQ(run_sluice(over_suite("cached", simulator) + harmless + Flags{"--baseline", baseline}).exit_code,
            0);

  const auto low = run_sluice(over_suite("live", simulator) + harmful + Flags{"--min-stability", "0.9"});
  const json report = parse_report(low.output);
  EXPECT_EQ(low.exit_code, 1);
  EXPECT_EQ(report["stability"], 0.5);
  EXPECT_EQ(report["verdict"], "fail");
  EXPECT_EQ(report["fixture_results"][0]["status"], "pass") << "a perturbed answer judges no case";
  EXPECT_EQ(report["fixture_results"][0]["flips"][0]["perturbed"]["only"][0], "London");
  EXPECT_EQ(schema_findings(report), "");
  // Another command under the same name is another perturbation.
  const auto other = run_sluice(over_suite("cached", simulator) + harmful + Flags{"--baseline", baseline});
  EXPECT_EQ(parse_report(other.output)["baseline_comparison"]["notices"][0]["code"], "perturbations_differ");
  // The same one is, once it falls.
  std::string text = read_text(baseline);
  const auto place =
      text.find(parse_report(pinned.output)["stability_details"]["perturbations"][0]["version"]);
  ASSERT_NE(place, std::string::npos);
  text.replace(place, 12, report["stability_details"]["perturbations"][0]["version"].get<std::string>());
  std::ofstream(baseline) << text;
  const auto fell = run_sluice(over_suite("cached", simulator) + harmful + Flags{"--baseline", baseline});
  EXPECT_EQ(fell.exit_code, 1) << fell.errors;
  EXPECT_EQ(parse_report(fell.output)["verdict"], "regression");
}

TEST_F(Robust, AStatisticalGateDistinguishesAChangeFromNone) {
  std::filesystem::create_directory_symlink(shipped_fixtures(), folder() / "fixtures");
  const std::string path = (folder() / "all.yaml").string();
  std::ofstream(path) << "suite: all\nmodel: sim-1\nsettings:\n  provider: openai\n"
                         "  thresholding: {mode: statistical, min_effect: 0.1}\nfixtures: fixtures\n";
  const std::string baseline = (folder() / "base.json").string();
  const auto gated = [&](const SimulatorProcess& simulator, const Flags& flags) {
    return run_sluice(Flags{"run", path, "--mode", "live", "--refresh", "--format", "json", "--base-url",
                            simulator.url() + "/v1", "--allow-path", shipped_fixtures()} +
                      flags);
  };
  const auto simulator = start_simulator();
  EXPECT_EQ(gated(simulator, {"--export-baseline", baseline}).exit_code, 1) << "some fixtures fail";
  const auto same = gated(simulator, {"--baseline", baseline});
  EXPECT_EQ(same.exit_code, 0) << same.errors;
  const json unchanged = parse_report(same.output);
  EXPECT_EQ(unchanged["baseline_comparison"]["statistics"]["verdict"], "no_regression");
  EXPECT_EQ(schema_findings(unchanged), "");

  const auto silent = start_simulator({R"({"contains": "", "text": "{\"claims\":[]}"})"}, {});
  const auto fell = gated(silent, {"--baseline", baseline});
  EXPECT_EQ(fell.exit_code, 1) << fell.errors;
  const json report = parse_report(fell.output);
  EXPECT_EQ(report["verdict"], "regression");
  for (const json& result : report["fixture_results"]) {
    bool became_undefined = false;
    for (const json& metric : result["metrics"]) {
      became_undefined = became_undefined || metric["cause"] == "became_undefined";
    }
    EXPECT_EQ(result["status"], became_undefined ? "fail" : "pass")
        << "no case alone is judged by the baseline, but for what it does not say any more";
  }
  EXPECT_EQ(report["metrics"]["failed"], report["metrics"]["regressed"]);
  EXPECT_GT(report["metrics"]["failed"], 0);
  EXPECT_EQ(report["baseline_comparison"]["has_regression"], true);
  std::ofstream(folder() / "fell.json") << fell.output;
  const auto compared = run_sluice({"compare", baseline, "fell.json", "--format", "json"});
  EXPECT_EQ(compared.exit_code, 1) << compared.errors;
  const json offline = json::parse(compared.output);
  EXPECT_EQ(offline["verdict"], report["verdict"]);
  EXPECT_EQ(offline["cases"]["failed"], report["metrics"]["failed"]);
  EXPECT_EQ(offline["statistics"], report["baseline_comparison"]["statistics"]) << "the same tests";
  const auto again = gated(silent, {"--baseline", baseline});
  EXPECT_EQ(parse_report(again.output)["baseline_comparison"], report["baseline_comparison"]);
}

TEST_F(Robust, WhatCannotWorkIsRefusedAtOnce) {
  const auto simulator = start_simulator();
  const std::vector<std::pair<Flags, std::string>> wrong{
      {{"--perturb", "blank-line"}, "did you mean \"blank-lines\"?"},
      {{"--perturb-command", "crlf=cat"}, "which is a perturbation of sluice's own"},
      {{"--perturb-command", "no-equals"}, "must be NAME=COMMAND"},
      {{"--perturb-command", "broken=exit 3"}, "--perturb-command broken failed on every text"},
      {{"--min-stability", "0.9"}, "--min-stability is about answers to perturbed inputs"},
      {{"--mode", "robust", "--perturb", "none"}, "is live with perturbations"}};
  for (const auto& [flags, words] : wrong) {
    Flags all{"run", suite(), "--base-url", simulator.url() + "/v1"};
    const auto finished = run_sluice(all + flags);
    EXPECT_EQ(finished.exit_code, 2) << finished.errors;
    EXPECT_NE(finished.errors.find(words), std::string::npos) << finished.errors;
    EXPECT_EQ(finished.error_lines().size(), 1u) << finished.errors;
  }
  EXPECT_EQ(simulator.count("start"), 0u);
}

TEST_F(Robust, WhatNoCacheHoldsIsNamedByTrial) {
  const auto simulator = start_simulator();
  EXPECT_EQ(run_sluice(over_suite("live", simulator)).exit_code, 1);
  const auto missing = run_sluice(over_suite("cached", simulator) + Flags{"--repeat", "2"});
  EXPECT_EQ(missing.exit_code, 2);
  EXPECT_NE(missing.errors.find("of 2 of 4 trials (a (repeat 2), b (repeat 2))"), std::string::npos)
      << missing.errors;
}

}  // namespace
}  // namespace sluice
