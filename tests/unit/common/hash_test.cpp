#include "common/hash.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

// FIPS 180-4, and NIST's example values.
TEST(Hash, KnowsSha256) {
  EXPECT_EQ(to_hex(sha256("")), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(to_hex(sha256("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(to_hex(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(to_hex(sha256(std::string(1'000'000, 'a'))),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Hash, FieldsAreLengthAndBytes) {
  using namespace std::string_literals;
  FieldHasher hasher;
  EXPECT_EQ(hasher.field("ab").field("").finish(), sha256("\2\0\0\0\0\0\0\0ab\0\0\0\0\0\0\0\0"s));
  EXPECT_EQ(hasher.finish(), sha256("")) << "finish empties the hasher";
  EXPECT_EQ(hasher.field(std::uint64_t{18446744073709551615u}).finish(),
            FieldHasher().field("18446744073709551615").finish());
  const std::string long_field(300, 'x');
  EXPECT_EQ(hasher.field(long_field).finish(), sha256("\x2c\1\0\0\0\0\0\0"s + long_field));
}

TEST(Hash, GoesOnFromWhatAnotherWasFed) {
  FieldHasher prefix;
  prefix.field("a").field("long enough to fill more than one block of the hash, which has 64 bytes each");
  FieldHasher hasher;
  hasher.field("forgotten");
  const auto resumed = hasher.resume(prefix).field("b").finish();
  EXPECT_EQ(hasher.resume(prefix).field("b").finish(), resumed) << "the prefix is left as it was";
  EXPECT_EQ(prefix.field("b").finish(), resumed);
}

TEST(Hash, ResumesWhereAnotherStands) {
  FieldHasher common;
  common.field("a").field("b");
  FieldHasher hasher;
  hasher.field("forgotten");
  EXPECT_EQ(hasher.resume(common).field("c").finish(),
            FieldHasher().field("a").field("b").field("c").finish());
  EXPECT_EQ(hasher.finish(), sha256("")) << "finish empties it";
  EXPECT_EQ(hasher.resume(common).field("d").finish(),
            FieldHasher().field("a").field("b").field("d").finish());
  EXPECT_EQ(common.finish(), FieldHasher().field("a").field("b").finish()) << "the other one is not touched";
}

TEST(Hash, NoTwoListsOfFieldsAreAlike) {
  using Fields = std::vector<std::string>;
  const std::vector<Fields> lists{{},         {""},       {"", ""},   {"ab"},        {"a", "b"},
                                  {"", "ab"}, {"ab", ""}, {"b", "a"}, {"a", "", "b"}};
  std::vector<std::string> digests;
  for (const auto& fields : lists) {
    FieldHasher hasher;
    for (const auto& field : fields) hasher.field(field);
    digests.push_back(to_hex(hasher.finish()));
  }
  for (std::size_t i = 0; i < digests.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) EXPECT_NE(digests[i], digests[j]) << i << " and " << j;
  }
}

TEST(Hash, HexReadsBack) {
  const auto digest = sha256("abc");
  EXPECT_EQ(digest_from_hex(to_hex(digest)), digest);
  EXPECT_EQ(to_prefixed_hex(digest), "sha256:" + to_hex(digest));
  auto hex = to_hex(digest);
  EXPECT_EQ(digest_from_hex(hex.substr(1)), std::nullopt);
  EXPECT_EQ(digest_from_hex(hex + "0"), std::nullopt);
  EXPECT_EQ(digest_from_hex(""), std::nullopt);
  for (const char wrong : {'g', 'B', ' ', '\0', '/'}) {
    auto spoiled = hex;
    spoiled[63] = wrong;
    EXPECT_EQ(digest_from_hex(spoiled), std::nullopt) << static_cast<int>(wrong);
  }
}

TEST(Hash, ZeroStandsForNone) {
  EXPECT_TRUE(is_zero(Digest{}));
  for (const std::size_t place : {std::size_t{0}, std::size_t{31}}) {
    Digest digest{};
    digest[place] = 1;
    EXPECT_FALSE(is_zero(digest));
  }
}

}  // namespace
}  // namespace sluice
