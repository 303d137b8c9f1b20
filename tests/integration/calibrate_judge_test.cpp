// `sluice calibrate-judge`: a run whose judged answers are put beside labels, or another metric.

#include "tests/support/ledger_rows.hpp"
#include "tests/support/workbench.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::calibrate_judge_test {

using namespace support;
using Json = nlohmann::json;

class CalibrateJudge : public Workbench {
 protected:
  static constexpr int cases = 20;

  CalibrateJudge() {
    std::string suite = "suite: judged\ntests:\n";
    for (int i = 0; i < cases; ++i) {
      suite += "  - {id: " + id(i) + ", input: {prompt: question " + id(i) +
               "}, expected: [{type: relevancy}, {type: must_contain, text: kettle}]}\n";
    }
    write_text(folder() / "suite.yaml", suite);
  }
  static std::string id(int number) { return "t" + std::to_string(100 + number); }

  /// The first half of the answers is good, and names a kettle.
  static std::vector<std::string> answers() {
    std::vector<std::string> rules;
    for (int i = 0; i < cases; ++i) {
      const char* text = i < cases / 2 ? "[quality 0.9] A kettle." : "[quality 0.1] A pan.";
      rules.push_back(R"({"contains": "question )" + id(i) + R"(", "vote": false, "text": ")" + text +
                      R"("})");
    }
    return rules;
  }
  /// Labels by which the first so many answers are good.
  void write_labels(int good) const {
    std::string text;
    for (int i = 0; i < cases; ++i)
      text += R"({"id": ")" + id(i) + R"(", "passed": )" + (i < good ? "true" : "false") + "}\n";
    write_text(folder() / "labels.jsonl", text);
  }
  static Flags command(const std::string& address, const std::string& mode) {
    return {"calibrate-judge", "suite.yaml", "--mode",        mode,         "--provider",
            "openai",          "--model",    "sim-1",         "--base-url", address + "/v1",
            "--judge",         "openai",     "--judge-model", "judge-1"};
  }
};

TEST_F(CalibrateJudge, PrintsAgreementWithLabelsAndWhereTheyDiffer) {
  write_labels(cases / 2 + 1);
  std::string address;
  {
    auto simulator = start_simulator(answers(), {});
    address = simulator.url();
    const auto finished =
        run_sluice(command(address, "live") + Flags{"--labels", "labels.jsonl", "--format", "json"});
    ASSERT_EQ(finished.exit_code, 0) << finished.errors << finished.output;
    const Json report = Json::parse(finished.output);
    EXPECT_EQ(report.at("judge"),
              Json::parse(R"({"provider": "openai", "provider_name": "openai", "model": "judge-1"})"));
    EXPECT_EQ(report.at("against"), "labels");
    const Json& metric = report.at("metrics").at(0);
    EXPECT_EQ(metric.at("metric"), "relevancy");
    EXPECT_EQ(metric.at("rubric_version"), "v1");
    EXPECT_EQ(metric.at("samples"), 3);
    EXPECT_EQ(metric.at("answers"), cases);
    EXPECT_EQ(metric.at("agreement"), 0.95);
    // By hand: chance agrees on 0.5 * 0.55 + 0.5 * 0.45.
    EXPECT_NEAR(metric.at("kappa").get<double>(), 0.9, 1e-9);
    EXPECT_EQ(metric.at("first_disagreements"), Json::parse(R"([{"id": "t110", "judge_passes": false}])"));
  }
  // The votes are in the cache by now: nobody is there to be called.
  const auto cached = run_sluice(command(address, "cached") + Flags{"--labels", "labels.jsonl"});
  EXPECT_EQ(cached.exit_code, 0) << cached.errors;
  EXPECT_EQ(cached.errors.find("takes the place"), std::string::npos) << cached.errors;
  EXPECT_NE(cached.output.find("Kappa      0.90 (95 %: "), std::string::npos) << cached.output;
  EXPECT_NE(cached.output.find("t110: the judge fails it"), std::string::npos) << cached.output;
  EXPECT_EQ(row_count(home(), "calibrations"), 1);
  const auto part =
      run_sluice(command(address, "cached") + Flags{"--labels", "labels.jsonl", "--max-fixtures", "15"});
  EXPECT_EQ(part.exit_code, 0) << part.errors;
  EXPECT_NE(part.errors.find("the calibration of `relevancy` by 15 cases takes the place of one by 20 of 20"),
            std::string::npos)
      << part.errors;
}

