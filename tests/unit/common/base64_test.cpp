#include "common/text/base64.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Base64, HasTheVectorsOfTheStandard) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foo"), "Zm9v");
  EXPECT_EQ(to_base64("foob"), "Zm9vYg==");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(to_base64(std::string("\xff\xfe\x00", 3)), "//4A");
}

}  // namespace
}  // namespace sluice
