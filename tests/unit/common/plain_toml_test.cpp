#include "common/documents/plain_toml.hpp"

#include "common/documents/canonical_json.hpp"
#include "common/documents/toml_document.hpp"
#include "common/text/text.hpp"
#include "tests/support/document_text.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

/// What is plain, with every kind of value and every way to write tables that is.
const std::string plain = R"(# A suite's case, é
top = 1
[metadata]
id = "a-1"  # a comment behind a value
name = 'C:\temp'
escaped = "tab\t quote\" back\\slash line\n"
empty = ""
also-empty = ''
weight = 2.0
negative = -17
below = -0.25
zero = 0
is_on = true
is_off = false

[input]
content = '''
first line
	second "line" \n

last é'''
other = """
plain "text"
"""
[expected]
must_contain = [
  { subject = "jwt/expiry", predicate = "enabled", value = false, rationale = "off" }, # why
  { subject = "x", nested = { list = [1, 2.5, [], {}, ["a"]] } },
]
[providers.openai]
rpm = 500
[providers.local-1.limits]
tokens = 10
[[claims]]
kind = "one"
[[claims.said]]
by = "a"
[[claims.said]]
by = "b"
[[claims.said.to]]
[[claims]]
kind = "two"
[[claims.said]]
by = "c"
)";

std::string as_plain(const std::string& text) {
  const auto document = read_plain_toml(text);
  return document ? document_text(*document) : "not plain";
}

std::string as_whole(const std::string& text) {
  const auto document = parse_whole_toml(text);
  return document ? document_text(*document) : "error: " + document.error().message;
}

TEST(PlainToml, BothParsersKeepTheOrderOfKeys) {
  const std::string text = "z = { y = 1, x = 2 }\n[b]\nd = 1\nc = [{ f = 1, e = 2 }]\n[a]\nk = 1\n";
  const std::string json = R"({"z":{"y":1,"x":2},"b":{"d":1,"c":[{"f":1,"e":2}]},"a":{"k":1}})";
  for (const auto& document : {parse_toml(text), parse_whole_toml(text)}) {
    ASSERT_TRUE(document);
    EXPECT_EQ(json_as_written(*document), json);
  }
}

TEST(PlainToml, ReadsWhatTheParserOfTheWholeLanguageReads) {
  EXPECT_EQ(as_plain(plain), as_whole(plain));
  for (const char* text :
       {"", "\n", "# only a comment", "a = 1", "a=[1,\n2\n,]", "[a]", "[a]\n[b]\n", "[[a]]\n[[a]]",
        "[[a]]\n[[a.b]]\n[[a]]\n[[a.c]]\n[[a.b]]\nd = 1", "[[a]]\n[[ab]]\n[[ab.c]]\n[[a]]\n[[ab.c]]",
        "[a.b.c]\nd = 1\n[a.b.e]\n[a.f]", "a = -0", "a = -0.0", "a = 9223372036854775807",
        "\t a\t=\t[ ] \t# x", "a = {}", "a = { b = 1 }", "a = ''''''", "a = \"\"\"\"\"\""}) {
    EXPECT_EQ(as_plain(text), as_whole(text)) << text;
  }
}

TEST(PlainToml, LeavesTheRestToTheParserOfTheWholeLanguage) {
  const std::string marked = "\xEF\xBB\xBF" + std::string("a = 1");
  const std::string control = "a = \"x\x01\"";
  const std::vector<std::string> others{"a = 1\na = 2",
                                        "[a]\n[a]",
                                        "[a.b]\n[a]",
                                        "a = {}\n[a.b]",
                                        "a = []\n[[a]]",
                                        "[a]\nb = {}\n[a.b.c]",
                                        "[[a]]\n[a.b]",
                                        "[a]\n[[a]]",
                                        "[[a.b]]",
                                        "[[a]]\nb = 1\n[[a.b]]",
                                        "[[a]]\n[[a.b]]\n[[a]]\nb = []\n[[a.b]]",
                                        "[[a]]\n[[a.b.c]]",
                                        "[a]\n[[a.b]]",
                                        "[a.b]\n[[a.b]]",
                                        "a.b = 1",
                                        "\"a\" = 1",
                                        "[\"a\"]",
                                        "[ a ]",
                                        "a = 1979-05-27",
                                        "a = 07:32:00",
                                        "a = 1_000",
                                        "a = 0x10",
                                        "a = 007",
                                        "a = +1",
                                        "a = 1e5",
                                        "a = 1.",
                                        "a = .5",
                                        "a = inf",
                                        "a = 9223372036854775808",
                                        "a = 0." + std::string(126, '1'),
                                        "a = 1." + std::string(400, '0'),
                                        "a = \"\\u00e9\"",
                                        "a = \"\"\"x\\\n y\"\"\"",
                                        "a = ''''x''''",
                                        "a = \"\"\"x\"\"\"\"",
                                        "a = \"x\ny\"",
                                        "a = 'x\r\n'",
                                        "a = 1\r\n",
                                        "a = ",
                                        "a",
                                        "= 1",
                                        "a = 1 b = 2",
                                        "a = [1 2]",
                                        "a = [",
                                        "a = { b = 1, }",
                                        "a = { b = 1\n}",
                                        "a = 'x",
                                        "a = '''x",
                                        "a = tru",
                                        "a = True",
                                        marked,
                                        "a = [[[[[[[[[[]]]]]]]]]]",
                                        "[a.b.c.d.e.f.g.h.i.j]",
                                        "[]",
                                        "[a",
                                        "[[a]",
                                        "[a]]",
                                        "[a.]",
                                        "[a]b = 1",
                                        "é = 1",
                                        "# \x01",
                                        control,
                                        std::string("a = 1\0", 6),
                                        std::string("a = 'x\0'", 8),
                                        "a = 1 # \x7f"};
  for (const std::string& text : others) EXPECT_EQ(as_plain(text), "not plain") << text;
}

TEST(PlainToml, AgreesWithTheParserOfTheWholeLanguageOnWhateverBecomesOfATextByAccident) {
  constexpr std::string_view pieces[] = {"\n",
                                         "\"",
                                         "'",
                                         "'''",
                                         "\"\"\"",
                                         "[",
                                         "]",
                                         "[[",
                                         "]]",
                                         "{",
                                         "}",
                                         ".",
                                         ",",
                                         "=",
                                         "#",
                                         "\\",
                                         "-",
                                         "+",
                                         "0",
                                         "1",
                                         "e",
                                         "_",
                                         " ",
                                         "\t",
                                         "\r\n",
                                         "a",
                                         "[a]\n",
                                         "[a.b]\n",
                                         "[[a]]\n",
                                         "[[a.b]]\n",
                                         "[[claims.said]]\n",
                                         "[[claims]]\n",
                                         "a = 1\n",
                                         "a.b = 1\n",
                                         "true",
                                         "é",
                                         "\x01"};
  const auto seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937 random(seed);
  const auto below = [&](std::size_t limit) { return random() % limit; };
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text = plain;
    for (auto changes = 1 + below(3); changes > 0; --changes) {
      const std::size_t at = below(text.size());
      const auto piece = pieces[below(std::size(pieces))];
      const std::size_t removed = below(2) == 0 ? 0 : below(8);
      text.replace(at, removed, piece);
    }
    if (invalid_utf8_at(text)) continue;
    const auto document = read_plain_toml(text);
    if (!document) continue;
    ++read;
    ASSERT_EQ(document_text(*document), as_whole(text)) << text;
  }
  EXPECT_GT(read, 1'000);
}

}  // namespace
}  // namespace sluice
