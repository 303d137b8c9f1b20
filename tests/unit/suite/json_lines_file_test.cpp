#include "coordinator/defaults.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "tests/unit/suite/suite_files.hpp"

#include <string>

#include <rapidcheck.h>

namespace sluice {
namespace {

constexpr const char* suite_yaml = "suite: s\ntests_file: l.jsonl\n";

std::string line(const std::string& id, const std::string& prompt = "p") {
  return "{\"id\":\"" + id + "\",\"input\":{\"prompt\":\"" + prompt +
         "\"},\"expected\":{\"type\":\"must_contain\",\"text\":\"a\"}}";
}

class JsonLines : public SuiteFiles {
 protected:
  std::string findings_of(const std::string& lines) const {
    write("l.jsonl", lines);
    return findings(suite_yaml);
  }
};

TEST_F(JsonLines, ReadsBackWhatYamlWouldGive) {
  const std::string test =
      R"("name": "n", "category": "c", "weight": 2.5, "input": {"prompt": "p\u00e9\n", "context": ["x", "y"], "system": "s"},)"
      R"( "expected": [{"type": "semantic_similarity_to", "text": ["a", "b"], "min_score": 0.5, "thresholding": {"max_drop": 0.1}},)"
      R"( {"type": "json_schema", "schema": {"type": "object"}}]})";
  write("l.jsonl", "{\"id\": \"b\", " + test + "\r\n\n  \t\n{\"id\": \"a\", " + test);
  const LoadedSuite from_lines = load(suite_yaml);
  const LoadedSuite from_yaml =
      load("suite: s\ntests:\n- {\"id\": \"b\", " + test + "\n- {\"id\": \"a\", " + test + "\n");
  ASSERT_EQ(from_lines.suite.cases.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto a = from_lines.suite.cases.read(i);
    const auto b = from_yaml.suite.cases.read(i);
    ASSERT_TRUE(a && b);
    EXPECT_EQ((*a)->id, i == 0 ? "a" : "b");
    EXPECT_EQ((*a)->content, (*b)->content);
    EXPECT_EQ((*a)->context, (*b)->context);
    EXPECT_EQ((*a)->expectations, (*b)->expectations);
    EXPECT_EQ((*a)->source, "l.jsonl");
    EXPECT_EQ((*a)->line, i == 0 ? 4u : 1u);
    EXPECT_EQ((*b)->line, i == 0 ? 4u : 3u);
  }
  EXPECT_EQ(from_lines.suite.content_fingerprint, from_yaml.suite.content_fingerprint);
}

TEST_F(JsonLines, ReadsBackAnyTextFromAnyPlace) {
  EXPECT_TRUE(rc::check([this](const std::vector<std::string>& prompts, bool crlf, bool mark, bool last_end) {
    std::string text = mark ? "\xef\xbb\xbf" : "";
    std::vector<std::string> wanted;
    for (std::size_t i = 0; i < prompts.size(); ++i) {
      std::string prompt = "p";
      for (const char c : prompts[i]) {
        if (c >= ' ' && c < 0x7f && c != '"' && c != '\\') prompt += c;
      }
      wanted.push_back(prompt);
      text += line(std::to_string(1000 + i), prompt);
      if (last_end || i + 1 < prompts.size()) text += crlf ? "\r\n" : "\n";
    }
    if (wanted.empty()) return;
    write("l.jsonl", text);
    const LoadedSuite loaded = load(suite_yaml);
    RC_ASSERT(loaded.suite.cases.size() == wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const auto one = loaded.suite.cases.read(i);
      RC_ASSERT(one.has_value());
      RC_ASSERT((*one)->content == wanted[i]);
    }
  }));
}

TEST_F(JsonLines, TakesLinesLongerThanABlock) {
  const std::string prompt(3 << 20, 'x');
  write("l.jsonl", line("a") + "\n" + line("b", prompt) + "\n" + line("c"));
  const LoadedSuite loaded = load(suite_yaml);
  ASSERT_EQ(loaded.suite.cases.size(), 3u);
  EXPECT_EQ((*loaded.suite.cases.read(1))->content, prompt);
  EXPECT_EQ((*loaded.suite.cases.read(2))->content, "p");
}

TEST_F(JsonLines, NamesWhatIsWrongByLine) {
  EXPECT_EQ(findings_of(line("a") + "\n[1]\n{\"id\":1}\n" + line("b", "\\ud800") + "\n"),
            "l.jsonl:2: a test must be an object, not an array\n"
            "l.jsonl:3: \"id\" must be a string, not a whole number\n"
            "l.jsonl:3: missing \"input\": expected its prompt, or \"prompts\" of the suite\n"
            "l.jsonl:3: missing \"expected\": expected what the answer is judged by\n" +
                findings_of(line("b", "\\ud800")).replace(8, 1, "4"));
  EXPECT_EQ(findings_of(line("a") + "\n" + line("a", std::string(defaults::max_json_line_bytes, 'x')) + "\n" +
                        line("a") + "\n"),
            "l.jsonl:2: the line is too long: at most 4194304 bytes are read\n"
            "l.jsonl:3: the id \"a\" is already used in l.jsonl:1\n");
  EXPECT_EQ(findings_of(std::string(defaults::max_json_line_bytes * 2, 'x')),
            "l.jsonl:1: the line is too long: at most 4194304 bytes are read\n");
  EXPECT_EQ(findings_of("{\"id\":\"a\",\"id\":\"b\"}"), "l.jsonl:1: the key \"id\" stands twice\n");
  EXPECT_EQ(findings_of("\xff"), "l.jsonl:1: not valid UTF-8" + std::string(how_to_reach_utf8) + "\n");
  EXPECT_EQ(findings_of(std::string(100'000, '[')), "l.jsonl:1: is nested more than 64 deep\n");
}

TEST_F(JsonLines, RefusesASuiteWhoseFilesHoldNoTest) {
  const std::string no_test =
      "suite.yaml:2: \"tests_file\" names no test: each line of such a file holds one, and no line does\n";
  for (const char* blank : {"", "\n", "\xef\xbb\xbf \r\n\n"}) EXPECT_EQ(findings_of(blank), no_test);
  EXPECT_EQ(findings(std::string(suite_yaml) + "prompts: [p]\n"), no_test)
      << "and not that prompts ask nobody";
}

TEST_F(JsonLines, NamesWhatConvertsTestsOfPromptfoo) {
  const std::string found =
      findings_of(R"({"id":"a","input":{"prompt":"p"},"assert":[],"metadata":{},"threshold":1})");
  for (const char* hint :
       {"unknown key \"assert\"; the checks of an answer stand in \"expected\"; `sluice import`",
        "unknown key \"metadata\"; it is called \"tags\"",
        "unknown key \"threshold\"; it is the \"pass_mark\" of an all_of"})
    EXPECT_NE(found.find(hint), std::string::npos) << found;
}

TEST_F(JsonLines, ShowsAHundredFindings) {
  std::string text;
  for (int i = 0; i < 250; ++i) text += "1\n";
  const std::string found = findings_of(text);
  EXPECT_EQ(std::count(found.begin(), found.end(), '\n'), 101);
  EXPECT_TRUE(found.ends_with("l.jsonl:100: and 150 more findings from here on\n")) << found;
}

TEST_F(JsonLines, NoticesThatTheFileChanged) {
  write("p.txt", "first");
  const std::string named =
      R"({"id":"f","input":{"file":"p.txt"},"expected":{"type":"must_contain","text":"a"}})";
  write("l.jsonl", line("a", "one") + "\n" + line("b", "two") + "\n" + named + "\n");
  const LoadedSuite loaded = load(suite_yaml);
  const std::string whole = (folder_ / "l.jsonl").generic_string();
  // The same length, still a valid test.
  std::ofstream(folder_ / "l.jsonl", std::ios::binary) << line("a", "one") << "\n"
                                                       << line("b", "six") << "\n"
                                                       << named;
  EXPECT_TRUE(loaded.suite.cases.read(0));
  const auto changed = loaded.suite.cases.read(1);
  ASSERT_FALSE(changed);
  EXPECT_EQ(
      changed.error(),
      (Error{Reason::file_unreadable,
             whole + " (the test at byte " + std::to_string(line("a", "one").size() + 1) +
                 "), or a file that it names, was changed while it was in use: start again, and leave it "
                 "alone until the run has ended"}));
  EXPECT_TRUE(loaded.suite.cases.read(2));
  write("p.txt", "other");
  EXPECT_FALSE(loaded.suite.cases.read(2));
  const LoadedSuite again = load(suite_yaml);
  std::filesystem::resize_file(folder_ / "l.jsonl", 3);
  EXPECT_FALSE(again.suite.cases.read(0));
  EXPECT_TRUE(loaded.suite.cases.read(0)) << "was read with its neighbours before";
}

TEST_F(JsonLines, NoticesThatASchemaChanged) {
  write("s.json", R"({"type": "string"})");
  write("l.jsonl",
        R"({"id":"s","input":{"prompt":"p"},"expected":{"type":"json_schema","schema":"s.json"}})");
  const LoadedSuite loaded = load(suite_yaml);
  ASSERT_EQ(loaded.suite.cases.size(), 1u);
  EXPECT_TRUE(loaded.suite.cases.read(0));
  write("s.json", R"({"type": "number"})");
  EXPECT_FALSE(loaded.suite.cases.read(0));
}

}  // namespace
}  // namespace sluice
