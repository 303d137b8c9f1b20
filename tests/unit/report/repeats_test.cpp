#include "coordinator/merge/aggregate.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/merge/run_arms.hpp"
#include "coordinator/report/wording/case_explanation.hpp"
#include "tests/unit/report/gated_run.hpp"
#include "tests/unit/report/report_texts.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::repeats_test {

using sample::claim;
using sample::errored;
using sample::expect;
using sample::scored;

/// What each trial of one case saw: the claim, nothing, a refusal, or an error.
enum class Saw { it, nothing, refused, error, no_result };

/// Two cases with 3 repeats; the second is tried under a perturbation as well.
class RepeatsTest : public ::testing::Test {
 protected:
  RepeatsTest() {
    suite.cases = {sample::make_case("a-1", "one"), sample::make_case("b-1", "two")};
    for (std::size_t i = 0; i < 2; ++i) suite.cases.held(i).must_contain = {expect("a/b", "c", true)};
    EXPECT_TRUE(table.add_case());
    EXPECT_TRUE(table.add_case(1));
  }

  void run(const std::vector<Saw>& trials) {
    ASSERT_EQ(trials.size(), table.trial_count());
    source.trials.clear();
    for (TrialId trial = 0; trial < trials.size(); ++trial) {
      const FinalClaim found = claim("a/b", "c", true, 0.9, trial);
      if (trials[trial] == Saw::it) {
        source.trials.push_back(scored(trial, trial, {found}, {{{0, 0}}, {}, {}, {}}, {10, 1}));
      } else if (trials[trial] == Saw::nothing) {
        source.trials.push_back(scored(trial, trial, {}, {{}, {0}, {}, {}}, {10, 1}));
      } else if (trials[trial] == Saw::refused) {
        source.trials.push_back(errored(trial, trial, {Reason::refusal, "declined"}, {10, 0}));
      } else if (trials[trial] == Saw::error) {
        source.trials.push_back(errored(trial, trial, {Reason::rate_limited, "too many"}, {10, 0}));
      }
    }
  }

  /// The same of texts that are to contain a word.
  template <class Passes>
  void run_texts(const Passes& passes) {
    suite.metrics = {MetricId::must_contain};
    for (std::size_t i = 0; i < 2; ++i) {
      Case& text = suite.cases.held(i);
      text.kind = CaseKind::text;
      text.must_contain.clear();
      text.expectations = {{{MetricId::must_contain, {"Paris"}}, {}, std::nullopt}};
    }
    for (TrialId trial = 0; trial < table.trial_count(); ++trial) {
      source.trials.push_back(sample::answered(
          trial, passes(trial) ? "Paris" : "Lyon",
          {MetricId::must_contain, std::nullopt, passes(trial), passes(trial) ? "" : "not"}));
    }
  }

  RunResults results() const {
    RunResults all = sample::results_of(suite, source, gate);
    all.trials = table.trial_count();
    all.table = &table;
    return all;
  }

  std::vector<std::string> statuses() const {
    std::vector<std::string> lines;
    EXPECT_TRUE(visit_cases(results(), [&](const CaseResult& result) {
      lines.push_back(result.fixture.id + " " + std::string(to_string(result.status)) + " " +
                      std::to_string(result.repeats.passed()) + "/" +
                      std::to_string(result.repeats.assessed) + "/" + std::to_string(result.repeats.planned) +
                      " of " + std::to_string(result.trials.size()));
    }));
    return lines;
  }

  Suite suite;
  TrialTable table{3};
  sample::MemorySource source;
  Gate gate;
};

using enum Saw;

// Beside a baseline in which the check had failed each repeat counted as passed.
TEST_F(RepeatsTest, ARepeatThatFailsAsTheBaselineDidHasFailed) {
  run_texts([](TrialId trial) { return trial == 0; });
  const auto before = statuses();
  ASSERT_FALSE(before.empty());
  EXPECT_EQ(before[0], "a-1 fail 1/3/3 of 3");
  Baseline pins;
  BaselineEntry entry{"a-1", "must_contain", 0.0, ""};
  entry.kind = PinKind::checks;
  pins.add(entry);
  (void)pins.seal();
  gate = Gate({.suite = {}, .baseline = &pins});
  EXPECT_EQ(statuses().at(0), "a-1 warn 1/3/3 of 3");
}

