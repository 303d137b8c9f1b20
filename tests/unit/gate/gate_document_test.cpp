// The tables of docs/gate.md, row by row: what the document says is what the code does. Here that of
// verdicts.
#include "gate_document.hpp"

#include "coordinator/gate/gate.hpp"
#include "coordinator/gate/status.hpp"

#include <array>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace sluice::gate_document_test {

using gate_document::Row;
using gate_document::table;

using Condition = std::function<bool(const VerdictInput&)>;

const std::map<std::string, Condition>& conditions() {
  static const std::map<std::string, Condition> all{
      {"was cut short", [](const VerdictInput& run) { return run.cut_short; }},
      {"was ended by a budget of its own", [](const VerdictInput& run) { return run.ended_by_budget; }},
      {"misses a minimum pass rate",
       [](const VerdictInput& run) { return !reach_pass_rates(run.pass_groups); }},
      {"has a failed case that did not regress and that no minimum pass rate covers",
       [](const VerdictInput& run) {
         return run.pass_groups.empty() && run.statuses.failed > run.regressed;
       }},
      {"has a failed case without claims, or one with a forbidden claim or below a limit of its own, that no "
       "minimum pass rate covers",
       [](const VerdictInput& run) { return run.pass_groups.empty() && run.failed_apart > 0; }},
      {"has a case that regressed", [](const VerdictInput& run) { return run.regressed > 0; }},
      {"has a failure of the comparison", [](const VerdictInput& run) { return run.failures > 0; }},
      {"has a failure of the comparison, and nothing regressed",
       [](const VerdictInput& run) { return run.failures > 0 && run.regressed == 0; }},
      {"has a warning of the comparison", [](const VerdictInput& run) { return run.warnings > 0; }},
      {"has a case error", [](const VerdictInput& run) { return run.statuses.errors > 0; }},
      {"has no cases", [](const VerdictInput& run) { return run.statuses.total() == 0; }},
      {"has a case with status `warn`, and not for a known failure alone",
       [](const VerdictInput& run) { return run.statuses.warned > run.known_failures; }},
      {"has a case with status `flaky", [](const VerdictInput& run) { return run.statuses.flaky > 0; }},
      {"has an aggregate beyond the limit",
       [](const VerdictInput& run) { return run.aggregates == AggregateOutcome::beyond_limit; }},
      {"has an aggregate that dropped within the limit",
       [](const VerdictInput& run) { return run.aggregates == AggregateOutcome::within_limit; }},
      {"has none of these", [](const VerdictInput&) { return true; }},
  };
  return all;
}

bool is_for(const Row& row, const VerdictInput& run) {
  if (row[0] == "any") return true;
  return (row[0] == "manifest") == (run.aggregates != AggregateOutcome::not_compared);
}

/// Every combination of what a run can have, none, one or two of each; without a minimum pass rate, with one
/// that all runs reach, and with one for which all cases must pass.
void every_run(const std::function<void(const VerdictInput&)>& visit) {
  for (unsigned bits = 0; bits < 1u << 9; ++bits) {
    for (std::uint64_t failed = 0; failed <= 2; ++failed) {
      for (std::uint64_t regressed = 0; regressed <= failed; ++regressed) {
        for (const auto aggregates : {AggregateOutcome::not_compared, AggregateOutcome::no_drop,
                                      AggregateOutcome::within_limit, AggregateOutcome::beyond_limit}) {
          VerdictInput run;
          const auto bit = [bits](unsigned place) -> std::uint64_t { return bits >> place & 1; };
          run.statuses = {bit(0), bit(1), bit(2), failed, bit(3)};
          run.regressed = regressed;
          run.cut_short = bit(4) != 0;
          run.warnings = bit(5);
          run.failures = bit(6);
          run.failed_apart = bit(7) * failed;
          run.ended_by_budget = bit(8) != 0;
          run.aggregates = aggregates;
          visit(run);
          for (const double min_pass_rate : {0.0, 1.0}) {
            PassGroup all{.min_pass_rate = min_pass_rate};
            all.counts.statuses = run.statuses;
            all.counts.regressed = run.regressed;
            all.counts.failed_apart = run.failed_apart;
            run.pass_groups = {all};
            visit(run);
          }
        }
      }
    }
  }
}

