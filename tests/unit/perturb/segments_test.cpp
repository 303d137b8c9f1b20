#include "coordinator/perturb/segments.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

struct Cut {
  Language language;
  std::string_view text;
  /// The text again, with `[L`, `[B`, `[S` or `[D` before and `]` behind each line comment, block comment,
  /// string and directive; or "?" and the doubt with its line.
  std::string expected;
};

std::string marked(Language language, std::string_view text) {
  const auto segmentation = cut_into_segments(language, text);
  if (segmentation.doubt) {
    return "?" + std::to_string(segmentation.doubt->line) + ": " + segmentation.doubt->what;
  }
  std::string result;
  for (const auto& segment : segmentation.segments) {
    constexpr std::string_view letters = "cLBSD";
    const bool code = segment.kind == SegmentKind::code;
    if (!code) result.append("[").append(1, letters[static_cast<std::size_t>(segment.kind)]).append(" ");
    result += text.substr(segment.begin, segment.end - segment.begin);
    if (!code) result += "]";
  }
  return result;
}

void expect_cuts(const std::vector<Cut>& cuts) {
  for (const auto& cut : cuts) {
    EXPECT_EQ(marked(cut.language, cut.text), cut.expected)
        << to_string(cut.language) << ": " << testing::PrintToString(cut.text);
  }
}

