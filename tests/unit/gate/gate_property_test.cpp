#include "coordinator/gate/baseline_export.hpp"
#include "coordinator/gate/compare.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/score_files/baseline_file.hpp"
#include "gate_fixture.hpp"
#include "tests/support/temporary_folder.hpp"

#include <algorithm>
#include <random>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::gate_property_test {

/// Decimals, which tend to meet limits exactly, and any doubles.
rc::Gen<double> any_score() {
  const auto decimal =
      rc::gen::map(rc::gen::inRange(0, 101), [](int hundredths) { return hundredths / 100.0; });
  const auto any = rc::gen::map(rc::gen::inRange<std::uint64_t>(0, (1ull << 53) + 1), [](std::uint64_t part) {
    return static_cast<double>(part) / static_cast<double>(1ull << 53);
  });
  return rc::gen::oneOf(decimal, any);
}

std::optional<double> maybe(double value) {
  return *rc::gen::arbitrary<bool>() ? std::optional(value) : std::nullopt;
}

Thresholding any_thresholding() {
  Thresholding any;
  const int mode = *rc::gen::inRange(0, 3);
  if (mode > 0) any.mode = mode == 1 ? ThresholdMode::relative : ThresholdMode::absolute;
  any.max_drop = maybe(*any_score());
  any.min_floor = maybe(*any_score());
  any.min_score = maybe(*any_score());
  return any;
}

/// A case with what a worker handed out for it.
struct Assessable {
  Case test;
  std::vector<MetricOutcome> outcomes;
};

/// Outcomes as counts give them, so that scores are undefined where they are in truth.
Assessable any_fixture(std::string id) {
  const auto count = rc::gen::inRange<int>(0, 4);
  const double found = *count;
  const double wrong = *count;
  const double missed = *count;
  const bool forbidden = wrong > 0 && *rc::gen::arbitrary<bool>();
  const auto ratio = [](double part, double whole) {
    return whole == 0 ? std::nullopt : std::optional(part / whole);
  };
  auto outcomes = claims_outcomes(ratio(found, found + wrong), ratio(found, found + missed),
                                  ratio(2 * found, 2 * found + wrong + missed), missed == 0, !forbidden);
  if (found + missed > 0) return {fixture_of(std::move(id)), std::move(outcomes)};
  outcomes.push_back(verdict_of(MetricId::claims_absent, wrong == 0));
  return {safe_fixture_of(std::move(id)), std::move(outcomes)};
}

Assessable any_text_test(std::string id) {
  Assessable any;
  any.test = test_of(std::move(id), MetricId::semantic_similarity_to, any_thresholding());
  any.outcomes = {score_of(MetricId::semantic_similarity_to, *any_score())};
  return any;
}

std::vector<Assessable> any_run() {
  std::vector<Assessable> run;
  const int size = *rc::gen::inRange(1, 8);
  for (int i = 0; i < size; ++i) {
    const std::string id = "case/" + std::to_string(i);
    run.push_back(*rc::gen::arbitrary<bool>() ? any_fixture(id) : any_text_test(id));
  }
  return run;
}

Baseline export_of(const std::vector<Assessable>& run) {
  BaselineExport exported({"demo", "0.1.0", "2025-12-21T12:00:00Z", "sha256:00"}, "text-embedding-3-small");
  for (const Assessable& one : run) exported.add(one.test.id, Gate().assess(one.test, one.outcomes));
  auto baseline = exported.finish();
  RC_ASSERT(baseline.has_value());
  return std::move(*baseline);
}

std::string written(const Baseline& baseline) {
  StringSink sink;
  write_baseline(baseline, sink);
  return sink.text();
}

/// Lowers a fixed limit to what the scores of the run reach.
void lower_to(std::optional<double>& limit, double lowest) {
  if (limit) limit = std::min(*limit, lowest);
}

RC_GTEST_PROP(GateProperty, AnExportGatedAgainstItselfPasses, ()) {
  auto run = any_run();
  double lowest = 1.0;
  for (const Assessable& one : run) {
    for (const MetricOutcome& outcome : one.outcomes) lowest = std::min(lowest, outcome.score.value_or(1.0));
  }
  Thresholding suite = any_thresholding();
  lower_to(suite.min_floor, lowest);
  lower_to(suite.min_score, lowest);
  for (Assessable& one : run) {
    for (Expectation& expectation : one.test.expectations) {
      lower_to(expectation.thresholding.min_floor, lowest);
      lower_to(expectation.thresholding.min_score, lowest);
    }
  }
  // Absolute thresholds leave the pass/fail metrics of a fixture to assess where they name no score.
  if (suite.mode == ThresholdMode::absolute && !suite.min_score) suite.min_score = lowest;
  const Baseline baseline = export_of(run);
  const Gate gate = gate_of(&baseline, suite);
  for (const Assessable& one : run) {
    const CaseAssessment assessment = gate.assess(one.test, one.outcomes);
    RC_ASSERT(assessment.status == CaseStatus::pass || assessment.only_known_failures());
    RC_ASSERT(!assessment.improved);
  }
}

