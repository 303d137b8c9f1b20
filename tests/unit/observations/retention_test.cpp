#include "coordinator/observations/retention.hpp"

#include <gtest/gtest.h>

namespace sluice::retention_test {

TEST(Retention, CountsBackFromNow) {
  const Retention retention = retention_of(1'772'000'000'123, 30, 1000);
  EXPECT_EQ(retention.oldest, "2026-01-26T06:13:20.123Z");
  EXPECT_EQ(retention.newest, 1000u);
}

}  // namespace sluice::retention_test
