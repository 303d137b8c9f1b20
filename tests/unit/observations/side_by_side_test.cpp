#include "coordinator/observations/side_by_side.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/display/display.hpp"

#include <algorithm>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::side_by_side_test {

using Kind = LinePair::Kind;

/// `=a a`, `|a b`, `<a`, `>b`
std::string shown(const std::vector<LinePair>& pairs) {
  std::string text;
  for (const LinePair& pair : pairs) {
    const bool is_left = pair.kind != Kind::only_right;
    const bool is_right = pair.kind != Kind::only_left;
    text += pair.kind == Kind::same ? "=" : pair.kind == Kind::changed ? "|" : is_left ? "<" : ">";
    text += (is_left ? std::string(pair.left) : "") + (is_left && is_right ? " " : "") +
            (is_right ? std::string(pair.right) : "") + ";";
  }
  return text;
}

TEST(PairLines, WhatAgreesStandsInTheSameRow) {
  EXPECT_EQ(shown(pair_lines("", "")), "");
  EXPECT_EQ(shown(pair_lines("a\nb", "a\nb\n")), "=a a;=b b;");
  EXPECT_EQ(shown(pair_lines("a\nb\nc", "a\nx\nc")), "=a a;|b x;=c c;");
  EXPECT_EQ(shown(pair_lines("a\nb\nc", "a\nc")), "=a a;<b;=c c;");
  EXPECT_EQ(shown(pair_lines("b\nc", "a\nb\nx\nc")), ">a;=b b;>x;=c c;");
  EXPECT_EQ(shown(pair_lines("a", "")), "<a;");
  EXPECT_EQ(shown(pair_lines("one\ntwo\nsame", "1\nsame")), "|one 1;<two;=same same;");
}

TEST(PairLines, EveryLineOfBothIsThereInItsOrder) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937 random(seed);
    const auto text = [&] {
      std::string lines;
      for (unsigned n = random() % 12; n > 0; --n)
        lines += std::string(1, static_cast<char>('a' + random() % 4)) + "\n";
      return lines;
    };
    const std::string left = text();
    const std::string right = text();
    std::string from_left;
    std::string from_right;
    for (const LinePair& pair : pair_lines(left, right)) {
      EXPECT_EQ(pair.kind == Kind::same, pair.left == pair.right) << "seed " << seed;
      if (pair.kind != Kind::only_right) from_left += std::string(pair.left) + "\n";
      if (pair.kind != Kind::only_left) from_right += std::string(pair.right) + "\n";
    }
    EXPECT_EQ(from_left, left) << "seed " << seed;
    EXPECT_EQ(from_right, right) << "seed " << seed;
  }
}

TEST(PairLines, LongTextsThatShareLittleArePairedPlaceByPlace) {
  std::string left;
  std::string right;
  for (std::size_t i = 0; i * i <= defaults::max_line_pairs; ++i) {
    left += "l" + std::to_string(i) + "\n";
    right += "r" + std::to_string(i) + "\n";
  }
  for (const LinePair& pair : pair_lines(left, right)) ASSERT_EQ(pair.kind, Kind::changed);
}

TEST(SideBySide, WrapsEachSideInItsHalfOfTheColumns) {
  const std::string text = side_by_side("run a", "Paris is the capital of France", "run b", "London", 41);
  EXPECT_EQ(text,
            "  run a                run b\n"
            "  Paris is the       | London\n"
            "  capital of France\n");
  const std::string wide(500, 'w');
  for (const std::size_t columns : {40u, 80u, 200u}) {
    std::istringstream lines(side_by_side("a", wide + "\n文字文字文字", "b", "short\n" + wide, columns));
    for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), columns) << line;
  }
}

TEST(SideBySide, MarksWhatOneSideAloneHas) {
  EXPECT_EQ(side_by_side("a", "x\ny", "b", "y\nz", 41),
            "  a                    b\n"
            "  x                  <\n"
            "  y                    y\n"
            "                     > z\n");
}

TEST(SideBySide, LeavesOutLongStretchesThatAgree) {
  std::string lines;
  for (int i = 1; i <= 20; ++i) lines += "line " + std::to_string(i) + "\n";
  const std::string text = side_by_side("a", "old\n" + lines + "old\n", "b", "new\n" + lines + "new\n", 60);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1 + 1 + 3 + 1 + 3 + 1) << text;
  EXPECT_NE(text.find(" line 3\n  … 14 equal lines\n  line 18 "), std::string::npos) << text;
  EXPECT_EQ(side_by_side("a", lines + "old", "b", lines + "new", 60).find("line 17 "), std::string::npos);
  EXPECT_EQ(side_by_side("a", "old\n" + lines, "b", "new\n" + lines, 60).find("line 4 "), std::string::npos);
}

TEST(SideBySide, ForeignTextCannotMoveTheCursor) {
  const std::string text = side_by_side("a", "\x1b[2Jred\r", "b", "\x07", 60);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
}

}  // namespace sluice::side_by_side_test
