// A document with one of each block, and what its writers make of it.
#include "coordinator/report/document.hpp"

#include "coordinator/report/writers/markdown_writer.hpp"
#include "coordinator/report/writers/table_writer.hpp"
#include "tests/unit/report/golden.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

using namespace document;

const Rest and_more = [](std::uint64_t count) { return "and " + std::to_string(count) + " more"; };

Document sample_document() {
  Document document{
      .title = "A title",
      .facts = {{.text = "r1", .label = "Run ID"}, {.text = "on <two> lines"}},
      .verdict = {"✗ FAIL", "it has `markup` in *it*, and goes on for longer than a line", Tone::bad}};
  document.sections.push_back({.heading = "Summary",
                               .rank = Rank::scores,
                               .before_verdict = true,
                               .blocks = {Paragraph{"A paragraph", Tone::quiet}}});
  Table table{.columns = {column("Name"), number("Score"), spare_number("Spare")},
              .rows = {{{words("a|b"), "0.10", "1"}},
                       {{Cell("long words", "short"), "0.20", "2"}},
                       {{"", "0.30", "3"}, 1, true},
                       {{"left out of what has little room", "0.40", "4"}}},
              .share = {.most_bytes = 60, .rest = and_more}};
  document.sections.push_back(
      {.heading = "Background", .count = 4, .rank = Rank::background, .blocks = {table}});
  document.sections.push_back({.heading = "Nothing to say", .rank = Rank::cases});
  Entries entries{
      .items = {{{strong("case-1"), words(": its name")},
                 {{"expected", Tone::good, "Expected"}, {.text = code("x"), .label = "Got", .level = 1}}},
                {strong("case-2"), {{"a note without a label"}}},
                {strong("case-3"), {{"a note without a label"}}}},
      .share = {.most_bytes = 100, .rest = and_more}};
  document.sections.push_back({.heading = "Failures", .count = 3, .rank = Rank::cases, .blocks = {entries}});
  Notes notes{.items = {{"first"}, {.text = "below it", .level = 1}},
              .share = {.left_out = 2, .rest = and_more}};
  document.sections.push_back(
      {.rank = Rank::outcome, .blocks = {notes, Fold{.summary = "Folded", .count = 1, .blocks = {notes}}}});
  return document;
}

std::string table_of(const Document& document, const TableStyle& style) {
  StringSink sink;
  write_table(document, style, sink);
  return sink.text();
}

// In a pipe the verdict's end stood on a line of its own.
TEST(Document, TheLastVerdictIsOneLineWhereNoTerminalIs) {
  const std::string words = "✗ FAIL: 12 passed, 4 known failures, 2 warned, 10 failed, 0 errors";
  Document document;
  document.sections.push_back({.blocks = {Notes{.items = {{words}, {.text = words, .is_outcome = true}}}}});
  EXPECT_EQ(table_of(document, {.columns = 60, .is_terminal = false}),
            "✗ FAIL: 12 passed, 4 known failures, 2 warned, 10 failed, 0\nerrors\n" + words + "\n");
  EXPECT_FALSE(table_of(document, {.columns = 60}).ends_with(words + "\n"));
  document.sections = {{.blocks = {Notes{.items = {{.text = "::error::forged", .is_outcome = true}}}}}};
  EXPECT_FALSE(table_of(document, {.columns = 60, .is_terminal = false}).starts_with("::error"));
}

TEST(Document, ALabelThatIsWiderThanItsColumnKeepsItsBlank) {
  Document document;
  document.sections.push_back({.blocks = {Entries{.items = {{"case-1",
                                                             {{.text = "x", .label = "Expected (broke)"},
                                                              {.text = "y", .label = "Got"}}}}}}});
  const std::string table = table_of(document, {.columns = 60});
  EXPECT_NE(table.find("Expected (broke): x\n"), std::string::npos) << table;
  EXPECT_NE(table.find("Got:        y\n"), std::string::npos) << table;
}

TEST(Document, EveryBlockStandsOnAPage) {
  expect_golden("document_table.txt", table_of(sample_document(), {.columns = 60, .colour = true}));
  const std::string wide = table_of(sample_document(), {.columns = 80});
  EXPECT_NE(wide.find("│ long words"), std::string::npos) << wide;
}

TEST(Document, EveryBlockStandsInACommentByItsRank) {
  StringSink sink;
  write_markdown(sample_document(), {}, sink);
  expect_golden("document.md", sink.text());
}

// Runs beside one another stand under the names of their files.
TEST(Document, ForeignTextInAHeadingOfATableIsEscaped) {
  const Document document{.sections = {{.blocks = {Table{.columns = {column("a|b<c>"), number("d\x1b[2Je")},
                                                         .rows = {{{words("1"), "2"}}}}}}}};
  StringSink comment;
  write_markdown(document, {}, comment);
  EXPECT_NE(comment.text().find("| a\\|b&lt;c&gt; | "), std::string::npos) << comment.text();
  for (const std::string& text : {comment.text(), table_of(document, {.columns = 80})})
    EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
}

// An answer that fails by a line end looked like the text that was expected.
TEST(Document, LineEndsInCodeAreSigns) {
  EXPECT_EQ(with_line_signs("a b\tc"), "a b\tc");
  EXPECT_EQ(with_line_signs("Paris\n\nLima\r\n"), "Paris⏎⏎ Lima␍⏎");
  const Document document{
      .sections = {{.blocks = {Notes{.items = {{code("Paris\nLima\n")}, {words("of\nus")}}}}}}};
  EXPECT_EQ(table_of(document, {.columns = 80}), "Paris⏎ Lima⏎\nof us\n");
  StringSink comment;
  write_markdown(document, {}, comment);
  EXPECT_NE(comment.text().find("`Paris⏎ Lima⏎`"), std::string::npos) << comment.text();
}

}  // namespace
}  // namespace sluice
