#include "common/model/paid_tokens.hpp"

#include <limits>
#include <set>

#include <gtest/gtest.h>

namespace sluice {
namespace {

constexpr auto most = std::numeric_limits<std::uint64_t>::max();

// 30 answers with a usage of 2^63 were "paid 0".
TEST(PaidTokens, SumsStayAtTheGreatestNumberInsteadOfWrapping) {
  PaidTokens paid{most - 1, most, 5};
  paid += PaidTokens{2, 1, most};
  EXPECT_EQ(paid, (PaidTokens{most, most, most}));
  EXPECT_EQ(paid.total(), most);
  EXPECT_EQ((PaidTokens{most / 2, most / 2, 2}.total()), most);
  EXPECT_EQ((PaidTokens{1, 2, 3}.total()), 6u);
  paid.of(CallKind::answer) += Usage{7, 7};
  EXPECT_EQ(paid.of(CallKind::answer), (Usage{most, most}));
}

TEST(PaidTokens, DifferencesStayAtZero) {
  PaidTokens paid{5, 5, 5};
  paid -= PaidTokens{6, 4, 5};
  EXPECT_EQ(paid, (PaidTokens{0, 1, 0}));
}

TEST(PaidTokens, EachKindHasItsOwnSums) {
  PaidTokens paid{10, 5, 30, 0, 100, 50};
  paid += PaidTokens{1, 2, 3, 0, 4, 5};
  EXPECT_EQ(paid.of(CallKind::answer), (Usage{11, 7}));
  EXPECT_EQ(paid.of(CallKind::embedding), (Usage{33, 0}));
  EXPECT_EQ(paid.of(CallKind::judge), (Usage{104, 55}));
  EXPECT_EQ(paid.total(), 210u);
  paid -= PaidTokens{1, 2, 3, 0, 4, 5};
  EXPECT_EQ(paid, (PaidTokens{10, 5, 30, 0, 100, 50}));
}

TEST(PaidTokens, ItsColumnsAreItsNumbersEachOnce) {
  PaidTokens paid;
  std::set<std::string_view> names;
  std::uint64_t sum = 0;
  for (const auto& column : paid_columns) {
    EXPECT_TRUE(names.insert(column.name).second) << column.name;
    EXPECT_EQ(column.in(paid), 0u) << column.name << " is the number of another column";
    column.in(paid) = 1;
    ++sum;
  }
  EXPECT_EQ(paid.total(), sum);
  EXPECT_EQ(names, (std::set<std::string_view>{"input", "output", "embedding", "judge_input", "judge_output",
                                               "baseline_input", "baseline_output"}))
      << "they stand in reports, in the ledger and in metrics";
}

}  // namespace
}  // namespace sluice
