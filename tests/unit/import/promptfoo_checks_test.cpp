// What the assertions of a configuration become.
#include "coordinator/import/foreign_script.hpp"
#include "tests/unit/import/promptfoo_fixture.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice::promptfoo_checks_test {

TEST_F(Promptfoo, TakesOverTheChecksThatASuiteHasByName) {
  const std::string text = suite(R"yaml(prompts: ['{{a}}']
tests:
  - vars: {a: x}
    assert:
      - {type: icontains, value: '{{ a }}'}
      - {type: not-starts-with, value: '{{a}}'}
      - {type: levenshtein, value: '{{a}}', threshold: 3}
      - {type: contains-json, value: {type: object}}
      - {type: rouge-n, value: '{{a}}', threshold: 0.5}
      - {type: latency, threshold: 1500}
      - {type: cost, threshold: 0.25}
)yaml");
  for (const std::string expected :
       {"type: icontains\n        text: \"{{a}}\"", "type: not_starts_with\n        text: \"{{a}}\"",
        "type: levenshtein\n        text: \"{{a}}\"\n        max_distance: 3", "type: contains_json",
        "type: rouge_n\n        text: \"{{a}}\"\n        min_score: 0.5", "max_ms: 1500",
        "max_dollars: 0.25"}) {
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\n" << text;
  }
  EXPECT_EQ(
      text.substr(text.find("# ")),
      "# 7: the check levenshtein does not count white space at the ends, which counts there\n"
      "# 9: the check rouge-n is the F1 of words without their case and punctuation, and there the share "
      "of the text's words that the answer has: look at its threshold anew\n"
      "# 10: a check of latency measures the call that brings an answer: a cached answer keeps its time, "
      "until --refresh calls for it again\n");
}

// An answer that fails there passes here.
TEST_F(Promptfoo, SaysOnceOfEachKindOfChecksWhatItLetsPass) {
  EXPECT_EQ(
      notes(R"yaml(prompts: [a]
defaultTest: {assert: [{type: equals, value: x}]}
tests:
  - assert:
      - {type: not-equals, value: y}
      - {type: equals, value: {k: 1}}
      - {type: contains-json, value: {properties: {day: {format: date}}}}
  - assert:
      - {type: starts-with, value: x}
      - {type: equals, value: z}
      - {type: is-json, value: {properties: {mail: {format: email}}}}
      - {type: not-is-json}
  - assert: [{type: contains, value: x}]
)yaml"),
      "promptfooconfig.yaml:2: the check equals does not count white space at the ends, which counts "
      "there (and in 1 more place)\n"
      "promptfooconfig.yaml:6: the check equals takes JSON in a code fence as well, which fails there\n"
      "promptfooconfig.yaml:9: the check starts-with does not count white space at the ends, which "
      "counts there\n"
      "promptfooconfig.yaml:11: the check is-json takes JSON in a code fence as well, which fails there, "
      "and judges no \"format\" but \"date\", \"time\" and \"date-time\"\n");
}

TEST_F(Promptfoo, NamesTheTestsThatKeepNoCheckOfTheirOwn) {
  const std::string tests =
      "tests:\n  - description: Counts words\n    assert: [{type: ruby, value: x}]\n"
      "  - assert: [{type: contains, value: x}]\n";
  EXPECT_EQ(notes("prompts: [a]\n" + tests),
            "promptfooconfig.yaml:3: of the test \"counts-words\" no check of its own is left: it passes if "
            "the answer is not blank\n"
            "promptfooconfig.yaml:4: the check ruby has no counterpart (`type: command` runs a program of "
            "yours): left out\n");
  EXPECT_EQ(notes("prompts: [a]\ndefaultTest: {assert: [{type: contains, value: y}]}\n" + tests),
            "promptfooconfig.yaml:4: of the test \"counts-words\" no check of its own is left: the default "
            "test's alone judge it\n"
            "promptfooconfig.yaml:5: the check ruby has no counterpart (`type: command` runs a program of "
            "yours): left out\n");
  EXPECT_EQ(notes("prompts: ['{{a}}']\ntests: [{vars: {a: [b, c]}, assert: [{type: ruby, value: x}]}]\n"),
            "promptfooconfig.yaml:2: the check ruby has no counterpart (`type: command` runs a program of "
            "yours): left out\n"
            "promptfooconfig.yaml:2: of the test \"test-1\" no check of its own is left: it passes if the "
            "answer is not blank\n")
      << "once for a test of many values";
}

