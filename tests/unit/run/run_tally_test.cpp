#include "coordinator/run/run_tally.hpp"

#include "tests/unit/run/run_fixture.hpp"

namespace sluice {
namespace {

constexpr TimePoint tally_start{1h};

ResultsRecorded::Item committed(UnitId unit, bool error, std::vector<TrialId> failed = {}) {
  return {1, unit, {}, {true, {}}, error, !error, std::move(failed), {}};
}

TEST(RunTally, CountsEachTrialOfAUnitOnce) {
  const auto suite = make_suite(4);
  const auto plan = make_plan(suite);
  RunTally tally("run-1", tally_start);
  tally.on_settled(plan, committed(0, false));
  tally.on_settled(plan, committed(1, true));
  tally.on_settled(plan, committed(2, false, {3}));
  EXPECT_EQ(tally.trials().passed, 2u) << "of the last unit's two trials one has failed";
  EXPECT_EQ(tally.trials().failed, 1u);
  EXPECT_EQ(tally.trials().errors, 1u);
  EXPECT_EQ(tally.trials().done(), plan.trial_count());
}

TEST(RunTally, AddsUpWhatUnitsTook) {
  RunTally tally("run-1", tally_start);
  Spend spend;
  spend.calls = 2;
  spend.retries = 1;
  spend.rate_limited = 1;
  spend.paid = {10, 5, 0};
  spend.waited_pause_ms = 1500;
  tally.on_spend(spend, 1);
  spend.cache_hit = true;
  tally.on_spend(spend, 1);
  tally.on_duplicate();
  tally.on_leases_lost(3);
  tally.set_frames_rejected(7);
  const auto facts = tally.facts();
  EXPECT_EQ(facts.run_id, "run-1");
  EXPECT_EQ(facts.requests, 4u);
  EXPECT_EQ(facts.retries, 2u);
  EXPECT_EQ(facts.rate_limited, 2u);
  EXPECT_EQ(facts.cache_hits, 1u);
  EXPECT_EQ(facts.paid, (PaidTokens{20, 10, 0}));
  EXPECT_EQ(facts.waited_pause, 3s);
  EXPECT_EQ(facts.duplicates_dropped, 1u);
  EXPECT_EQ(facts.leases_lost, 3u);
  EXPECT_EQ(facts.frames_rejected, 7u);
}

TEST(RunTally, LastsFromTheFirstLeaseToTheLastResult) {
  RunTally tally("run-1", tally_start);
  EXPECT_EQ(tally.facts().duration_seconds, 0.0);
  tally.on_lease(tally_start + 10s);
  EXPECT_EQ(tally.facts().duration_seconds, 0.0) << "no result yet";
  tally.on_lease(tally_start + 11s);
  tally.on_result(tally_start + 12s);
  tally.on_result(tally_start + 15s);
  EXPECT_EQ(tally.facts().duration_seconds, 5.0);
}

TEST(RunTally, LastsAsLongAsItsPartsTogether) {
  RunTally tally("run-1", {});
  tally.took_before(90s);
  tally.go_on(tally_start);
  EXPECT_EQ(tally.time_until(tally_start + 5s), 90s) << "nothing is leased yet";
  EXPECT_EQ(tally.facts().duration_seconds, 90.0);
  tally.on_lease(tally_start + 10s);
  tally.on_result(tally_start + 15s);
  EXPECT_EQ(tally.time_until(tally_start + 20s), 100s);
  EXPECT_EQ(tally.facts().duration_seconds, 95.0);
  EXPECT_EQ(tally.facts().part_time, 5s);
}

}  // namespace
}  // namespace sluice
