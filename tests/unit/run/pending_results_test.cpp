#include "coordinator/run/pending_results.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice::pending_results_test {
namespace {

UnitResult result_of(UnitId unit, std::size_t answer_bytes = 0) {
  UnitResult result;
  result.unit = unit;
  if (answer_bytes > 0) result.observed.emplace().text = std::string(answer_bytes, 'a');
  return result;
}

TEST(PendingResults, AResultIsAmongThemOnce) {
  PendingResults pending;
  EXPECT_TRUE(pending.add(1, result_of(7)));
  EXPECT_FALSE(pending.add(1, result_of(7))) << "said again";
  EXPECT_TRUE(pending.add(2, result_of(7))) << "another worker's";
  EXPECT_TRUE(pending.contains(1, 7));
  EXPECT_FALSE(pending.contains(1, 8));
  EXPECT_EQ(pending.size(), 2u);
  pending.remove(1, 7);
  pending.remove(1, 7);
  EXPECT_FALSE(pending.contains(1, 7));
  EXPECT_EQ(pending.size(), 1u);
}

TEST(PendingResults, AreTooManyBeyondTheirNumberAndThatOfCallsUnderWay) {
  PendingResults pending;
  EXPECT_FALSE(pending.are_too_many(2, 0));
  pending.add(1, result_of(0));
  pending.add(1, result_of(1));
  EXPECT_TRUE(pending.are_too_many(2, 0));
  EXPECT_FALSE(pending.are_too_many(3, 0));
  EXPECT_FALSE(pending.are_too_many(2, 3));
  EXPECT_TRUE(pending.are_too_many(2, 2));
}

// With a thousand calls under way a thousand results waited, of up to 8 MiB each.
TEST(PendingResults, AreTooManyWhereTheirAnswersAreTooLarge) {
  PendingResults pending;
  constexpr std::size_t half = defaults::max_bytes_to_check / 2;
  pending.add(1, result_of(0, half));
  pending.add(1, result_of(0, half));
  EXPECT_FALSE(pending.are_too_many(100, 1000)) << "said again it counts once";
  pending.add(2, result_of(0, half));
  EXPECT_TRUE(pending.are_too_many(100, 1000));
  pending.remove(1, 0);
  EXPECT_FALSE(pending.are_too_many(100, 1000));
  pending.remove(2, 0);
  pending.add(1, result_of(0, half));
  EXPECT_FALSE(pending.are_too_many(100, 1000)) << "what is gone does not count";
}

}  // namespace
}  // namespace sluice::pending_results_test