TEST_F(Promptfoo, StandsInForWhatASuiteNeeds) {
  EXPECT_EQ(suite("providers: [exec:run.sh]\ntests: [{vars: {question: Tell me.}}]\n"), R"yaml(prompts:
  - id: stand-in
    prompt: "{{question}}"
tests:
  - id: test-1
    vars:
      question: Tell me.
    expected:
      - type: regex_match
        pattern: "\\S"
# 1: the provider "exec:run.sh" is a program, which reads and writes another form here (`kind = "exec"` in docs/providers.md): left out
# 1: no prompt could be taken over: one that shows the variables stands in "prompts"; write yours in its place
# 2: a test without a check that a suite has: it passes if the answer is not blank
)yaml");
  EXPECT_EQ(notes("prompts: ['{{a}}', 'b {{c}}']\ntests: [{assert: [{type: contains, value: x}]}]\n"),
            "promptfooconfig.yaml:2: the variable \"a\" has no value: it is a blank\n"
            "promptfooconfig.yaml:2: the variable \"c\" has no value: it is empty\n");
}

TEST_F(Promptfoo, NamesScoresBesideThoseOfTheDefaultTest) {
  const std::string text = suite(
      "prompts: [a]\ndefaultTest: {options: {provider: 'openai:gpt-5'}, assert: [{type: llm-rubric, value: "
      "is "
      "short}]}\n"
      "tests:\n  - assert: [{type: llm-rubric, value: is kind}, {type: llm-rubric, value: is true}]\n");
  EXPECT_NE(text.find("settings:\n  judge: openai\n  judge_model: gpt-5\n"), std::string::npos) << text;
  EXPECT_NE(text.find("    - type: rubric\n      criteria: is short\n"), std::string::npos) << text;
  EXPECT_NE(text.find("      - type: rubric\n        name: \"2\"\n        criteria: is kind\n"
                      "      - type: rubric\n        name: \"3\"\n        criteria: is true\n"),
            std::string::npos)
      << text;
}

TEST_F(Promptfoo, FollowsMergeKeysAndTemplatesOfAssertions) {
  const std::string text = suite(R"yaml(prompts: [a]
assertionTemplates: {polite: {type: contains, value: please}}
x-base: &base {assert: [{$ref: '#/assertionTemplates/polite'}, {type: assert-set, assert: [{type: contains, value: b}]}]}
tests:
  - <<: *base
)yaml");
  EXPECT_NE(text.find("text: please"), std::string::npos) << text;
  EXPECT_NE(text.find("text: b"), std::string::npos) << text;
}

TEST_F(Promptfoo, SaysOfAnUnknownCheckThatItIsUnknownWhateverItsValue) {
  EXPECT_EQ(notes("prompts: [a]\ntests: [{assert: [{type: contains, value: x}, {type: bleu, value: {min: "
                  "1}}]}]\n"),
            "promptfooconfig.yaml:2: the check bleu has no counterpart: left out\n");
}

