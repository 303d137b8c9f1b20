#include "coordinator/output/json_writer.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice::json_writer_test {

std::string written(const std::string& text) {
  std::string out;
  Json(out).value(text);
  return out;
}

// Most texts are plain ASCII, and are looked at eight bytes at a time.
TEST(JsonWriter, EscapesWhatATerminalMayFollowWhereverItStands) {
  const std::string plain = "twenty plain letters";
  EXPECT_EQ(written(plain), '"' + plain + '"');
  for (std::size_t at = 0; at <= plain.size(); ++at) {
    const auto with = [&](const std::string& what) { return plain.substr(0, at) + what + plain.substr(at); };
    EXPECT_EQ(written(with("\x7f")), '"' + with("\\u007f") + '"') << at;
    EXPECT_EQ(written(with("\xc2\x9b")), '"' + with("\\u009b") + '"') << at;
    EXPECT_EQ(written(with("\xe2\x80\xae")), '"' + with("\\u202e") + '"') << at;
    EXPECT_EQ(written(with("\xc3\xa9~")), '"' + with("\xc3\xa9~") + '"') << at;
  }
}

}  // namespace sluice::json_writer_test
