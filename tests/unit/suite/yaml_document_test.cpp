#include "coordinator/suite/documents/yaml_document.hpp"

#include "common/documents/canonical_json.hpp"

#include <chrono>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::string json_of(const std::string& yaml) {
  const ParsedYaml parsed = parse_yaml(yaml);
  if (!parsed.errors.empty()) {
    return std::to_string(parsed.errors.front().line) + ": " + parsed.errors.front().message;
  }
  return canonical_json(*parsed.root);
}

std::string repeated(const std::string& text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

TEST(Yaml, HasTheCoreSchemasTypes) {
  EXPECT_EQ(
      json_of("[null, ~, true, FALSE, yes, 'true', 12, -3, +4, 0x1F, 0o17, 1.5, 1e3, .5, 1., \"1\", 1_000]"),
      R"([null,null,true,false,"yes","true",12,-3,4,31,15,1.5,1000,0.5,1,"1","1_000"])");
  EXPECT_EQ(json_of("[2026-02-05, 0x, 0xZ, 0x-1, 1e, e5, ., -, +, 12:30, !!str 12]"),
            R"(["2026-02-05","0x","0xZ","0x-1","1e","e5",".","-","+","12:30","12"])");
  EXPECT_EQ(json_of("9223372036854775807"), "9223372036854775807");
  EXPECT_EQ(json_of("9223372036854775808"), "9223372036854775808");
  EXPECT_EQ(json_of("1e-400"), "0");
  EXPECT_EQ(json_of(""), "null");
  const ParsedYaml infinite = parse_yaml("[.inf, -.INF, .nan, 1e400]");
  ASSERT_TRUE(infinite.root);
  EXPECT_FALSE(has_only_json_values(*infinite.root));
}

TEST(Yaml, KnowsTheLinesOfKeysAndValues) {
  const ParsedYaml parsed = parse_yaml("a: 1\n\nb:\n  - x\n  -\n   y: |\n     text\nc:\n");
  ASSERT_TRUE(parsed.root);
  const auto& table = std::get<DocumentNode::Table>(parsed.root->value);
  ASSERT_EQ(table.size(), 3u);
  EXPECT_EQ(table[1].line, 3u);
  const auto& list = std::get<DocumentNode::Array>(table[1].value.value);
  EXPECT_EQ(list[0].line, 4u);
  EXPECT_EQ(std::get<DocumentNode::Table>(list[1].value).front().line, 6u);
  EXPECT_EQ(table[2].line, 8u);
  EXPECT_EQ(table[2].value.line, 8u);
}

// Each of them once moved all that stood behind it: half a minute.
TEST(Yaml, ReadsManyQuestionMarksInOnePass) {
  const auto began = std::chrono::steady_clock::now();
  const std::string asked = repeated("a?", 1'000'000);
  EXPECT_EQ(json_of("q: " + asked + "\n"), R"({"q":")" + asked + "\"}");
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(10));
}

TEST(Yaml, ReadsLineEndsAndMarksOfOtherSystems) {
  EXPECT_EQ(json_of("\xef\xbb\xbf"
                    "a: |\r\n  x\r\n  y\r\n"),
            R"({"a":"x\ny\n"})");
}

// The parser ended a text at the mark, and missed the end of the braces.
TEST(Yaml, ReadsQuestionMarksWithinTexts) {
  EXPECT_EQ(json_of("{q: How long?, r: [Why?, Who? I?], s: is it ?}"),
            R"({"q":"How long?","r":["Why?","Who? I?"],"s":"is it ?"})");
  EXPECT_EQ(json_of("q: \"\\ue000?\"\ns: \"\\U0000E001\"\n"),
            "{\"q\":\"\xee\x80\x80?\",\"s\":\"\xee\x80\x81\"}")
      << "what stands for a question mark elsewhere";
  EXPECT_EQ(json_of("a: b? # what?\nis it?: \"really?\"\nc: |\n  {so?}\n"),
            R"({"a":"b?","c":"{so?}\n","is it?":"really?"})");
  EXPECT_EQ(json_of("? a\n: {? b : c}\n"), R"({"a":{"b":"c"}})");
  EXPECT_EQ(json_of("{q: what?, r: \xee\x80\x80?}"), "{\"q\":\"what?\",\"r\":\"\xee\x80\x80?\"}");
  EXPECT_EQ(json_of("{p: what\\?, r: [a\\?b, x], s: what\\? yes}"),
            R"({"p":"what\\?","r":["a\\?b","x"],"s":"what\\? yes"})")
      << "of a regular expression";
  EXPECT_NE(json_of("a: \"b\\?\"").find("unknown escape character: ?"), std::string::npos)
      << json_of("a: \"b\\?\"");
  EXPECT_NE(json_of("{q: well ? yes}").find("\" ? \""), std::string::npos) << json_of("{q: well ? yes}");
}

