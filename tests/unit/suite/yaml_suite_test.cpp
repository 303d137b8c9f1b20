// What is read of a suite in YAML.
#include "tests/unit/suite/yaml_suite.hpp"

#include "tests/support/paths.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace sluice::yaml_suite_test {

Case case_of(const LoadedSuite& loaded, std::size_t index) {
  const auto one = loaded.suite.cases.read(index);
  EXPECT_TRUE(one) << one.error().message;
  return one ? **one : Case{};
}

// A program that writes suites gives every test the key.
TEST_F(YamlSuite, ATestMayHaveNoTags) {
  const LoadedSuite loaded = load(
      "suite: s\ntests:\n  - {id: t, tags: [], input: {prompt: p}, expected: {type: must_contain, text: "
      "x}}\n");
  ASSERT_EQ(loaded.suite.cases.size(), 1u);
  EXPECT_TRUE(case_of(loaded, 0).tags.empty());
}

TEST_F(YamlSuite, LoadsEveryKindOfTest) {
  write("prompts/long.txt", "first\r\nsecond\r\n");
  write("answer.schema.json", R"({"type": "object", "required": ["a"]})");
  const LoadedSuite loaded = load(R"yaml(
suite: demo
model: gpt-4o-mini
settings:
  provider: openai
  temperature: 0
  timeout_seconds: 30
  thresholding: {mode: relative, max_drop: 0.03, min_floor: 0.80}
tests:
  - id: b
    name: Paris
    category: geo
    weight: 2
    known_failure: old data
    input:
      prompt: "What is the capital of France?"
      context: [one, two]
      system: Be brief.
    expected:
      - {type: must_contain, text: Paris}
      - {type: regex_match, pattern: ["(?i)paris", "^P"]}
      - type: semantic_similarity_to
        text: [Paris, The capital is Paris.]
        min_score: 0.5
        thresholding: {max_drop: 0.10}
  - id: a
    input: {file: prompts/long.txt}
    expected: {type: json_schema, schema: answer.schema.json}
  - id: c
    language: python
    input: {prompt: "requests.get(url, verify=False)"
}
    expected:
      - type: claims_precision
        min_score: 0.9
        min_confidence: 0.5
        must_contain:
          - {subject: tls/cert_verification, predicate: enabled, value: false, rationale: off}
      - type: claims_recall
)yaml");
  ASSERT_EQ(loaded.suite.cases.size(), 3u);
  EXPECT_EQ(loaded.suite.name, "demo");
  EXPECT_EQ(loaded.suite.thresholding, (Thresholding{ThresholdMode::relative, 0.03, 0.80, std::nullopt}));
  const Case a = case_of(loaded, 0);
  EXPECT_EQ(a.content, "first\nsecond\n");
  EXPECT_EQ(a.content_file, "prompts/long.txt");
  EXPECT_EQ(a.category, "tests");
  EXPECT_EQ(a.kind, CaseKind::text);
  EXPECT_EQ(a.source, "suite.yaml");
  EXPECT_GT(a.line, 1u);
  ASSERT_EQ(a.expectations.size(), 1u);
  EXPECT_EQ(a.expectations[0].what.texts, std::vector<std::string>{R"({"required":["a"],"type":"object"})"});
  const Case b = case_of(loaded, 1);
  EXPECT_EQ(b.name, "Paris");
  EXPECT_EQ(b.weight, 2.0);
  EXPECT_EQ(b.known_failure, "old data");
  EXPECT_EQ(b.context, "one\n\ntwo");
  EXPECT_EQ(b.system, "Be brief.");
  ASSERT_EQ(b.expectations.size(), 3u);
  EXPECT_EQ(b.expectations[1].what, (TextExpectation{MetricId::regex_match, {"(?i)paris", "^P"}}));
  EXPECT_EQ(b.expectations[2].min_score, 0.5);
  EXPECT_EQ(b.expectations[2].thresholding.max_drop, 0.10);
  const Case c = case_of(loaded, 2);
  EXPECT_EQ(c.kind, CaseKind::claims);
  EXPECT_EQ(c.min_confidence, 0.5);
  ASSERT_EQ(c.must_contain.size(), 1u);
  EXPECT_EQ(c.must_contain[0].rationale, "off");
  EXPECT_EQ(c.expectations[1].what, (TextExpectation{MetricId::claims_recall, {}}));
  EXPECT_EQ(loaded.suite.metrics,
            (std::vector{MetricId::claims_precision, MetricId::claims_recall, MetricId::must_contain,
                         MetricId::regex_match, MetricId::json_schema, MetricId::semantic_similarity_to}));
  ASSERT_EQ(loaded.settings.size(), 4u);
  EXPECT_EQ(loaded.settings[0].key, "model");
  EXPECT_EQ(loaded.settings[0].value.line, 3u);
  EXPECT_EQ(loaded.settings[3].key, "request_timeout_seconds");
}

