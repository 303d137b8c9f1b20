#include "common/checks/redactor.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/baseline.hpp"
#include "coordinator/suite/fingerprint.hpp"
#include "tests/unit/report/gated_run.hpp"
#include "tests/unit/report/sample_run.hpp"

#include <cstdint>
#include <limits>
#include <memory>
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

TEST(Scores, AreUndefinedOnlyForZeroByZero) {
  EXPECT_EQ(scores_of(Counts{}), Scores{});
  EXPECT_EQ(scores_of(Counts{0, 2, 0}), (Scores{0.0, std::nullopt, 0.0}));
  EXPECT_EQ(scores_of(Counts{0, 0, 2}), (Scores{std::nullopt, 0.0, 0.0}));
  EXPECT_EQ(scores_of(Counts{3, 1, 3}), (Scores{0.75, 0.5, 0.6}));
}

TEST(Scores, WeightedSumsKeepSmallWeightsBesideLargeOnes) {
  WeightedCounts counts;
  counts.add({1, 0, 0}, 1e16);
  for (int i = 0; i < 10; ++i) counts.add({1, 0, 0}, 0.5);
  counts.add({0, 1, 0}, 1.0);
  EXPECT_EQ(counts.true_positives(), 1e16 + 5.0);
  EXPECT_EQ(counts.false_positives(), 1.0);
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

TEST(Aggregate, AgreesWithHandCalculation) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  EXPECT_EQ(aggregates.all.statuses, (StatusCounts{.passed = 2, .failed = 3, .errors = 2}));
  EXPECT_EQ(aggregates.all.counts, (Counts{2, 3, 4}));
  const Scores scores = scores_of(aggregates.all.counts);
  EXPECT_DOUBLE_EQ(*scores.precision, 2.0 / 5);
  EXPECT_DOUBLE_EQ(*scores.recall, 2.0 / 6);
  EXPECT_DOUBLE_EQ(*scores.f1, 4.0 / 11);
  // Weighted by hand: TP 1 + 2, FP 2 * 1 + 0.5 * 2, FN 1 + 2 * 1 + 0.5 * 2.
  EXPECT_EQ(aggregates.all.weighted.true_positives(), 3.0);
  EXPECT_EQ(aggregates.all.weighted.false_positives(), 3.0);
  EXPECT_EQ(aggregates.all.weighted.false_negatives(), 4.0);
  EXPECT_EQ(aggregates.usage, (PaidTokens{4700, 850, 0}));
  EXPECT_EQ(aggregates.estimated_cost, 0.0081);
}

TEST(Aggregate, KeepsCategoriesApartAndErrorsOutOfTheirScores) {
  const SampleRun run;
  const Aggregates aggregates = run.aggregates();
  ASSERT_EQ(aggregates.by_category.size(), 6u);
  const Totals& tls = aggregates.by_category.at("tls");
  EXPECT_EQ(tls.statuses, (StatusCounts{.failed = 1, .errors = 1}));
  EXPECT_EQ(tls.counts, (Counts{0, 2, 2}));
  const Totals& secrets = aggregates.by_category.at("secrets");
  EXPECT_EQ(secrets.statuses, (StatusCounts{.errors = 1}));
  EXPECT_EQ(secrets.counts, Counts{});
  const Totals& negative = aggregates.by_category.at("negative");
  EXPECT_EQ(negative.statuses, (StatusCounts{.passed = 1}));
  EXPECT_EQ(scores_of(negative.counts), Scores{});
}

TEST(Aggregate, AnswersWhoseUsageNobodyKnowsCostAnUnknownSum) {
  Suite suite;
  suite.cases = {sample::make_case("a-1", "one"), sample::make_case("b-1", "two")};
  const auto of = [&](const Spend& spend, const Digest& answer) {
    MemorySource source;
    source.trials = {scored(0, 0, {}, {}, {100, 10}), scored(1, 1, {}, {}, {})};
    UnitResult& unknown = source.trials[1].unit;
    unknown.spend = spend;
    unknown.answer = answer;
    const Gate gate;
    const auto aggregates =
        aggregate(sample::results_of(suite, source, gate), [](const PaidByArm&) { return 0.25; });
    return aggregates ? *aggregates : Aggregates{};
  };
  Spend called;
  called.add_answer(CallKind::answer, {});
  Spend cached;
  cached.cache_hit = true;
  for (const Spend& spend : {called, cached}) {
    const Aggregates aggregates = of(spend, sha256("answer"));
    EXPECT_EQ(aggregates.unknown_usages, 1u);
    EXPECT_EQ(aggregates.estimated_cost, std::nullopt) << "and not that of the others alone";
  }
  EXPECT_EQ(of(called, {}).estimated_cost, 0.25) << "no answer came";
  EXPECT_EQ(of({}, sha256("answer")).estimated_cost, 0.25) << "nobody was called";
}

TEST(Aggregate, CountsAnAnswerThatSeveralCasesShareOnce) {
  Suite suite;
  suite.cases = {sample::make_case("a-1", "one"), sample::make_case("b-1", "two"),
                 sample::make_case("c-1", "three")};
  MemorySource source;
  source.trials = {scored(0, 0, {}, {}, {100, 10}), scored(1, 1, {}, {}, {30, 3}),
                   scored(2, 0, {}, {}, {100, 10})};
  const Gate gate;
  const RunResults results = sample::results_of(suite, source, gate);
  const auto aggregates = aggregate(results, nullptr);
  ASSERT_TRUE(aggregates);
  EXPECT_EQ(aggregates->usage, (PaidTokens{130, 13, 0}));
  EXPECT_EQ(aggregates->estimated_cost, std::nullopt);
  EXPECT_EQ(aggregates->all.statuses.passed, 3u);
}

