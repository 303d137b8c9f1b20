#include "worker/leased_units.hpp"

#include "common/defaults.hpp"

#include <gtest/gtest.h>

namespace sluice::leased_units_test {

WorkUnit unit(UnitId id) {
  WorkUnit work;
  work.unit = id;
  return work;
}

UnitResult result_of(UnitId id) {
  UnitResult result;
  result.unit = id;
  result.key = sha256("key " + std::to_string(id));
  return result;
}

class LeasedUnitsTest : public ::testing::Test {
 protected:
  /// The ids of the units to begin with.
  std::vector<UnitId> take(const std::vector<UnitId>& ids, bool leaving = false) {
    std::vector<WorkUnit> work;
    for (const auto id : ids) work.push_back(unit(id));
    std::vector<UnitId> fresh;
    for (const auto& shared : units.take(std::move(work), leaving)) fresh.push_back(shared->unit);
    return fresh;
  }
  /// All that is to be reported, which is one message here.
  wire::Report report() {
    auto reports = units.take_reports("run-1", 7);
    EXPECT_LE(reports.size(), 1u);
    return reports.empty() ? wire::Report() : std::move(reports[0]);
  }

  LeasedUnits units;
};

using Ids = std::vector<UnitId>;

TEST_F(LeasedUnitsTest, AResultThatNoMessageHoldsIsReportedAsAnError) {
  take({0});
  UnitResult large = result_of(0);
  large.observed.emplace().text = std::string(defaults::max_frame_bytes, 'x');
  const auto* finished = units.finish(std::move(large));
  ASSERT_TRUE(finished);
  EXPECT_TRUE(finished->error);
  ASSERT_TRUE(units.held().unacknowledged(0));
  EXPECT_FALSE(units.held().unacknowledged(0)->observed) << "nor is it kept";
}

TEST_F(LeasedUnitsTest, EachChangeIsReportedOnce) {
  EXPECT_TRUE(units.take_reports("run-1", 7).empty()) << "there is nothing";
  EXPECT_EQ(take({0, 1, 2}), (Ids{0, 1, 2}));
  units.start({0, 1});
  ASSERT_TRUE(units.finish(result_of(0)));
  units.give_back({2});
  EXPECT_TRUE(units.has_results_to_report());
  EXPECT_TRUE(units.has_units_to_return());
  const auto first = report();
  EXPECT_EQ(first.run_id, "run-1");
  EXPECT_EQ(first.window, 7u);
  EXPECT_EQ(first.started, (Ids{0, 1}));
  ASSERT_EQ(first.results.size(), 1u);
  EXPECT_EQ(first.results[0].unit, 0u);
  EXPECT_EQ(first.returned, Ids{2});
  EXPECT_FALSE(units.has_results_to_report());
  EXPECT_FALSE(units.has_units_to_return());
  EXPECT_TRUE(units.take_reports("run-1", 7).empty());
}

TEST_F(LeasedUnitsTest, WhatUnitsTookThatAreGivenBackIsReportedOnce) {
  UnitSpend spent{2, {}};
  spent.spend.calls = 3;
  units.spend({spent});
  EXPECT_TRUE(units.has_units_to_return());
  EXPECT_EQ(report().spent, std::vector{spent});
  EXPECT_FALSE(units.has_units_to_return());
  EXPECT_TRUE(units.take_reports("run-1", 7).empty());
}

TEST_F(LeasedUnitsTest, WhatIsNotHeldIsNotReported) {
  units.start({5});
  EXPECT_FALSE(units.finish(result_of(5)));
  units.give_back({5});
  EXPECT_TRUE(units.take_reports("run-1", 7).empty());
}

TEST_F(LeasedUnitsTest, WhatIsLeasedAgainIsReportedAgain) {
  take({0, 1, 2});
  units.start({0});
  units.finish(result_of(1));
  report();
  EXPECT_EQ(take({0, 1, 2, 3}), Ids{3});
  const auto again = report();
  EXPECT_EQ(again.started, Ids{0});
  ASSERT_EQ(again.results.size(), 1u);
  EXPECT_EQ(again.results[0].unit, 1u);
  EXPECT_TRUE(again.returned.empty());
}

// Its new lease was given back, and the unit was paid for at another worker, too.
TEST_F(LeasedUnitsTest, WhatIsTakenAgainIsNotReportedAsReturned) {
  take({5, 6});
  units.give_back({5, 6});
  EXPECT_EQ(take({5}), Ids{5});
  EXPECT_EQ(report().returned, Ids{6});
  units.give_back({5});
  EXPECT_EQ(report().returned, Ids{5}) << "that of the new lease is";
}

TEST_F(LeasedUnitsTest, WhoLeavesGivesBackWhatIsNewAndKeepsWhatItHolds) {
  take({0});
  units.start({0});
  report();
  EXPECT_TRUE(take({0, 5}, true).empty());
  const auto leaving = report();
  EXPECT_EQ(leaving.returned, Ids{5});
  EXPECT_EQ(leaving.started, Ids{0});
  EXPECT_FALSE(units.held().holds(5));
}

TEST_F(LeasedUnitsTest, AfterAReconnectAllIsReportedAgainUntilItIsAcknowledged) {
  take({0, 1, 2});
  units.start({0});
  units.finish(result_of(1));
  report();
  units.report_again();
  auto again = report();
  EXPECT_EQ(again.started, Ids{0});
  EXPECT_EQ(again.results.size(), 1u);
  units.acknowledge({1, wire::AckCode::committed, result_of(1).key, {}});
  units.report_again();
  again = report();
  EXPECT_TRUE(again.results.empty());
  EXPECT_EQ(units.held().all(), (std::vector<wire::HeldUnit>{{0, 0}, {2, 0}}));
}

TEST_F(LeasedUnitsTest, ItsLoadIsWhatWaitsAndWhetherAReportIsUnderWay) {
  take({0, 1, 2});
  units.start({0});
  EXPECT_EQ(units.load(4).waiting, 2u);
  EXPECT_EQ(units.load(4).concurrency, 4u);
  units.finish(result_of(0));
  EXPECT_FALSE(units.load(4).awaits_answer) << "its result is not reported yet";
  report();
  EXPECT_TRUE(units.load(4).awaits_answer);
}

}  // namespace sluice::leased_units_test
