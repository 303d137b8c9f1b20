// A test with two rubrics: from the suite to reports, baselines, comparisons and calibrations each of its
// scores goes by its name.

#include "tests/support/workbench.hpp"

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice::named_scores_test {

using namespace support;
using Json = nlohmann::json;

class NamedScores : public Workbench {
 protected:
  NamedScores() {
    std::string suite =
        "suite: letters\nsettings: {judge_samples: 1}\ndefault_test:\n  expected:\n"
        "    - {type: rubric, criteria: It answers the question.}\n"
        "    - {type: rubric, name: tone, criteria: It is kind.}\ntests:\n";
    for (int i = 0; i < cases; ++i)
      suite += "  - {id: t" + std::to_string(i) + ", input: {prompt: letter " + std::to_string(i) + "}}\n";
    write_text(folder() / "letters.yaml", suite);
  }

  static constexpr int cases = 8;

  /// What a judge gives for the answers' content, and for their tone.
  static std::vector<std::string> judging(double content, double tone) {
    const auto vote = [](const char* criteria, double score) {
      return R"({"contains": ")" + std::string(criteria) +
             R"(", "vote": true, "text": {"rationale": "So.", "score": )" + std::to_string(score) + "}}";
    };
    return {vote("It answers the question.", content), vote("It is kind.", tone),
            R"({"contains": "letter", "vote": false, "text": "Dear all."})"};
  }
  Finished run(double content, double tone, const Flags& more) {
    auto simulator = start_simulator(judging(content, tone), {});
    return run_sluice(Flags{"run", "letters.yaml", "--mode", "live", "--provider", "openai", "--model",
                            "sim-1", "--judge", "openai", "--judge-model", "judge-1", "--base-url",
                            simulator.url() + "/v1", "--refresh", "--judge-refresh"} +
                      more);
  }
  static Json named(const Json& metrics, const std::string& name) {
    for (const Json& one : metrics) {
      if (one.at("name") == name) return one;
    }
    return nullptr;
  }
};

TEST_F(NamedScores, StandInEveryReport) {
  const auto finished = run(0.9, 0.7, {"--format", "json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.errors;
  const Json one = Json::parse(finished.output).at("fixture_results").at(0);
  EXPECT_EQ(named(one.at("metrics"), "rubric").at("score"), 0.9);
  EXPECT_EQ(named(one.at("metrics"), "rubric:tone").at("score"), 0.7);
  EXPECT_EQ(one.at("meta").at("assay").at("judge").at("rubric:tone").at("score"), 0.7);
  const auto csv = run(0.9, 0.7, {"--format", "csv"});
  EXPECT_NE(csv.output.find(",rubric,rubric:tone,"), std::string::npos) << csv.output;
  EXPECT_NE(csv.output.find(",0.9,0.7,"), std::string::npos) << csv.output;
  const auto shown = run_sluice({"show", "last", "t3"});
  EXPECT_EQ(shown.exit_code, 0) << shown.errors;
  EXPECT_NE(shown.output.find("rubric:tone v1 \"It is kind.\""), std::string::npos) << shown.output;
}

TEST_F(NamedScores, AreGatedComparedAndTestedByTheirNames) {
  ASSERT_EQ(
      run(0.9, 0.8, {"--export-baseline", "base.json", "--format", "json", "--output", "base-report.json"})
          .exit_code,
      0);
  const Json base = Json::parse(read_text(folder() / "base.json"));
  std::string pinned;
  for (const Json& entry : base.at("entries")) {
    if (entry.at("test_id") == "t0") pinned += entry.at("metric").get<std::string>() + " ";
  }
  EXPECT_EQ(pinned, "rubric rubric:tone ");
  const auto fell =
      run(0.95, 0.6, {"--baseline", "base.json", "--format", "json", "--output", "report.json"});
  EXPECT_EQ(fell.exit_code, 1) << fell.errors;
  const Json report = Json::parse(read_text(folder() / "report.json"));
  const Json metrics = report.at("fixture_results").at(0).at("metrics");
  EXPECT_EQ(named(metrics, "rubric").at("cause"), nullptr);
  EXPECT_EQ(named(metrics, "rubric").at("baseline"), 0.9);
  EXPECT_EQ(named(metrics, "rubric:tone").at("cause"), "dropped");
  for (const char* file : {"base.json", "base-report.json"}) {
    const auto compared = run_sluice({"compare", file, "report.json"});
    EXPECT_EQ(compared.exit_code, 1) << compared.errors << compared.output;
    EXPECT_NE(compared.output.find("rubric:tone"), std::string::npos) << compared.output;
  }
}

TEST_F(NamedScores, AreCalibratedEachByItsLabels) {
  std::string labels;
  for (int i = 0; i < cases; ++i)
    labels += R"({"id": "t)" + std::to_string(i) + R"(", "passed": true, "metric": "rubric:tone"})" + "\n";
  write_text(folder() / "labels.jsonl", labels);
  auto simulator = start_simulator(judging(0.9, 0.2), {});
  const auto finished =
      run_sluice({"calibrate-judge", "letters.yaml", "--mode", "live", "--provider", "openai", "--model",
                  "sim-1", "--judge", "openai", "--judge-model", "judge-1", "--base-url",
                  simulator.url() + "/v1", "--labels", "labels.jsonl", "--format", "json"});
  ASSERT_EQ(finished.exit_code, 0) << finished.errors;
  const Json metrics = Json::parse(finished.output).at("metrics");
  ASSERT_EQ(metrics.size(), 1u) << metrics;
  EXPECT_EQ(metrics.at(0).at("metric"), "rubric:tone");
  EXPECT_EQ(metrics.at(0).at("agreement"), 0.0);
}

// An answer whose judgements were recorded is judged by those of each name.
TEST_F(NamedScores, AreReadOfRecordedAnswers) {
  std::string answers;
  for (int i = 0; i < cases; ++i) {
    answers += R"({"id": "t)" + std::to_string(i) +
               R"(", "answer": "Dear all.", "meta": {"assay": {"judge": {)"
               R"("rubric": {"rubric_version": "v1", "score": 0.9, "samples": [true]}, )"
               R"("rubric:tone": {"rubric_version": "v1", "score": 0.3, "samples": [false]}}}}})" +
               "\n";
  }
  write_text(folder() / "answers.jsonl", answers);
  const auto finished = run_sluice(
      {"run", "letters.yaml", "--answers", "answers.jsonl", "--judge", "none", "--format", "json"});
  EXPECT_EQ(finished.exit_code, 1) << "their tone is not kind enough; " << finished.errors;
  const Json metrics = Json::parse(finished.output).at("fixture_results").at(0).at("metrics");
  EXPECT_EQ(named(metrics, "rubric").at("score"), 0.9);
  EXPECT_EQ(named(metrics, "rubric:tone").at("score"), 0.3);
  EXPECT_EQ(named(metrics, "rubric:tone").at("status"), "fail");
  std::string misnamed = answers;
  misnamed.replace(misnamed.find("rubric:tone"), 11, "rubric:tnoe");
  write_text(folder() / "answers.jsonl", misnamed);
  const auto refused = run_sluice({"run", "letters.yaml", "--answers", "answers.jsonl", "--judge", "none"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(
      refused.errors.find("answers.jsonl:1: \"meta.assay.judge\" judges rubric:tnoe, and the test \"t0\" has "
                          "rubric:tone: call it that"),
      std::string::npos)
      << refused.errors;
}

}  // namespace sluice::named_scores_test