TEST(CaseResult, EachTrialIsVisitedOnceInOrderWithItsReason) {
  const SampleRun run;
  std::vector<std::string> seen;
  ASSERT_TRUE(visit_cases(run.results, [&](const CaseResult& result) {
    seen.push_back(result.fixture.id + " " + std::string(to_string(result.status)) + " " +
                   (result.error == nullptr ? "-" : std::string(to_string(result.error->reason))));
  }));
  EXPECT_EQ(seen, (std::vector<std::string>{"auth-001 pass -", "edge-006 fail -", "jwt-003 fail -",
                                            "negative-001 pass -", "secrets-001 error rate_limited",
                                            "tls-001 fail -", "tls-002 error worker_lost"}));
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

TEST(CaseResult, ASourceOutOfOrderOrOutOfReachIsRefused) {
  Suite suite;
  suite.cases = {sample::make_case("a-1", "one"), sample::make_case("a-2", "two")};
  const auto visit = [&](std::vector<CommittedTrial> trials) {
    MemorySource source;
    source.trials = std::move(trials);
    const Gate gate;
    const RunResults results = sample::results_of(suite, source, gate);
    return visit_cases(results, [](const CaseResult&) {});
  };
  EXPECT_TRUE(visit({scored(1, 0, {}, {}, {})}));
  EXPECT_EQ(visit({scored(1, 0, {}, {}, {}), scored(0, 1, {}, {}, {})}).error().reason,
            Reason::internal_error);
  EXPECT_EQ(visit({scored(0, 0, {}, {}, {}), scored(0, 0, {}, {}, {})}).error().reason,
            Reason::internal_error);
  EXPECT_EQ(visit({scored(2, 0, {}, {}, {})}).error().reason, Reason::internal_error);
}

TEST(CaseResult, AFailureOfTheSourceIsHandedOn) {
  SampleRun run;
  run.source.failure = Error{Reason::ledger_failed, "the ledger is gone"};
  const auto aggregates = aggregate(run.results, nullptr);
  ASSERT_FALSE(aggregates);
  EXPECT_EQ(aggregates.error(), *run.source.failure);
}

/// Cases that stay in their file, of which one cannot be read any more.
class LinesFile final : public CaseFile {
 public:
  explicit LinesFile(std::uint64_t gone) : gone_(gone) {}
  Result<std::shared_ptr<Case>> read(std::uint64_t offset, std::uint32_t, std::uint64_t) const override {
    if (offset == gone_) return fail(Reason::file_unreadable, "cases.jsonl was changed during the run");
    return std::make_shared<Case>(sample::make_case("line-" + std::to_string(offset), "one"));
  }

 private:
  std::uint64_t gone_;
};

Suite suite_in_a_file(std::uint64_t cases, std::uint64_t gone) {
  const auto file = std::make_shared<LinesFile>(gone);
  Suite suite;
  for (std::uint64_t i = 0; i < cases; ++i)
    suite.cases.push_back(file, {i, 5, 0}, "line-" + std::to_string(i), "tests");
  return suite;
}

TEST(VisitCases, ThoseThatStayInTheirFileAreVisitedOnceAndInOrder) {
  constexpr auto block = static_cast<std::uint64_t>(defaults::cases_read_at_once);
  for (const std::uint64_t cases : {block - 1, block, block + 1, 3 * block + 7}) {
    const Suite suite = suite_in_a_file(cases, cases);
    MemorySource source;
    for (TrialId trial = 0; trial < cases; trial += 3) source.trials.push_back(scored(trial, 0, {}, {}, {}));
    const Gate gate;
    RunResults results = sample::results_of(suite, source, gate);
    results.trials = cases;
    std::uint64_t visited = 0;
    const auto done = visit_cases(results, [&](const CaseResult& result) {
      EXPECT_EQ(result.fixture.id, "line-" + std::to_string(visited));
      EXPECT_EQ(result.unit != nullptr, visited % 3 == 0);
      ++visited;
    });
    EXPECT_TRUE(done);
    EXPECT_EQ(visited, cases);
  }
}

TEST(VisitCases, AreThoseOfTheirNumbersInAnyOrder) {
  constexpr std::size_t cases = 3 * defaults::cases_read_at_once;
  const Suite suite = suite_in_a_file(cases, cases);
  const MemorySource nothing;
  const Gate gate;
  RunResults results = sample::results_of(suite, nothing, gate);
  results.trials = cases;
  results.case_of = [](TrialId trial) { return trial * 7 % cases; };
  std::size_t visited = 0;
  const auto done = visit_cases(results, [&](const CaseResult& result) {
    EXPECT_EQ(result.fixture.id, "line-" + std::to_string(visited++ * 7 % cases));
  });
  EXPECT_TRUE(done);
  EXPECT_EQ(visited, cases);
}

TEST(VisitCases, EndWhereAFileCannotBeReadAnyMore) {
  constexpr std::uint64_t gone = defaults::cases_read_at_once + 10;
  const Suite suite = suite_in_a_file(3 * defaults::cases_read_at_once, gone);
  const MemorySource nothing;
  const Gate gate;
  RunResults results = sample::results_of(suite, nothing, gate);
  results.trials = suite.cases.size();
  std::uint64_t visited = 0;
  const auto done = visit_cases(results, [&](const CaseResult&) { ++visited; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().reason, Reason::file_unreadable);
  EXPECT_EQ(visited, gone);
}

}  // namespace
}  // namespace sluice
