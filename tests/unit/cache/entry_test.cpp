#include "worker/cache/entry.hpp"

#include <limits>
#include <vector>

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

Completion calling() {
  Completion answer = sample();
  answer.calls = {{"", "look_up", R"({"id":17})"}, {"", "refund", "{}"}};
  return answer;
}

TEST(CacheEntry, CallsOfToolsAreStoredBesideTheAnswer) {
  const auto key = sha256("key");
  const auto bytes = cache_entry::encode(key, calling());
  EXPECT_EQ(bytes.front(), '\x03');
  EXPECT_EQ(cache_entry::decode(key, bytes).value(), calling());
  EXPECT_TRUE(cache_entry::rank(EntryKind::answer, key, bytes));
}

Completion timed(Completion answer, std::uint32_t latency_ms) {
  answer.latency_ms = latency_ms;
  return answer;
}

// Whether a cached answer came in time was an error: it held no time.
TEST(CacheEntry, TheLatencyIsStoredWhereItIsAskedForAndIsAPartOfTheAnswer) {
  const auto key = sha256("key");
  for (const Completion& answer : {timed(sample(), 250), timed(calling(), 0)}) {
    const auto bytes = cache_entry::encode(key, answer);
    EXPECT_EQ(bytes.front(), '\x04');
    EXPECT_EQ(cache_entry::decode(key, bytes).value(), answer);
    EXPECT_EQ(cache_entry::rank(EntryKind::answer, key, bytes)->digest, answer_digest(answer));
  }
  EXPECT_NE(answer_digest(timed(sample(), 250)), answer_digest(timed(sample(), 251)))
      << "a pin would mean either, of which one may be too late";
  EXPECT_NE(answer_digest(timed(sample(), 0)), answer_digest(sample()));
}

TEST(CacheEntry, AFormatOfALaterVersionIsAnErrorThatSaysSo) {
  const auto key = sha256("key");
  auto bytes = cache_entry::encode(key, sample());
  bytes.front() = '\x05';
  const auto read = cache_entry::decode(key, bytes);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().reason, Reason::cache_failed) << "a live run must not replace it";
  EXPECT_NE(read.error().message.find("is of format 5, which this version of sluice does not know (a later "
                                      "one may have stored it); run with --refresh"),
            std::string::npos)
      << read.error().message;
}

TEST(CacheEntry, AnyDamageIsAnError) {
  const auto key = sha256("key");
  for (const Completion& answer : {sample(), calling(), timed(calling(), 250)}) {
    const auto bytes = cache_entry::encode(key, answer);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      auto damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
      const auto result = cache_entry::decode(key, damaged);
      ASSERT_FALSE(result) << "byte " << i;
      // Another first byte may be a format that is not known.
      EXPECT_EQ(result.error().reason, i == 0 ? Reason::cache_failed : Reason::message_malformed);
      EXPECT_NE(result.error().message.find(to_hex(key)), std::string::npos);
      ASSERT_FALSE(cache_entry::decode(key, std::string_view(bytes).substr(0, i)));
    }
  }
}

TEST(CacheEntry, EmbeddingsAreReadAsWrittenAndTheirFormatIsPinned) {
  const auto key = sha256("key");
  const Embedding embedding{{0.25f, -1.5f, 3e-30f}, 1'700'000'000'123};
  const auto bytes = cache_entry::encode(key, embedding);
  EXPECT_EQ(bytes.front(), '\x02');
  EXPECT_EQ(bytes.size(), 1 + 32 + 8 + 3 * 4u);
  EXPECT_EQ(bytes.substr(1 + 32 + 8, 4), std::string("\0\0\x80\x3e", 4)) << "little endian";
  EXPECT_EQ(cache_entry::decode_embedding(key, bytes).value(), embedding);
}

TEST(CacheEntry, AnEmbeddingWithoutADirectionIsNone) {
  const auto key = sha256("key");
  constexpr auto infinite = std::numeric_limits<float>::infinity();
  constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
  for (const auto& values : std::vector<std::vector<float>>{{}, {0, 0}, {1, infinite}, {nan, 1}}) {
    const auto read = cache_entry::decode_embedding(key, cache_entry::encode(key, Embedding{values, 5}));
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().reason, Reason::message_malformed);
  }
}

TEST(CacheEntry, AnyDamageToAnEmbeddingIsAnError) {
  const auto key = sha256("key");
  const auto bytes = cache_entry::encode(key, Embedding{{1.0f, 2.0f}, 5});
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    auto damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x01);
    ASSERT_FALSE(cache_entry::decode_embedding(key, damaged)) << "byte " << i;
    ASSERT_FALSE(cache_entry::decode_embedding(key, std::string_view(bytes).substr(0, i)));
  }
}

TEST(CacheEntry, RankKnowsTheKindsApart) {
  const auto key = sha256("key");
  auto refusal = sample();
  refusal.non_answer = Error{Reason::refusal, "the model declined"};
  const auto answer = cache_entry::encode(key, sample());
  const auto outcome = cache_entry::encode(key, refusal);
  const auto embedding = cache_entry::encode(key, Embedding{{1.0f}, 7});
  EXPECT_EQ(cache_entry::rank(EntryKind::answer, key, answer)->digest, answer_digest(sample()));
  EXPECT_EQ(cache_entry::rank(EntryKind::outcome, key, outcome)->created_at_ms, sample().created_at_ms);
  EXPECT_EQ(cache_entry::rank(EntryKind::embedding, key, embedding)->created_at_ms, 7);
  EXPECT_FALSE(cache_entry::rank(EntryKind::answer, key, outcome));
  EXPECT_FALSE(cache_entry::rank(EntryKind::outcome, key, answer));
  EXPECT_FALSE(cache_entry::rank(EntryKind::embedding, key, answer));
  EXPECT_FALSE(cache_entry::rank(EntryKind::answer, key, embedding));
  EXPECT_EQ(cache_entry::rank(EntryKind::vote, key, answer)->digest, answer_digest(sample()));
  EXPECT_FALSE(cache_entry::rank(EntryKind::vote, key, outcome)) << "a judge that declines gives no vote";
  EXPECT_FALSE(cache_entry::rank(EntryKind::vote, key, embedding));
}

TEST(CacheEntry, AnEntryOfAnotherKeyIsAnError) {
  const auto bytes = cache_entry::encode(sha256("one"), sample());
  EXPECT_FALSE(cache_entry::decode(sha256("two"), bytes));
}

}  // namespace
}  // namespace sluice
