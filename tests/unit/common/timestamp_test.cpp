#include "common/text/timestamp.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace std::chrono_literals;

TEST(Rfc3339, ReadsOffsetsAndFractions) {
  const std::chrono::sys_time<std::chrono::milliseconds> noon{1'714'564'800s};
  EXPECT_EQ(parse_rfc3339("2024-05-01T12:00:00Z"), noon);
  EXPECT_EQ(parse_rfc3339("2024-05-01t12:00:00z"), noon);
  EXPECT_EQ(parse_rfc3339("2024-05-01 12:00:00Z"), noon) << "section 5.6 allows the blank";
  EXPECT_EQ(parse_rfc3339("2024-05-01T12:00:00.25Z"), noon + 250ms);
  EXPECT_EQ(parse_rfc3339("2024-05-01T12:00:00.2500Z"), noon + 250ms);
  EXPECT_EQ(parse_rfc3339("2024-05-01T12:00:00.25001Z"), noon + 251ms) << "a delay is never cut short";
  EXPECT_EQ(parse_rfc3339("2024-05-01T14:30:00+02:30"), noon);
  EXPECT_EQ(parse_rfc3339("2024-05-01T04:00:00-08:00"), noon);
  EXPECT_EQ(parse_rfc3339("2024-05-01T11:59:60Z"), noon) << "a leap second";
  EXPECT_EQ(parse_rfc3339("9999-12-31T23:59:59Z")->time_since_epoch(), 253'402'300'799s);
}

TEST(Rfc3339, RefusesWhatIsNone) {
  for (const std::string text :
       {"", "2024-05-01", "2024-05-01T12:00:00", "2024-05-01_12:00:00Z", "2024-13-01T12:00:00Z",
        "2024-02-30T12:00:00Z", "2024-05-01T24:00:00Z", "2024-05-01T12:00:00.Z", "2024-05-01T12:00:00+0200",
        "2024-05-01T12:00:00+24:00", "2024-05-01T12:00:00Zx"}) {
    EXPECT_FALSE(parse_rfc3339(text)) << text;
  }
}

}  // namespace
}  // namespace sluice
