#include "common/paid_tokens.hpp"

#include <limits>

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
  paid += Usage{7, 7};
  EXPECT_EQ(paid.input_tokens, most);
}

TEST(PaidTokens, DifferencesStayAtZero) {
  PaidTokens paid{5, 5, 5};
  paid -= PaidTokens{6, 4, 5};
  EXPECT_EQ(paid, (PaidTokens{0, 1, 0}));
}

}  // namespace
}  // namespace sluice
