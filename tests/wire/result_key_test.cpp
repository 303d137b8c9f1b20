#include "common/wire/codec.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice::wire {
namespace {

TEST(ResultKey, IsFoundWithoutReadingTheRest) {
  for (const UnitId unit : {0u, 127u, 128u, 255u, 256u, 65'535u, 65'536u, 4'294'967'295u}) {
    UnitResult result;
    result.unit = unit;
    result.key = sha256("key of " + std::to_string(unit));
    result.answer = sha256("answer");
    const std::string bytes = encode_result(result);
    const auto key = key_of_result(bytes);
    ASSERT_TRUE(key) << unit;
    EXPECT_EQ(*key, result.key) << unit;
    // The layout of another version: other fields behind the key.
    const auto end = bytes.find(std::string(result.key.begin(), result.key.end())) + result.key.size();
    EXPECT_EQ(key_of_result(bytes.substr(0, end) + "else"), key) << unit;
    for (std::size_t length = 0; length < end; ++length) {
      const auto cut = key_of_result(std::string_view(bytes).substr(0, length));
      ASSERT_FALSE(cut) << unit << " cut to " << length;
      EXPECT_EQ(cut.error().reason, Reason::message_malformed);
    }
  }
}

TEST(ResultKey, IsNotTakenFromAnythingElse) {
  const std::string digest(32, 'd');
  for (const std::string bytes : {"text", "\x81\x01\xC4\x20", "\x93\xC0\xC4\x20", "\x93\x01\xC4\x1F",
                                  "\x93\x01\xD9\x20", "\xDC\x00\x03\xCF\xC4\x20"}) {
    EXPECT_FALSE(key_of_result(bytes + digest)) << bytes;
  }
}

}  // namespace
}  // namespace sluice::wire
