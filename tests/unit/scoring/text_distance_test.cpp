// How many changes make one text another.
#include "worker/scoring/text_distance.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::text_distance_test {

TEST(TextDistance, CountsChangesOfCharacters) {
  EXPECT_EQ(distance_within("kitten", "sitting", 3), 3u);
  EXPECT_EQ(distance_within("kitten", "sitting", 2), std::nullopt);
  EXPECT_EQ(distance_within("", "abc", 3), 3u);
  EXPECT_EQ(distance_within("abc", "", 3), 3u);
  EXPECT_EQ(distance_within("caf\xc3\xa9", "cafe", 1), 1u) << "a character, not its bytes";
  EXPECT_EQ(distance_within("abc", "abc", 0), 0u);
  EXPECT_EQ(distance_within("abc", "abd", 0), std::nullopt);
  EXPECT_EQ(distance_within(std::string(300'000, 'a'), std::string(300'000, 'a') + "b", 5), 1u);
}

TEST(TextDistance, TellsThousandsOfCharactersApart) {
  std::vector<std::string> characters;
  for (int i = 0; i < 5'000; ++i)
    characters.push_back({char(0xe4 + i / 4096), char(0x80 + i / 64 % 64), char(0x80 + i % 64)});
  std::string one;
  std::string other = "x";
  for (std::size_t i = 0; i < characters.size(); ++i) {
    one += characters[i];
    if (i % 1'000 != 7) other += characters[i];
  }
  EXPECT_EQ(distance_within(one, other + "y", 100), 7u);
  EXPECT_EQ(distance_within(other, one + "y", 7), 7u);
  EXPECT_EQ(distance_within(one, other + "y", 6), std::nullopt);
}

/// What changes a text: from a place, a character is taken away or none, and a text is put there.
struct Edit {
  std::size_t place = 0;
  std::size_t removed = 0;
  std::string put;
};

std::string edited(std::string text, const std::vector<Edit>& edits) {
  for (const Edit& one : edits) text.replace(one.place % (text.size() + 1), one.removed, one.put);
  return text;
}

std::string any_text(char last_letter) {
  return *rc::gen::container<std::string>(*rc::gen::inRange<std::size_t>(0, 500),
                                          rc::gen::inRange('!', static_cast<char>(last_letter + 1)));
}

std::vector<Edit> any_edits() {
  const auto edit = rc::gen::map(
      rc::gen::tuple(rc::gen::inRange<std::size_t>(0, 1'000), rc::gen::inRange<std::size_t>(0, 2),
                     rc::gen::element<std::string>("", "!", "~")),
      [](const std::tuple<std::size_t, std::size_t, std::string>& parts) {
        return Edit{std::get<0>(parts), std::get<1>(parts), std::get<2>(parts)};
      });
  return *rc::gen::container<std::vector<Edit>>(*rc::gen::inRange<std::size_t>(0, 200), edit);
}

RC_GTEST_PROP(TextDistance, IsThatOfTheWholeTable, ()) {
  const char last_letter = *rc::gen::element('!', '"', '$', '0', '1', '}');
  const std::string one = any_text(last_letter);
  const bool is_near = *rc::gen::arbitrary<bool>();
  const std::string other = is_near ? edited(one, any_edits()) : any_text(last_letter);
  const std::size_t whole = edit_distance(one, other);
  const std::size_t any = *rc::gen::inRange<std::size_t>(0, 700);
  for (const std::size_t most :
       {whole, whole + 1, std::max<std::size_t>(whole, 1) - 1, any, std::size_t{10'000}}) {
    const auto expected = whole <= most ? std::optional(whole) : std::nullopt;
    RC_ASSERT(distance_within(one, other, most) == expected);
  }
}

// The table was as wide as twice the most changes: two texts of 8 MiB took minutes.
TEST(TextDistance, CountsManyChangesOfLongTexts) {
  const std::string one(2u << 20, 'a');
  const std::string other = "b" + one.substr(9'998) + "b";
  EXPECT_EQ(distance_within(one, other, 10'000), 9'998u);
  EXPECT_EQ(distance_within(other, one, 9'997), std::nullopt);
}

}  // namespace sluice::text_distance_test
