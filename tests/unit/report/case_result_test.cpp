// What a result comes to beside its case: its status, its error, and what came instead.
#include "common/checks/redactor.hpp"
#include "coordinator/gate/baseline.hpp"
#include "coordinator/suite/canonical_case.hpp"
#include "tests/unit/report/gated_run.hpp"
#include "tests/unit/report/sample_run.hpp"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using sample::claim;
using sample::expect;
using sample::MemorySource;
using sample::SampleRun;
using sample::scored;

TEST(Status, FollowsFromTheMetricsAssessments) {
  const auto with = [](std::initializer_list<MetricStatus> statuses) {
    std::vector<AssessedMetric> metrics;
    for (const MetricStatus status : statuses) metrics.emplace_back().status = status;
    return metrics;
  };
  using enum MetricStatus;
  EXPECT_EQ(case_status(with({pass, unjudged})), CaseStatus::pass);
  EXPECT_EQ(case_status(with({unjudged})), CaseStatus::pass);
  EXPECT_EQ(case_status(with({pass, warn})), CaseStatus::warn);
  EXPECT_EQ(case_status(with({warn, fail, pass})), CaseStatus::fail);
  EXPECT_EQ(case_status(with({})), CaseStatus::error);
}

// Reports assessed what redaction had left of the case: its pins were not found, and what had failed before
// failed a report whose run had passed.
TEST(Merge, ARedactedCaseIsAssessedAsItIs) {
  Suite suite;
  const Case one = sample::text_case("t", "Whose is it?", MetricId::must_contain, {"alice@example.com"});
  suite.cases.push_back(one);
  MemorySource source;
  CommittedTrial trial;
  trial.unit.scores = {{0, {{MetricId::must_contain, std::nullopt, false, "not found"}}, {}}};
  source.trials.push_back(trial);
  Baseline baseline;
  const CheckDigest check = check_digest(one.expectations.front());
  BaselineEntry pinned{"t", "must_contain", 0.0, ""};
  pinned.kind = PinKind::checks;
  pinned.checks = {&check, 1};
  baseline.add(pinned);
  ASSERT_FALSE(baseline.seal());
  Gate::Config config;
  config.baseline = &baseline;
  const Gate gate(config);
  const Redactor redactor = *Redactor::make(std::vector<RedactionPattern>{{"mail", "[a-z]+@[a-z.]+"}});
  RunResults results = sample::results_of(suite, source, gate);
  results.redactor = &redactor;
  int cases = 0;
  ASSERT_TRUE(visit_cases(results, [&](const CaseResult& result) {
    ++cases;
    EXPECT_EQ(result.status, CaseStatus::warn) << "it failed when the baseline was made, too";
    EXPECT_EQ(result.metrics()[0].check(), check);
    EXPECT_EQ(result.fixture.expectations[0].what.texts[0].find("alice"), std::string::npos);
  }));
  EXPECT_EQ(cases, 1);
}

TEST(CaseResult, ExplainsWhatCameInstead) {
  const SampleRun run;
  CaseDetails details;
  bool visited = false;
  ASSERT_TRUE(visit_cases(run.results, [&](const CaseResult& result) {
    if (result.fixture.id != "tls-001") return;
    visited = true;
    explain(result, details);
    const auto& claims = result.unit->claims;
    ASSERT_EQ(details.missing.size(), 2u);
    // The claim with the expected value is nearest although another is surer; its longer path has the same
    // tail.
    EXPECT_EQ(details.missing[0].got, &claims[1]);
    EXPECT_TRUE(details.missing[0].below_min_confidence);
    EXPECT_EQ(details.missing[1].got, nullptr);
    ASSERT_EQ(details.forbidden.size(), 1u);
    EXPECT_EQ(details.forbidden[0].got, &claims[0]);
    // The forbidden claim is a false positive once and not listed as unexpected too.
    ASSERT_EQ(details.unexpected.size(), 1u);
    EXPECT_EQ(details.unexpected[0], &claims[2]);
    EXPECT_EQ(result.counts, (Counts{0, 2, 2}));
  }));
  EXPECT_TRUE(visited);
}

