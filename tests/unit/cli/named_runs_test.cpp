#include "coordinator/cli/past_runs/named_runs.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::named_runs_test {
namespace {

PastRun run_of(const std::string& id, std::uint64_t trials, const std::string& flags = "",
               const std::string& mode = "live") {
  PastRun past;
  past.run.run_id = id;
  past.run.trials = trials;
  past.run.selection = !flags.empty();
  past.run.flags = flags.empty() ? R"({"mode": ["live"]})" : flags;
  past.run.mode = mode;
  past.summary.emplace();
  return past;
}

std::string fitting(const PastRun& run, const std::vector<PastRun>& earlier) {
  std::vector<const PastRun*> pointers;
  for (const PastRun& one : earlier) pointers.push_back(&one);
  return fitting_run(run, pointers).run.run_id;
}

constexpr const char* math = R"({"categories": ["math"], "mode": ["live"]})";
constexpr const char* tone = R"({"categories": ["tone"]})";
constexpr const char* again = R"({"only cases": ["a", "b"]})";

TEST(FittingRun, OfAWholeSuiteIsAWholeOne) {
  PastRun cut = run_of("cut", 4);
  cut.summary->reason_code = "interrupted";
  const std::vector<PastRun> earlier{run_of("part", 2, math), cut, run_of("mock", 4, "", "mock"),
                                     run_of("whole", 3), run_of("older", 4)};
  EXPECT_EQ(fitting(run_of("now", 4), earlier), "whole") << "a suite that has grown is the same";
  EXPECT_EQ(fitting(run_of("now", 4, "", "mock"), earlier), "mock");
  EXPECT_EQ(fitting(run_of("now", 4), {run_of("mock", 4, "", "mock"), run_of("part", 2, math)}), "part");
  EXPECT_EQ(fitting(run_of("now", 4), {run_of("mock", 4, "", "mock")}), "mock");
}

// Two parts of 104 cases each were compared, of which hardly one was in both.
TEST(FittingRun, OfAPartIsTheSamePartOrAWholeSuite) {
  const std::vector<PastRun> earlier{run_of("tone", 2, tone), run_of("rerun", 2, again), run_of("whole", 4),
                                     run_of("math", 2, math)};
  EXPECT_EQ(fitting(run_of("now", 2, math), earlier), "math");
  EXPECT_EQ(fitting(run_of("now", 2, again), earlier), "rerun");
  EXPECT_EQ(fitting(run_of("now", 2, R"({"only cases": ["a", "c"]})"), earlier), "whole");
  EXPECT_EQ(fitting(run_of("now", 3, math), earlier), "whole") << "the category has grown";
  EXPECT_EQ(fitting(run_of("now", 2, math), {run_of("tone", 2, tone), run_of("rerun", 2, again)}), "tone");
}

TEST(PassedOver, SaysWhyTheNewestDoesNotFit) {
  const PastRun now = run_of("now", 2, math);
  EXPECT_EQ(passed_over_words(run_of("0123456789", 2, tone), now, 1),
            "passed over: run 01234567, of other cases; to compare with it, name it");
  EXPECT_EQ(passed_over_words(run_of("0123456789", 1, tone), now, 3),
            "passed over: run 01234567, of 1 trial, and 2 more; to compare with it, name it");
  EXPECT_EQ(passed_over_words(run_of("0123456789", 2, math, "mock"), now, 1),
            "passed over: run 01234567, a mock run; to compare with it, name it");
}

}  // namespace
}  // namespace sluice::named_runs_test
