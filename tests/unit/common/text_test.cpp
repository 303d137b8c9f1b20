#include "common/text/text.hpp"

#include <array>

#include <gtest/gtest.h>

namespace sluice {
namespace {

struct Utf8Case {
  const char* what;
  std::string text;
  std::optional<std::size_t> invalid_at;
};

TEST(Text, FindsTheFirstByteThatIsNotUtf8) {
  const std::vector<Utf8Case> cases{
      {"empty", "", std::nullopt},
      {"ASCII with NUL", std::string("a\0b", 3), std::nullopt},
      {"first and last of two bytes", "\xC2\x80\xDF\xBF", std::nullopt},
      {"first and last of three bytes", "\xE0\xA0\x80\xEF\xBF\xBF", std::nullopt},
      {"neighbours of the surrogates", "\xED\x9F\xBF\xEE\x80\x80", std::nullopt},
      {"first and last of four bytes", "\xF0\x90\x80\x80\xF4\x8F\xBF\xBF", std::nullopt},
      {"continuation alone", "ab\x80", 2},
      {"overlong, two bytes", "\xC0\xAF", 0},
      {"overlong, two bytes, last", "\xC1\xBF", 0},
      {"overlong, three bytes", "a\xE0\x9F\xBF", 1},
      {"overlong, four bytes", "\xF0\x8F\xBF\xBF", 0},
      {"first surrogate", "\xED\xA0\x80", 0},
      {"last surrogate", "\xED\xBF\xBF", 0},
      {"beyond U+10FFFF", "\xF4\x90\x80\x80", 0},
      {"no such lead byte", "\xF5\x80\x80\x80", 0},
      {"0xFF", "x\xFF", 1},
      {"cut off after one of two", "a\xC3", 1},
      {"cut off after two of three", "a\xE2\x82", 1},
      {"cut off after three of four", "a\xF0\x9F\x98", 1},
      {"a letter in the middle", "\xE2\x82z", 0},
      {"valid before the fault", "\xE2\x82\xAC\xC3\xA9\x80", 5},
  };
  for (const auto& one : cases) {
    EXPECT_EQ(invalid_utf8_at(one.text), one.invalid_at) << one.what;
    EXPECT_EQ(to_valid_utf8(one.text) == one.text, !one.invalid_at) << one.what;
    EXPECT_EQ(invalid_utf8_at(to_valid_utf8(one.text)), std::nullopt) << one.what;
  }
}

TEST(Text, KnowsBytesThatGoOnWithACharacter) {
  for (const char byte : std::string_view("a\x7F\xC3\xE2\xF0\xFF\0", 7)) EXPECT_FALSE(continues_utf8(byte));
  for (const char byte : std::string_view("\x80\xA9\xBF")) EXPECT_TRUE(continues_utf8(byte));
}

TEST(Text, LowersAsciiAlone) {
  EXPECT_EQ(to_lower("@AZ[ az\xC3\x84"), "@az[ az\xC3\x84");
}

TEST(Text, ReplacesEachInvalidByte) {
  EXPECT_EQ(to_valid_utf8("a\xC3z\xFF"), "a\xEF\xBF\xBDz\xEF\xBF\xBD");
  EXPECT_EQ(to_valid_utf8("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(Text, EditDistanceCountsInsertionsDeletionsAndSubstitutions) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("sitting", "kitten"), 3u);
  EXPECT_EQ(edit_distance("flaw", "lawn"), 2u);
  EXPECT_EQ(edit_distance("same", "same"), 0u);
}

TEST(Text, SuggestsOnlyWhatIsNear) {
  constexpr std::array<std::string_view, 3> keys{"model", "mode", "provider"};
  EXPECT_EQ(nearest("mxdxl", keys), std::nullopt) << "two slips are more than a third of five letters";
  EXPECT_EQ(nearest("modle", keys), "model") << "two neighbours that are swapped are one slip";
  EXPECT_EQ(nearest("modl", keys), "model") << "of two that are equally near the first";
  EXPECT_EQ(nearest("provdier", keys), "provider");
  EXPECT_EQ(nearest("mode", keys), "mode");
  EXPECT_EQ(nearest("mdoe", keys), "mode") << "one slip is within a third of four letters";
  EXPECT_EQ(nearest("mdeo", keys), std::nullopt) << "three letters that went round are more";
  EXPECT_EQ(nearest("omed", keys), std::nullopt) << "two swaps are more";
  EXPECT_EQ(nearest("temperature", keys), std::nullopt);
  EXPECT_EQ(nearest("x", {}), std::nullopt);
  constexpr std::array<std::string_view, 1> letter{"h"};
  EXPECT_EQ(nearest("", letter), std::nullopt) << "no word is like none";
  const std::string longest(256, 'a');
  const std::array<std::string_view, 1> nearly{std::string_view(longest).substr(1)};
  EXPECT_EQ(nearest(longest, nearly), nearly.front());
  EXPECT_EQ(did_you_mean("providr", keys), "; did you mean \"provider\"?");
  EXPECT_EQ(did_you_mean("zzz", keys), "");
}

// Names of 60 KB took eleven seconds, and of a megabyte the better part of an hour.
TEST(Text, NothingIsNearToAWordThatNobodyWouldWrite) {
  const std::string word(8u << 20, 'a');
  const std::string other = word + "b";
  const std::array<std::string_view, 1> candidates{other};
  EXPECT_EQ(nearest(word, candidates), std::nullopt);
}

TEST(Text, PartsOfAListStandBetweenCommasWithoutBlanks) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(comma_parts("a"), Parts{"a"});
  EXPECT_EQ(comma_parts(" a b,\tc , d"), (Parts{"a b", "c", "d"}));
  EXPECT_EQ(comma_parts(""), Parts{""});
  EXPECT_EQ(comma_parts(" , "), (Parts{"", ""}));
  EXPECT_EQ(comma_parts("a,"), (Parts{"a", ""}));
}

TEST(Text, ShortestFormReadsBack) {
  EXPECT_EQ(shortest(1.0), "1");
  EXPECT_EQ(shortest(0.1), "0.1");
  EXPECT_EQ(shortest(-2.5), "-2.5");
  for (const double value : {1.0 / 3.0, 1e300, 2.2250738585072014e-308, 123456789.123456789}) {
    EXPECT_EQ(std::stod(shortest(value)), value);
  }
}

TEST(Text, DigitsHaveNoExponent) {
  EXPECT_EQ(in_digits(4096.0), "4096");
  EXPECT_EQ(in_digits(-0.5), "-0.5");
  EXPECT_EQ(in_digits(4e15), "4000000000000000");
  EXPECT_EQ(in_digits(-1.7976931348623157e308).size(), 310u);
  EXPECT_EQ(std::stod(in_digits(2.2250738585072014e-308)), 2.2250738585072014e-308);
}

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

// Long texts are looked at eight bytes at a time, short ones byte by byte.
TEST(Text, EscapesEveryByteAtEveryPlaceOfALongText) {
  const std::string plain = "a word of plain text";
  for (int c = 0; c < 256; ++c) {
    const std::string one(1, static_cast<char>(c));
    const std::string escaped = json_string(one).substr(1, json_string(one).size() - 2);
    for (std::size_t at = 0; at <= plain.size(); ++at) {
      for (const std::size_t times : {1u, 2u}) {
        std::string text = plain;
        std::string expected = plain;
        for (std::size_t i = 0; i < times; ++i) {
          text.insert(at, one);
          expected.insert(at, escaped);
        }
        EXPECT_EQ(json_string(text), '"' + expected + '"') << "byte " << c << " at " << at;
      }
    }
  }
}

TEST(Text, WritesJsonStrings) {
  EXPECT_EQ(json_string(""), R"("")");
  EXPECT_EQ(json_string("plain"), R"("plain")");
  EXPECT_EQ(json_string("a\"b\\c/d"), R"("a\"b\\c/d")");
  EXPECT_EQ(json_string("\n\r\t"), R"("\n\r\t")");
  EXPECT_EQ(json_string(std::string("\0\b\x1f\x7f", 4)), "\"\\u0000\\u0008\\u001f\x7f\"");
  EXPECT_EQ(json_string("\xE2\x82\xAC\xF0\x9F\x98\x80"), "\"\xE2\x82\xAC\xF0\x9F\x98\x80\"");
  EXPECT_EQ(json_string("a\xFF\xFE z"), "\"a\xEF\xBF\xBD\xEF\xBF\xBD z\"");
  EXPECT_EQ(json_string("cut \xE2\x82"), "\"cut \xEF\xBF\xBD\xEF\xBF\xBD\"");
  std::string appended = "x=";
  append_json_string(appended, "y");
  EXPECT_EQ(appended, "x=\"y\"") << "what stood there before is kept";
}

TEST(Text, PlainAsciiHasNoByteThatASecondLookIsWorth) {
  EXPECT_TRUE(is_plain_ascii(""));
  std::string every;
  for (int c = 0; c < 0x7f; ++c) every += static_cast<char>(c);
  EXPECT_TRUE(is_plain_ascii(every));
  for (std::size_t at = 0; at < every.size(); ++at) {
    for (const int c : {0x7f, 0x80, 0xc2, 0xe2, 0xff}) {
      std::string one = every;
      one[at] = static_cast<char>(c);
      EXPECT_FALSE(is_plain_ascii(one)) << c << " at " << at;
    }
  }
}

// Long runs of plain characters are skipped in blocks: what is special must be seen wherever in a block it
// stands.
TEST(Text, SeesWhatIsSpecialAnywhereInALongText) {
  const std::vector<std::pair<std::string, std::string>> specials{{"\"", "\\\""},
                                                                  {"\\", "\\\\"},
                                                                  {"\x1f", "\\u001f"},
                                                                  {"\xC3\xA9", "\xC3\xA9"},
                                                                  {"\xFF", "\xEF\xBF\xBD"}};
  for (const auto& [special, escaped] : specials) {
    for (std::size_t before = 0; before < 40; ++before) {
      for (const std::size_t after : {0, 1, 15, 16, 17, 40}) {
        const auto text = std::string(before, 'a') + special + std::string(after, '~');
        EXPECT_EQ(json_string(text),
                  '"' + std::string(before, 'a') + escaped + std::string(after, '~') + '"');
        EXPECT_EQ(json_string(text + special),
                  '"' + std::string(before, 'a') + escaped + std::string(after, '~') + escaped + '"');
        const auto invalid_at = special == "\xFF" ? std::optional(before) : std::nullopt;
        EXPECT_EQ(invalid_utf8_at(text), invalid_at) << before << " before and " << after << " after";
      }
    }
  }
}

// Long plain stretches are skipped in blocks: what is special must be found wherever it stands in them.
TEST(Text, FindsWhatIsSpecialAtEveryPlace) {
  for (std::size_t size = 1; size < 40; ++size) {
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'x');
      EXPECT_EQ(invalid_utf8_at(text), std::nullopt);
      EXPECT_EQ(json_string(text), '"' + text + '"');
      const auto before = text.substr(0, at);
      const auto after = text.substr(at + 1);
      for (const auto* special : {"\"", "\\", "\x1f", "\xFF", "\xE2\x82\xAC"}) {
        const auto mixed = before + special + after;
        const bool invalid = std::string_view(special) == "\xFF";
        EXPECT_EQ(invalid_utf8_at(mixed), invalid ? std::optional(at) : std::nullopt);
        const auto alone = json_string(special);
        EXPECT_EQ(json_string(mixed), '"' + before + alone.substr(1, alone.size() - 2) + after + '"');
      }
    }
  }
}

TEST(Text, ExcerptsAreCutBetweenCharacters) {
  EXPECT_EQ(excerpt("short", 5), "short");
  EXPECT_EQ(excerpt("longer", 5), "longe...");
  EXPECT_EQ(excerpt("ab\xE2\x82\xAC", 5), "ab\xE2\x82\xAC");
  EXPECT_EQ(excerpt("ab\xE2\x82\xAC!", 4), "ab...");
  EXPECT_EQ(excerpt("ab\xE2\x82\xAC!", 3), "ab...");
  EXPECT_EQ(excerpt("\xE2\x82\xAC", 1), "...");
  EXPECT_EQ(excerpt("\x80\x80\x80", 2), "...") << "continuation bytes alone";
  EXPECT_EQ(excerpt("abc", 0), "...");
}

TEST(OneLine, ForeignTextIsALineThatATerminalTakesAsItStands) {
  EXPECT_EQ(one_line("a\r\n\t b"), "a b");
  EXPECT_EQ(one_line(" \x1b[0m \x7f"), "[0m");
  EXPECT_EQ(one_line("a\u0085\u009bb"), "a b") << "C1";
  EXPECT_EQ(one_line("a\u061c\u200e\u200f\u202a\u202e\u2066\u2069b\u2028c\u2029"), "a b c");
  EXPECT_EQ(one_line("\u00a0\u0600\u200b\u2030\u2065\u206a\u00e9"),
            "\u00a0\u0600\u200b\u2030\u2065\u206a\u00e9");
  EXPECT_EQ(one_line("\xe2\x80"), "\xe2\x80") << "the end of the text is no character";
}

// `did the program ask why?; icontains: ...`
TEST(Text, WordsThatEndASentenceArePartedByABlank) {
  EXPECT_EQ(clause_separator("it is so"), "; ");
  EXPECT_EQ(clause_separator("it is \"why?\""), "; ");
  for (const char* sentence : {"why?", "so!", "so.", "cut..."}) EXPECT_EQ(clause_separator(sentence), " ");
}

}  // namespace
}  // namespace sluice