// The column of the check said `pass` beside the answer that had failed.
TEST_F(RepeatsTest, ACheckWhoseRepeatsDisagreeIsFlakyInCsv) {
  run_texts([](TrialId trial) { return trial != 1; });
  const RunResults all = results();
  const Aggregates aggregates = *aggregate(all, nullptr);
  const std::string csv = csv_of(sample::input_of(all, aggregates));
  EXPECT_NE(csv.find(",flaky,,,0,0,3,1,flaky,"), std::string::npos) << csv;
  EXPECT_NE(csv.find(",pass,,,0,0,3,0,pass,"), std::string::npos) << csv;
}

TEST_F(RepeatsTest, RepeatsTogetherAreACase) {
  run({it, it, it, /**/ it, nothing, it, /**/ nothing, nothing, nothing});
  EXPECT_EQ(statuses(), (std::vector<std::string>{"a-1 pass 3/3/3 of 3", "b-1 flaky 2/3/3 of 6"}));
  run({nothing, it, nothing, /**/ it, it, it, /**/ nothing, nothing, nothing});
  EXPECT_EQ(statuses(), (std::vector<std::string>{"a-1 fail 1/3/3 of 3", "b-1 pass 3/3/3 of 6"}))
      << "perturbed answers judge no case";
}

TEST_F(RepeatsTest, ErrorsAreLeftOutUntilTheyAreMostOfIt) {
  run({error, it, it, /**/ error, no_result, it, /**/ it, it, it});
  EXPECT_EQ(statuses(), (std::vector<std::string>{"a-1 pass 2/2/3 of 3", "b-1 error 1/1/3 of 6"}));
  const auto all = aggregate(results(), nullptr);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->all.statuses, (StatusCounts{.passed = 1, .errors = 1}));
  EXPECT_EQ(all->all.trials, 9u);
  EXPECT_EQ(all->all.trial_errors, 3u);
  EXPECT_EQ(all->all.counts, (Counts{2, 0, 0})) << "of the judged repeats of the case that is no error";
  EXPECT_EQ(all->usage, (PaidTokens{80, 6, 0})) << "each answer once, perturbed ones too";
}

// Half of the answers could be refusals, and the case passed.
TEST_F(RepeatsTest, ARepeatWithoutAnAnswerHasFailed) {
  run({it, refused, it, /**/ refused, it, refused, /**/ refused, refused, refused});
  EXPECT_EQ(statuses(), (std::vector<std::string>{"a-1 flaky 2/2/3 of 3", "b-1 fail 1/1/3 of 6"}));
  const auto all = aggregate(results(), nullptr);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->all.statuses, (StatusCounts{.flaky = 1, .failed = 1}));
  EXPECT_EQ(all->all.lost_repeats, 0u);
  EXPECT_EQ(all->all.counts, (Counts{3, 0, 0})) << "no score is made of it";
  CaseDetails details;
  ASSERT_TRUE(visit_cases(results(), [&](const CaseResult& result) {
    ASSERT_NE(result.score, nullptr) << "an answer is shown";
    EXPECT_EQ(result.error, nullptr);
    const auto lines = wording::explanation(result, {}, details);
    ASSERT_FALSE(lines.empty());
    EXPECT_EQ(lines.front().text,
              result.fixture.id == "a-1" ? "1 of 3 failed, 1 refused" : "2 of 3 failed, 2 refused");
  }));
}

