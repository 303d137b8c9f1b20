// Stability and repeats as a gate, from end to end: what a run says of them, what it pins, and that
// `sluice compare` assesses its report alike.

#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <fstream>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using namespace support;
using nlohmann::json;

/// Two questions, each also asked politely.
class StabilityAsAGate : public Workbench {
 protected:
  void SetUp() override {
    write_text(folder() / "suite.yaml", suite(""));
    whole_ = std::make_unique<SimulatorProcess>(start_simulator(rules({}), {}));
  }

  static std::string suite(const std::string& settings) {
    return "suite: robust\nmodel: m\nsettings: {provider: openai" + settings +
           "}\ntests:\n"
           "  - id: a\n    category: west\n    input: {prompt: \"What is the capital of France?\"}\n"
           "    expected: {type: must_contain, text: Paris}\n"
           "  - id: b\n    category: south\n    input: {prompt: \"What is the capital of Italy?\"}\n"
           "    expected: {type: must_contain, text: Rome}\n";
  }

  static std::vector<std::string> rules(std::vector<std::string> first) {
    first.emplace_back(R"({"contains": "capital of France", "text": "Paris"})");
    first.emplace_back(R"({"contains": "capital of Italy", "text": "Rome"})");
    return first;
  }

  /// A run of its own, with nothing cached, whose report is kept under this name.
  Finished run(const SimulatorProcess& simulator, const std::string& report, const Flags& flags,
               const std::string& suite_file = "suite.yaml") {
    return run_sluice(Flags{"run", suite_file, "--mode", "live", "--no-cache", "--base-url",
                            simulator.url() + "/v1", "--format", "json", "--output", report} +
                      flags);
  }
  json report_in(const std::string& name) const {
    return json::parse(read_text(folder() / name), nullptr, false);
  }
  static std::vector<std::string> codes(const json& notices) {
    std::vector<std::string> all;
    for (const json& notice : notices) all.push_back(notice["code"]);
    return all;
  }
  const SimulatorProcess& whole() const { return *whole_; }

  const Flags politely{"--perturb-command", "word=cat; printf ' please'"};
  using Codes = std::vector<std::string>;

 private:
  std::unique_ptr<SimulatorProcess> whole_;
};

TEST_F(StabilityAsAGate, AFallIsARegressionOfTheRunAndOfItsReport) {
  const auto torn = start_simulator(rules({R"({"contains": "France? please", "text": "London"})"}), {});
  EXPECT_EQ(run(whole(), "whole.json", politely + Flags{"--export-baseline", "base.json"}).exit_code, 0);
  const auto fell = run(torn, "torn.json", politely + Flags{"--baseline", "base.json"});
  EXPECT_EQ(fell.exit_code, 1) << fell.errors;
  EXPECT_EQ(report_in("torn.json")["verdict"], "regression");
  EXPECT_EQ(schema_findings(report_in("torn.json")), "");
  for (const char* base : {"base.json", "whole.json"}) {
    const auto compared = run_sluice({"compare", base, "torn.json", "--format", "json"});
    EXPECT_EQ(compared.exit_code, 1) << compared.errors;
    const json comparison = json::parse(compared.output);
    EXPECT_EQ(comparison["verdict"], "regression") << base;
    EXPECT_EQ(comparison["stability"]["score"], 0.5);
    EXPECT_EQ(comparison["stability"]["baseline"], 1.0);
    EXPECT_EQ(comparison["stability"]["cause"], "dropped");
  }
  EXPECT_NE(
      run_sluice({"compare", "base.json", "torn.json"}).output.find("REGRESSION: the stability dropped"),
      std::string::npos);
  EXPECT_EQ(run_sluice({"compare", "base.json", "torn.json", "--max-drop", "0.5"}).exit_code, 0);
  EXPECT_EQ(run_sluice({"compare", "torn.json", "whole.json", "--strict"}).exit_code, 0) << "it rose";
  // The least that the run was asked for stands in its report.
  run(torn, "low.json", politely + Flags{"--min-stability", "0.9"});
  EXPECT_EQ(
      json::parse(run_sluice({"compare", "torn.json", "low.json", "--format", "json"}).output)["verdict"],
      "fail");
  EXPECT_NE(run_sluice({"compare", "torn.json", "low.json"})
                .output.find("FAIL: the stability is below the least that is asked for"),
            std::string::npos);
}