TEST(CaseResult, AClaimThatMetAnotherExpectationIsNotWhatCameInstead) {
  Suite suite;
  suite.cases = {sample::make_case("jwt-1", "two algorithms")};
  suite.cases.held(0).must_contain = {expect("jwt/algorithm", "allowed", std::string("none")),
                                      expect("jwt/algorithm", "allowed", std::string("HS256"))};
  MemorySource source;
  source.trials = {scored(0, 0, {claim("jwt/algorithm", "allowed", std::string("HS256"), 0.9)},
                          {{{1, 0}}, {0}, {}, {}}, {})};
  const Gate gate;
  const RunResults results = sample::results_of(suite, source, gate);
  int visits = 0;
  ASSERT_TRUE(visit_cases(results, [&](const CaseResult& result) {
    ++visits;
    CaseDetails details;
    explain(result, details);
    ASSERT_EQ(details.missing.size(), 1u);
    EXPECT_EQ(details.missing[0].got, nullptr);
  }));
  EXPECT_EQ(visits, 1);
}

TEST(CaseResult, AResultThatDoesNotFitItsCaseIsAnError) {
  Suite suite;
  suite.cases = {sample::make_case("a-1", "one")};
  suite.cases.held(0).must_contain = {expect("a/b", "c", true)};
  const std::vector<FinalClaim> claims = {claim("a/b", "c", true, 1.0)};
  const std::vector<ClaimsScore> misfits = {
      {{{0, 1}}, {}, {}, {}},        // a claim that there is not
      {{{1, 0}}, {}, {}, {}},        // an expectation that there is not
      {{{0, 0}}, {0}, {}, {}},       // found and missing
      {{}, {}, {}, {}},              // neither found nor missing
      {{{0, 0}}, {}, {7}, {}},       // an unexpected claim that there is not
      {{{0, 0}}, {}, {0}, {}},       // a claim that was expected and not
      {{}, {0}, {0, 0}, {}},         // a claim twice
      {{{0, 0}}, {}, {}, {{0, 0}}},  // a forbidden one where nothing is forbidden
  };
  for (std::size_t i = 0; i < misfits.size(); ++i) {
    MemorySource source;
    source.trials = {scored(0, 0, claims, misfits[i], {})};
    const Gate gate;
    const RunResults results = sample::results_of(suite, source, gate);
    int errors = 0;
    ASSERT_TRUE(visit_cases(results, [&](const CaseResult& result) {
      if (result.error != nullptr && result.error->reason == Reason::internal_error) ++errors;
      EXPECT_EQ(result.status, CaseStatus::error);
      EXPECT_EQ(result.counts, std::nullopt);
    }));
    EXPECT_EQ(errors, 1) << "misfit " << i;
  }
}

TEST(CaseResult, AResultWithoutAWordOnEveryMetricIsAnError) {
  Case text = sample::make_case("a-1", "one");
  text.kind = CaseKind::text;
  const std::vector<std::pair<MetricId, std::string>> asked{
      {MetricId::must_contain, "x"}, {MetricId::must_contain, "y"}, {MetricId::semantic_similarity_to, "z"}};
  for (const auto& [id, reference] : asked) {
    text.expectations.push_back({.what = {id, {reference}}, .thresholding = {}, .min_score = {}});
  }
  Case recall = sample::make_case("a-1", "one");
  recall.expectations = {{.what = {MetricId::claims_recall, {}}, .thresholding = {}, .min_score = {}}};
  const MetricOutcome found{MetricId::must_contain, std::nullopt, true, ""};
  const MetricOutcome silent{MetricId::must_contain, std::nullopt, std::nullopt, ""};
  const auto near = [](std::optional<double> score) {
    return MetricOutcome{MetricId::semantic_similarity_to, score, std::nullopt, ""};
  };
  const MetricOutcome undefined{MetricId::claims_recall, std::nullopt, std::nullopt, ""};
  const MetricOutcome precision{MetricId::claims_precision, 1.0, std::nullopt, ""};
  const auto status_of = [](const Case& test, std::vector<MetricOutcome> outcomes) {
    Suite suite;
    suite.cases = {test};
    MemorySource source;
    source.trials = {scored(0, 0, {}, {}, {})};
    source.trials[0].unit.scores[0].metrics = std::move(outcomes);
    const Gate gate;
    const RunResults results = sample::results_of(suite, source, gate);
    CaseStatus status = CaseStatus::flaky;
    EXPECT_TRUE(visit_cases(results, [&](const CaseResult& result) { status = result.status; }));
    return status;
  };
  EXPECT_EQ(status_of(text, {found, found, near(1.0)}), CaseStatus::pass);
  EXPECT_EQ(status_of(text, {found, found}), CaseStatus::error);
  EXPECT_EQ(status_of(text, {found, near(1.0)}), CaseStatus::error);
  EXPECT_EQ(status_of(text, {found, silent, near(1.0)}), CaseStatus::error);
  for (const auto score : {std::optional<double>(), std::optional(1.1), std::optional(-0.1),
                           std::optional(std::numeric_limits<double>::quiet_NaN())}) {
    EXPECT_EQ(status_of(text, {found, found, near(score)}), CaseStatus::error);
  }
  EXPECT_EQ(status_of(recall, {undefined}), CaseStatus::pass) << "0 of 0 is a word";
  EXPECT_EQ(status_of(recall, {precision}), CaseStatus::error);
  EXPECT_EQ(status_of(sample::make_case("a-1", "a fixture"), {undefined, precision}), CaseStatus::error);
}

