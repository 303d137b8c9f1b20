#include "coordinator/cli/run/run_report.hpp"

#include "tests/support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace sluice::run_report_test {

// It was noted to have paid nothing.
TEST(RunReport, OfARunThatNothingAssessesTheLedgerKnowsWhatWasPaid) {
  const support::TemporaryFolder folder;
  Ledger ledger = *Ledger::open(folder.path() / "ledger.db");
  RunRecord run;
  run.run_id = "run-1";
  ASSERT_TRUE(ledger.begin_run(run));
  RunFacts facts;
  facts.completed_at_ms = 7;
  facts.paid.of(CallKind::answer) = {90, 72};
  EXPECT_EQ(report_failed_run(ledger, "run-1", {Reason::ledger_failed, "it is damaged"}, facts), 2);
  const auto past = ledger.find_run("run-1");
  ASSERT_TRUE(past && past->summary);
  EXPECT_EQ(past->summary->completed_at_ms, 7);
  EXPECT_EQ(past->summary->reason_code, to_string(Reason::ledger_failed));
  EXPECT_EQ(past->summary->paid.of(CallKind::answer).input_tokens, 90u);
  EXPECT_EQ(past->summary->paid.of(CallKind::answer).output_tokens, 72u);
}

}  // namespace sluice::run_report_test