TEST_F(Promptfoo, AsksAJudgeForTheOppositeOfARubric) {
  const std::string text = suite(R"yaml(prompts: ['Say {{a}}']
defaultTest: {options: {provider: 'openai:gpt-5'}}
tests:
  - vars: {a: x}
    assert: [{type: not-llm-rubric, value: 'Speaks of {{a}}.', threshold: 0.8}]
  - vars: {a: y}
    assert: [{type: llm-rubric, value: Is long.}, {type: not-g-eval, value: Is long.}]
  - vars: {a: z}
    assert: [{type: contains, value: z}, {type: not-factuality, value: It rains.}]
)yaml");
  const std::string opposite =
      "The answer must meet nothing of this (1.0 if it meets nothing of it, 0.0 if it meets all of it, "
      "evenly "
      "between): ";
  EXPECT_NE(text.find("criteria: \"" + opposite + "\\\"Speaks of {{a}}.\\\"\"\n        min_score: 0.2\n"),
            std::string::npos)
      << text;
  EXPECT_NE(
      text.find(
          "        criteria: Is long.\n      - type: rubric\n        name: \"2\"\n        criteria: \"" +
          opposite + "\\\"Is long.\\\"\"\n"),
      std::string::npos)
      << text;
  EXPECT_NE(
      text.find("# 5: the check not-llm-rubric asks a judge for the opposite of its criteria, and there "
                "the verdict on them is turned round"),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("# 9: the check not-factuality is judged there as without \"not-\": take that out, or "
                      "ask for the opposite by `llm-rubric`: left out\n"),
            std::string::npos)
      << text;
}

// Of those that are documented it was said that they are not.
TEST_F(Promptfoo, KnowsTheChecksOfToolsAndTraces) {
  for (const std::string type :
       {"trajectory:tool-used", "trajectory:tool-args-match", "trajectory:tool-sequence",
        "trajectory:step-count", "trajectory:goal-success", "trace-span-count", "trace-span-duration",
        "trace-error-spans", "skill-used", "agent-rubric", "not-trajectory:tool-used"}) {
    EXPECT_EQ(notes("prompts: [a]\ntests: [{assert: [{type: contains, value: x}, {type: '" + type +
                    "', value: {name: y}}]}]\n"),
              "promptfooconfig.yaml:2: the check " + type + " has no counterpart: left out\n");
  }
  for (const std::string type : {"is-valid-function-call", "is-valid-openai-function-call", "tool-call-f1"}) {
    EXPECT_EQ(notes("prompts: [a]\ntests: [{assert: [{type: contains, value: x}, {type: '" + type +
                    "', value: [y]}]}]\n"),
              "promptfooconfig.yaml:2: the check " + type +
                  " has no counterpart (`type: tool_call` checks a tool that the answer calls, and its "
                  "arguments): left out\n");
  }
}

TEST_F(Promptfoo, TakesOverARefusalAndSaysWhatCounts) {
  const std::string made =
      suite("prompts: [a]\ntests: [{assert: [{type: is-refusal}]}, {assert: [{type: not-is-refusal}]}]\n");
  EXPECT_NE(
      made.find("type: any_of\n        of:\n          - type: refusal\n          - type: regex_match\n"),
      std::string::npos)
      << made;
  EXPECT_NE(made.find("type: not_any_of\n"), std::string::npos) << made;
  EXPECT_NE(made.find("# 2: the check is-refusal knows the provider's own refusals"), std::string::npos)
      << made;
}

TEST_F(Promptfoo, TakesOverNamedGroupsAndNoReferencesToThem) {
  const std::string made = suite(
      "prompts: ['{{a}}']\ntests: [{vars: {a: x}, assert: [{type: regex, value: '(?<n>{{a}})'}, {type: "
      "regex, "
      "value: '(?<n>a)\\k<n>'}]}]\n");
  EXPECT_NE(made.find("type: regex_match\n        pattern: \"(?<n>x)\"\n"), std::string::npos) << made;
  EXPECT_NE(made.find("# 2: the check regex cannot be said: its pattern has \"\\k\", and RE2 has no "),
            std::string::npos)
      << made;
}

// They were taken for patterns of RE2: the verdicts were the opposite ones, without a line.
TEST_F(Promptfoo, ReadsPatternsAsJavaScriptDoes) {
  const std::string made = suite(R"yaml(prompts: ['{{a}}']
tests:
  - vars: {a: '[:alpha:]'}
    assert:
      - {type: regex, value: '^\p{L}+$'}
      - {type: not-regex, value: '^[{{a}}]+$'}
      - {type: regex, value: '^\s*yes.$'}
      - {type: regex, value: '\ud83d'}
)yaml");
  EXPECT_NE(made.find("pattern: \"^p{L}+$\""), std::string::npos) << made;
  EXPECT_NE(made.find("pattern: \"^[\\\\[:alpha:]]+$\""), std::string::npos) << made;
  EXPECT_NE(made.find("pattern: \"^[\\\\s\\\\v\\\\p{Z}\\\\x{feff}]*yes[^\\\\n\\\\r"), std::string::npos)
      << made;
  EXPECT_NE(made.find("# 8: the check regex looks for a half of a character beyond U+FFFF"),
            std::string::npos)
      << made;
  EXPECT_EQ(made.find("# 5:"), std::string::npos) << made;
}