// The parser writes two of them as one byte each: no worker took the text, and the run never ended.
TEST(Yaml, ReadsAllEscapesAsCharacters) {
  const auto text_of = [](const std::string& escape) {
    const ParsedYaml parsed = parse_yaml("{\"k" + escape + "\": \"" + escape + "?\", b: \"\u00e9" + escape +
                                         escape + "\u00e9" + escape + "\"}");
    if (!parsed.root || !parsed.errors.empty()) return "refused: " + escape;
    const auto& table = std::get<DocumentNode::Table>(parsed.root->value);
    const std::string& both = std::get<std::string>(table[0].value.value);
    const std::string& alone = std::get<std::string>(table[1].value.value);
    std::string read = table[1].key.substr(1);
    EXPECT_EQ(alone, read + "?") << escape;
    EXPECT_EQ(both, "\u00e9" + read + read + "\u00e9" + read) << escape;
    return read;
  };
  const std::vector<std::pair<std::string, std::string>> escapes{
      {"\\0", std::string(1, '\0')},
      {"\\a", "\a"},
      {"\\b", "\b"},
      {"\\t", "\t"},
      {"\\\t", "\t"},
      {"\\n", "\n"},
      {"\\v", "\v"},
      {"\\f", "\f"},
      {"\\r", "\r"},
      {"\\e", "\x1b"},
      {"\\ ", " "},
      {"\\\"", "\""},
      {"\\/", "/"},
      {"\\\\", "\\"},
      {"\\N", "\xc2\x85"},
      {"\\_", "\xc2\xa0"},
      {"\\L", "\xe2\x80\xa8"},
      {"\\P", "\xe2\x80\xa9"},
      {"\\x85", "\xc2\x85"},
      {"\\xA0", "\xc2\xa0"},
      {"\\u0085", "\xc2\x85"},
      {"\\U0001F600", "\xf0\x9f\x98\x80"},
  };
  for (const auto& [escape, character] : escapes) EXPECT_EQ(text_of(escape), character) << escape;
  EXPECT_EQ(json_of("[\"\\\\_\", '\\_', a\\_b]"), R"(["\\_","\\_","a\\_b"])") << "these are no escapes";
}

// The last empty line of `>+` was dropped, and a last line of blanks alone became one.
TEST(Yaml, FoldsLineEndsAsTheyAreWritten) {
  EXPECT_EQ(json_of("a: >+\n  x\n\n\nb: 1\n"), R"({"a":"x\n\n\n","b":1})");
  EXPECT_EQ(json_of("a: >+\n  x\n\nb: 1\n"), R"({"a":"x\n\n","b":1})");
  EXPECT_EQ(json_of("- >+ # c\n\n  x\n  y\n   \n- >-\n x\n\n\n- >\n x\n\n"), R"(["\nx y\n \n","x","x\n"])");
  EXPECT_EQ(json_of("a: >+\n  x\n\n"), R"({"a":"x\n\n"})") << "at the end of the file";
  EXPECT_EQ(json_of("a: >\n  x\n  "), R"({"a":"x\n"})");
  EXPECT_EQ(json_of("a: >2\n    p\n  q\n  r\n\n  s\n   t\n  u\n\n\n  \tv\n\n  w\n"),
            R"({"a":"  p\nq r\ns\n t\nu\n\n\n\tv\n\nw\n"})");
  EXPECT_EQ(json_of("q?: é?\na: &k !<tag:yaml.org,2002:str> # >+\n  >+\n  é > |?\n\nb: *k\n"),
            R"({"a":"é > |?\n\n","b":"é > |?\n\n","q?":"é?"})");
  EXPECT_EQ(json_of("? >+\n  k\n\n: |\n  >+\n"), R"({"k\n\n":">+\n"})");
  EXPECT_EQ(json_of("\xef\xbb\xbf\xef\xbb\xbf>+\n x\n\n"), R"("x\n\n")");
  EXPECT_EQ(json_of("a: >\n x\na: 1\n"), "3: the key \"a\" stands twice (first in line 1)");
}

