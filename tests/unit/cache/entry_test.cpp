#include "worker/cache/entry.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

Completion sample() {
  return {"{\"claims\":[]}", "stop", "gpt-4o-mini-2024", {12, 34}, 1'700'000'000'123, std::nullopt};
}

TEST(CacheEntry, ReadsWhatItWrites) {
  const auto key = sha256("key");
  EXPECT_EQ(cache_entry::decode(key, cache_entry::encode(key, sample())).value(), sample());
  auto refusal = sample();
  refusal.non_answer = Error{Reason::refusal, "the model declined"};
  EXPECT_EQ(cache_entry::decode(key, cache_entry::encode(key, refusal)).value(), refusal);
}

TEST(CacheEntry, FormatIsPinned) {
  const auto bytes = cache_entry::encode(sha256("key"), {"t", "stop", "m", {1, 2}, 3, std::nullopt});
  EXPECT_EQ(bytes.front(), '\x01');
  EXPECT_EQ(to_hex(sha256(bytes)), "786a0da42e5d4a1fbdae1ad36590b157a5a52652f4f1dd8d3fd0949b50d4fea5");
}

TEST(CacheEntry, AnyDamageIsAnError) {
  const auto key = sha256("key");
  const auto bytes = cache_entry::encode(key, sample());
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    const auto result = cache_entry::decode(key, damaged);
    ASSERT_FALSE(result) << "byte " << i;
    EXPECT_EQ(result.error().reason, Reason::cache_failed);
    EXPECT_NE(result.error().message.find(to_hex(key)), std::string::npos);
    ASSERT_FALSE(cache_entry::decode(key, std::string_view(bytes).substr(0, i)));
  }
}

TEST(CacheEntry, AnEntryOfAnotherKeyIsAnError) {
  const auto bytes = cache_entry::encode(sha256("one"), sample());
  EXPECT_FALSE(cache_entry::decode(sha256("two"), bytes));
}

}  // namespace
}  // namespace sluice
