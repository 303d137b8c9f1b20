#include "coordinator/cli/run/not_passed.hpp"

#include "coordinator/cli/defaults.hpp"
#include "coordinator/report/wording/case_explanation.hpp"
#include "tests/support/temporary_folder.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::not_passed_test {

/// A case that missed a score, or passed.
void add(NotPassed& cases, const Case& one, TrialId trial, CaseStatus status,
         std::vector<CaseOutcome>& expected) {
  CaseResult result{one, trial, status};
  AssessedMetric metric;
  metric.score = 0.5;
  metric.limit = 0.9;
  metric.status = MetricStatus::fail;
  metric.cause = MetricCause::below_min_floor;
  result.assessment.metrics = {metric};
  cases.add(result, {});
  if (status != CaseStatus::pass) expected.push_back({trial, one.id, status, wording::missed_by(result)});
}

Ledger with_run(const support::TemporaryFolder& folder, const std::string& run_id) {
  Ledger ledger = *Ledger::open(folder.path() / "ledger.db");
  RunRecord run;
  run.run_id = run_id;
  EXPECT_TRUE(ledger.begin_run(run));
  return ledger;
}

TEST(NotPassed, AsManyAsThereAreAreNotedInTheirOrder) {
  const support::TemporaryFolder folder;
  Ledger ledger = with_run(folder, "run-1");
  NotPassed cases;
  std::vector<CaseOutcome> expected;
  for (TrialId trial = 0; trial < 3 * defaults::cases_written_at_once; ++trial) {
    Case one;
    one.id = "\xff no UTF-8 " + std::to_string(trial);
    const auto status = static_cast<CaseStatus>(trial % 5);
    add(cases, one, trial, status, expected);
  }
  ASSERT_GT(expected.size(), 2 * defaults::cases_written_at_once);
  ASSERT_FALSE(expected.back().missed.empty());
  ASSERT_TRUE(cases.note(ledger, "run-1"));
  EXPECT_EQ(*ledger.cases_of("run-1"), expected);
}

// `sluice show` said that the case warns, and not why.
TEST(NotPassed, OfAKnownFailureItIsSaidThatItIsOne) {
  const support::TemporaryFolder folder;
  Ledger ledger = with_run(folder, "run-1");
  Case one;
  one.id = "tides";
  one.known_failure = "no tide tables";
  CaseResult result{one, 0, CaseStatus::warn};
  AssessedMetric& metric = result.assessment.metrics.emplace_back();
  metric.id = MetricId::must_contain;
  metric.asked_by_name = true;
  metric.status = MetricStatus::warn;
  metric.cause = MetricCause::known_failure;
  NotPassed cases;
  cases.add(result, {});
  metric.cause = MetricCause::known_failure_passed;
  result.trial = 1;
  cases.add(result, {});
  ASSERT_TRUE(cases.note(ledger, "run-1"));
  const auto noted = *ledger.cases_of("run-1");
  ASSERT_EQ(noted.size(), 2u);
  EXPECT_EQ(noted[0].missed, std::vector<std::string>{"known failure: no tide tables"});
  EXPECT_EQ(noted[1].missed, std::vector<std::string>{"passed, though the suite says that it fails: take its "
                                                      "`known_failure` out"});
}

// What a check expects stands in the ledger since it is said which of them broke.
TEST(NotPassed, WhatACheckExpectsIsRedacted) {
  const support::TemporaryFolder folder;
  Ledger ledger = with_run(folder, "run-1");
  // A sentence has the text in one line, and cuts a long one at a blank.
  const std::vector<RedactionPattern> patterns{{"key", "sk-[a-z0-9]+\\n[a-z0-9 ]+"}};
  Case one;
  one.id = "a";
  one.expectations.push_back(
      {{MetricId::must_contain, {"sk-abc123\nfirst" + std::string(2000, ' ') + "last"}}, {}, {}});
  CaseResult result{one, 0, CaseStatus::fail};
  AssessedMetric& metric = result.assessment.metrics.emplace_back();
  metric.id = MetricId::must_contain;
  metric.asked_by_name = true;
  metric.status = MetricStatus::fail;
  metric.cause = MetricCause::broke;
  NotPassed cases;
  cases.add(result, *Redactor::make(patterns));
  ASSERT_TRUE(cases.note(ledger, "run-1"));
  EXPECT_EQ(ledger.cases_of("run-1")->front().missed,
            std::vector<std::string>{
                "must_contain \"[redacted key]\" broke: it passed when the baseline was made"});
}

TEST(NotPassed, NothingIsNotedWhereAllPassed) {
  const support::TemporaryFolder folder;
  auto ledger = *Ledger::open(folder.path() / "ledger.db");
  NotPassed cases;
  std::vector<CaseOutcome> expected;
  add(cases, Case{}, 1, CaseStatus::pass, expected);
  EXPECT_TRUE(cases.note(ledger, "a run that is not there"));
}

}  // namespace sluice::not_passed_test