TEST(GateDocument, VerdictsAndExitCodesAreThoseOfTheTable) {
  const std::vector<Row> rows = table("baseline", 7);
  ASSERT_GE(rows.size(), 20u);
  for (const Row& row : rows) ASSERT_TRUE(conditions().contains(row[1])) << row[1];

  std::set<std::size_t> met;
  std::size_t runs = 0;
  every_run([&](const VerdictInput& run) {
    std::size_t fits = 0;
    while (fits < rows.size() && !(is_for(rows[fits], run) && conditions().at(rows[fits][1])(run))) ++fits;
    ASSERT_LT(fits, rows.size());
    met.insert(fits);
    const Row& row = rows[fits];
    const RunVerdict verdict = run_verdict(run);
    EXPECT_EQ(to_string(verdict), row[2]) << row[0] << ": " << row[1];
    for (unsigned flags = 0; flags < 4; ++flags) {
      const ExitRules rules{.strict = (flags & 1) != 0, .fail_on_regression = (flags & 2) != 0};
      EXPECT_EQ(std::to_string(exit_code(verdict, run, rules)), row[3 + flags])
          << row[0] << ": " << row[1] << " strict " << rules.strict << " on " << rules.fail_on_regression;
    }
    ++runs;
  });
  EXPECT_EQ(runs, 512u * 6 * 4 * 3);
  EXPECT_EQ(met.size(), rows.size()) << "a row of the table can never be the first that fits";
}

// It read FAIL where one of the cases that had come to their turn failed, else ERROR, beside a baseline file
// and without one; beside a manifest always ERROR.
TEST(GateDocument, ARunThatItsOwnBudgetEndedIsAnErrorWhateverElseFailed) {
  for (const auto aggregates : {AggregateOutcome::not_compared, AggregateOutcome::beyond_limit}) {
    VerdictInput run;
    run.statuses = {.passed = 1, .failed = 1, .errors = 1};
    run.failures = 1;
    run.aggregates = aggregates;
    EXPECT_NE(run_verdict(run), RunVerdict::pass);
    run.ended_by_budget = true;
    EXPECT_EQ(run_verdict(run), RunVerdict::error);
    EXPECT_EQ(exit_code(RunVerdict::error, run, {}), 1);
  }
}

// Each changed prompt fails the comparison under --strict, so that such a gate never said REGRESSION.
TEST(GateDocument, AFailureOfTheComparisonHidesNoRegression) {
  VerdictInput run;
  run.statuses = {.passed = 9, .failed = 1};
  run.regressed = run.failures = 1;
  EXPECT_EQ(run_verdict(run), RunVerdict::regression);
  EXPECT_EQ(exit_code(RunVerdict::regression, run, {}), 1);
  run.statuses = {.passed = 10};
  run.regressed = 0;
  EXPECT_EQ(run_verdict(run), RunVerdict::fail);
  run.run_regressions = 1;
  EXPECT_EQ(run_verdict(run), RunVerdict::regression) << "of all cases together";
  run.aggregates = AggregateOutcome::beyond_limit;
  EXPECT_EQ(run_verdict(run), RunVerdict::fail) << "a regression of aggregates is exit code 0";
}

TEST(GateDocument, NamesEveryStatusCauseAndVerdict) {
  std::ifstream file(support::source_path("docs/gate.md"));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto names = [&](std::string_view word) {
    return text.find('`' + std::string(word) + '`') != std::string::npos;
  };
  for (int i = 0; i <= static_cast<int>(MetricCause::known_failure_passed); ++i) {
    EXPECT_TRUE(names(to_string(static_cast<MetricCause>(i)))) << i;
  }
  for (int i = 0; i <= static_cast<int>(CaseStatus::error); ++i) {
    EXPECT_TRUE(names(to_string(static_cast<CaseStatus>(i)))) << i;
  }
  for (int i = 0; i <= static_cast<int>(RunVerdict::error); ++i) {
    EXPECT_TRUE(names(to_string(static_cast<RunVerdict>(i)))) << i;
  }
  for (const MetricInfo& metric : metric_catalogue()) {
    const std::string_view name = metric.name;
    EXPECT_TRUE(names(name) || (name.starts_with("not_") && names(name.substr(4)))) << name;
  }
}

}  // namespace sluice::gate_document_test
