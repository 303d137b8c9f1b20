#include "coordinator/display/display.hpp"

#include "coordinator/display/text_table.hpp"
#include "coordinator/report/wording/wording.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(DisplayWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width(""), 0u);
  EXPECT_EQ(display_width("abc"), 3u);
  EXPECT_EQ(display_width("é"), 1u);
  EXPECT_EQ(display_width("e\u0301"), 1u);
  EXPECT_EQ(display_width("証明書"), 6u);
  EXPECT_EQ(display_width("한국"), 4u);
  EXPECT_EQ(display_width("ｆｕ"), 4u);
  EXPECT_EQ(display_width("🙂"), 2u);
  EXPECT_EQ(display_width("a\u200bb"), 2u);
  EXPECT_EQ(display_width("✓ ✗ ⚠ – │"), 9u);
  EXPECT_EQ(display_width("\xff\xc3"), 2u);
}

TEST(Display, TruncatesBetweenCharacters) {
  EXPECT_EQ(truncated_to("abcdef", 6), "abcdef");
  EXPECT_EQ(truncated_to("abcdef", 5), "abcd…");
  EXPECT_EQ(truncated_to("証明書", 5), "証明…");
  EXPECT_EQ(truncated_to("証明書", 4), "証…");
  EXPECT_EQ(truncated_to("e\u0301e\u0301e\u0301", 2), "e\u0301…");
  EXPECT_EQ(truncated_to("abc", 0), "");
}

TEST(Display, PadsByColumns) {
  EXPECT_EQ(padded_right("証", 4), "証  ");
  EXPECT_EQ(padded_left("1", 3), "  1");
  EXPECT_EQ(padded_left("1234", 3), "1234");
}

