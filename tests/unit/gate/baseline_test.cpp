#include "coordinator/gate/baseline.hpp"

#include "gate_fixture.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Baseline, SortsByTestAndMetricByteByByte) {
  const Baseline baseline = baseline_of({{"b", "m", 0.1},
                                         {"a", "z", 0.2},
                                         {"a", "m", 0.3},
                                         {"\xC3\xA4", "m", 0.4},
                                         {"a/1", "m", 0.5},
                                         {"B", "m", 0.6}});
  std::vector<double> scores;
  for (std::size_t i = 0; i < baseline.size(); ++i) scores.push_back(baseline.entry(i).score);
  EXPECT_EQ(scores, (std::vector{0.6, 0.3, 0.2, 0.5, 0.1, 0.4}));
}

TEST(Baseline, FindsTheEntriesOfATest) {
  const Baseline baseline =
      baseline_of({{"a", "m", 0.1}, {"b", "m", 0.2}, {"b", "n", 0.3}, {"bb", "m", 0.4}});
  const Baseline::Range range = baseline.of_test("b");
  EXPECT_EQ(range.first, 1u);
  EXPECT_EQ(range.last, 3u);
  EXPECT_EQ(baseline.score("b", "n"), 0.3);
  EXPECT_EQ(baseline.score("b", "o"), std::nullopt);
  EXPECT_EQ(baseline.score("c", "m"), std::nullopt);
  EXPECT_EQ(baseline_of({}).score("a", "m"), std::nullopt);
}

TEST(Baseline, NamesThePairThatComesTwiceFirst) {
  Baseline baseline;
  for (const char* id : {"c", "b", "b", "c"}) baseline.add({id, "m", 0.5, ""});
  const auto twice = baseline.seal();
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->first, 1u);
  EXPECT_EQ(twice->second, 2u);
}

TEST(Baseline, KeepsItsTextsWhenItMoves) {
  Baseline baseline = baseline_of({{"a", "m", 0.1, "{}"}});
  const Baseline copy = baseline;
  const Baseline moved = std::move(baseline);
  EXPECT_EQ(copy.entry(0).test_id, "a");
  EXPECT_EQ(moved.entry(0).metric, "m");
  EXPECT_EQ(moved.entry(0).meta, "{}");
}

}  // namespace
}  // namespace sluice
