#include "common/next_readable.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace sluice::next_readable_test {

constexpr auto last = std::numeric_limits<std::uint64_t>::max();

TEST(NextReadable, IsTheFirstBehindADamagedStretch) {
  for (const std::uint64_t begin : {0ull, 1ull, 77ull, 1ull << 40}) {
    for (const std::uint64_t length : {1ull, 2ull, 3ull, 1000ull, 1ull << 33}) {
      int asked = 0;
      const auto readable = [&](std::uint64_t place) {
        ++asked;
        return place < begin || place >= begin + length;
      };
      EXPECT_EQ(next_readable(begin, last, readable), begin + length);
      EXPECT_LE(asked, 130);
    }
  }
}

TEST(NextReadable, IsNothingWhereNothingFollows) {
  const auto nowhere = [](std::uint64_t) { return false; };
  EXPECT_EQ(next_readable(5, last, nowhere), std::nullopt);
  EXPECT_EQ(next_readable(last, last, nowhere), std::nullopt);
  EXPECT_EQ(next_readable(5, 9, nowhere), std::nullopt);
  EXPECT_EQ(next_readable(5, 9, [](std::uint64_t place) { return place == 9; }), 9u);
}

}  // namespace sluice::next_readable_test