// docs/suites.md says so: a file asks the same whatever a checkout makes of its line ends.
TEST_F(YamlSuite, LineEndsOfAFileAreThoseOfUnixAndOfAQuotedPromptAsWritten) {
  write("ask.txt", "a\r\nb\r\n");
  const LoadedSuite loaded = load(
      "suite: s\ntests:\n"
      "  - {id: f, input: {file: ask.txt}, expected: {type: must_contain, text: x}}\n"
      "  - {id: q, input: {prompt: \"a\\r\\nb\"}, expected: {type: must_contain, text: x}}\n");
  ASSERT_EQ(loaded.suite.cases.size(), 2u);
  EXPECT_EQ(case_of(loaded, 0).content, "a\nb\n");
  EXPECT_EQ(case_of(loaded, 1).content, "a\r\nb");
}

TEST_F(YamlSuite, TakesInFixturesAndTestsFiles) {
  write("fix/tls/a.toml", "[metadata]\nid = \"f\"\ncategory = \"c\"\n[input]\ncontent = \"x\"\n");
  write("fix/manifest.toml", "[corpus]\nversion = \"1\"\n");
  write("more.jsonl",
        "{\"id\":\"l\",\"input\":{\"prompt\":\"p\"},\"expected\":{\"type\":\"exact_match\",\"text\":\"\"}"
        "}\n");
  const LoadedSuite loaded = load("suite: s\nfixtures: fix\ntests_file: [more.jsonl]\n");
  ASSERT_EQ(loaded.suite.cases.size(), 2u);
  EXPECT_EQ(case_of(loaded, 0).source, "fix/tls/a.toml");
  EXPECT_EQ(case_of(loaded, 1).source, "more.jsonl");
  ASSERT_TRUE(loaded.suite.manifest);
  EXPECT_EQ(loaded.suite.manifest->corpus_version, "1");
}

TEST_F(YamlSuite, AFixturesPlaceIsTheSameHoweverTheSuiteIsNamed) {
  write("s/fix/tls/a.toml", "[metadata]\nid = \"f\"\ncategory = \"c\"\n[input]\ncontent = \"x\"\n");
  write("s/suite.yaml", "suite: s\nfixtures: ./fix/\n");
  std::filesystem::create_directory(folder_ / "sub");
  for (const std::string name : {"s/suite.yaml", "./s/suite.yaml", "sub/../s/./suite.yaml"}) {
    const auto loaded = load_any_suite(folder_ / name);
    ASSERT_TRUE(loaded) << join_findings(loaded.error());
    EXPECT_EQ(case_of(*loaded, 0).source, "fix/tls/a.toml") << name;
  }
  for (const std::string name : {"s/fix", "./s/fix", "s/fix/", "sub/../s/./fix"}) {
    const auto loaded = load_any_suite(folder_ / name);
    ASSERT_TRUE(loaded) << join_findings(loaded.error());
    EXPECT_EQ(case_of(*loaded, 0).source, "tls/a.toml") << name;
  }
}

TEST_F(YamlSuite, TheReferencesExampleLoads) {
  std::ifstream file(support::source_path("docs/suites.md"));
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto begin = text.find("```yaml\n");
  ASSERT_NE(begin, std::string::npos);
  const std::string yaml = text.substr(begin + 8, text.find("```", begin + 8) - begin - 8);
  write("prompts/refund.txt", "Write a refund mail.\n");
  write("more_tests.jsonl",
        text.substr(text.find("```json\n") + 8,
                    text.find("```", text.find("```json\n") + 8) - text.find("```json\n") - 8));
  write("fixtures/tls/a.toml", "[metadata]\nid = \"f\"\ncategory = \"c\"\n[input]\ncontent = \"x\"\n");
  EXPECT_GE(load(yaml).suite.cases.size(), 6u);
}

}  // namespace sluice::yaml_suite_test