TEST(Segments, OfPython) {
  constexpr auto python = Language::python;
  expect_cuts({
      {python, "x = 1  # one\n", "x = 1  [L # one]\n"},
      {python, "s = '#' + \"it's\" # c", "s = [S '#'] + [S \"it's\"] [L # c]"},
      {python, "s = '''a\n# b\n'''\n", "s = [S '''a\n# b\n''']\n"},
      {python, R"(s = 'it\'s' # c)", R"(s = [S 'it\'s'] [L # c])"},
      {python, R"(s = r'\' # s' # c)", R"(s = [S r'\' # s'] [L # c])"},
      {python, R"(s = """a"" \""" # """)", R"(s = [S """a"" \""" # """])"},
      {python, "x = 'a\\\n# b' # c", "x = [S 'a\\\n# b'] [L # c]"},
      {python, "x = 'a\\\r\n# b' # c", "x = [S 'a\\\r\n# b'] [L # c]"},
      {python, "b = Rb'#' # c", "b = [S Rb'#'] [L # c]"},
      {python, R"(f'{a["#"]}' # c)", R"([S f'{a["#"]}'] [L # c])"},
      {python, R"(f"{a["#"]!r:>{w}}" # c)", R"([S f"{a["#"]!r:>{w}}"] [L # c])"},
      {python, R"(f"{x:'>10}" # '")", R"([S f"{x:'>10}"] [L # '"])"},
      {python, R"(f"{{'" # c)", R"([S f"{{'"] [L # c])"},
      {python, R"(f"\N{APOSTROPHE}{d['k']}" # c)", R"([S f"\N{APOSTROPHE}{d['k']}"] [L # c])"},
      {python, R"(f"{f"{f"{1}"}"}" # c)", R"([S f"{f"{f"{1}"}"}"] [L # c])"},
      {python, "if 'a' in'b':  # c", "if [S 'a'] in[S 'b']:  [L # c]"},
      {python, "#!/usr/bin/python\n# -*- coding: utf-8 -*-\n# c\n",
       "[D #!/usr/bin/python]\n[D # -*- coding: utf-8 -*-]\n[L # c]\n"},
      {python, "x = 1\n# coding: utf-8\n", "x = 1\n[L # coding: utf-8]\n"},
      {python, "\f# coding: latin-1\n", "\f[D # coding: latin-1]\n"},
      {python, "\t\f\n\f # coding: latin-1\n", "\t\f\n\f [D # coding: latin-1]\n"},
      {python, "\n\n# coding: utf-8\n", "\n\n[L # coding: utf-8]\n"},
      {python, "\xEF\xBB\xBF# c\n", "\xEF\xBB\xBF[L # c]\n"},
      {python, "# coding: shift_jis\n'\x83\x5c'\n",
       "?1: the text declares an encoding in which bytes are no characters"},
      {python, "a\nx = 'y\n", "?2: a string is not closed"},
      {python, "x = '''y'\n'", "?1: a string is not closed"},
      {python, "f'{a'", "?1: a string is not closed"},
  });
}

TEST(Segments, OfJavaScript) {
  constexpr auto js = Language::javascript;
  const std::string slash = "a slash may divide, or open a regular expression, or close an element";
  const std::string expression = "an expression within a template holds more than names and operators";
  expect_cuts({
      {js, "a = '//' // c", "a = [S '//'] [L // c]"},
      {js, "a /* b\n */ c", "a [B /* b\n */] c"},
      {js, "#!/usr/bin/env node\n// c", "[D #!/usr/bin/env node]\n[L // c]"},
      {js, "`a // \\` ${b.c[0] + d} /* e` // f", "[S `a // \\` ${b.c[0] + d} /* e`] [L // f]"},
      {js, "'a\\\n// b' // c", "[S 'a\\\n// b'] [L // c]"},
      {js, "'\xC2\xA0' // \xC2\xA0", "[S '\xC2\xA0'] [L // \xC2\xA0]"},
      {js, "a < b // c", "a < b [L // c]"},
      {js, "/** @jsx h */ a", "[D /** @jsx h */] a"},
      {js, "a = b / c", "?1: " + slash},
      {js, "a\nb = /[/'\"]\\/'/g.test('')", "?2: " + slash},
      {js, "x = <p>a</p>", "?1: " + slash},
      {js, "x = <A b={c} />", "?1: " + slash},
      {js, "x = <a>\"</a> + '\"// b'", "?1: an element of JSX may stand here"},
      {js, "x = <a>// b</a>\n'c'", "?1: an element of JSX may stand here"},
      {js, "x = <a>`</a>; `${b}`", "?1: an element of JSX may stand here"},
      {js, "`a ${`b`}`", "?1: " + expression},
      {js, "`a ${b['c']}`", "?1: " + expression},
      {js, "`a ${{b}.b}`", "?1: " + expression},
      {js, "`a ${b // c\n}`", "?1: " + expression},
      {js, "`a ${b\n}`", "?1: " + expression},
      {js, "`${a", "?1: " + expression},
      {js, "\n`a", "?2: a template is not closed"},
      {js, "a\n<!-- b", "?2: an HTML comment may begin or end here"},
      {js, "a\n/* b */ --> c", "?2: an HTML comment may begin or end here"},
      {js, "a = 'b\n'", "?1: a string is not closed"},
      {js, "/* a", "?1: a comment is not closed"},
      {js, "// a\xE2\x80\xA8 b", "?1: a line separator (U+2028, U+2029) stands in a comment"},
  });
}

TEST(Segments, OfTypeScript) {
  constexpr auto ts = Language::typescript;
  expect_cuts({
      {ts, "let a = <any>b // c", "let a = <any>b [L // c]"},
      {ts, "const f = <T extends A>(x: T) => x // it's", "const f = <T extends A>(x: T) => x [L // it's]"},
      {ts, "/// <reference types='node' />\n// @ts-ignore\n// c",
       "[D /// <reference types='node' />]\n[D // @ts-ignore]\n[L // c]"},
      {ts, "type A = `${B}//` // c", "type A = [S `${B}//`] [L // c]"},
      {ts, "return <p>don't</p>", "?1: a string is not closed"},
  });
}

TEST(Segments, OfRust) {
  constexpr auto rust = Language::rust;
  expect_cuts({
      {rust, "let a = 1; // b", "let a = 1; [L // b]"},
      {rust, "a /* b /* c */ d */ e", "a [B /* b /* c */ d */] e"},
      {rust, "/// doc\n//! doc\n//// c\n", "[D /// doc]\n[D //! doc]\n[L //// c]\n"},
      {rust, "/** doc */ /*! doc */ /*** c */ /**/", "[D /** doc */] [D /*! doc */] [B /*** c */] [B /**/]"},
      {rust, "let s = \"a\n// b\\\"\"; // c", "let s = [S \"a\n// b\\\"\"]; [L // c]"},
      {rust, "r#\"a \" // \"# // c", "[S r#\"a \" // \"#] [L // c]"},
      {rust, "br##\"\"# // \"## // c", "[S br##\"\"# // \"##] [L // c]"},
      {rust, "b\"//\" c\"//\" // c", "b[S \"//\"] c[S \"//\"] [L // c]"},
      {rust, "r#type // c", "r#type [L // c]"},
      {rust, "fn f<'a>(x: &'a str) { '\\'' } // c", "fn f<'a>(x: &'a str) { [S '\\''] } [L // c]"},
      {rust, "['a', '\"', '\xC3\xA9', b'/'] // c", "[[S 'a'], [S '\"'], [S '\xC3\xA9'], b[S '/']] [L // c]"},
      {rust, "#!/usr/bin/env run\n//", "[D #!/usr/bin/env run]\n[L //]"},
      {rust, "#![allow(x)] // c", "#![allow(x)] [L // c]"},
      {rust, "\n/* a /* b */", "?2: a comment is not closed"},
      {rust, "r#\"a\"", "?1: a raw string is not closed"},
  });
}

TEST(Segments, OfGo) {
  constexpr auto go = Language::go;
  expect_cuts({
      {go, "a := `//\n\\` // b", "a := [S `//\n\\`] [L // b]"},
      {go, "a := '\"' // b", "a := [S '\"'] [L // b]"},
      {go, "//go:build linux\n// +build linux\n//\t +build arm\n// b\n",
       "[D //go:build linux]\n[D // +build linux]\n[D //\t +build arm]\n[L // b]\n"},
      {go, "//nolint:errcheck\n//http://x\n", "[D //nolint:errcheck]\n[L //http://x]\n"},
      {go, "// #include <a.h>\nimport \"C\"\n// b", "[D // #include <a.h>]\nimport [S \"C\"]\n[L // b]"},
      {go, "// #include <a.h>\nimport ( \"C\")\n// b",
       "[D // #include <a.h>]\nimport ( [S \"C\"])\n[L // b]"},
      {go, "// a\nx == \"C\"", "[L // a]\nx == [S \"C\"]"},
      {go, "// a\nx(\"C\")", "[L // a]\nx([S \"C\"])"},
      {go, "// Output:\n// 1\n}\n// b", "[D // Output:]\n[D // 1]\n}\n[L // b]"},
      {go, "// a\n// Output: 1\n}", "[D // a]\n[D // Output: 1]\n}"},
      {go, "/* a */ b // UNORDERED Output:\n}", "[B /* a */] b [D // UNORDERED Output:]\n}"},
      {go, "// a\n/*\n  oUtput: 1\n*/ // b\n}", "[D // a]\n[D /*\n  oUtput: 1\n*/] [D // b]\n}"},
      {go, "// the output: 1\n", "[L // the output: 1]\n"},
      {go, "/* a\n*/ b", "[B /* a\n*/] b"},
      {go, "`a", "?1: a raw string is not closed"},
  });
}

TEST(Segments, OfJava) {
  constexpr auto java = Language::java;
  expect_cuts({
      {java, "a = \"//\"; // b", "a = [S \"//\"]; [L // b]"},
      {java, "a = '\"'; /* b */", "a = [S '\"']; [B /* b */]"},
      {java, "\"\"\"\n a \\\"\"\" // \"\n \"\"\" // b", "[S \"\"\"\n a \\\"\"\" // \"\n \"\"\"] [L // b]"},
      {java, "/** @deprecated x */ /** y */", "[D /** @deprecated x */] [B /** y */]"},
      {java, "a = \"\\u00e9\"; // b", "a = [S \"\\u00e9\"]; [L // b]"},
      {java, "a = \"\\\\u0022\"; // b", "a = [S \"\\\\u0022\"]; [L // b]"},
      {java, "// \\u000a b", "?1: a Unicode escape stands for an ASCII character"},
  });
}

TEST(Segments, OfC) {
  constexpr auto c = Language::c;
  constexpr auto cpp = Language::cpp;
  expect_cuts({
      {c, "a; // b \\\n c\nd", "a; [L // b \\\n c]\nd"},
      {c, "a; // b \\ \r\n c\r\nd", "a; [L // b \\ \r\n c]\r\nd"},
      {c, "char a = '\"'; /* ' */", "char a = [S '\"']; [B /* ' */]"},
      {c, "#define A(x) #x /* b\n */ c", "#define A(x) #x [B /* b\n */] c"},
      {c, "#include <a//b.h> // c", "#include [S <a//b.h>] [L // c]"},
      {c, " # include \"a\\b.h\" // c", " # include [S \"a\\b.h\"] [L // c]"},
      {c, "#error don't // c\nint a;", "#error[S  don't ][L // c]\nint a;"},
      {c, "int a = 1'000; // '", "int a = 1'000; [L // ']"},
      {c, "\"a\\\n// b\" // c", "[S \"a\\\n// b\"] [L // c]"},
      {c, "R\"(a)\"", "?1: a raw string stands in C"},
      {c, "\n/\\\n/ a", "?3: a backslash divides the beginning of a comment"},
      {c, "/* a *\\\n/ int x; /* b */", "?1: a backslash divides the end of a comment"},
      {c, "\n/* a *\\ \r\n\\\n/ int x; /* b */", "?2: a backslash divides the end of a comment"},
      {c, "/***\\\n * a\n\\***/ b", "[B /***\\\n * a\n\\***/] b"},
      {c, "// a \?\?/\nb", "?1: a trigraph may be a backslash"},
      {c, "don't", "?1: a string is not closed"},
      {cpp, "u8R\"x(\" // )\" )x\" // c", "u8R[S \"x(\" // )\" )x\"] [L // c]"},
      {cpp, "LR\"(a\nb)\" FR\"(\" // c", "LR[S \"(a\nb)\"] FR[S \"(\"] [L // c]"},
      {cpp, "R\"(a)", "?1: a raw string is not closed"},
  });
}

TEST(Segments, OfTheSimplerLanguages) {
  expect_cuts({
      {Language::toml, "a = '#\\' # b\nc = \"#\\\"\" # d",
       "a = [S '#\\'] [L # b]\nc = [S \"#\\\"\"] [L # d]"},
      {Language::toml, "a = '''#\n'''' # b", "a = [S '''#\n''''] [L # b]"},
      {Language::toml, "a = \"\"\"#\n\\\"\"\" \"\"\"\" # b", "a = [S \"\"\"#\n\\\"\"\" \"\"\"\"] [L # b]"},
      {Language::toml, "a = 'b\n'", "?1: a string is not closed"},
      {Language::json, "{\"a\": \"//\\\"\"}", "{[S \"a\"]: [S \"//\\\"\"]}"},
      {Language::json, "{} // a", "?1: what stands here is no JSON"},
      {Language::makefile, "A = b # c \\\n d\nt: A # e\n\techo # f\n# g\n",
       "A = b [L # c \\\n d]\nt: A [L # e]\n[S \techo # f]\n[L # g]\n"},
      {Language::makefile, "A = \\# b\nt: ; echo # c\n", "A = \\# b\nt: [S ; echo # c]\n"},
      {Language::makefile, "define A\n# b\nendef\n# c\n", "[S define A\n# b\nendef]\n[L # c]\n"},
      {Language::makefile, "define\tA\n# b\nendef\n# c\n", "[S define\tA\n# b\nendef]\n[L # c]\n"},
      {Language::makefile, " export \tdefine A\n# b\nendef # c\n",
       "[S  export \tdefine A\n# b\nendef # c]\n"},
      {Language::makefile, "override  private unexport define A\n# b\nendef\n",
       "[S override  private unexport define A\n# b\nendef]\n"},
      {Language::makefile, "\tdefine A\n# b\nendef\n# c\n", "[S \tdefine A\n# b\nendef]\n[L # c]\n"},
      {Language::makefile, "define A\ndefine B\n# c\nendef\n# d\nendef\n# e\n",
       "[S define A\ndefine B\n# c\nendef\n# d\nendef]\n[L # e]\n"},
      {Language::makefile, "define A\nendefs \\\nendef\n\tendef\n# b\nendef\n# c\n",
       "[S define A\nendefs \\\nendef\n\tendef\n# b\nendef]\n[L # c]\n"},
      {Language::makefile, "define#A\n# b\nendef\n", "[S define#A\n# b\nendef]\n"},
      {Language::makefile, "export A # b\ndefined # c\n", "export A [L # b]\ndefined [L # c]\n"},
      {Language::makefile, "A = $(shell b # c)\n", "?1: a # stands within a reference or call"},
  });
}

TEST(Segments, DoubtBytesThatToolsReadInDifferentWays) {
  expect_cuts({
      {Language::go, std::string_view("a\n\0", 3), "?2: a NUL byte stands in the text"},
      {Language::go, "a\r\nb\rc", "?2: a carriage return ends no line"},
  });
}

}  // namespace
}  // namespace sluice