// Arms were compared by their answers alone: one that refused most repeats was as good as one that answered.
// And they were compared by the answers of cases that are errors.
TEST_F(RepeatsTest, ArmsAreComparedByTheRepeatsThatTheGateCounts) {
  const auto arms_of = [this](const std::vector<Saw>& trials) {
    run(trials);
    RunArmsFold fold({"old", "new"}, {});
    EXPECT_TRUE(visit_cases(results(), [&](const CaseResult& result) { fold.add(result); }));
    return fold.finish({});
  };
  suite.cases.held(0).id = "a@new";
  suite.cases.held(0).arm = 1;
  suite.cases.held(1).id = "a@old";
  const ScoreId recall{MetricId::claims_recall};
  RunArms arms = arms_of({it, refused, refused, /**/ it, nothing, error, /**/ refused, refused, refused});
  EXPECT_DOUBLE_EQ(arms.arms[1].means.at({}).value(), 1.0 / 3.0);
  EXPECT_EQ(arms.arms[1].means.at(recall), 1.0) << "no score is made of it";
  EXPECT_EQ(arms.arms[0].means.at({}), 0.5) << "the error counts for nothing";
  arms = arms_of({it, error, error, /**/ it, it, it, /**/ it, it, it});
  EXPECT_TRUE(arms.arms[1].means.empty()) << "the case is an error";
  EXPECT_EQ(arms.pairs.at(0).metrics.at(0).comparison.left_out, 1u);
}

TEST_F(RepeatsTest, ACaseWithoutAnyAnswerIsAnError) {
  run({refused, refused, refused, /**/ refused, error, error, /**/ it, it, it});
  EXPECT_EQ(statuses(), (std::vector<std::string>{"a-1 error 0/0/3 of 3", "b-1 error 0/0/3 of 6"}));
}

TEST_F(RepeatsTest, ARepeatWithoutAnAnswerFailsTheChecks) {
  run_texts([](TrialId) { return true; });
  for (const std::size_t trial : {0u, 4u, 5u})
    source.trials[trial] =
        errored(static_cast<TrialId>(trial), trial, {Reason::truncated, "cut off"}, {10, 0});
  EXPECT_EQ(statuses(), (std::vector<std::string>{"a-1 flaky 2/2/3 of 3", "b-1 fail 1/1/3 of 6"}));
  ASSERT_TRUE(visit_cases(results(), [&](const CaseResult& result) {
    const bool is_first = result.fixture.id == "a-1";
    EXPECT_EQ(result.metrics()[0].repeat_passes, is_first ? "011" : "100");
    EXPECT_EQ(passes_of_checks(result.metrics()),
              is_first ? (std::vector<double>{0, 1, 1}) : (std::vector<double>{1, 0, 0}));
    EXPECT_FALSE(result.assessment.regressed);
  }));
  Baseline pins;
  for (const char* id : {"a-1", "b-1"}) {
    BaselineEntry entry{id, "must_contain", 1.0, ""};
    entry.kind = PinKind::checks;
    pins.add(entry);
  }
  (void)pins.seal();
  gate = Gate({.suite = {}, .baseline = &pins});
  ASSERT_TRUE(visit_cases(results(), [&](const CaseResult& result) {
    EXPECT_EQ(result.assessment.regressed, result.fixture.id == "b-1");
  }));
}

TEST_F(RepeatsTest, AKnownFailureIsExcusedForRepeatsWithoutAnAnswer) {
  run({it, refused, refused, /**/ it, it, it, /**/ it, it, it});
  suite.cases.held(0).known_failure = "it refuses";
  ASSERT_TRUE(visit_cases(results(), [&](const CaseResult& result) {
    if (result.fixture.id != "a-1") return;
    EXPECT_EQ(result.status, CaseStatus::warn);
    EXPECT_TRUE(result.assessment.only_known_failures());
  }));
}

TEST_F(RepeatsTest, LostRepeatsAreSaid) {
  run({it, it, error, /**/ error, error, it, /**/ error, it, it});
  const auto all = aggregate(results(), nullptr);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->all.lost_repeats, 1u) << "neither those of a case error nor perturbed ones";
  EXPECT_FALSE(repeats_incomplete_notice(0, true));
  const auto notice = repeats_incomplete_notice(all->all.lost_repeats, false);
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->code, "repeats_incomplete");
  EXPECT_EQ(notice->severity, GateNotice::Severity::warning);
  EXPECT_EQ(notice->message.substr(0, 27), "1 repeat ended in an error,");
  EXPECT_EQ(repeats_incomplete_notice(2, true)->severity, GateNotice::Severity::failure);
}

