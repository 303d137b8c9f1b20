#pragma once

#include "coordinator/gate/aggregate_gate.hpp"
#include "coordinator/gate/baseline.hpp"
#include "tests/unit/report/sample_run.hpp"

#include <string>
#include <utility>
#include <vector>

namespace sluice::sample {

/// A case that sends a prompt and assesses the answer's text by one metric.
inline Case text_case(std::string id, std::string name, MetricId metric, std::vector<std::string> texts) {
  Case one = make_case(std::move(id), std::move(name));
  one.kind = CaseKind::text;
  one.language.clear();
  one.source = "suite.yaml";
  one.line = 12;
  one.content = "Say hello.";
  one.expectations.push_back({.what = {metric, std::move(texts)}, .thresholding = {}, .min_score = {}});
  return one;
}

inline CommittedTrial answered(TrialId trial, std::string text, MetricOutcome outcome) {
  CommittedTrial result;
  result.trial = trial;
  result.unit.unit = trial;
  result.unit.answer.fill(static_cast<std::uint8_t>(trial + 1));
  result.unit.usage = {120, 40};
  result.unit.shown_text = std::move(text);
  TrialScore score;
  score.trial = trial;
  score.metrics = {std::move(outcome)};
  result.unit.scores.push_back(std::move(score));
  return result;
}

/// A run beside pinned scores: claims cases that regressed and improved, text cases that failed, regressed,
/// improved, passed and lack an entry, and an error.
struct GatedSample {
  Suite suite;
  MemorySource source;
  Baseline baseline;
  Gate gate;
  RunResults results = results_of(suite, source, gate);

  GatedSample() {
    add_cases();
    add_results();
    for (const auto& [id, metric, score] : entries) baseline.add({id, metric, score, {}});
    baseline.seal();
    gate = Gate({.suite = {}, .baseline = &baseline, .default_max_drop = 0.05});
    results.trials = suite.cases.size();
  }
  GatedSample(const GatedSample&) = delete;
  GatedSample& operator=(const GatedSample&) = delete;

  Aggregates aggregates() const { return *aggregate(results, sample_price); }

  ReportInput input(const Aggregates& aggregates) const {
    ReportInput input = input_of(results, aggregates);
    input.gate.kind = BaselineKind::scores;
    input.gate.baseline_file = "baseline.json";
    input.gate.notices = {
        {GateNotice::Severity::warning, "fingerprint_mismatch",
         "baseline.json was made from other tests or settings (sha256:1111 there, sha256:cccc here); export "
         "it "
         "anew if the change is meant."},
        {GateNotice::Severity::info, "unused_entries", "2 entries of baseline.json belong to no test."}};
    input.source_folder = "evals";
    input.verdict = verdict_on(input);
    return input;
  }

 private:
  struct Entry {
    const char* id;
    const char* metric;
    double score;
  };
  static constexpr Entry entries[] = {
      {"greet-002", "semantic_similarity_to", 0.92},
      {"greet-003", "semantic_similarity_to", 0.80},
      {"jwt-003", "claims_precision", 1.0},
      {"jwt-003", "claims_recall", 1.0},
      {"jwt-003", "claims_f1", 1.0},
      {"tls-007", "claims_precision", 1.0},
      {"tls-007", "claims_recall", 0.5},
      {"tls-007", "claims_f1", 2.0 / 3},
  };

  void add_cases() {
    Case jwt = make_case("jwt-003", "JWT algorithm none detection");
    jwt.must_contain = {expect("jwt/algorithm", "required", std::string("none"),
                               "alg:\"none\" bypasses signature verification entirely"),
                        expect("jwt/signature", "verified", false)};
    Case tls = make_case("tls-007", "TLS version in constants");
    tls.must_contain = {expect("tls/min_version", "value", std::string("1.0"))};
    suite.name = "assistant";
    suite.cases = {
        text_case("greet-001", "Greets by name", MetricId::must_contain, {"Hello, Ada", "how can I help"}),
        text_case("greet-002", "Explains the refund | rules", MetricId::semantic_similarity_to,
                  {"Refunds take five working days."}),
        text_case("greet-003", "", MetricId::semantic_similarity_to, {"We are open from nine to five."}),
        text_case("greet-004", "A new test", MetricId::semantic_similarity_to, {"Yes."}),
        text_case("greet-005", "Names a date", MetricId::regex_match, {"[0-9]{4}-[0-9]{2}-[0-9]{2}"}),
        jwt,
        make_case("tls-001", "Lost"),
        tls,
    };
  }

  void add_results() {
    source.trials = {
        answered(0, "Good day.\nWhat do you want?",
                 {MetricId::must_contain, std::nullopt, false, "does not contain \"Hello, Ada\""}),
        answered(1, "Refunds are not possible.", {MetricId::semantic_similarity_to, 0.85, std::nullopt, ""}),
        answered(2, "Nine to five.", {MetricId::semantic_similarity_to, 0.82, std::nullopt, ""}),
        answered(3, "Yes!", {MetricId::semantic_similarity_to, 0.97, std::nullopt, ""}),
        answered(4, "On 2026-02-05.", {MetricId::regex_match, std::nullopt, true, ""}),
        scored(5, 5, {claim("jwt/signature", "verified", false, 0.9)}, {{{1, 0}}, {0}, {}, {}}, {900, 80}),
        errored(6, 6, {Reason::rate_limited, "gemini answered 429 to 6 calls."}),
        scored(7, 7, {claim("tls/min_version", "value", std::string("1.0"), 0.9, 3)}, {{{0, 0}}, {}, {}, {}},
               {800, 60}),
    };
  }
};

/// The sample run beside the aggregates of a manifest. Precision 0.40, recall 0.33, F1 0.36.
inline BaselineComparison beside_manifest(const Aggregates& aggregates, double precision, double recall,
                                          double f1) {
  const Scores scores = scores_of(aggregates.all.counts);
  BaselineComparison gate;
  gate.kind = BaselineKind::aggregates;
  gate.baseline_file = "tests/llm_fixtures/manifest.toml";
  gate.config_fingerprint = "sha256:" + std::string(64, 'c');
  gate.aggregates = assess_aggregates({.precision = precision,
                                       .recall = recall,
                                       .f1 = f1,
                                       .prompt_version = "1.0.0",
                                       .model = "gemini-2.0-flash",
                                       .measured_at = "2026-02-01"},
                                      scores.precision, scores.recall, scores.f1, 0.05);
  return gate;
}

}  // namespace sluice::sample
