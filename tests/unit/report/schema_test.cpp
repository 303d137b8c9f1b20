#include "config/embedded_config.hpp"
#include "tests/support/paths.hpp"
#include "tests/unit/report/gated_run.hpp"
#include "tests/unit/report/judged_run.hpp"
#include "tests/unit/report/perturbed_run.hpp"

#include <fstream>
#include <functional>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace sluice {
namespace {

using nlohmann::json;
using sample::SampleRun;

// The findings of the shipped schema; empty when the report is valid.
std::string findings(const json& report) {
  static const valijson::Schema* const schema = [] {
    static const json document = json::parse(embedded::report_schema);
    static valijson::Schema parsed;
    valijson::SchemaParser parser;
    const valijson::adapters::NlohmannJsonAdapter adapter(document);
    parser.populateSchema(adapter, parsed);
    return &parsed;
  }();
  valijson::Validator validator;
  valijson::ValidationResults results;
  const valijson::adapters::NlohmannJsonAdapter adapter(report);
  if (validator.validate(*schema, adapter, &results)) return "";
  std::string text = "invalid";
  for (valijson::ValidationResults::Error error; results.popError(error);) {
    for (const auto& part : error.context) text += part;
    text += ": " + error.description + "\n";
  }
  return text;
}

json report_of(const ReportInput& input) {
  StringSink sink;
  EXPECT_TRUE(write_json_report(input, sink));
  return json::parse(sink.text());
}

TEST(ReportSchema, TakesWhatTheReportWrites) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  EXPECT_EQ(findings(report_of(run.input(aggregates))), "");
}

TEST(ReportSchema, TakesAnArmsMeanThatIsUndefined) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  RunArms arms;
  arms.arms.emplace_back().means = {{std::nullopt, 1.0}, {ScoreId{MetricId::claims_f1}, std::nullopt}};
  ReportInput input = run.input(aggregates);
  input.arms = &arms;
  input.identity.arms.emplace_back();
  EXPECT_EQ(findings(report_of(input)), "");
}

// It lacked openai-responses: no report of such a run fitted it.
TEST(ReportSchema, TakesEachFormatOfRequests) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  for (const auto kind : {ProviderKind::openai, ProviderKind::openai_responses, ProviderKind::anthropic,
                          ProviderKind::gemini, ProviderKind::http, ProviderKind::exec}) {
    input.identity.provider = kind;
    input.identity.judge = {std::string(to_string(kind)), "gpt-5"};
    EXPECT_EQ(findings(report_of(input)), "") << to_string(kind);
  }
}

// Both what was measured and what could not be.
TEST(ReportSchema, TakesWhatWasMeasuredOfAJudge) {
  const sample::JudgedRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  JudgeBiasFold fold(false, 0.95, 7);
  ASSERT_TRUE(visit_cases(run.results, [&](const CaseResult& result) { fold.add(result); }));
  auto bias = fold.finish(run.suite.rubrics);
  ASSERT_TRUE(bias);
  input.judge_bias = &*bias;
  EXPECT_EQ(findings(report_of(input)), "");
  bias->metrics[0].length.correlation.rho = 0.5;
  json report = report_of(input);
  EXPECT_EQ(findings(report), "");
  report["judge_bias"]["metrics"][0]["length"]["rho"] = 2;
  EXPECT_NE(findings(report), "");
}

TEST(ReportSchema, TakesHowAnswersWereClassified) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  std::vector<LabelledAnswers> labels{{"/intent", 0, {"refund", "billing"}, ConfusionMatrix(2), 1}};
  labels[0].matrix.add(0, std::nullopt);
  input.labels = &labels;
  json report = report_of(input);
  EXPECT_EQ(findings(report), "");
  report["labels"][0]["accuracy"] = 2;
  EXPECT_NE(findings(report), "");
}

TEST(ReportSchema, TakesWhatWasRetrieved) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  RetrievalSummary retrieval{"default", "lexical-ngrams-v1", {}, {{"tls", {}}}};
  input.retrieval = &retrieval;
  json report = report_of(input);
  EXPECT_EQ(findings(report), "");
  report["retrieval"]["by_category"]["tls"].erase("degraded");
  EXPECT_NE(findings(report), "");
}

