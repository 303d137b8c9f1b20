#include "coordinator/score_files/json_source.hpp"

#include <istream>
#include <iterator>
#include <sstream>

#include <gtest/gtest.h>

namespace sluice {
namespace {

struct Passed {
  std::string text;
  JsonSource::End end = JsonSource::End::none;
  std::uint32_t line = 0;
};

Passed pass(const std::string& text, JsonSource::Limits limits) {
  std::istringstream stream(text);
  JsonSource source(stream, limits);
  std::istream counted(&source);
  const std::string out((std::istreambuf_iterator<char>(counted)), std::istreambuf_iterator<char>());
  return {out, source.end(), source.line()};
}

TEST(JsonSource, PassesOnWhatKeepsTheLimits) {
  const std::string text(200'000, '\n');
  const Passed whole = pass(text, {.text_bytes = 200'000});
  EXPECT_EQ(whole.text, text);
  EXPECT_EQ(whole.end, JsonSource::End::whole);
  EXPECT_EQ(whole.line, 200'000u);  // Of the last byte.
}

TEST(JsonSource, EndsATextThatIsTooLong) {
  const Passed cut = pass(std::string(200'000, ' '), {.text_bytes = 199'999});
  EXPECT_EQ(cut.text.size(), 199'999u);
  EXPECT_EQ(cut.end, JsonSource::End::text_too_long);
}

TEST(JsonSource, EndsAPieceThatIsTooLong) {
  const JsonSource::Limits limits{.piece_bytes = 5};
  for (const std::string text : {"\"ab\":12:\"\\\"\":-1.e5", "", "\"\"\"\"\"\"\"\""}) {
    EXPECT_EQ(pass(text, limits).end, JsonSource::End::whole) << text;
  }
  for (const std::string text :
       {"\"abcdef\"", "\"a\\\"bcde\"", "123456", "12\n\n\n\n", "[[[[[[", "true,true", "1e5e5e5"}) {
    EXPECT_EQ(pass(text, limits).end, JsonSource::End::piece_too_long) << text;
  }
}

}  // namespace
}  // namespace sluice