RC_GTEST_PROP(GateProperty, ALowerScoreNeverTurnsFailIntoPass, ()) {
  const bool pinned = *rc::gen::arbitrary<bool>();
  const Baseline baseline = pinned ? baseline_of({{"q", similarity, *any_score()}}) : baseline_of({});
  const Gate gate = gate_of(*rc::gen::arbitrary<bool>() ? &baseline : nullptr, any_thresholding());
  Case test = test_of("q", MetricId::semantic_similarity_to, any_thresholding());
  test.expectations[0].min_score = maybe(*any_score());
  double low = *any_score();
  double high = *any_score();
  if (low > high) std::swap(low, high);
  const auto status = [&](double score) {
    const auto outcome = score_of(MetricId::semantic_similarity_to, score);
    return gate.assess(test, {&outcome, 1}).status;
  };
  if (status(high) == CaseStatus::fail) RC_ASSERT(status(low) == CaseStatus::fail);
  if (status(low) != CaseStatus::fail) RC_ASSERT(status(high) == status(low));
}

RC_GTEST_PROP(GateProperty, AHigherBaselineNeverTurnsFailIntoPass, ()) {
  const Gate::Config rules = gate_of(nullptr, any_thresholding()).config();
  const auto outcome = score_of(MetricId::semantic_similarity_to, *any_score());
  double low = *any_score();
  double high = *any_score();
  if (low > high) std::swap(low, high);
  const auto status = [&](double pinned) {
    const Baseline baseline = baseline_of({{"q", similarity, pinned}});
    Gate::Config config = rules;
    config.baseline = &baseline;
    return Gate(config).assess(test_of("q", MetricId::semantic_similarity_to), {&outcome, 1}).status;
  };
  if (status(low) == CaseStatus::fail) RC_ASSERT(status(high) == CaseStatus::fail);
}

RC_GTEST_PROP(GateProperty, BillionthsAreMonotone, ()) {
  const double a = *any_score();
  const double b = *any_score();
  if (a <= b) RC_ASSERT(billionths(a) <= billionths(b));
  if (a >= b) RC_ASSERT(billionths(a) >= billionths(b));
  RC_ASSERT(score_delta(a, b) == -score_delta(b, a));
}

std::string any_text() {
  return *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::element<char>(
      'a', 'b', 'Z', '/', '"', '\\', '\n', '\t', '\0', '\x1F', '\x7F', ' ', '{', '<')));
}

/// Entries with each pair once.
std::vector<TestPin> any_pins() {
  std::vector<TestPin> pins;
  std::set<std::pair<std::string, std::string>> met;
  const int size = *rc::gen::inRange(0, 20);
  for (int i = 0; i < size; ++i) {
    TestPin pin{any_text(), any_text(), *any_score()};
    pin.meta = *rc::gen::element<std::string>("", "{}", R"({"a":[1,-2,0.1,1e+300,true,null,{"b":"\n"}]})",
                                              R"({"n":18446744073709551615,"x":-9223372036854775808})");
    if (met.emplace(pin.test_id, pin.metric).second) pins.push_back(pin);
  }
  return pins;
}

RC_GTEST_PROP(GateProperty, ReadingAndWritingGiveTheSameBytes, ()) {
  const std::string text = written(baseline_of(any_pins()));
  std::istringstream stream(text);
  const auto read = parse_baseline(stream, "base.json");
  RC_ASSERT(read.has_value());
  RC_ASSERT(written(*read) == text);
}

RC_GTEST_PROP(GateProperty, TheOrderOfEntriesChangesNothing, ()) {
  auto pins = any_pins();
  const std::string text = written(baseline_of(pins));
  std::shuffle(pins.begin(), pins.end(), std::mt19937(*rc::gen::arbitrary<std::uint32_t>()));
  RC_ASSERT(written(baseline_of(pins)) == text);
}

RC_GTEST_PROP(GateProperty, ExportLoadExportIsTheIdentity, ()) {
  auto run = any_run();
  const Baseline first = export_of(run);
  std::istringstream stream(written(first));
  const auto loaded = parse_baseline(stream, "base.json");
  RC_ASSERT(loaded.has_value());
  RC_ASSERT(written(first) == written(*loaded));
  std::shuffle(run.begin(), run.end(), std::mt19937(*rc::gen::arbitrary<std::uint32_t>()));
  RC_ASSERT(written(export_of(run)) == written(*loaded));
}

