#include "coordinator/perturb/perturbation.hpp"

#include "tests/unit/perturb/perturb_outcome.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

struct Example {
  std::string_view language;
  std::string_view text;
  std::string_view expected;  ///< The changed text, "=" for none, or "?" and the reason why it is skipped.
};

void expect_outcomes(std::string_view name, const std::vector<Example>& examples) {
  for (const auto& example : examples) {
    EXPECT_EQ(outcome(name, example.language, example.text), example.expected)
        << example.language << ": " << testing::PrintToString(example.text);
  }
}

TEST(Perturbations, AreFoundByName) {
  for (const auto& perturbation : perturbations()) {
    EXPECT_EQ(perturbation_named(perturbation.name).value(), &perturbation);
    EXPECT_GE(perturbation.version, 1u);
  }
  const auto unknown = perturbation_named("comment-removed");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().reason, Reason::usage_invalid);
  EXPECT_EQ(
      unknown.error().message,
      "there is no perturbation \"comment-removed\"; did you mean \"comments-removed\"? (there are all, "
      "trailing-whitespace, tabs-to-spaces, spaces-to-tabs, comment-on-top, comments-removed, crlf, "
      "blank-lines, final-newline, double-spaces, typos, lowercase-start, final-stop, curly-apostrophes)");
  const auto swapped = perturbation_named("crfl");
  ASSERT_FALSE(swapped);
  EXPECT_TRUE(swapped.error().message.starts_with(
      "there is no perturbation \"crfl\"; did you mean \"crlf\"? (there are all, "))
      << swapped.error().message;
}

TEST(Perturbations, AreFoundByLists) {
  EXPECT_EQ(perturbations_named("all").value().size(), perturbations().size());
  const auto two = perturbations_named("crlf,tabs-to-spaces,crlf").value();
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0]->name, "tabs-to-spaces");
  EXPECT_EQ(two[1]->name, "crlf");
  EXPECT_FALSE(perturbations_named(""));
  EXPECT_FALSE(perturbations_named("crlf,"));
  EXPECT_FALSE(perturbations_named("crlf, blank-lines"));
}

TEST(Perturbations, TrailingWhitespace) {
  expect_outcomes("trailing-whitespace",
                  {
                      {"python", "a\n\nb", "a  \n  \nb"},
                      {"python", "a = \\\n  1\ns = '''x\ny'''\n", "a = \\\n  1  \ns = '''x\ny'''  \n"},
                      {"python", "a  # b\r\n", "a  # b  \r\n"},
                      {"c", "#define A \\\n  1 // b \\\n c\n/* d\n */\n",
                       "#define A \\\n  1 // b \\\n c  \n/* d  \n */  \n"},
                      {"javascript", "a = `b\nc ${d}\n`\n", "a = `b\nc ${d}\n`  \n"},
                      {"rust", "/// a\n// b\nc\n", "/// a\n// b  \nc  \n"},
                      {"go", "a := `b\nc`\n", "a := `b\nc`  \n"},
                      {"makefile", "a\n", "?a variable keeps the blanks at the end of its line"},
                      {"c", "", "="},
                  });
}

TEST(Perturbations, TabsToSpaces) {
  expect_outcomes("tabs-to-spaces",
                  {
                      {"python", "if a:\n\tif b:\n\t    c\td\n", "if a:\n        if b:\n            c   d\n"},
                      {"python", "if a:\n\tb\n\f\tc\n", "if a:\n        b\n\f        c\n"},
                      {"go", "\ta\t// b\tc\n", "    a   // b    c\n"},
                      {"go", "a := `\t` + \"\t\"\t\n", "a := `\t` + \"\t\"   \n"},
                      {"java", "\xC3\xA9\tb", "\xC3\xA9   b"},
                      {"makefile", "a:\n\tb\n", "?a tab begins each line of a recipe"},
                      {"cobol", "a b\n", "="},
                  });
}

TEST(Perturbations, SpacesToTabs) {
  expect_outcomes(
      "spaces-to-tabs",
      {
          {"python", "if a:\n    if b:\n        c(1,\n          2)\n",
           "if a:\n\tif b:\n\t\tc(1,\n\t\t  2)\n"},
          {"python", "if a:\n  b = '''\n  c'''\n  # d\n", "if a:\n\tb = '''\n  c'''\n\t# d\n"},
          {"python", "if a:\n  b\nif c:\n   d\n", "?its indentation has no common step"},
          {"python", "if a:\n    b\nif c:\n\td\n", "?line 4 is already indented by tabs"},
          {"python", "a\nb\n", "="},
          {"java", "class A {\n    int a;\n     int b;\n}\n", "class A {\n\tint a;\n\t int b;\n}\n"},
          {"c", "/*\n  a */\n  b\n", "/*\n  a */\n\tb\n"},
          {"javascript", "a = `\n  b`\n", "="},
          {"makefile", "a\n", "?a line that begins with a tab is a recipe's"},
      });
}

