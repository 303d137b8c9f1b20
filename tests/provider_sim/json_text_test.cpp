#include "tests/provider_sim/json_text.hpp"

#include "tests/provider_sim/json_cursor.hpp"

#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::sim {
namespace {

/// The string of a JSON text, read by the cursor; checks that the announced size is the real one.
std::string read(const std::string& json) {
  JsonCursor cursor(json);
  JsonString string;
  EXPECT_TRUE(cursor.string(string)) << json;
  EXPECT_EQ(cursor.peek(), '\0') << json;
  std::string out;
  append_unescaped(out, string);
  EXPECT_EQ(out.size(), string.size) << json;
  return out;
}

TEST(JsonText, UnescapesAsAReferenceParserDoes) {
  for (const char* json : {R"("")", R"("plain")", R"("a\nb\tc\r\b\f\/\\\"")", R"("\u0041\u00e9\u4e16")",
                           R"("\ud83c\udf26 rain")", "\"\xC3\xA9\xE4\xB8\x96\""}) {
    EXPECT_EQ(read(json), nlohmann::json::parse(json).get<std::string>()) << json;
  }
}

TEST(JsonText, EscapesEveryByteSoThatItReadsBack) {
  std::string text;
  for (int c = 0; c < 128; ++c) text.push_back(static_cast<char>(c));
  text += "\xE4\xB8\x96";
  std::string json = "\"";
  append_escaped(json, text);
  json += '"';
  EXPECT_EQ(nlohmann::json::parse(json).get<std::string>(), text);
  EXPECT_EQ(read(json), text);
}

TEST(JsonText, ALoneSurrogateIsReplaced) {
  JsonCursor cursor(R"("a\ud800b")");
  JsonString string;
  ASSERT_TRUE(cursor.string(string));
  std::string out;
  append_unescaped(out, string);
  EXPECT_EQ(out,
            "a\xEF\xBF\xBD"
            "b");
}

TEST(JsonCursor, WalksAndSkips) {
  JsonCursor cursor(R"( {"a": [1, {"b": "]}\""}, null], "n": 42.9e0 , "flag" : true, "s": "x"} )");
  std::uint64_t number = 0;
  bool flag = false;
  JsonString string;
  EXPECT_TRUE(cursor.members([&](std::string_view key) {
    if (key == "n") return cursor.count(number);
    if (key == "flag") return cursor.boolean(flag);
    return key == "s" ? cursor.string(string) : cursor.skip();
  }));
  EXPECT_EQ(cursor.peek(), '\0');
  EXPECT_EQ(number, 42u);
  EXPECT_TRUE(flag);
  EXPECT_EQ(string.raw, "x");
}

TEST(JsonCursor, StopsAtWhatIsNoJson) {
  for (const char* text : {"", "{", R"({"a")", R"({"a":})", R"({"a":1)", R"({"a":"x)", R"({"a":"\)",
                           R"({"a":[1,2})", R"({"a":"\u12)", R"([1])", R"({"a":1,})"}) {
    JsonCursor cursor(text);
    EXPECT_FALSE(cursor.members([&](std::string_view) { return cursor.skip(); })) << text;
  }
}

}  // namespace
}  // namespace sluice::sim