// The value was the file's bytes, whatever it held.
TEST_F(Promptfoo, SaysOfAProgramThatItIsOneWhateverItHolds) {
  EXPECT_EQ(notes("prompts: [a]\ntests: [{assert: [{type: contains, value: x}, {type: ruby, value: "
                  "'output == {{ a | upper }}'}]}]\n"),
            "promptfooconfig.yaml:2: the check ruby has no counterpart (`type: command` runs a program of "
            "yours): left out\n");
}

TEST_F(Promptfoo, ReadsTheValueOfACheckAsItsFileHasIt) {
  write("words.yaml", "- one\n- two\n");
  write("w.txt", "Paris\n");
  write("any.txt", "a,\"b,c\"\n");
  write("word.json", "\"Rome\"\n");
  write("object.json", "{\"k\": [1]}\n");
  const std::string text = suite(R"yaml(prompts: [p]
tests:
  - assert:
      - {type: contains-all, value: file://words.yaml}
      - {type: contains, value: file://w.txt}
      - {type: contains-any, value: file://any.txt}
      - {type: starts-with, value: file://word.json}
      - {type: equals, value: file://object.json}
      - {type: contains, value: file://object.json}
)yaml");
  EXPECT_NE(text.find(R"yaml(      - type: must_contain
        text:
          - one
          - two
      - type: must_contain
        text: Paris
      - type: contains_any
        text:
          - a
          - "b,c"
      - type: starts_with
        text: Rome
      - type: json_schema
        schema:
          const:
            k:
              - 1
# 7: the check starts-with does not count white space at the ends, which counts there
# 8: the check equals takes JSON in a code fence as well, which fails there
# 9: the check contains has a value that is no text: left out
)yaml"),
            std::string::npos)
      << text;
}

TEST_F(Promptfoo, ReadsTheValueOfACellAsItsFileHasIt) {
  write("w.txt", "Paris\n");
  write("schema.json", "{\"type\": \"object\"}\n");
  write("tests.csv", "a,__expected\nx,contains: file://w.txt\ny,is-json: file://schema.json\n");
  const std::string text = suite("prompts: ['{{a}}']\ntests: file://tests.csv\n");
  EXPECT_NE(text.find("text: Paris\n"), std::string::npos) << text;
  EXPECT_NE(text.find("schema:\n          type: object\n"), std::string::npos) << text;
}

TEST_F(Promptfoo, NotesAMisspeltCheckOfACell) {
  write("tests.csv", "a,__expected\nx,contain: Paris\ny,Note: x\nz,\"contains-any: \"\"a\"\n");
  const ImportedSuite imported = import("prompts: ['{{a}}']\ntests: file://tests.csv\n");
  EXPECT_EQ(
      notes_of(imported),
      "tests.csv:2: the cell begins with \"contain\", which is no check; did you mean \"contains:\"? Its "
      "whole text is what the answer must equal, as there\n"
      "tests.csv:2: the check equals does not count white space at the ends, which counts there (and in 1 "
      "more "
      "place)\n"
      "tests.csv:4: the check contains-any has a quote that nothing closes: left out\n"
      "tests.csv:4: of the test \"test-3\" no check of its own is left: it passes if the answer is not "
      "blank\n");
  EXPECT_NE(suite_yaml(imported.suite).find("text: \"contain: Paris\""), std::string::npos);
}

TEST_F(Promptfoo, NotesAThresholdOfACellThatIsNoNumber) {
  const std::string made = suite("a,__expected\nx,latency(abc)\n", "tests.csv");
  EXPECT_NE(made.find("# 2: the cell begins with \"latency(abc)\", which is no check; did you mean "
                      "\"latency(NUMBER)\"? Its whole text is what the answer must equal, as there\n"),
            std::string::npos)
      << made;
}

TEST_F(Promptfoo, NotesATableWithoutCommasBetweenItsColumns) {
  const std::string made = suite("a;__expected\nx;contains: y\n", "tests.csv");
  EXPECT_NE(made.find("# 1: there is one column, \"a;__expected\": columns stand between commas, not between "
                      "semicolons\n"),
            std::string::npos)
      << made;
}

TEST_F(Promptfoo, SplitsAListInATextOutsideOfItsQuotes) {
  const std::string text = suite(R"yaml(prompts: [p]
tests:
  - assert:
      - {type: contains-any, value: 'a,"b,c"'}
      - {type: icontains-any, value: '"say ""hi""", d'}
      - {type: contains-all, value: '"open'}
)yaml");
  EXPECT_NE(text.find("          - a\n          - \"b,c\"\n"), std::string::npos) << text;
  EXPECT_NE(text.find("          - \"say \\\"hi\\\"\"\n          - d\n"), std::string::npos) << text;
  EXPECT_NE(text.find("# 6: the check contains-all has a quote that nothing closes: left out"),
            std::string::npos)
      << text;
}

// Each entry was a text that passes alone.
TEST_F(Promptfoo, ComparesAListAsAWhole) {
  const std::string text = suite("prompts: [p]\ntests: [{assert: [{type: equals, value: [1, 2]}]}]\n");
  EXPECT_NE(
      text.find("type: json_schema\n        schema:\n          const:\n            - 1\n            - 2\n"),
      std::string::npos)
      << text;
}

TEST_F(Promptfoo, KeepsTheThresholdThatAJudgeHasByDefaultThere) {
  const std::string text = suite("prompts: [p]\ntests: [{assert: [{type: g-eval, value: is kind}]}]\n");
  EXPECT_NE(text.find("criteria: is kind\n        min_score: 0.7\n"), std::string::npos) << text;
  const std::string both = suite(
      "prompts: [p]\ntests: [{assert: [{type: llm-rubric, value: is kind}, {type: g-eval, value: is "
      "true}]}]\n");
  EXPECT_NE(both.find("criteria: is kind\n      - type: rubric\n        name: \"2\"\n        criteria: is "
                      "true\n        min_score: 0.7\n"),
            std::string::npos)
      << both;
}

TEST(ForeignScripts, ThatAskForTextsAreChecks) {
  const auto of = [](const std::string& script) {
    const auto check = check_of_script(script, 1);
    if (!check) return std::string("(none)");
    std::string text = (check->is_negated ? "not-" : "") + check->type + ":";
    for (const std::string& value : check->values) text += " " + value;
    return text;
  };
  EXPECT_EQ(of("output.includes('a b')"), "contains: a b");
  EXPECT_EQ(of("return output.includes(\"a\");"), "contains: a");
  EXPECT_EQ(of("!output.includes('a')"), "not-contains: a");
  EXPECT_EQ(of("output.toLowerCase().includes('a')"), "icontains: a");
  EXPECT_EQ(of("output.includes('a') && output.includes('b')"), "contains-all: a b");
  EXPECT_EQ(of("output.includes('a') || output.includes('b')"), "contains-any: a b");
  EXPECT_EQ(of("output.startsWith('a')"), "starts-with: a");
  for (const std::string script :
       {"output.includes('a') && output.includes('b') || true", "output.includes(x)",
        "output.includes('a', 3)", "output.includes('a') || !output.includes('b')",
        "output.includes('a') && output.toLowerCase().includes('b')", "output.length > 3",
        "output.toLowerCase().includes('Paris')", "!output.toLowerCase().includes('\u00c9')",
        "output.includes('')", "output.includes('a\\n')", "", "output"}) {
    EXPECT_EQ(of(script), "(none)") << script;
  }
}

}  // namespace sluice::promptfoo_checks_test