TEST(Perturbations, CommentOnTop) {
  expect_outcomes(
      "comment-on-top",
      {
          {"python", "a\n", "# This file is part of the project.\na\n"},
          {"python", "", "# This file is part of the project.\n"},
          {"python", "#!/bin/python\n# coding: utf-8\na\n",
           "#!/bin/python\n# coding: utf-8\n# This file is part of the project.\na\n"},
          {"python", "#\n# coding: utf-8\n", "#\n# coding: utf-8\n# This file is part of the project.\n"},
          {"python", "\f\n\f# coding: utf-8\n",
           "\f\n\f# coding: utf-8\n# This file is part of the project.\n"},
          {"python",
           "\xEF\xBB\xBF"
           "a\r\n",
           "\xEF\xBB\xBF# This file is part of the project.\r\na\r\n"},
          {"javascript", "#!/usr/bin/node", "#!/usr/bin/node\n// This file is part of the project.\n"},
          {"rust", "//! a\n#![b]\n", "// This file is part of the project.\n//! a\n#![b]\n"},
          {"go", "//go:build a\n\npackage b\n",
           "// This file is part of the project.\n\n//go:build a\n\npackage b\n"},
          {"c", "a;", "/* This file is part of the project. */\na;"},
          {"c++", "a;", "// This file is part of the project.\na;"},
          {"json", "{}", "?JSON has no comments"},
          {"ruby", "a", "?sluice does not know the comments and strings of \"ruby\""},
          {"", "a",
           "?it changes source code, and this text counts as prose; code is known by the \"language\" of a "
           "fixture, or by the ending of a prompt's own file"},
      });
}

TEST(Perturbations, CommentsRemoved) {
  expect_outcomes(
      "comments-removed",
      {
          {"python", "#!/bin/sh\n# a\nb  # c\n\n  # d\ne\n", "#!/bin/sh\nb\n\ne\n"},
          {"python", "s = '# a'\n", "="},
          {"python", "# a", ""},
          {"javascript", "return /* a\n */ b /* c */ + d // e\n", "return\n b   + d\n"},
          {"javascript", "/* a */\n/* b\n */\nc\n", "c\n"},
          {"go", "//go:embed a\n// b\nvar c = 1 /* d */ + 2\n", "//go:embed a\nvar c = 1   + 2\n"},
          {"go", "// a\n\n// b\n// Output: c\n", "="},
          {"go", "a /* b\n */\nc /* d\n */ e\n", "a\nc\n e\n"},
          {"rust", "/// a\nfn b(/* c */) {} // d\n", "/// a\nfn b( ) {}\n"},
          {"java", "int/* a\n */b;\n", "int b;\n"},
          {"c", "#define A 1 /* b\n */ + 2\n// c \\\n d\ne\n", "#define A 1   + 2\ne\n"},
          {"c", "#define A \\\n  // b\nc\n", "#define A \\\n\nc\n"},
          {"makefile", "A = b # c\n# d\nt:\n\te # f\n", "A = b \nt:\n\te # f\n"},
          {"makefile", "export define A\n# b\nc\nendef\n", "="},
          {"toml", "a = '#' # b\r\n# c\r\n", "a = '#'\r\n"},
          {"json", "{}", "="},
          {"java", "// a\n#!b\n",
           "?what stands behind the first comment means something else at the beginning"},
          {"go", "a\n/* b", "?line 2: a comment is not closed"},
      });
}

TEST(Perturbations, Crlf) {
  expect_outcomes(
      "crlf",
      {
          {"python", "a\nb", "a\r\nb"},
          {"python", "a\r\nb\n", "a\r\nb\r\n"},
          {"python", "a\r\n", "="},
          {"python", "a", "="},
          {"go", "a := `b\nc`\n", "a := `b\r\nc`\r\n"},
          {"c", "#define A \\\n b\n", "#define A \\\r\n b\r\n"},
          {"c++", "R\"(a\n)\"\n", "?C++ leaves it open whether a raw string keeps the CR"},
          {"toml", "a = '''\n'''\n", "?TOML leaves it open whether a string keeps the CR"},
          {"toml", "a = 1\n", "a = 1\r\n"},
          {"makefile", "a\n", "?make hands the CR to the shell"},
          {"python", "#!/bin/python\n", "?the system would take the CR for a part of the interpreter's name"},
          {"python", "a\rb\n", "?line 1: a carriage return ends no line"},
      });
}

