// The file: any damage is refused whole, and so is what a forger could write with a checksum that fits.

#include "worker/cache/cassette_format.hpp"

#include "common/defaults.hpp"
#include "common/hash.hpp"
#include "tests/unit/cache/cassette_fixture.hpp"
#include "worker/cache/cassette_reader.hpp"
#include "worker/cache/cassette_writer.hpp"

#include <functional>
#include <random>

#include <gtest/gtest.h>
#include <zstd.h>

namespace sluice {
namespace {

class CassetteFormat : public ::testing::Test {
 protected:
  /// What the reader makes of a file of these bytes.
  Result<void> verify(const std::string& bytes) const {
    const auto file = folder_.path() / "a.cassette";
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    auto reader = CassetteReader::open(file);
    if (!reader) return tl::unexpected(reader.error());
    return reader->verify();
  }

  void expect_refused(const std::string& bytes, const std::string& why) const {
    const auto verified = verify(bytes);
    ASSERT_FALSE(verified) << why;
    EXPECT_EQ(verified.error().reason, Reason::file_unreadable);
    EXPECT_NE(verified.error().message.find("a.cassette"), std::string::npos) << verified.error().message;
    EXPECT_NE(verified.error().message.find(why), std::string::npos) << verified.error().message;
  }

  static std::string whole() {
    std::string bytes;
    CassetteWriter writer([&](std::string_view piece) { bytes += piece; }, cassette::version_for(false));
    std::map<Digest, std::string> sorted;
    for (int i = 0; i < 5; ++i) {
      sorted[test_key(i)] = cache_entry::encode(test_key(i), test_answer("answer " + std::to_string(i)));
    }
    for (const auto& [key, entry] : sorted) EXPECT_TRUE(writer.add(EntryKind::answer, key, entry));
    EXPECT_TRUE(writer.finish());
    return bytes;
  }

  static std::string number(std::uint64_t value, std::size_t bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i));
    return text;
  }
  static std::string entry(std::uint8_t kind, const Digest& key, const std::string& value,
                           std::optional<std::uint32_t> length = {}) {
    return std::string(1, static_cast<char>(kind)) + std::string(key.begin(), key.end()) +
           number(length.value_or(static_cast<std::uint32_t>(value.size())), 4) + value;
  }
  static std::string end(std::uint64_t entries) { return "\xff" + number(entries, 8); }

  static std::string compressed(const std::string& content, int window_log = 0) {
    const std::unique_ptr<ZSTD_CCtx, std::size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
    ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, 0);
    if (window_log > 0) ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, window_log);
    std::string bytes(ZSTD_compressBound(content.size()) + 1024, '\0');
    ZSTD_outBuffer out{bytes.data(), bytes.size(), 0};
    ZSTD_inBuffer in{content.data(), content.size(), 0};
    // In two steps: with its whole input at once zstd would choose a window that fits it.
    EXPECT_FALSE(ZSTD_isError(ZSTD_compressStream2(context.get(), &out, &in, ZSTD_e_flush)));
    EXPECT_EQ(ZSTD_compressStream2(context.get(), &out, &in, ZSTD_e_end), 0u);
    bytes.resize(out.pos);
    return bytes;
  }

  /// A file whose checksum fits, whatever is in it.
  static std::string sealed(const std::string& frame, std::uint8_t version = cassette::version) {
    auto bytes = std::string(cassette::magic) + static_cast<char>(version) + frame;
    const auto sum = sha256(bytes);
    return bytes.append(sum.begin(), sum.end());
  }
  static std::string forged(const std::string& content) { return sealed(compressed(content)); }

  static std::string valid(int i) { return cache_entry::encode(test_key(i), test_answer("x")); }

 private:
  support::TemporaryFolder folder_;
};

TEST_F(CassetteFormat, AWholeOneIsRead) {
  const auto verified = verify(whole());
  EXPECT_TRUE(verified) << verified.error().message;
  const auto empty = verify(forged(end(0)));
  EXPECT_TRUE(empty) << empty.error().message;
  const auto one = verify(forged(entry(1, test_key(1), valid(1)) + end(1)));
  EXPECT_TRUE(one) << one.error().message;
}

TEST_F(CassetteFormat, EveryTruncationIsRefused) {
  const auto bytes = whole();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    const auto verified = verify(bytes.substr(0, length));
    ASSERT_FALSE(verified) << length;
    EXPECT_EQ(verified.error().reason, Reason::file_unreadable);
  }
}

TEST_F(CassetteFormat, EveryFlippedBitIsRefused) {
  const auto bytes = whole();
  std::mt19937 random(7);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8));
    ASSERT_FALSE(verify(damaged)) << at;
  }
}

TEST_F(CassetteFormat, TrailingBytesAreRefused) {
  expect_refused(whole() + '\0', "checksum");
  expect_refused(whole() + whole(), "checksum");
  const auto frame = compressed(end(0));
  expect_refused(sealed(frame + "x"), "something follows its end");
  expect_refused(sealed(frame + frame), "something follows its end");
  expect_refused(forged(end(0) + "x"), "something follows its end");
  expect_refused(forged(end(0) + std::string(1 << 20, 'x')), "something follows its end");
}

