#include "common/model/token_bound.hpp"

#include "common/defaults.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(TokenBound, TwoLettersOfAWordAreOneAndEverythingElseIsOneEach) {
  EXPECT_EQ(token_bound(""), 0u);
  EXPECT_EQ(token_bound("a"), 1u);
  EXPECT_EQ(token_bound("abc"), 2u);
  EXPECT_EQ(token_bound("ab cd"), 1u + 2u) << "the blank is a part of the word";
  EXPECT_EQ(token_bound("a 1"), 3u) << "but not of a number";
  EXPECT_EQ(token_bound("a1b2"), 4u);
  EXPECT_EQ(token_bound("aBcD"), 3u) << "a, Bc, D";
  EXPECT_EQ(token_bound("ABCD"), 2u);
  EXPECT_EQ(token_bound("1234"), 4u);
  EXPECT_EQ(token_bound("{}[] "), 5u);
  EXPECT_EQ(token_bound("\n\t"), 2u);
  EXPECT_EQ(token_bound("\xc3\xa9\xf0\x9f\x98\x80"), 6u);
  EXPECT_EQ(token_bound(std::string_view("\0\0", 2)), 2u);
}

// Counts of OpenAI's tokenizers that their own documentation names.
TEST(TokenBound, IsAboveKnownCounts) {
  EXPECT_GE(token_bound("tiktoken is great!"), 6u);            // cl100k_base
  EXPECT_GE(token_bound("antidisestablishmentarianism"), 6u);  // cl100k_base
  EXPECT_GE(token_bound("2 + 2 = 4"), 7u);                     // cl100k_base
  EXPECT_GE(token_bound("\xe3\x81\x8a\xe8\xaa\x95\xe7\x94\x9f\xe6\x97\xa5\xe3\x81\x8a\xe3\x82\x81\xe3\x81\xa7"
                        "\xe3\x81\xa8\xe3\x81\x86"),
            9u);  // cl100k_base
}

TEST(TokenBound, ARequestCountsAllItsTexts) {
  ModelRequest request;
  const auto empty = input_token_bound(request);
  request.user = "abcd";
  request.system = share("efgh");
  request.response_schema = share("{}");
  EXPECT_EQ(input_token_bound(request), empty + 2 + 2 + 2);
  EXPECT_EQ(output_token_bound(request), defaults::max_output_tokens);
  request.max_tokens = 7;
  EXPECT_EQ(output_token_bound(request), 7u);
}

}  // namespace
}  // namespace sluice