TEST_F(CalibrateJudge, TakesAnotherMetricInPlaceOfLabels) {
  auto simulator = start_simulator(answers(), {});
  const auto finished =
      run_sluice(command(simulator.url(), "live") + Flags{"--against", "must_contain", "--format", "json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.errors << finished.output;
  const Json report = Json::parse(finished.output);
  EXPECT_EQ(report.at("against"), "must_contain");
  EXPECT_EQ(report.at("metrics").at(0).at("kappa"), 1.0);
}

TEST_F(CalibrateJudge, ItsRunIsShownByItsOwnFlags) {
  auto simulator = start_simulator(answers(), {});
  const auto finished = run_sluice(command(simulator.url(), "live") +
                                   Flags{"--against", "must_contain", "--max-fixtures", "15"});
  ASSERT_EQ(finished.exit_code, 0) << finished.errors << finished.output;
  const auto shown = run_sluice({"show", "last", id(0)});
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  EXPECT_NE(shown.output.find("question " + id(0)), std::string::npos) << shown.output;
}

// Results of mock answers took the place of those of real ones.
TEST_F(CalibrateJudge, KeepsNothingOfMockAnswersAndSaysWhoJudged) {
  write_labels(cases / 2);
  const auto finished = run_sluice(command("http://127.0.0.1:1", "mock") + Flags{"--labels", "labels.jsonl"});
  ASSERT_EQ(finished.exit_code, 0) << finished.errors << finished.output;
  EXPECT_NE(finished.errors.find("the fake judge gave the scores"), std::string::npos) << finished.errors;
  EXPECT_NE(finished.errors.find("is not kept"), std::string::npos) << finished.errors;
  EXPECT_EQ(row_count(home(), "calibrations"), 0);
  EXPECT_NE(run_sluice({"runs", "list"}).output.find("calibrated"), std::string::npos);
}

TEST_F(CalibrateJudge, BadLabelsAndFlagsAreRefusedBeforeTheFirstCall) {
  auto simulator = start_simulator(answers(), {});
  const auto refused = [&](const Flags& flags, const std::string& text) {
    const auto finished = run_sluice(command(simulator.url(), "live") + flags);
    EXPECT_EQ(finished.exit_code, 2);
    EXPECT_NE(finished.errors.find(text), std::string::npos) << finished.errors;
  };
  write_text(folder() / "labels.jsonl", "{\"id\": \"t100\", \"passed\": true}\n{\"id\": \"t101\"}\n");
  refused({"--labels", "labels.jsonl"}, "labels.jsonl:2: `passed` is missing");
  write_text(folder() / "labels.jsonl",
             "{\"id\": \"t100\", \"passed\": true}\n{\"id\": \"t999\", \"passed\": true}\n");
  refused({"--labels", "labels.jsonl"}, "labels.jsonl:2: the suite has no test \"t999\"");
  refused({"--labels", "none.jsonl"}, "none.jsonl");
  refused({}, "--labels FILE or --against METRIC");
  refused({"--labels", "labels.jsonl", "--against", "must_contain"}, "name one of them");
  refused({"--against", "relevancy"}, "\"relevancy\", a judge's own metric");
  refused({"--against", "regex_mach"},
          "\"regex_mach\", no metric that there is; did you mean \"regex_match\"?");
  refused({"--against", "regex_match"}, "no test of the suite has the metric `regex_match`");
  write_text(
      folder() / "suite.yaml",
      "suite: plain\ntests:\n  - {id: t100, input: {prompt: p}, expected: {type: must_contain, text: x}}\n");
  refused({"--against", "must_contain"}, "there is no judge to calibrate");
  EXPECT_TRUE(simulator.final_events().empty()) << "nobody may be called";
}

TEST_F(CalibrateJudge, LabelsOfOtherTestsThanThoseThatRanLeaveNothingToCompare) {
  write_text(folder() / "labels.jsonl", R"({"id": "t119", "passed": true})");
  auto simulator = start_simulator(answers(), {});
  const auto finished =
      run_sluice(command(simulator.url(), "live") + Flags{"--labels", "labels.jsonl", "--max-fixtures", "1"});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_NE(finished.errors.find("there is nothing to compare"), std::string::npos) << finished.errors;
}

// A judge that passes what the labels pass, over twenty answers: kappa is 1, its interval's lower end far
// lower.
TEST_F(CalibrateJudge, AGateThatAsksForItLetsTheJudgeFailOnlyThen) {
  write_text(folder() / "suite.yaml", [&] {
    std::string suite = "suite: judged\ntests:\n";
    for (int i = 0; i < cases; ++i)
      suite +=
          "  - {id: " + id(i) + ", input: {prompt: question " + id(i) + "}, expected: {type: relevancy}}\n";
    return suite;
  }());
  write_labels(cases / 2);
  std::string address;
  {
    auto simulator = start_simulator(answers(), {});
    address = simulator.url();
    Flags run = command(address, "live");
    run[0] = "run";
    const auto uncalibrated = run_sluice(run + Flags{"--judge-min-kappa", "0.5", "--format", "json"});
    ASSERT_EQ(uncalibrated.exit_code, 0) << uncalibrated.errors;
    const Json report = Json::parse(uncalibrated.output);
    EXPECT_EQ(report.at("verdict"), "review");
    EXPECT_EQ(report.at("metrics").at("warned"), cases / 2);
    EXPECT_EQ(report.at("judge_calibration").at("metrics").at(0).at("standing"), "missing");
    // A report of the run said that it failed, since a calibration had changed.
    const auto again = run_sluice({"report", "last", "--format", "json"});
    ASSERT_EQ(again.exit_code, 0) << again.errors;
    const Json reported = Json::parse(again.output);
    EXPECT_EQ(reported.at("verdict"), "review");
    EXPECT_EQ(reported.at("judge_calibration"), report.at("judge_calibration"));
    EXPECT_EQ(again.output.find("verdict_otherwise"), std::string::npos) << again.output;
    ASSERT_EQ(run_sluice(run + Flags{"--judge-min-kappa", "0.5"}).exit_code, 0);
    const auto compared = run_sluice({"compare", "last~1", "last", "--format", "json"});
    EXPECT_EQ(compared.exit_code, 0) << compared.errors << compared.output;
    EXPECT_EQ(Json::parse(compared.output).at("verdict"), "review");
    EXPECT_NE(compared.output.find("judge_uncalibrated"), std::string::npos) << compared.output;
    EXPECT_EQ(run_sluice({"compare", "last~1", "last", "--strict"}).exit_code, 1);
    const auto calibrated =
        run_sluice(command(address, "live") + Flags{"--labels", "labels.jsonl", "--format", "json"});
    ASSERT_EQ(calibrated.exit_code, 0) << calibrated.errors;
    const Json kappa = Json::parse(calibrated.output).at("metrics").at(0);
    ASSERT_GT(kappa.at("kappa_interval").at(0), 0.5);
    ASSERT_LT(kappa.at("kappa_interval").at(0), 0.9);
  }
  Flags cached = command(address, "cached");
  cached[0] = "run";
  const auto enough = run_sluice(cached + Flags{"--judge-min-kappa", "0.5"});
  EXPECT_EQ(enough.exit_code, 1) << enough.errors;
  EXPECT_NE(enough.output.find("has a kappa of at least 0.5"), std::string::npos) << enough.output;
  const auto too_little = run_sluice(cached + Flags{"--judge-min-kappa", "0.9"});
  EXPECT_EQ(too_little.exit_code, 0) << "the estimate is 1: what counts is what is known";
  EXPECT_NE(too_little.output.find("by a judge whose kappa is too low"), std::string::npos)
      << too_little.output;
  EXPECT_EQ(run_sluice(cached + Flags{"--judge-min-kappa", "0.9", "--strict"}).exit_code, 1);
  const auto refused = run_sluice(cached + Flags{"--judge-min-kappa", "1.5"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.errors.find("--judge-min-kappa: must be a number from 0 to 1"), std::string::npos)
      << refused.errors;
}

TEST_F(CalibrateJudge, ThatOfAMockRunNeverCounts) {
  write_labels(cases / 2);
  const Flags mock{"suite.yaml", "--mode", "mock"};
  ASSERT_NE(run_sluice(Flags{"calibrate-judge"} + mock + Flags{"--labels", "labels.jsonl"}).exit_code, 1);
  const auto gated = run_sluice(Flags{"run"} + mock + Flags{"--judge-min-kappa", "0", "--format", "json"});
  const Json report = Json::parse(gated.output);
  EXPECT_EQ(report.at("judge_calibration").at("metrics").at(0).at("standing"), "fake");
}

}  // namespace sluice::calibrate_judge_test
