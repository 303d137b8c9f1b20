#include "coordinator/suite/documents/csv_rows.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// `line: [field][field]` for each row, and `line! message` for each error.
std::string rows_of(std::string_view text) {
  const CsvRows table = parse_csv(text);
  std::string shown;
  for (const CsvRow& row : table.rows) {
    shown += std::to_string(row.line) + ": ";
    for (const std::string& field : row.fields) shown += "[" + field + "]";
    shown += "\n";
  }
  for (const DocumentError& error : table.errors)
    shown += std::to_string(error.line) + "! " + error.message + "\n";
  return shown;
}

TEST(CsvRows, HoldWhatRfc4180Allows) {
  EXPECT_EQ(rows_of(""), "");
  EXPECT_EQ(rows_of("a"), "1: [a]\n");
  EXPECT_EQ(rows_of("a,b\nc,d\n"), "1: [a][b]\n2: [c][d]\n");
  EXPECT_EQ(rows_of("a,b\r\nc,d\r\n"), "1: [a][b]\n2: [c][d]\n");
  EXPECT_EQ(rows_of("\xef\xbb\xbf"
                    "a,\n"),
            "1: [a][]\n");
  EXPECT_EQ(rows_of(",\n"), "1: [][]\n");
  EXPECT_EQ(rows_of(R"("a,b","say ""x""","")"), "1: [a,b][say \"x\"][]\n");
  EXPECT_EQ(rows_of(" a , b\n"), "1: [ a ][ b]\n") << "blanks belong to a field";
}

TEST(CsvRows, KnowTheirLines) {
  EXPECT_EQ(rows_of("a\n\n\"x\r\ny\"\nb\n"), "1: [a]\n3: [x\ny]\n5: [b]\n");
}

// The whole table was its header.
TEST(CsvRows, MayEndInCarriageReturnsAlone) {
  EXPECT_EQ(rows_of("a,b\rc,d\r"), "1: [a][b]\n2: [c][d]\n");
  EXPECT_EQ(rows_of("a,b\rc,\"x\ry\"\r\re,f"), "1: [a][b]\n2: [c][x\ny]\n5: [e][f]\n");
  EXPECT_EQ(rows_of("a,b\rc,\"x\ny\"\re,f\r"), "1: [a][b]\n2: [c][x\ny]\n4: [e][f]\n");
  EXPECT_EQ(rows_of("a,b\nc\r,d\n"), "1: [a][b]\n2: [c\r][d]\n") << "where lines end in LF it is a character";
}

TEST(CsvRows, SayWhereAQuoteIsWrong) {
  EXPECT_EQ(
      rows_of("a\nb\"c\nd\n"),
      "1: [a]\n3: [d]\n2! a quote stands inside of a field that is not in quotes: put the whole field in "
      "quotes, and double those in it\n");
  EXPECT_EQ(rows_of("\"a\" b,c\nd,e\n"),
            "2: [d][e]\n1! after the quote that closes a field there is neither a comma nor the end of the "
            "line: a quote inside of a field is doubled\n");
  EXPECT_EQ(rows_of("a,b\nc,\"d\ne,f\n"),
            "1: [a][b]\n2! the quote that opens a field here is closed by nothing\n");
}

}  // namespace
}  // namespace sluice