TEST(ReportSchema, TakesWhatAGateFoundOfItsJudgesCalibration) {
  std::ifstream file(support::source_path("tests/unit/report/golden/calibrated_report.json"));
  const json good = json::parse(file);
  EXPECT_EQ(findings(good), "");
  const std::vector<std::function<void(json&)>> defects = {
      [](json& report) { report["judge_calibration"].erase("min_kappa"); },
      [](json& report) { report["judge_calibration"]["metrics"][2]["kappa"] = 1.5; },
      [](json& report) { report["judge_calibration"]["metrics"][0]["standing"] = "good"; },
      [](json& report) { report["fixture_results"][2]["metrics"][0]["would_fail_by"] = "none"; },
      [](json& report) {
        report["fixture_results"][2]["meta"]["assay"]["judge"]["relevancy"]["calibration"] = "good";
      },
  };
  for (std::size_t i = 0; i < defects.size(); ++i) {
    json report = good;
    defects[i](report);
    EXPECT_NE(findings(report), "") << "defect " << i;
  }
}

TEST(ReportSchema, TakesAnExpectationInOtherWords) {
  const Ontology ontology = Ontology::parse(embedded::ontology, "ontology.toml").value();
  SampleRun run;
  run.suite.cases.held(5).must_contain[1].predicate = "version";
  run.suite.cases.held(5).must_not_contain[0].predicate = "active";
  run.results.ontology = &ontology;
  const Aggregates aggregates = run.aggregates();
  json report = report_of(run.input(aggregates));
  EXPECT_EQ(findings(report), "");
  ASSERT_TRUE(report["fixture_results"][5]["missing"][1].contains("taken_for"));
  ASSERT_TRUE(report["fixture_results"][5]["forbidden"][0].contains("taken_for"));
  report["fixture_results"][5]["missing"][1]["taken_for"].erase("value");
  EXPECT_NE(findings(report), "");
}

TEST(ReportSchema, TakesAPartOfASuiteAndALeastThatNothingMeasured) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.is_selection = true;
  input.min_stability = 0.9;
  const json good = report_of(input);
  EXPECT_EQ(findings(good), "");
  for (const char* field : {"selection", "min_stability"}) {
    json report = good;
    report["run"].erase(field);
    EXPECT_NE(findings(report), "") << field;
    report["run"][field] = "0.5";
    EXPECT_NE(findings(report), "") << field;
  }
}

TEST(ReportSchema, TakesStabilityAndStatistics) {
  using enum sample::Reply;
  const sample::PerturbedRun run({it, it, it, refused, it, nothing, it, it, nothing, error});
  const RunResults results = run.results();
  const Aggregates aggregates = *aggregate(results, nullptr);
  const RunStability stability = run.stability();
  ReportInput input = sample::input_of(results, aggregates);
  input.stability = &stability;
  input.gate.stability = StabilityAssessment{};
  input.gate.kind = BaselineKind::scores;
  input.gate.statistics.emplace();
  input.gate.statistics->metrics.emplace_back().drops.add("q", 0.9, 0.4);
  EXPECT_EQ(findings(report_of(input)), "");
}

TEST(ReportSchema, TakesVotes) {
  const sample::JudgedRun run;
  const Aggregates aggregates = run.aggregates();
  const json good = report_of(run.input(aggregates));
  EXPECT_EQ(findings(good), "");
  const auto judged = [](json& report) -> json& {
    return report["fixture_results"][1]["meta"]["assay"]["judge"]["correctness"];
  };
  json repeated = good;
  judged(repeated)["repeats"] = json::array({judged(repeated)});
  EXPECT_EQ(findings(repeated), "");
  const std::vector<std::function<void(json&)>> defects = {
      [&](json& report) { judged(report).erase("rationale"); },
      [&](json& report) { judged(report).erase("rubric_version"); },
      [&](json& report) {
        judged(report)["samples"] = {1, 0, 1};
      },
      [&](json& report) { judged(report)["samples"] = json::array(); },
      [&](json& report) { judged(report)["scores"][0] = 1.5; },
      [&](json& report) { judged(report)["agreement"] = 0.3; },
      [&](json& report) { judged(report)["source"] = "elsewhere"; },
      [&](json& report) { judged(report)["repeats"] = {1}; },
      [](json& report) { report["fixture_results"][1]["meta"]["other"] = 1; },
      [](json& report) { report["judge"]["provider"] = "nobody"; },
      [](json& report) { report["run"]["paid_judge_cost"] = -1; },
  };
  for (std::size_t i = 0; i < defects.size(); ++i) {
    json report = good;
    defects[i](report);
    EXPECT_NE(findings(report), "") << "defect " << i;
  }
}