TEST_F(CassetteFormat, OtherFilesAreNoCassettes) {
  expect_refused("", "is no cassette");
  expect_refused("[metadata]\nid = \"tls-001\"\n", "is no cassette");
  for (const char other : {'\0', '\x03', '\xff'}) {
    auto foreign = whole();
    foreign[cassette::magic.size()] = other;
    expect_refused(foreign, "is of format " + std::to_string(static_cast<std::uint8_t>(other)) +
                                ", and this sluice reads formats up to 2");
  }
  const auto absent = CassetteReader::open("/no/such/file.cassette");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().reason, Reason::file_unreadable);
  EXPECT_FALSE(CassetteReader::open("/dev/null"));
  EXPECT_FALSE(CassetteReader::open("/"));
}

TEST_F(CassetteFormat, LengthsAndCountsAreNotBelieved) {
  expect_refused(forged(entry(1, test_key(1), valid(1), 0xFFFFFFFFu)), "longer than any answer");
  expect_refused(forged(entry(1, test_key(1), valid(1), 4u << 20)), "ends early");
  expect_refused(forged(entry(1, test_key(1), valid(1))), "ends early");
  expect_refused(forged(entry(1, test_key(1), valid(1)) + end(2)), "as many entries");
  expect_refused(forged(entry(1, test_key(1), valid(1)) + end(0)), "as many entries");
  expect_refused(forged(end(1).substr(0, 5)), "ends early");
  expect_refused(forged(""), "ends early");
  expect_refused(sealed(""), "ends early");
  expect_refused(sealed(compressed(end(0)).substr(0, 6)), "ends early");
}

TEST_F(CassetteFormat, EntriesStandInOrderAndMatchTheirDigests) {
  const auto low = std::min(test_key(1), test_key(2)) == test_key(1) ? 1 : 2;
  const auto high = 3 - low;
  const auto first = entry(1, test_key(low), valid(low));
  const auto second = entry(1, test_key(high), valid(high));
  EXPECT_TRUE(verify(forged(first + second + end(2))));
  expect_refused(forged(second + first + end(2)), "entry 2 is not in its place");
  expect_refused(forged(first + first + end(2)), "entry 2 is not in its place");
  expect_refused(forged(entry(9, test_key(1), valid(1)) + end(1)), "unknown kind");
  expect_refused(forged(entry(2, test_key(1), valid(1)) + end(1)), "does not fit");
  expect_refused(forged(entry(1, test_key(2), valid(1)) + end(1)), "does not fit");
  expect_refused(forged(entry(1, test_key(1), "") + end(1)), "does not fit");
}

// A sluice from before votes knows version 1 alone: it says so, and does not take the file for a damaged one.
TEST_F(CassetteFormat, AFileWithVotesIsOfAVersionOfItsOwn) {
  const auto frame = compressed(entry(4, test_key(1), valid(1)) + end(1));
  EXPECT_TRUE(verify(sealed(frame, 2)));
  expect_refused(sealed(frame, 1), "unknown kind");
  EXPECT_TRUE(verify(sealed(compressed(entry(1, test_key(1), valid(1)) + end(1)), 1)));
  expect_refused(forged(entry(4, test_key(2), valid(1)) + end(1)), "does not fit");
  expect_refused(forged(entry(4, test_key(1), cache_entry::encode(test_key(1), test_refusal("no"))) + end(1)),
                 "does not fit");
}

TEST_F(CassetteFormat, ABombIsRefusedWithoutUnpackingIt) {
  expect_refused(forged(std::string(256u << 20, '\0')), "unknown kind");
  expect_refused(forged(entry(1, test_key(1), std::string(defaults::max_entry_bytes + 1, 'x')) + end(1)),
                 "longer than any answer");
  expect_refused(sealed(compressed(end(0), 27)), "cannot be decompressed");
  expect_refused(sealed("not zstd at all"), "cannot be decompressed");
}

TEST_F(CassetteFormat, BytesArePinned) {
  const auto bytes = whole();
  EXPECT_EQ(bytes.substr(0, cassette::header_bytes), std::string("\x8eSLUICE\n\x01"));
  const auto frame =
      bytes.substr(cassette::header_bytes, bytes.size() - cassette::header_bytes - cassette::checksum_bytes);
  EXPECT_EQ(ZSTD_getFrameContentSize(frame.data(), frame.size()), ZSTD_CONTENTSIZE_UNKNOWN);
  const auto sum = sha256(std::string_view(bytes).substr(0, bytes.size() - cassette::checksum_bytes));
  EXPECT_EQ(bytes.substr(bytes.size() - cassette::checksum_bytes), std::string(sum.begin(), sum.end()));
}

TEST(Sha256Stream, IsTheHashOfAllPieces) {
  Sha256Stream stream;
  stream.update("ab");
  stream.update("");
  stream.update("c");
  EXPECT_EQ(stream.finish(), sha256("abc"));
  EXPECT_EQ(stream.finish(), sha256(""));
}

}  // namespace
}  // namespace sluice