TEST(Display, WrapsAtSpacesAndBreaksLongWords) {
  using Lines = std::vector<std::string>;
  EXPECT_EQ(wrapped("", 5), (Lines{""}));
  EXPECT_EQ(wrapped("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped("one two three", 8), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped("abcdefgh ij", 4), (Lines{"abcd", "efgh", "ij"}));
  EXPECT_EQ(wrapped("  ab cdef", 5), (Lines{"  ab", "cdef"}));
  EXPECT_EQ(wrapped("証明書の", 5), (Lines{"証明", "書の"}));
  EXPECT_EQ(wrapped("証", 1), (Lines{"証"}));
  EXPECT_EQ(wrapped("証明", 1), (Lines{"証", "明"}));
  EXPECT_EQ(wrapped("ab    ", 3), (Lines{"ab"}));
}

// The terminal broke lines of the log within words.
TEST(Display, HangsWhatStandsBehindTheBeginningOfALine) {
  EXPECT_EQ(hanging("one two three four", 6, 14), "one two\n  three four")
      << "14 columns with what is before it";
  EXPECT_EQ(hanging("one two", 6, 13), "one two");
  EXPECT_EQ(hanging("one two", 6, 12), "one\n  two");
  EXPECT_EQ(hanging("abcdefghij k", 6, 10), "abcd\n  efghij k") << "a long word fills the line";
  EXPECT_EQ(hanging("one ::error::two", 6, 10), "one\n  \uFFFD:error:\n  :two");
  for (const char* text : {"", "one two"}) EXPECT_EQ(hanging(text, 6, 6), text);
  EXPECT_EQ(hanging("", 6, 10), "");
  EXPECT_EQ(hanging("          x", 6, 10), "\n  x");
}

TEST(Display, PrintableTakesControlAway) {
  EXPECT_EQ(printable("a\nb\tc"), "a b c");
  EXPECT_EQ(printable("\x1b[31m"), "\uFFFD[31m");
  EXPECT_EQ(printable("\u0085\u202e\xff"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(printable("é証"), "é証");
}

// `not found: "ab"` stood beside an answer that looked like "ab".
TEST(Display, PrintableShowsThatThereIsWhatNobodySees) {
  for (const char* unseen : {"\u200b", "\u00ad", "\u180e", "\u2060", "\u2065", "\ufeff", "\u200f", "\uffa0",
                             "\ufff9", "\ufe01", "\U000e0100", "\u180b", "\U0001bca0", "\U0001d173"})
    EXPECT_EQ(printable("a" + std::string(unseen) + "b"), "a\uFFFDb");
  EXPECT_EQ(printable("\u200ba\u200db"), "\uFFFDa\uFFFDb");
  EXPECT_EQ(printable("a\u201d\u200cb\u034fc\U000e0061d\u3164"), "a\u201d\uFFFDb\uFFFDc\uFFFDd\uFFFD");
  EXPECT_EQ(printable("\U0001f3f4\U000e0067\U000e007f"), "\U0001f3f4\U000e0067\U000e007f") << "a flag";
  EXPECT_EQ(printable("❤\ufe0f 1\ufe0f\u20e3 葛\U000e0100 ᠠ\u180b"),
            "❤\ufe0f 1\ufe0f\u20e3 葛\U000e0100 ᠠ\u180b")
      << "forms";
  EXPECT_EQ(printable("❤\ufe0f\ufe01\U000e0110"), "❤\ufe0f\uFFFD\uFFFD") << "a hidden text";
  EXPECT_EQ(printable("می\u200cخواهم क्\u200dष 👩\u200d💻 ❤\ufe0f\u200d🔥"),
            "می\u200cخواهم क्\u200dष 👩\u200d💻 ❤\ufe0f\u200d🔥")
      << "joiners that join";
  EXPECT_EQ(without_unseen("a\u200b\n\tb\u202e"), "a\uFFFD\n\tb\uFFFD");
}

TEST(TextTable, GivesUpWidthInOrder) {
  TextTable table;
  table.columns = {{.heading = "Category"},
                   {.heading = "Passed", .numeric = true},
                   {.heading = "Precision", .numeric = true, .droppable = true}};
  table.rows = {{"a very long category", "1", "0.50"}};
  EXPECT_EQ(drawn(table, 80),
            "╭──────────────────────┬────────┬───────────╮\n"
            "│ Category             │ Passed │ Precision │\n"
            "├──────────────────────┼────────┼───────────┤\n"
            "│ a very long category │      1 │      0.50 │\n"
            "╰──────────────────────┴────────┴───────────╯\n");
  EXPECT_NE(drawn(table, 35).find("│ a very lo… │      1 │      0.50 │\n"), std::string::npos);
  const std::string narrow = drawn(table, 20);
  EXPECT_NE(narrow.find("│ a very… │      1 │\n"), std::string::npos) << narrow;
  EXPECT_TRUE(
      narrow.ends_with("│ a v… │      0.50 │\n"
                       "╰──────┴───────────╯\n"))
      << "what has no room stands below: " << narrow;
}

TEST(TextTable, KeepsNamesWholeInOneTable) {
  TextTable table;
  table.whole_names = true;
  table.columns = {{.heading = "Arm"},
                   {.heading = "Passed", .numeric = true},
                   {.heading = "Tests needed", .numeric = true, .droppable = true}};
  table.rows = {{"gpt-5-mini/polite", "1", "50"}, {"gpt-5-mini/short", "2", "60"}};
  EXPECT_EQ(drawn(table, 40),
            "╭───────────────────┬────────┬────────╮\n"
            "│ Arm               │ Passed │  Tests │\n"
            "│                   │        │ needed │\n"
            "├───────────────────┼────────┼────────┤\n"
            "│ gpt-5-mini/polite │      1 │     50 │\n"
            "│ gpt-5-mini/short  │      2 │     60 │\n"
            "╰───────────────────┴────────┴────────╯\n")
      << "headings are broken first";
  EXPECT_EQ(drawn(table, 30),
            "╭────────┬──────────────╮\n"
            "│ Passed │ Tests needed │\n"
            "├────────┴──────────────┤\n"
            "│ gpt-5-mini/polite     │\n"
            "│      1 │           50 │\n"
            "│ gpt-5-mini/short      │\n"
            "│      2 │           60 │\n"
            "╰────────┴──────────────╯\n")
      << "then names go above";
}

// Two arms were both called "claude-haiku…": three long headings left no room for the names.
TEST(TextTable, KeepsNamesWholeWhereColumnsGo) {
  TextTable table;
  table.whole_names = true;
  table.columns = {{.heading = "Arm"},
                   {.heading = "semantic", .numeric = true},
                   {.heading = "faithfulness", .numeric = true, .droppable = true}};
  table.rows = {{"haiku-4-5/short", "1", "50"}, {"haiku-4-5/chat", "2", "60"}};
  EXPECT_EQ(drawn(table, 20),
            "╭─────────────────╮\n"
            "│        semantic │\n"
            "├─────────────────┤\n"
            "│ haiku-4-5/short │\n"
            "│               1 │\n"
            "│ haiku-4-5/chat  │\n"
            "│               2 │\n"
            "╰─────────────────╯\n"
            "╭─────────────────╮\n"
            "│    faithfulness │\n"
            "├─────────────────┤\n"
            "│ haiku-4-5/short │\n"
            "│              50 │\n"
            "│ haiku-4-5/chat  │\n"
            "│              60 │\n"
            "╰─────────────────╯\n");
}

// Cases of long names stood there with four characters, and beside them checks ran out of the terminal.
TEST(TextTable, CutsASecondKeyBeforeColumnsGo) {
  TextTable table;
  table.whole_names = true;
  table.keys = 2;
  table.columns = {{.heading = "Case"},
                   {.heading = "Metric"},
                   {.heading = "Score", .numeric = true},
                   {.heading = "Cause", .droppable = true}};
  table.rows = {{"checkout/refund-policy-01", "must_contain \"the capital of France\"", "failed", "broke"},
                {"checkout/refund-policy-01", "icontains \"x\"", "passed", ""},
                {"checkout/refund-policy-02", "icontains \"x\"", "failed", "broke"}};
  EXPECT_EQ(drawn(table, 46),
            "╭───────────────────────────┬────────┬───────╮\n"
            "│ Metric                    │  Score │ Cause │\n"
            "├───────────────────────────┴────────┴───────┤\n"
            "│ checkout/refund-policy-01                  │\n"
            "│ must_contain \"the capita… │ failed │ broke │\n"
            "│ icontains \"x\"             │ passed │       │\n"
            "│ checkout/refund-policy-02                  │\n"
            "│ icontains \"x\"             │ failed │ broke │\n"
            "╰───────────────────────────┴────────┴───────╯\n")
      << "a case stands once above its rows";
  EXPECT_EQ(drawn(table, 40),
            "╭─────────────────────────────┬────────╮\n"
            "│ Metric                      │  Score │\n"
            "├─────────────────────────────┴────────┤\n"
            "│ checkout/refund-policy-01            │\n"
            "│ must_contain \"the capital … │ failed │\n"
            "│ icontains \"x\"               │ passed │\n"
            "│ checkout/refund-policy-02            │\n"
            "│ icontains \"x\"               │ failed │\n"
            "╰─────────────────────────────┴────────╯\n"
            "╭──────────────────────────────┬───────╮\n"
            "│ Metric                       │ Cause │\n"
            "├──────────────────────────────┴───────┤\n"
            "│ checkout/refund-policy-01            │\n"
            "│ must_contain \"the capital o… │ broke │\n"
            "│ checkout/refund-policy-02            │\n"
            "│ icontains \"x\"                │ broke │\n"
            "╰──────────────────────────────┴───────╯\n")
      << "a second key is not cut below 24 where columns can go";
}

TEST(Wording, NumbersAsPeopleReadThem) {
  EXPECT_EQ(wording::grouped(0), "0");
  EXPECT_EQ(wording::grouped(999), "999");
  EXPECT_EQ(wording::grouped(1000), "1,000");
  EXPECT_EQ(wording::grouped(125430), "125,430");
  EXPECT_EQ(wording::grouped(1234567890), "1,234,567,890");
  EXPECT_EQ(wording::score(std::nullopt), "–");
  EXPECT_EQ(wording::score(0.866), "0.87");
  EXPECT_EQ(wording::in_percent(0.95), "95 %");
  EXPECT_EQ(wording::p_value(std::nullopt), "–");
  EXPECT_EQ(wording::p_value(0.031), "0.031");
  EXPECT_EQ(wording::dollars(0.12), "$0.12");
  EXPECT_EQ(wording::dollars(0.0), "$0.00");
  EXPECT_EQ(wording::dollars(0.0012), "$0.0012");
  EXPECT_EQ(wording::dollars(0.00001), "under $0.0001");
  EXPECT_EQ(wording::duration(0.25), "0.2 s");
  EXPECT_EQ(wording::duration(65.2), "1 min 05 s");
  EXPECT_EQ(wording::duration(3725), "1 h 02 min");
  EXPECT_EQ(wording::rfc3339(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(wording::rfc3339(1709251199999), "2024-02-29T23:59:59.999Z");
  EXPECT_EQ(wording::date(1709251199999), "2024-02-29 23:59:59 UTC");
}

// A confidence of 0.999 was `100 %` among arms and judges.
TEST(Numbers, NoConfidenceIsRoundedToCertainty) {
  EXPECT_EQ(wording::in_percent(0.975), "97.5 %");
  EXPECT_EQ(wording::in_percent(0.999), "99.9 %");
  EXPECT_EQ(wording::in_percent(0.99999), "99.999 %");
}

TEST(Numbers, OneOfOneIsTheOnlyOne) {
  EXPECT_EQ(wording::counted_of(1, 1, "case"), "the only case");
  EXPECT_EQ(wording::counted_of(0, 1, "case"), "0 of 1 case");
  EXPECT_EQ(wording::counted_of(1, 2, "case"), "1 of 2 cases");
  EXPECT_EQ(wording::counted_of(1000, 2000, "case"), "1,000 of 2,000 cases");
}

// A build server passes over the blanks before it.
TEST(Wrapped, NoLineIsACommandToABuildServer) {
  for (const std::string& line : wrapped("seven ::error::x ##[error] and aaaaaaaa::error", 8)) {
    EXPECT_FALSE(line.starts_with("::")) << line;
    EXPECT_EQ(line.find("##["), std::string::npos) << line;
  }
  EXPECT_EQ(wrapped("a ::b", 8), std::vector<std::string>{"a ::b"});
}

TEST(TextTable, AColourEndsWithItsCellAndTakesNoRoom) {
  TextTable table;
  table.columns = {{"Case"}, {"Score", true}, {"Cause", false, true}};
  table.rows = {{"a", "failed", "broke"}, {"b", "passed", ""}};
  const std::string plain = drawn(table, 80);
  table.colours = {{"", "\x1b[31m", ""}, {"", "\x1b[32m", ""}};
  const std::string coloured = drawn(table, 80);
  EXPECT_NE(coloured.find("│ \x1b[31mfailed\x1b[0m │"), std::string::npos) << coloured;
  std::string without;
  for (std::size_t i = 0; i < coloured.size(); ++i) {
    if (coloured[i] == '\x1b') i = coloured.find('m', i) + 1;
    without += coloured[i];
  }
  EXPECT_EQ(without, plain);
  table.colours = {{"", "", "\x1b[31m"}, {"", "", ""}};
  EXPECT_NE(drawn(table, 22).find("\x1b[31mbroke"), std::string::npos) << "in the table below as well";
}

}  // namespace
}  // namespace sluice