TEST(CaseResult, ARefusalIsAssessedWhereTheCaseChecksForOneAndAnErrorElsewhere) {
  const auto result_of = [](MetricId asked, std::vector<MetricOutcome> outcomes, bool is_known,
                            std::vector<std::string> texts = {}) {
    Suite suite;
    Case test = sample::text_case("t", "How?", asked, std::move(texts));
    if (is_known) test.known_failure = "it refuses";
    suite.cases.push_back(test);
    MemorySource source;
    CommittedTrial trial;
    trial.unit.error = Error{Reason::refusal, "declined"};
    if (!outcomes.empty()) trial.unit.scores = {{0, std::move(outcomes), {}}};
    source.trials.push_back(trial);
    const Gate gate;
    const RunResults results = sample::results_of(suite, source, gate);
    std::pair<CaseStatus, bool> status{CaseStatus::flaky, false};
    EXPECT_TRUE(visit_cases(results, [&](const CaseResult& result) {
      status = {result.status, result.error != nullptr};
    }));
    return status;
  };
  const auto word = [](MetricId id, bool passed) {
    return std::vector<MetricOutcome>{{id, std::nullopt, passed, passed ? "" : "it must not"}};
  };
  using Status = std::pair<CaseStatus, bool>;
  const auto asked = MetricId::refusal;
  EXPECT_EQ(result_of(asked, word(asked, true), false), (Status{CaseStatus::pass, false}));
  EXPECT_EQ(result_of(MetricId::not_refusal, word(MetricId::not_refusal, false), false),
            (Status{CaseStatus::fail, false}));
  EXPECT_EQ(result_of(MetricId::not_refusal, word(MetricId::not_refusal, false), true),
            (Status{CaseStatus::warn, false}))
      << "known failures are excused";
  EXPECT_EQ(result_of(asked, {}, false), (Status{CaseStatus::error, true})) << "empty, or otherwise cut";
  EXPECT_EQ(result_of(MetricId::must_contain, word(MetricId::must_contain, true), false),
            (Status{CaseStatus::error, true}))
      << "whatever a worker says of it";
  const auto equal = word(MetricId::exact_match, true);
  EXPECT_EQ(result_of(MetricId::exact_match, equal, false, {""}), (Status{CaseStatus::pass, false}))
      << "an empty answer is what the case expects";
  EXPECT_EQ(result_of(MetricId::exact_match, equal, false, {"Paris"}), (Status{CaseStatus::error, true}));
}

// What a worker read the answer as goes into the matrix of labels: it must be one, and what the verdict says.
TEST(CaseResult, ALabelIsOneOfTheSuitesAndDecides) {
  const auto status_of = [](const std::string& label, bool passed) {
    Suite suite;
    suite.labels = {{"", {"billing", "refund"}}};
    suite.cases.push_back(sample::text_case("t", "Which?", MetricId::label, {"refund", ""}));
    MemorySource source;
    CommittedTrial trial;
    trial.unit.scores = {{0, {{MetricId::label, std::nullopt, passed, passed ? "" : "no", label}}, {}}};
    source.trials.push_back(trial);
    const Gate gate;
    CaseStatus status = CaseStatus::flaky;
    EXPECT_TRUE(visit_cases(sample::results_of(suite, source, gate),
                            [&](const CaseResult& result) { status = result.status; }));
    return status;
  };
  EXPECT_EQ(status_of("refund", true), CaseStatus::pass);
  EXPECT_EQ(status_of("billing", false), CaseStatus::fail);
  EXPECT_EQ(status_of("", false), CaseStatus::fail);
  EXPECT_EQ(status_of("billing", true), CaseStatus::error);
  EXPECT_EQ(status_of("refund", false), CaseStatus::error);
  EXPECT_EQ(status_of("", true), CaseStatus::error);
  EXPECT_EQ(status_of("spam", false), CaseStatus::error) << "no label of the suite";
}

}  // namespace
}  // namespace sluice
