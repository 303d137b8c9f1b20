#include "worker/report_schedule.hpp"

#include "worker/defaults.hpp"

#include <chrono>

#include <gtest/gtest.h>

namespace sluice {
namespace report_schedule_test {

using namespace std::chrono_literals;
using Step = ReportSchedule::Step;

constexpr ReportSchedule::Load busy{10, 4, false};
constexpr ReportSchedule::Load short_of_work{0, 4, false};
constexpr ReportSchedule::Load awaiting_more{2, 4, true};

class ReportScheduleTest : public ::testing::Test {
 protected:
  TimePoint at(std::chrono::milliseconds time) const { return TimePoint() + 1h + time; }

  ReportSchedule schedule;
};

TEST_F(ReportScheduleTest, WhoRunsShortReportsOnceEverythingThatHasComeIsInIt) {
  EXPECT_EQ(schedule.on_change(short_of_work, at(0ms)).step, Step::post);
  EXPECT_EQ(schedule.on_change(short_of_work, at(0ms)).step, Step::wait) << "one is enough";
  EXPECT_EQ(schedule.on_post().step, Step::report);
  schedule.on_reported();
  EXPECT_EQ(schedule.on_change(short_of_work, at(1ms)).step, Step::post);
}

TEST_F(ReportScheduleTest, WhoHasEnoughToDoGathersFromTheFirstResultOn) {
  const auto next = schedule.on_change(busy, at(0ms));
  EXPECT_EQ(next.step, Step::set_timer);
  EXPECT_EQ(next.at, at(0ms) + defaults::report_delay);
  EXPECT_EQ(schedule.on_change(busy, at(50ms)).step, Step::wait);
  EXPECT_EQ(schedule.on_timer(busy, next.at).step, Step::report);
}

TEST_F(ReportScheduleTest, TheAnswerToAReportIsWaitedForAMoment) {
  const auto next = schedule.on_change(awaiting_more, at(0ms));
  EXPECT_EQ(next.step, Step::set_timer);
  EXPECT_EQ(next.at, at(0ms) + defaults::report_answer_wait);
}

TEST_F(ReportScheduleTest, AnEarlierTimeTakesANewTimer) {
  EXPECT_EQ(schedule.on_change(busy, at(0ms)).step, Step::set_timer);
  const auto next = schedule.on_change(awaiting_more, at(5ms));
  EXPECT_EQ(next.step, Step::set_timer);
  EXPECT_EQ(next.at, at(0ms) + defaults::report_answer_wait) << "from the first result on";
}

TEST_F(ReportScheduleTest, ATimerOfWhatWentEarlyReportsNothing) {
  const auto first = schedule.on_change(busy, at(0ms));
  EXPECT_EQ(schedule.on_change(short_of_work, at(60ms)).step, Step::post);
  schedule.on_post();
  schedule.on_reported();
  EXPECT_EQ(schedule.on_timer(busy, first.at).step, Step::wait) << "nothing has come since";
  schedule.on_change(busy, at(90ms));
  const auto next = schedule.on_timer(busy, at(100ms));
  EXPECT_EQ(next.step, Step::set_timer) << "what came since has its whole time";
  EXPECT_EQ(next.at, at(90ms) + defaults::report_delay);
}

}  // namespace report_schedule_test
}  // namespace sluice