TEST_F(StabilityAsAGate, APartOfTheSuiteIsNotMeasuredAgainstTheWhole) {
  const auto torn = start_simulator(rules({R"({"contains": "France? please", "text": "London"})"}), {});
  EXPECT_EQ(run(torn, "whole.json", politely + Flags{"--export-baseline", "base.json"}).exit_code, 0);
  const auto part =
      run(torn, "part.json", politely + Flags{"--baseline", "base.json", "--categories", "west", "--strict"});
  EXPECT_EQ(part.exit_code, 0) << part.errors;
  const json report = report_in("part.json");
  EXPECT_EQ(report["stability"], 0.0) << "while that of the whole is a half";
  EXPECT_EQ(codes(report["baseline_comparison"]["notices"]), Codes{"stability_not_compared"});
  EXPECT_EQ(report["run"]["selection"], true);
  EXPECT_EQ(schema_findings(report), "");
  // Nor is its report, on either side.
  EXPECT_EQ(run(torn, "fewer.json", politely + Flags{"--max-fixtures", "1"}).exit_code, 0);
  for (const char* base : {"base.json", "whole.json", "part.json"}) {
    for (const char* current : {"part.json", "fewer.json", "whole.json"}) {
      const std::string name(current);
      if (name == "whole.json" && std::string(base) != "part.json") continue;
      const auto compared = run_sluice({"compare", base, current, "--format", "json", "--strict"});
      EXPECT_EQ(compared.exit_code, 0) << base << " " << current << compared.errors << compared.output;
      const json comparison = json::parse(compared.output);
      EXPECT_EQ(codes(comparison["notices"]), Codes({"no_scores", "stability_not_compared"}))
          << base << " " << current;
      EXPECT_EQ(comparison["stability"]["baseline"], nullptr);
      EXPECT_EQ(comparison["current"]["selection"], name != "whole.json");
    }
  }
}