TEST(ReportSchema, TakesComparisonsWithEitherKindOfBaseline) {
  const sample::GatedSample gated;
  const Aggregates of_gated = gated.aggregates();
  EXPECT_EQ(findings(report_of(gated.input(of_gated))), "");
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ReportInput input = run.input(aggregates);
  input.gate = sample::beside_manifest(aggregates, 0.4, 0.36, 0.5);
  EXPECT_EQ(findings(report_of(input)), "");
  input.gate.aggregates->baseline.recall.reset();
  input.gate.aggregates->metrics[1].baseline.reset();
  EXPECT_EQ(findings(report_of(input)), "");
}

TEST(ReportSchema, TakesARunCutShortWithoutPrices) {
  SampleRun run;
  run.source.trials.clear();
  const auto aggregates = aggregate(run.results, nullptr);
  ASSERT_TRUE(aggregates);
  ReportInput input = run.input(*aggregates);
  input.paid_cost = std::nullopt;
  input.facts.workers.clear();
  input.facts.cut_short = Error{Reason::no_workers, "No worker came."};
  EXPECT_EQ(findings(report_of(input)), "");
}

TEST(ReportSchema, TakesTokensThatNobodyKnows) {
  SampleRun run;
  run.source.trials[0].unit.usage = {};
  run.source.trials[0].unit.spend.add_answer(CallKind::answer, {});
  const Aggregates aggregates = run.aggregates();
  EXPECT_TRUE(report_of(run.input(aggregates))["metrics"]["total_tokens"].is_null());
  EXPECT_EQ(findings(report_of(run.input(aggregates))), "");
}

TEST(ReportSchema, RefusesWhatIsNotAReport) {
  const sample::GatedSample run;
  const Aggregates aggregates = run.aggregates();
  const json good = report_of(run.input(aggregates));
  ASSERT_EQ(findings(good), "");
  const std::vector<std::function<void(json&)>> defects = {
      [](json& report) { report["extra"] = 1; },
      [](json& report) { report.erase("model"); },
      [](json& report) { report["verdict"] = "great"; },
      [](json& report) { report["metrics"]["precision"] = 1.5; },
      [](json& report) { report["metrics"]["passed"] = -1; },
      [](json& report) { report["metrics"]["by_category"]["tls"]["extra"] = 1; },
      [](json& report) { report["fixture_results"][0]["status"] = "good"; },
      [](json& report) { report["fixture_results"][5]["claims"][0].erase("value"); },
      [](json& report) {
        report["fixture_results"][5]["missing"][0]["got"] = {{"extra", 1}};
      },
      [](json& report) { report["fixture_results"][0]["kind"] = "image"; },
      [](json& report) { report["fixture_results"][0]["regressed"] = "no"; },
      [](json& report) { report["fixture_results"][1]["metrics"][0]["status"] = "good"; },
      [](json& report) { report["fixture_results"][1]["metrics"][0]["cause"] = "luck"; },
      [](json& report) { report["fixture_results"][1]["metrics"][0]["delta"] = -1.5; },
      [](json& report) { report["fixture_results"][1]["metrics"][0].erase("baseline"); },
      [](json& report) { report["fixture_results"][1]["metrics"][0]["thresholding"]["mode"] = "loose"; },
      [](json& report) { report.erase("baseline_comparison"); },
      [](json& report) { report["baseline_comparison"]["kind"] = "none"; },
      [](json& report) { report["baseline_comparison"]["notices"][0]["severity"] = "loud"; },
      [](json& report) { report["baseline_comparison"].erase("recall_delta"); },
      [](json& report) { report["config_fingerprint"] = "abc"; },
      [](json& report) { report["prompt_hash"] = "abc"; },
      [](json& report) { report["timestamp"] = "yesterday"; },
      [](json& report) { report["run"]["requests"] = "7"; },
  };
  for (std::size_t i = 0; i < defects.size(); ++i) {
    json report = good;
    defects[i](report);
    EXPECT_NE(findings(report), "") << "defect " << i;
  }
}

}  // namespace
}  // namespace sluice
