#include "common/model/embedding.hpp"

#include <limits>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::embedding_test {

TEST(PackedEmbedding, IsLittleEndianAndComesBack) {
  const std::vector<float> values{1.0f, -0.5f, 0.0f, 3.4e38f};
  const std::string bytes = pack_embedding(values);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\0\0\x80\x3f\0\0\0\xbf", 8));
  EXPECT_EQ(unpack_embedding(bytes), values);
}

TEST(PackedEmbedding, OfNoDirectionIsNone) {
  const float infinite = std::numeric_limits<float>::infinity();
  const float none = std::numeric_limits<float>::quiet_NaN();
  for (const std::vector<float>& values : {std::vector<float>{}, {0.0f, -0.0f}, {1.0f, infinite}, {none}}) {
    EXPECT_FALSE(unpack_embedding(pack_embedding(values)));
  }
  EXPECT_FALSE(unpack_embedding("12345"));
}

}  // namespace sluice::embedding_test