RC_GTEST_PROP(GateProperty, CompareAgreesWithTheGate, ()) {
  const auto before = any_run();
  auto after = any_run();
  const Baseline base = export_of(before);
  const Baseline current = export_of(after);
  // A baseline holds no thresholds.
  for (Assessable& one : after) {
    for (Expectation& expectation : one.test.expectations) expectation.thresholding = {};
  }
  const auto ignore = [](const ScoreComparison&) {};
  const auto compared = compare(cases_of(base), cases_of(current), {}, ignore);
  RC_ASSERT(compared.has_value());
  // The same scores and forbidden claims, assessed case by case.
  StatusCounts statuses;
  const Gate gate = gate_of(&base);
  for (const Assessable& one : after) {
    std::vector<MetricOutcome> scores;
    const bool expects_nothing = one.test.kind == CaseKind::claims && one.test.must_contain.empty();
    for (const MetricOutcome& outcome : one.outcomes) {
      const bool is_worth_1 = expects_nothing && !outcome.score &&
                              (outcome.id == MetricId::claims_precision || outcome.id == MetricId::claims_f1);
      if (is_worth_1) scores.push_back(score_of(outcome.id, 1.0));
      if (outcome.score || outcome.id == MetricId::claims_forbidden) scores.push_back(outcome);
    }
    if (!scores.empty()) statuses.add(gate.assess(one.test, scores).status);
  }
  RC_ASSERT(compared->verdict_input.statuses == statuses);
}

TEST(BaselineExport, WritesScoresWithTheirVersions) {
  Assessable fixture{fixture_of("b"), claims_outcomes(std::nullopt, 0.0, 0.0, false)};
  Assessable text{test_of("a", MetricId::semantic_similarity_to),
                  {score_of(MetricId::semantic_similarity_to, 0.91)}};
  const Baseline baseline = export_of({fixture, text});
  ASSERT_EQ(baseline.size(), 4u);  // No undefined score, and of the pass/fail metrics one.
  EXPECT_EQ(baseline.entry(0).test_id, "a");
  EXPECT_EQ(baseline.entry(0).meta, R"({"embedding_model":"text-embedding-3-small","metric_version":"1"})");
  EXPECT_EQ(baseline.entry(1).metric, "claims_f1");
  EXPECT_EQ(baseline.entry(1).meta, R"({"metric_version":"1"})");
  EXPECT_EQ(baseline.entry(2).metric, "claims_forbidden");
  EXPECT_EQ(baseline.entry(3).metric, "claims_recall");
}

TEST(BaselineExport, ForeignBytesInAModelsNameAreReplaced) {
  BaselineExport exported({}, "model-\xff");
  AssessedMetric assessed;
  assessed.id = MetricId::semantic_similarity_to;
  assessed.score = 0.5;
  exported.add("q", {.metrics = {assessed}});
  const auto baseline = exported.finish();
  ASSERT_TRUE(baseline);
  EXPECT_NE(baseline->entry(0).meta.find("model-\xef\xbf\xbd"), std::string_view::npos);
}

TEST(BaselineExport, RefusesScoresThatNoBaselineTakes) {
  for (const double score : {-0.1, 1.1, std::numeric_limits<double>::quiet_NaN()}) {
    BaselineExport exported({}, "");
    AssessedMetric metric;
    metric.score = score;
    exported.add("a", {.metrics = {metric}});
    EXPECT_FALSE(exported.finish());
  }
}

TEST(BaselineExport, AnUnchangedBaselineKeepsTheDateOfItsFile) {
  const support::TemporaryFolder folder;
  const auto file = folder.path() / "base.json";
  const std::string now = "2026-11-27T06:00:00.125Z";
  const auto dated = [&](Baseline baseline) {
    baseline.header.created_at = now;
    keep_date_if_unchanged(baseline, file);
    return baseline.header.created_at;
  };
  const std::vector<TestPin> pins{{"a", "m", 0.5, "{}"}};
  EXPECT_EQ(dated(baseline_of(pins)), now) << "there is no file";
  Baseline old = baseline_of(pins);
  old.header.created_at = "2026-01-01T00:00:00Z";
  const std::string text = written(old);
  support::write_text(file, text);
  EXPECT_EQ(dated(baseline_of(pins)), old.header.created_at);
  for (const TestPin& pin : {TestPin{"b", "m", 0.5, "{}"}, TestPin{"a", "n", 0.5, "{}"},
                             TestPin{"a", "m", 0.6, "{}"}, TestPin{"a", "m", 0.5}})
    EXPECT_EQ(dated(baseline_of({pin})), now) << pin.test_id << pin.metric;
  EXPECT_EQ(dated(baseline_of({})), now);
  Baseline other = baseline_of(pins);
  other.header.config_fingerprint = "sha256:01";
  EXPECT_EQ(dated(std::move(other)), now);
  for (const std::string& in_file :
       {text + "\n", text.substr(0, text.size() - 1), std::string("no baseline")}) {
    support::write_text(file, in_file);
    EXPECT_EQ(dated(baseline_of(pins)), now) << in_file;
  }
}

}  // namespace sluice::gate_property_test