TEST_F(StabilityAsAGate, LostAnswersAreNotPassedOver) {
  const auto lossy = start_simulator(rules({R"({"contains": "France? please", "status": 400})"}), {});
  const auto low = run(lossy, "lossy.json", politely + Flags{"--min-stability", "0.9"});
  EXPECT_EQ(low.exit_code, 0) << low.errors;
  EXPECT_EQ(report_in("lossy.json")["stability"], 1.0) << "of the one answer that is left";
  EXPECT_EQ(report_in("lossy.json")["verdict"], "review");
  EXPECT_EQ(codes(report_in("lossy.json")["notices"]), Codes{"stability_incomplete"});
  EXPECT_EQ(schema_findings(report_in("lossy.json")), "");
  EXPECT_EQ(report_in("lossy.json")["stability_details"]["perturbed_trials"], 2);
  EXPECT_EQ(run(lossy, "strict.json", politely + Flags{"--min-stability", "0.9", "--strict"}).exit_code, 1);
  EXPECT_EQ(run_sluice({"compare", "lossy.json", "lossy.json", "--strict"}).exit_code, 1);

  const auto refused = run(lossy, "r.json", politely + Flags{"--export-baseline", "base.json"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.errors.find("no baseline was written to base.json: 1 of 2 answers to perturbed inputs is "
                                "missing"),
            std::string::npos)
      << refused.errors;
  EXPECT_FALSE(std::filesystem::exists(folder() / "base.json"));
  const auto allowed =
      run(lossy, "r.json", politely + Flags{"--export-baseline", "base.json", "--allow-errors"});
  EXPECT_EQ(allowed.exit_code, 0) << allowed.errors;
  EXPECT_TRUE(std::filesystem::exists(folder() / "base.json"));

  const auto silent = start_simulator(rules({R"({"contains": "? please", "status": 400})"}), {});
  run(whole(), "whole.json", politely + Flags{"--export-baseline", "whole-base.json"});
  const auto none = run(silent, "none.json", politely + Flags{"--baseline", "whole-base.json", "--strict"});
  EXPECT_EQ(none.exit_code, 1) << none.errors;
  EXPECT_EQ(codes(report_in("none.json")["baseline_comparison"]["notices"]), Codes{"stability_not_measured"});
}

TEST_F(StabilityAsAGate, ASettingThatNothingMeasuresIsReported) {
  write_text(folder() / "least.yaml", suite(", min_stability: 0.9"));
  EXPECT_EQ(run(whole(), "r.json", {}, "least.yaml").exit_code, 0);
  EXPECT_EQ(report_in("r.json")["verdict"], "review");
  EXPECT_EQ(codes(report_in("r.json")["notices"]), Codes{"stability_not_measured"});
  const auto strict = run(whole(), "r.json", {"--strict"}, "least.yaml");
  EXPECT_EQ(strict.exit_code, 1) << strict.errors;
  // Its report says it again, also where there are repeats and still no perturbation.
  for (const Flags& flags : {Flags{}, Flags{"--repeat", "2"}}) {
    run(whole(), "least.json", flags, "least.yaml");
    EXPECT_EQ(schema_findings(report_in("least.json")), "");
    const auto lenient = run_sluice({"compare", "least.json", "least.json", "--format", "json"});
    EXPECT_EQ(lenient.exit_code, 0) << lenient.errors;
    EXPECT_EQ(json::parse(lenient.output)["verdict"], "review");
    EXPECT_EQ(codes(json::parse(lenient.output)["notices"]), Codes({"no_scores", "stability_not_measured"}));
    EXPECT_EQ(run_sluice({"compare", "least.json", "least.json", "--strict"}).exit_code, 1);
  }
  EXPECT_EQ(run(whole(), "r.json", politely + Flags{"--strict"}, "least.yaml").exit_code, 0);
}

TEST_F(StabilityAsAGate, AThresholdThatNoTestCanAnswerIsRefused) {
  write_text(folder() / "tests.yaml", suite(", thresholding: {mode: statistical}"));
  write_text(folder() / "own.yaml", suite(", thresholding: {mode: statistical, min_effect: 0.1}"));
  for (const char* threshold : {"0", "1"}) {
    const auto refused = run(whole(), "r.json", {"--threshold", threshold}, "tests.yaml");
    EXPECT_EQ(refused.exit_code, 2) << refused.errors;
    ASSERT_EQ(refused.error_lines().size(), 1u) << refused.errors;
    EXPECT_NE(refused.errors.find("min_effect, which must be above 0 and below 1"), std::string::npos)
        << refused.errors;
    EXPECT_EQ(run(whole(), "r.json", {"--threshold", threshold}).exit_code, 0) << "a drop may be any";
    EXPECT_EQ(run(whole(), "r.json", {"--threshold", threshold}, "own.yaml").exit_code, 0);
  }
  EXPECT_EQ(run(whole(), "r.json", {"--threshold", "0.01"}, "tests.yaml").exit_code, 0);
}

TEST_F(StabilityAsAGate, TestsOfScoresThatNoTestHasAreReported) {
  write_text(folder() / "tests.yaml", suite(", thresholding: {mode: statistical}"));
  EXPECT_EQ(run(whole(), "first.json", {"--export-baseline", "base.json"}, "tests.yaml").exit_code, 0);
  EXPECT_EQ(run(whole(), "r.json", {"--baseline", "base.json"}, "tests.yaml").exit_code, 0);
  EXPECT_EQ(report_in("r.json")["verdict"], "review");
  EXPECT_EQ(codes(report_in("r.json")["baseline_comparison"]["notices"]), Codes{"nothing_to_compare"});
  for (const std::string base : {"first.json", "base.json"}) {
    const auto compared = run_sluice({"compare", base, "r.json"});
    EXPECT_EQ(compared.exit_code, 0) << compared.errors;
    EXPECT_NE(compared.output.find("REVIEW"), std::string::npos) << compared.output;
    EXPECT_EQ(run_sluice({"compare", base, "r.json", "--strict"}).exit_code, 1) << "as the run's gate";
  }
  EXPECT_EQ(run(whole(), "r.json", {"--baseline", "base.json", "--strict"}, "tests.yaml").exit_code, 1);
}

// Twelve tests of one prompt were twelve pieces of evidence: one bad answer of three was a regression, and
// two of the perturbed ones a perturbation that is unstable, both with a p below 0.001.
TEST_F(StabilityAsAGate, TestsThatShareTheirAnswersAreOnePieceOfEvidence) {
  std::string tests = "suite: letters\nmodel: m\nsettings: {provider: openai, repeat: 3}\ntests:\n";
  std::string good;
  for (const char* letter : {"alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota",
                             "kappa", "lambda", "mu"}) {
    good += std::string(letter) + " ";
    tests += std::string("  - {id: ") + letter +
             ", input: {prompt: \"What are the names of the greek gods?\"}, " +
             "expected: {type: must_contain, text: " + letter + "}}\n";
  }
  write_text(folder() / "letters.yaml", tests);
  const std::string all = R"({"contains": "greek", "text": ")" + good + R"("})";
  const auto steady = start_simulator({all}, {});
  ASSERT_EQ(run(steady, "first.json", {"--export-baseline", "base.json"}, "letters.yaml").exit_code, 0);
  const auto moody = start_simulator({R"({"contains": "greek", "text": "A poem.", "times": 1})", all}, {});
  const auto fell = run(moody, "fell.json", {"--baseline", "base.json"}, "letters.yaml");
  EXPECT_EQ(fell.exit_code, 0) << fell.errors;
  const json report = report_in("fell.json");
  EXPECT_EQ(report["run"]["requests"], 3);
  EXPECT_EQ(report["verdict"], "review") << "its tests are flaky";
  EXPECT_EQ(codes(report["baseline_comparison"]["notices"]), Codes{"passed_too_few"});
  EXPECT_EQ(schema_findings(report), "");
  EXPECT_EQ(report["fixture_results"][0]["request"], report["fixture_results"][11]["request"]);
  EXPECT_EQ(run_sluice({"compare", "first.json", "fell.json"}).exit_code, 0);
  EXPECT_EQ(run_sluice({"compare", "last~1", "last"}).exit_code, 0);
  const auto picky =
      start_simulator({R"({"contains": "what are the names", "text": "A poem.", "times": 2})", all}, {});
  run(picky, "varied.json", {"--perturb", "lowercase-start"}, "letters.yaml");
  const json varied = report_in("varied.json");
  EXPECT_EQ(varied["run"]["requests"], 6);
  EXPECT_EQ(varied["stability_details"]["perturbations"][0]["unstable"], false);
  EXPECT_NEAR(varied["stability"].get<double>(), 1.0 / 3, 1e-3);
}

TEST_F(StabilityAsAGate, ATestThatAggregatesCannotAnswerIsReported) {
  write_text(folder() / "tests.yaml", suite(", thresholding: {mode: statistical}"));
  write_text(folder() / "manifest.toml", "[baseline]\nprecision = 0.5\n");
  run(whole(), "r.json", {"--baseline", "manifest.toml"}, "tests.yaml");
  EXPECT_EQ(codes(report_in("r.json")["baseline_comparison"]["notices"]), Codes{"statistics_not_compared"});
}

TEST_F(StabilityAsAGate, FlakyCasesAreFlakyInTheComparisonToo) {
  const auto moody =
      start_simulator(rules({R"({"contains": "capital of France", "text": "London", "times": 1})"}), {});
  const auto flaky = run(moody, "flaky.json", {"--repeat", "3"});
  EXPECT_EQ(flaky.exit_code, 0) << flaky.errors;
  EXPECT_EQ(report_in("flaky.json")["verdict"], "review");
  EXPECT_EQ(schema_findings(report_in("flaky.json")), "");
  const auto compared = run_sluice({"compare", "flaky.json", "flaky.json", "--format", "json"});
  EXPECT_EQ(compared.exit_code, 0) << compared.errors;
  const json comparison = json::parse(compared.output);
  EXPECT_EQ(comparison["verdict"], "review");
  EXPECT_EQ(comparison["cases"]["flaky"], 1);
  EXPECT_EQ(comparison["changes"][0]["status"], "flaky");
  EXPECT_EQ(run_sluice({"compare", "flaky.json", "flaky.json", "--strict"}).exit_code, 1);
  EXPECT_NE(run_sluice({"compare", "flaky.json", "flaky.json"}).output.find("Flaky (1)"), std::string::npos);
}

}  // namespace
}  // namespace sluice
