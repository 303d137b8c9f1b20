#include "worker/calls/coordinator_link.hpp"

#include "common/defaults.hpp"
#include "tests/unit/worker/fake_request.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace coordinator_link_test {

struct CoordinatorLinkTest : testing::Test {
  static BudgetChanged cut_off() { return {false, false, {}, {}}; }
  static BudgetChanged back_again() { return {true, false, {}, {}}; }

  CoordinatorLink link{1s};
  const Moment start = moment_at(0s);
  const BootTime longest = defaults::liveness * BootTime(1s);
};

TEST_F(CoordinatorLinkTest, WhatWasReceivedStaysFreshForAWhile) {
  EXPECT_FALSE(link.is_fresh(start.boot)) << "nothing was received";
  link.on_budget(granted({}, start));
  EXPECT_TRUE(link.is_fresh(start.boot + longest));
  EXPECT_FALSE(link.is_fresh(start.boot + longest + BootTime(1)));
  EXPECT_EQ(link.newest_grants_us(), static_cast<std::uint64_t>(start.boot.count()));
}

TEST_F(CoordinatorLinkTest, GrantsAreAsOldAsWhatTheyAnswer) {
  auto late = granted({}, moment_at(10s));
  late.grants.echo_us = static_cast<std::uint64_t>(start.boot.count());
  link.on_budget(late);
  EXPECT_FALSE(link.is_fresh(moment_at(10s).boot)) << "the process was stopped meanwhile";
}

TEST_F(CoordinatorLinkTest, WithoutConnectionNothingIsFreshAndAfterItTheDemandIsSentAgain) {
  EXPECT_FALSE(link.on_budget(granted({}, start)));
  EXPECT_FALSE(link.on_budget(cut_off()));
  EXPECT_FALSE(link.is_fresh(start.boot));
  EXPECT_TRUE(link.on_budget(back_again()));
  EXPECT_TRUE(link.is_fresh(start.boot));
  EXPECT_FALSE(link.on_budget(back_again()));
  auto anew = back_again();
  anew.begins_anew = true;
  EXPECT_TRUE(link.on_budget(anew));
}

TEST_F(CoordinatorLinkTest, OlderGrantsDoNotMakeWhatIsKnownOlder) {
  link.on_budget(granted({}, moment_at(5s)));
  link.on_budget(granted({}, start));
  EXPECT_TRUE(link.is_fresh(moment_at(5s).boot + longest));
  EXPECT_EQ(link.newest_grants_us(), static_cast<std::uint64_t>(moment_at(5s).boot.count()));
}

// Its GRANTS were older than the last ones of the process before, which was on a machine that ran for longer.
TEST_F(CoordinatorLinkTest, ACoordinatorThatWasStartedAnewHasAClockOfItsOwn) {
  link.on_budget(granted({}, moment_at(5s)));
  auto anew = back_again();
  anew.begins_anew = true;
  link.on_budget(anew);
  EXPECT_EQ(link.newest_grants_us(), 0u);
  link.on_budget(granted({}, start));
  EXPECT_EQ(link.newest_grants_us(), static_cast<std::uint64_t>(start.boot.count()));
}

}  // namespace coordinator_link_test
}  // namespace sluice