// They were dropped but for one.
TEST(Yaml, KeepsLineEndsBeforeAQuoteThatCloses) {
  EXPECT_EQ(json_of("a: 'x\n\n\n  '\nb: \"x\n\n\n\n\"\n"), R"({"a":"x\n\n","b":"x\n\n\n"})");
  EXPECT_EQ(json_of("['\n\n', \" \n \n\t\n\", 'x\n', \"x\n\n\"]"), R"(["\n","\n\n","x ","x\n"])");
  EXPECT_EQ(json_of("['it''\n\n\n\n', \"\\n\n\n\n\n\", \"x\\\n\n\n\n\", \"\\x41 \n\n\n\n\"]"),
            R"(["it'\n\n\n","\n\n\n\n","x\n\n\n","A\n\n\n"])");
  EXPECT_EQ(json_of("[!!str , \"\n\n\n\", !!str 'x\n\n\n']"), R"(["","\n\n","x\n\n"])");
  EXPECT_EQ(json_of("'k': &x \"?\n\n\n\"\nb: *x\n"), R"({"b":"?\n\n","k":"?\n\n"})");
}

// All that stood behind it became a part of the text, and a suite passed without those tests.
TEST(Yaml, RefusesAQuoteThatNothingCloses) {
  const std::string open = "not valid YAML: the quote that opens here is closed by nothing";
  EXPECT_EQ(json_of("a: 1\nb: \"Paris\n- c: 2\n"), "2: " + open);
  EXPECT_EQ(json_of("a: 1\nb: 'Paris''s\nc: 2\n"), "2: " + open);
  EXPECT_EQ(json_of("a: ü? \nb: &x !!str \"Pa\\\"\n"), "2: " + open);
  EXPECT_EQ(json_of("- \"a\n"), "1: " + open);
  for (const char* refused_anyway : {"a: [1, 'x]\n", "{q: Why?, b: \"How?", "a: \"x"})
    EXPECT_NE(json_of(refused_anyway).find("not valid YAML"), std::string::npos) << refused_anyway;
  EXPECT_EQ(json_of("\"key\n"), "1: " + open);
  for (const char* closed :
       {"a: \"Paris\nLima\"\n", "a: 'it''s'\n", "a: it's \"so\n", "a: |\n  \"x\n", "a: \"x\\\\\"\n",
        "a: \"\"\n", "# it's\n", "a: ''\nb:\n", "a: !!str x\n", "a: \"x\" # it's \"so\n"}) {
    EXPECT_EQ(json_of(closed).find("not valid"), std::string::npos) << closed << json_of(closed);
  }
}

TEST(Yaml, SaysWhatStandsInQuotes) {
  EXPECT_EQ(json_of("text: {{c}}\n"),
            "1: a key must be a text; a text that begins with \"{{\" stands in quotes");
  for (const char* text : {"a: @foo\n", "a: %foo\n", "a: `foo`\n"}) {
    EXPECT_EQ(json_of(text),
              "1: not valid YAML: unknown token; a text that begins with @, % or ` stands in quotes");
  }
}

TEST(Yaml, ExpandsAliases) {
  EXPECT_EQ(json_of("a: &x {k: [1]}\nb: *x\n&y c: *y\n"), R"({"a":{"k":[1]},"b":{"k":[1]},"c":"c"})");
}

// They were unknown keys, and what they name was missing.
TEST(Yaml, TakesMergeKeys) {
  EXPECT_EQ(json_of("a: &x {k: 1, l: 2}\nb: {<<: *x, l: 3}\n"), R"({"a":{"k":1,"l":2},"b":{"k":1,"l":3}})");
  EXPECT_EQ(json_of("b:\n  <<: [{k: 1}, {k: 2, l: 2}]\n  a: 0\n"), R"({"b":{"a":0,"k":1,"l":2}})");
  EXPECT_EQ(json_of("a: &x {k: 1}\nb: &y {<<: *x, l: 2}\nc: {<<: *y}\n"),
            R"({"a":{"k":1},"b":{"k":1,"l":2},"c":{"k":1,"l":2}})");
  EXPECT_EQ(json_of("a: {'<<': 1}\n"), R"({"a":{"<<":1}})") << "in quotes it is a key like others";
  const std::string what = "the merge key \"<<\" takes a mapping, or a list of mappings";
  EXPECT_EQ(json_of("a: 1\nb: {<<: x}\n"), "2: " + what);
  EXPECT_EQ(json_of("b: {<<: [{a: 1}, [c]]}\n"), "1: " + what);
  EXPECT_EQ(json_of("a: {<<: {b: 1},\n <<: {c: 1}}\n"), "2: the key \"<<\" stands twice (first in line 1)");
  const ParsedYaml parsed = parse_yaml("a: &x\n  k: 1\nb:\n  <<: *x\n");
  ASSERT_TRUE(parsed.root);
  EXPECT_EQ(find_entry(find_entry(*parsed.root, "b")->value, "k")->line, 2u) << "where it is written";
}

TEST(Yaml, SaysWhereToLookForAWrongIndentation) {
  const std::string hint =
      "; look at the indentation here and above: the entries of a list, and the keys of a mapping, begin in "
      "one "
      "column";
  EXPECT_EQ(json_of("a:\n  - b: 1\n   c: 2\n"), "3: not valid YAML: end of sequence not found" + hint);
  for (const char* text : {"a:\n  b: 1\n c: 2\n", "a: 1\n  b: 2\n", "a:\n  - b\n  c: 1\n"})
    EXPECT_NE(json_of(text).find(hint), std::string::npos) << text << json_of(text);
}

TEST(Yaml, NamesWhatItCannotRead) {
  EXPECT_EQ(json_of("a: 1\nb: 2\na: 3\n"), "3: the key \"a\" stands twice (first in line 1)");
  EXPECT_EQ(json_of("{a: 1, a: 2}"), "1: the key \"a\" stands twice");
  EXPECT_EQ(json_of("a: 1\n---\nb: 2\n"), "2: a second document begins here; a suite is one YAML document");
  EXPECT_EQ(json_of("? [a]\n: 1\n"), "1: a key must be a text");
  EXPECT_EQ(json_of("~: 1\n"), "1: a key must be a text");
  EXPECT_EQ(json_of("a: !include x\n"), "1: the tag \"!include\" has no meaning in a suite");
  EXPECT_EQ(json_of("a: &x [*x]\n"), "1: an alias stands inside of what it names");
  EXPECT_EQ(json_of("a: *x\n"), "1: not valid YAML: the referenced anchor is not defined");
  EXPECT_EQ(json_of("a:\n\tb: 1\n"),
            "2: not valid YAML: a tab stands in the indentation, which takes spaces alone");
  EXPECT_EQ(json_of("a: 1\nb: \xff\n"),
            "2: not valid UTF-8: save it as UTF-8 (`iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW` converts what "
            "Windows wrote)");
  EXPECT_EQ(json_of("a: 1\nb: \x04\n"), "2: not valid YAML: a control character stands here");
  EXPECT_EQ(json_of("a: 1\rb: 2\n"), "1: not valid YAML: a control character stands here");
  EXPECT_EQ(json_of(std::string("a: \0", 4)), "1: not valid YAML: a control character stands here");
  EXPECT_EQ(json_of("a: [1\n"),
            "2: not valid YAML: end of sequence flow not found; a text with \": \", \" ? \", braces or "
            "brackets in it stands in quotes");
  EXPECT_EQ(json_of("%YAML 9.0\n---\na: 1\n"), "1: not valid YAML: YAML major version too large");
}

TEST(Yaml, IsNotHurtByNesting) {
  for (const char* opening : {"[", "{", "- ", "? ", "[\n", "{a: ", "[a: "}) {
    const ParsedYaml parsed = parse_yaml(repeated(opening, 100'000));
    ASSERT_EQ(parsed.errors.size(), 1u) << opening;
    EXPECT_TRUE(parsed.errors.front().message.ends_with("is nested more than 64 deep")) << opening;
  }
  EXPECT_EQ(json_of(repeated("[", 64) + repeated("]", 64)), repeated("[", 64) + repeated("]", 64));
}

TEST(Yaml, IsNotHurtByAliases) {
  EXPECT_EQ(parse_yaml("a: &x y\nb:\n" + repeated("- *x\n", 100'000)).errors.size(), 0u);
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    const std::string before = " *a" + std::to_string(i - 1);
    const std::string name = "a" + std::to_string(i);
    bomb += name + ": &" + name + " [" + repeated(before + ",", 9) + before + "]\n";
  }
  EXPECT_NE(json_of(bomb).find("holds more than 1000000 values, counting those that aliases repeat"),
            std::string::npos);
  const std::string large(1 << 20, 'x');
  EXPECT_NE(json_of("a: &x " + large + "\nb:\n" + repeated("- *x\n", 1000))
                .find("its aliases repeat too much text"),
            std::string::npos);
}

TEST(Yaml, TakesHugeScalars) {
  const std::string huge(4 << 20, 'x');
  EXPECT_EQ(json_of("a: " + huge).size(), huge.size() + 8);
  EXPECT_EQ(json_of("a: \"" + huge), "1: not valid YAML: illegal EOF in scalar");
}

}  // namespace
}  // namespace sluice
