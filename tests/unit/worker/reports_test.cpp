#include "worker/reports.hpp"

#include "common/defaults.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::vector<UnitResult> results(std::size_t count) {
  std::vector<UnitResult> made(count);
  for (std::size_t i = 0; i < count; ++i) made[i].unit = i;
  return made;
}

TEST(Reports, SmallResultsGoTogether) {
  const auto reports = make_reports("run-1", 4, {7}, results(defaults::max_units_per_work + 1), {8});
  ASSERT_EQ(reports.size(), 2u);
  EXPECT_EQ(reports[0].results.size(), defaults::max_units_per_work);
  EXPECT_EQ(reports[0].started, std::vector<UnitId>{7});
  EXPECT_EQ(reports[0].returned, std::vector<UnitId>{8});
  EXPECT_EQ(reports[1].results.size(), 1u);
  EXPECT_TRUE(make_reports("run-1", 4, {}, {}, {}).empty());
}

// 256 of them were twice what a frame takes: the coordinator refused the message each time it came.
TEST(Reports, TheAnswersOfAGradedPairCountByWhatIsSentOfThem) {
  auto graded = results(8);
  for (UnitResult& result : graded) {
    result.grade = GradingResult{{1.0, "", "exact"}, {}, {}};
    result.grade->baseline.text = std::string(defaults::max_graded_bytes, 'a');
    result.grade->candidate.text = std::string(2 * defaults::max_graded_bytes, 'b');
  }
  const auto reports = make_reports("run-1", 4, {}, std::move(graded), {});
  ASSERT_EQ(reports.size(), 4u);
  for (const auto& report : reports) {
    EXPECT_EQ(report.results.size() * 2 * defaults::max_graded_bytes, defaults::max_bytes_per_work);
  }
}

// Two of nearly as many values as a message may have were one message, which was refused each time.
TEST(Reports, AResultOfVeryManyTrialsGoesAlone) {
  auto made = results(4);
  made[1].scores.resize(defaults::max_wire_items);
  made[2].scores.resize(1);
  made[2].scores[0].claims.unexpected.resize(1u << 19);
  const auto reports = make_reports("run-1", 4, {}, std::move(made), {});
  ASSERT_EQ(reports.size(), 4u);
  for (const auto& report : reports) EXPECT_EQ(report.results.size(), 1u);
}

}  // namespace
}  // namespace sluice