TEST_F(RepeatsTest, ACaseIsNotStartedIfNoRepeatOfItIs) {
  run({no_result, no_result, no_result, /**/ no_result, no_result, it, /**/ it, it, it});
  RunResults stopped = results();
  const auto count = [&] { return aggregate(stopped, nullptr)->all; };
  EXPECT_EQ(count().not_started, 0u) << "it is not known";
  stopped.not_started = [](TrialId) { return true; };
  EXPECT_EQ(count().not_started, 1u) << "b-1 has an answer";
  EXPECT_EQ(count().errors(), 1u);
  EXPECT_EQ(count().statuses, (StatusCounts{.errors = 2})) << "to the verdict both are errors";
  stopped.not_started = [](TrialId trial) { return trial != 1; };
  EXPECT_EQ(count().not_started, 0u) << "a call of a-1 was under way";
}

TEST_F(RepeatsTest, CountsAreSummedOverUnperturbedRepeats) {
  run({it, it, nothing, /**/ it, it, it, /**/ nothing, nothing, nothing});
  const auto all = aggregate(results(), nullptr);
  ASSERT_TRUE(all);
  EXPECT_EQ(all->all.counts, (Counts{5, 0, 1}));
  EXPECT_EQ(scores_of(all->all.counts).recall, 5.0 / 6.0);
}

TEST_F(RepeatsTest, WhatIsShownSaysWhy) {
  run({it, it, nothing, /**/ nothing, it, it, /**/ it, it, it});
  std::vector<TrialId> shown;
  CaseDetails details;
  ASSERT_TRUE(visit_cases(results(), [&](const CaseResult& result) {
    shown.push_back(result.unit->unit);
    explain(result, details);
    EXPECT_EQ(details.missing.size(), 1u) << "of the first repeat that failed";
  }));
  EXPECT_EQ(shown, (std::vector<TrialId>{2, 3}));
}

// A metric's detail was that of the first repeat in which it failed, beside the answer of another one.
TEST_F(RepeatsTest, ADetailIsOfTheRepeatThatIsShown) {
  run({nothing, nothing, it, /**/ it, it, it, /**/ it, it, it});
  const auto fail_metric = [&](TrialId trial, MetricId id, const std::string& why) {
    for (MetricOutcome& one : source.trials[trial].unit.scores.front().metrics) {
      if (one.id == id) one.passed = false, one.detail = why;
    }
  };
  fail_metric(0, MetricId::claims_required, "in the first");
  fail_metric(1, MetricId::claims_required, "in the second");
  fail_metric(1, MetricId::claims_forbidden, "in the second");
  const auto named = [](const CaseResult& result, MetricId id) {
    return *std::ranges::find(result.metrics(), id, &AssessedMetric::id);
  };
  ASSERT_TRUE(visit_cases(results(), [&](const CaseResult& result) {
    if (result.fixture.id != "a-1") return;
    EXPECT_EQ(result.unit->unit, 0u);
    EXPECT_EQ(named(result, MetricId::claims_required).detail, "in the first");
    const AssessedMetric forbidden = named(result, MetricId::claims_forbidden);
    EXPECT_EQ(forbidden.status, MetricStatus::flaky);
    EXPECT_EQ(forbidden.detail, "") << "the answer that is shown has passed it";
    EXPECT_TRUE(forbidden.only_in_other_repeats);
    EXPECT_FALSE(named(result, MetricId::claims_required).only_in_other_repeats);
  }));
}

TEST_F(RepeatsTest, EveryTrialIsThereWithItsPlace) {
  run({it, it, it, /**/ it, it, error, /**/ it, nothing, no_result});
  ASSERT_TRUE(visit_cases(results(), [&](const CaseResult& result) {
    if (result.fixture.id != "b-1") return;
    ASSERT_EQ(result.trials.size(), 6u);
    for (std::size_t i = 0; i < 6; ++i) {
      EXPECT_EQ(result.trials[i].trial, 3 + i);
      EXPECT_EQ(result.trials[i].perturbation, i / 3);
      EXPECT_EQ(result.trials[i].repeat, i % 3);
      EXPECT_EQ(result.trials[i].error != nullptr, i == 2 || i == 5);
    }
    EXPECT_EQ(result.trials[4].assessment.status, CaseStatus::fail);
  }));
}

}  // namespace sluice::repeats_test
