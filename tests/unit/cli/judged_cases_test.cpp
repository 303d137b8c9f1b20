// What differs in how the cases of two runs are judged.
#include "coordinator/cli/past_runs/judged_cases.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::judged_cases_test {
namespace {

Digest digest(std::uint8_t first) {
  Digest made{};
  made[0] = first;
  return made;
}

using Changed = std::vector<ChangedMetric>;

TEST(JudgedCases, WhatOnlyTheEarlierRunHadIsNamedByItself) {
  const std::vector<JudgedCase> before{{"a", {{"equals", {digest(1)}}, {"must_contain", {digest(2)}}}},
                                       {"b", {{"equals", {digest(1)}}}},
                                       {"c", {{"equals", {digest(1), digest(2)}}}}};
  const std::vector<JudgedCase> after{{"a", {{"equals", {digest(3)}}}},
                                      {"c", {{"equals", {digest(1), digest(2)}}, {"label", {digest(4)}}}},
                                      {"d", {{"label", {digest(4)}}}}};
  EXPECT_EQ(judged_otherwise(before, after), (Changed{{"a", "equals"}}));
  EXPECT_EQ(not_judged_any_more(before, after), (Changed{{"a", "must_contain"}}));
  EXPECT_EQ(not_judged_any_more(after, before), (Changed{{"c", "label"}}));
  EXPECT_EQ(not_judged_any_more(before, before), Changed{});
}

}  // namespace
}  // namespace sluice::judged_cases_test
