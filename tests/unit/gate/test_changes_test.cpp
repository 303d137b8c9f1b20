#include "coordinator/gate/test_changes.hpp"

#include <gtest/gtest.h>

namespace sluice::test_changes_test {
namespace {

using Ids = std::vector<std::string>;
using Standing = TestFold::Standing;

TEST(TestChanges, WhatOneSideShowsAloneIsAddedOrGone) {
  TestFold fold({}, {});
  EXPECT_EQ(fold.add_of_base("a"), Standing::of_one_side);
  EXPECT_EQ(fold.add_of_current("b"), Standing::of_one_side);
  const TestChanges changes = fold.finish();
  EXPECT_EQ(changes.gone, (Ids{"a"}));
  EXPECT_EQ(changes.added, (Ids{"b"}));
  EXPECT_TRUE(changes.lost.empty());
}

// A run had them; its report is made of what the suite still has.
TEST(TestChanges, WhatTheSuiteHasNoMoreIsSortedByWhoHadIt) {
  const Ids base{"both", "in the file", "then"};
  const Ids current{"both", "in the other file", "since"};
  TestFold fold(base, current);
  EXPECT_EQ(fold.add_of_base("in the other file"), Standing::lost);
  EXPECT_EQ(fold.add_of_current("in the file"), Standing::lost);
  EXPECT_EQ(fold.add_of_current("new"), Standing::of_one_side);
  const TestChanges changes = fold.finish();
  EXPECT_EQ(changes.gone, (Ids{"then"}));
  EXPECT_EQ(changes.added, (Ids{"new", "since"}));
  EXPECT_EQ(changes.lost, (Ids{"both", "in the file", "in the other file", "since"}))
      << "what is new and not judged is no less so";
}

TEST(TestChanges, NoticesCountThemAndNameTheFirst) {
  EXPECT_TRUE(test_notices({}, "a.json", "b.json", 0, true).empty());
  const TestChanges changes{{"n1", "n2", "n3", "n4", "n5", "n6", "n7"}, {"old"}, {"x", "y"}, {}};
  const auto notices = test_notices(changes, "a.json", "b.json", 0, false);
  ASSERT_EQ(notices.size(), 3u);
  EXPECT_EQ(notices[0].message,
            "`b.json` has 7 cases that `a.json` does not have: `n1`, `n2`, `n3`, `n4`, `n5`, and 2 more.");
  EXPECT_EQ(notices[0].severity, GateNotice::Severity::info);
  EXPECT_EQ(notices[1].message, "`b.json` lacks 1 case of `a.json`: `old`.");
  EXPECT_EQ(notices[1].severity, GateNotice::Severity::warning);
  EXPECT_EQ(
      notices[2].message,
      "the suite does not have 2 cases of these runs any more, so that they are not compared: `x`, `y`.");
  EXPECT_EQ(notices[2].severity, GateNotice::Severity::warning);
  const auto strict = test_notices(changes, "a.json", "b.json", 1, true);
  EXPECT_EQ(strict[1].severity, GateNotice::Severity::failure);
  EXPECT_EQ(strict[2].severity, GateNotice::Severity::failure);
  EXPECT_NE(strict[2].message.find("`x`, `y`. 1 of them failed in `b.json`: "), std::string::npos)
      << strict[2].message;
}

TEST(TestChanges, WhatOtherChecksJudgeIsNamed) {
  TestFold fold({}, {});
  fold.add_judged_otherwise("b");
  const TestChanges changes = fold.finish();
  EXPECT_EQ(changes.judged_otherwise, (Ids{"b"}));
  const auto notices = test_notices(changes, "a.json", "b.json", 0, true);
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(
      notices[0].message,
      "`b.json` has other checks or judges than `a.json` in 1 case, whose results are not compared (those "
      "of the other checks are): `b`.");
  EXPECT_EQ(notices[0].severity, GateNotice::Severity::failure);
}

}  // namespace
}  // namespace sluice::test_changes_test