TEST(Perturbations, BlankLines) {
  expect_outcomes("blank-lines", {
                                     {"java", "a\nb\nc\nd\ne", "a\n\nb\nc\nd\n\ne"},
                                     {"java", "a\r\nb\r\n", "a\r\n\r\nb\r\n"},
                                     {"python", "a\nb\n", "a\nb\n\n"},
                                     {"go", "// a\nb\n", "// a\nb\n\n"},
                                     {"c", "#define A \\\n b\nc\n", "#define A \\\n b\n\nc\n"},
                                     {"javascript", "`a\n`\n", "`a\n`\n\n"},
                                     {"makefile", "a:\n\tb\n\tc\nd = e\n", "a:\n\n\tb\n\tc\nd = e\n"},
                                     {"python", "a\n", "="},
                                     {"java", "a", "="},
                                 });
}

TEST(Perturbations, FinalNewline) {
  expect_outcomes("final-newline",
                  {
                      {"python", "a\n", "a"},
                      {"python", "a\r\n", "a"},
                      {"python", "a", "a\n"},
                      {"python", "a\r\nb", "a\r\nb\r\n"},
                      {"python", "a\n\n", "a\n"},
                      {"python", "", "\n"},
                      {"c", "a \\\n", "?the last line ends with a backslash"},
                      {"go", "a := `b`\n", "a := `b`"},
                      {"markdown", "a\n", "a"},
                      {"yaml", "a: |\n  b\n",
                       "?the last line end may belong to a block scalar, a here-document or a script's data"},
                      {"yaml", "a: b\n", "a: b"},
                      {"YML", "a: >-\n  b",
                       "?the last line end may belong to a block scalar, a here-document or a script's data"},
                      {"shell", "a 'b'\n", "a 'b'"},
                      {"bash", "a <<E\nE\n",
                       "?the last line end may belong to a block scalar, a here-document or a script's data"},
                      {"zsh", "a <<E\nb\n",
                       "?the last line end may belong to a block scalar, a here-document or a script's data"},
                      {"dockerfile", "RUN <<E\nb\n",
                       "?the last line end may belong to a block scalar, a here-document or a script's data"},
                      {"perl", "print <DATA>;\n__DATA__\nb\n",
                       "?the last line end may belong to a block scalar, a here-document or a script's data"},
                      {"markdown", "a << b __END__\n", "a << b __END__"},
                      {"markdown", "a\r\nb", "a\r\nb\r\n"},
                      {"", "a\\\n", "?the last line ends with a backslash"},
                  });
}

TEST(Perturbations, LeaveUnknownLanguagesAlone) {
  for (const auto& perturbation : perturbations()) {
    if (perturbation.name == "final-newline") continue;
    EXPECT_EQ(outcome(perturbation.name, "fortran", "\ta\n"),
              perturbation.of_prose ? "?it changes prose alone, and \"fortran\" is not known to be prose"
                                    : "?sluice does not know the comments and strings of \"fortran\"");
  }
}

TEST(Perturbations, LeaveYamlAndShellsAlone) {
  for (const std::string language : {"yaml", "shell"}) {
    for (const auto& perturbation : perturbations()) {
      if (perturbation.name == "final-newline" || perturbation.of_prose) continue;
      EXPECT_EQ(outcome(perturbation.name, language, "\ta: b # c\n"),
                "?sluice does not know the comments and strings of \"" + language + "\"");
    }
    EXPECT_EQ(outcome("tabs-to-spaces", language, "a: b\n"), "=");
  }
}

TEST(Perturbations, SkipWhatCannotBeRead) {
  for (const auto& perturbation : perturbations()) {
    if (perturbation.of_prose) continue;
    EXPECT_EQ(outcome(perturbation.name, "Python", "\ta\n'b\n"), "?line 2: a string is not closed");
    EXPECT_EQ(outcome(perturbation.name, "Go", std::string_view("\0\t", 2)),
              "?line 1: a NUL byte stands in the text");
  }
}

}  // namespace
}  // namespace sluice
