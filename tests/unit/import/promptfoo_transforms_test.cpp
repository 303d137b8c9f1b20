// Assertions that judge what a transform makes of an answer.
#include "tests/unit/import/promptfoo_fixture.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice::promptfoo_transforms_test {

void expect_in(const std::string& text, const std::string& wanted) {
  EXPECT_NE(text.find(wanted), std::string::npos) << wanted << "\n" << text;
}
void expect_not_in(const std::string& text, const std::string& unwanted) {
  EXPECT_EQ(text.find(unwanted), std::string::npos) << unwanted << "\n" << text;
}

/// The checks, each with a transform, as a test's own.
std::string with_transform(const std::string& transform, const std::string& checks) {
  return "prompts: [a]\ntests:\n  - options: {transform: \"" + transform + "\"}\n    assert:\n" + checks;
}

TEST_F(Promptfoo, RunsATransformBeforeAProgram) {
  write("make.js", "module.exports = (output) => output\n");
  write("make.py", "def get_transform(output, context):\n    return output\n");
  const std::string text = suite(R"yaml(prompts: [a]
tests:
  - options: {transform: 'JSON.parse(output)'}
    assert:
      - {type: javascript, value: output > 1, transform: 'output.k || "{{x}}"'}
      - {type: javascript, value: 'output.includes("Paris")'}
  - assert:
      - {type: javascript, value: output > 1, transform: 'file://make.js'}
      - {type: not-python, value: output > 1, transform: 'file://make.py:other'}
)yaml");
  expect_in(text, R"yaml(          code: "output > 1"
          transforms:
            - JSON.parse(output)
            - "output.k || \"{{ '{{' }}x}}\""
)yaml");
  expect_in(text, R"yaml(          code: "output.includes(\"Paris\")"
          transforms:
            - JSON.parse(output)
)yaml");
  expect_in(text,
            "          - promptfoo_check.cjs\n          - \"--transform\"\n          - make.js\n"
            "          - default\n");
  expect_in(text,
            "          - promptfoo_check.py\n          - \"--transform\"\n          - make.py\n"
            "          - other\n");
  expect_not_in(text, "# ");
}

TEST_F(Promptfoo, SaysWhichTransformsOfAProgramCannotRun) {
  write("make.js", "");
  write("make.py", "");
  const std::string text = suite(R"yaml(prompts: [a]
tests:
  - options: {transform: output.trim().slice(1)}
    assert:
      - {type: contains, value: x}
      - {type: latency, threshold: 5}
      - {type: javascript, value: output, transform: 'file://make.py'}
      - {type: javascript, value: output, transform: 'file://make.js'}
      - {type: javascript, value: output, transform: 'file://gone.js'}
  - options: {transform: 'file://make.js'}
    assert: [{type: javascript, value: output, transform: output.n}]
)yaml");
  expect_in(
      text,
      "# 7: the check javascript judges what its \"transform\" makes of the answer: the transform is in "
      "Python, and the check in JavaScript: write both in one language: left out");
  expect_in(text,
            "# 11: the check javascript judges what the \"transform\" of its test makes of the answer: the "
            "transform comes before its own, and one of them is a file: write both into one: left out");
  expect_in(
      text,
      "# 9: the check javascript judges what its \"transform\" makes of the answer: the transform names "
      "\"gone.js\", which cannot be read");
  expect_in(text, "    expected:\n      - type: latency\n        max_ms: 5\n      - type: command\n");
  // Code runs before the function of a file.
  expect_in(text,
            "          - make.js\n          - default\n        parameters:\n          code: output\n"
            "          transforms:\n            - output.trim().slice(1)\n");
}

// It was dropped: the answer "  Paris \n" failed here, and passed there.
TEST_F(Promptfoo, RunsTrimBeforeAProgram) {
  const std::string text = suite(with_transform("output.trim()", R"yaml(
      - {type: javascript, value: 'output === "Paris"'}
      - {type: python, value: 'output == "Paris"'}
      - {type: javascript, value: 'output.includes("Paris ")', transform: output.trim()}
      - {type: javascript, value: 'output.includes("Rome")'}
)yaml"));
  expect_in(text, R"yaml(          code: "output === \"Paris\""
          transforms:
            - output.trim()
)yaml");
  expect_in(text, R"yaml(          code: "output == \"Paris\""
          trimmed: true
)yaml");
  expect_in(text, R"yaml(          code: "output.includes(\"Paris \")"
          transforms:
            - output.trim()
            - output.trim()
)yaml");
  expect_in(text, "      - type: must_contain\n        text: Rome\n");
  expect_not_in(text, "# ");
}

TEST_F(Promptfoo, RunsTrimBeforeAFunctionThatMakesWhatPythonJudges) {
  write("make.py", "def get_transform(output, context):\n    return output\n");
  const std::string text = suite(R"yaml(prompts: [a]
tests:
  - options: {transform: output.trim()}
    assert: [{type: python, value: output, transform: 'file://make.py'}]
  - options: {transform: 'file://make.py'}
    assert: [{type: python, value: output, transform: output.trim()}]
)yaml");
  expect_in(text,
            "          - make.py\n          - get_transform\n        parameters:\n          code: output\n"
            "          trimmed: true\n");
  expect_in(text,
            "# 6: the check python judges what the \"transform\" of its test makes of the answer: the "
            "transform comes before its own, and one of them is a file: write both into one: left out");
}

TEST_F(Promptfoo, SaysOfATrimmedAnswerWhatCanBeSaidOfTheAnswerItself) {
  const std::string text = suite(with_transform("output.trim()", R"yaml(
      - {type: regex, value: '^Paris$'}
      - {type: not-regex, value: '^{{city}} is'}
      - {type: contains, value: Paris}
      - {type: equals, value: Paris}
      - {type: starts-with, value: '{{city}}'}
      - {type: word-count, value: 1}
)yaml") + "    vars: {city: Rome}\n");
  expect_in(text, R"yaml(      - type: regex_match
        pattern: "^[\\s\\v\\p{Z}\\x{feff}]*Paris[\\s\\v\\p{Z}\\x{feff}]*$"
      - type: regex_not_match
        pattern: "^[\\s\\v\\p{Z}\\x{feff}]*Rome is"
      - type: must_contain
        text: Paris
      - type: exact_match
        text: Paris
      - type: starts_with
        text: "{{city}}"
)yaml");
  expect_in(text, "# 10: the check starts-with does not count white space at the ends");
  expect_not_in(text, "check equals");
}

TEST_F(Promptfoo, LeavesOutWhatTrimChangesAndNoMetricSays) {
  const std::string text = suite(with_transform("output.trim()", R"yaml(
      - {type: regex, value: '^.{1,80}$'}
      - {type: not-contains, value: "\n"}
      - {type: contains-all, value: ['a', 'b ']}
      - {type: contains, value: '{{end}}'}
      - {type: contains, value: kept}
)yaml") + "    vars: {end: 'x '}\n");
  for (const char* what : {"# 6: the check regex", "# 7: the check not-contains",
                           "# 8: the check contains-all", "# 9: the check contains"})
    expect_in(
        text,
        std::string(what) +
            " judges what a \"transform\" makes of the answer, which no metric says: write it as a check "
            "javascript, which runs the transform: left out");
  expect_in(text, "    expected:\n      - type: must_contain\n        text: kept\n#");
}

TEST_F(Promptfoo, AppliesTrimOfAProviderToAllChecks) {
  const std::string rest =
      "prompts: [a]\ntests:\n  - assert: [{type: javascript, value: 'output === \"Paris\"', transform: "
      "output.x}, "
      "{type: regex, value: '^Paris$'}]\nproviders:\n  - {id: 'openai:a', transform: output.trim()}\n";
  const std::string same = suite(rest + "  - {id: 'openai:b', transform: 'output.trim();'}\n");
  expect_in(same, "          transforms:\n            - output.trim()\n            - output.x\n");
  expect_in(same, "pattern: \"^[\\\\s\\\\v\\\\p{Z}\\\\x{feff}]*Paris");
  expect_not_in(same, "# ");
  const std::string some = suite(rest + "  - openai:b\n");
  expect_in(some, "pattern: \"^Paris$\"");
  expect_in(some, "# 5: \"transform\" is not that of all providers, and a suite has it by test: left out");
}

TEST_F(Promptfoo, SaysWithoutATransformWhatCaseDoesNotChange) {
  const std::string text = suite(with_transform("output.trim().toLowerCase()", R"yaml(
      - {type: contains, value: paris}
      - {type: not-contains-any, value: [rome, oslo]}
      - {type: contains-all, value: 'a, "b, c"'}
      - {type: icontains, value: Lima}
      - {type: equals, value: yes (a.b)}
      - {type: not-starts-with, value: sorry}
      - {type: word-count, value: 3}
)yaml"));
  expect_in(text, R"yaml(    expected:
      - type: icontains
        text: paris
      - type: not_icontains_any
        text:
          - rome
          - oslo
      - type: icontains
        text:
          - a
          - "b, c"
      - type: icontains
        text: Lima
      - type: regex_match
        pattern: "(?i)^[\\s\\v\\p{Z}\\x{feff}]*yes \\(a\\.b\\)[\\s\\v\\p{Z}\\x{feff}]*$"
      - type: regex_not_match
        pattern: "(?i)^[\\s\\v\\p{Z}\\x{feff}]*sorry"
      - type: regex_match
)yaml");
  expect_not_in(text, "# ");
  expect_in(suite(with_transform("output.toLowerCase();", "      - {type: equals, value: nope}\n")),
            "pattern: \"(?i)^nope$\"\n");
}

TEST_F(Promptfoo, TakesAnEmptyTransformForNone) {
  const std::string text = suite(
      "prompts: [a]\ntests: [{assert: [{type: contains, value: X, transform: ''}, "
      "{type: contains, value: Y1, transform: null}]}]\n");
  expect_in(text, "        text: X\n");
  expect_in(text, "        text: Y1\n");
}

// No answer contains a capital there, and each of the others asks for more than the case.
TEST_F(Promptfoo, LeavesOutWhatCaseChanges) {
  const std::string text = suite(with_transform("output.toLowerCase()", R"yaml(
      - {type: contains, value: Paris}
      - {type: contains, value: '{{x}}'}
      - {type: regex, value: a+}
      - {type: is-json}
      - {type: levenshtein, value: paris}
      - {type: similar, value: paris}
      - {type: llm-rubric, value: polite}
)yaml"));
  expect_in(text, "      - unchecked\n");
  expect_not_in(text, "must_contain");
}

TEST_F(Promptfoo, SaysAMemberOfAnAnswerBySchema) {
  const std::string text = suite(with_transform("JSON.parse(output).city['the name']", R"yaml(
      - {type: equals, value: Paris}
      - {type: equals, value: 17}
      - {type: not-equals, value: Rome}
      - {type: equals, value: 1.50}
)yaml"));
  expect_in(text, R"yaml(        schema:
          properties:
            city:
              properties:
                the name:
                  enum:
                    - Paris
              required:
                - the name
              type: object
          required:
            - city
          type: object
)yaml");
  expect_in(text, "                  enum:\n                    - \"17\"\n                    - 17\n");
  expect_in(
      text,
      "# 6: the check equals takes JSON in a code fence as well, which fails there (and in 1 more place)\n");
  expect_in(text, "# 8: the check not-equals judges what the \"transform\" of its test makes of the answer");
  expect_in(text, "# 9: the check equals judges what the \"transform\" of its test makes of the answer");
  expect_in(suite(with_transform("JSON.parse(output).items.length", "      - {type: equals, value: 2}\n")),
            "# 5: the check equals judges what the \"transform\"");
}

TEST_F(Promptfoo, GivesChecksOfTheDefaultTestToATestWithATransformOfItsOwn) {
  const std::string text = suite(R"yaml(prompts: [a]
defaultTest:
  options: {transform: output.toLowerCase()}
  assert: [{type: contains, value: x}, {type: latency, threshold: 5}]
tests:
  - assert: [{type: contains, value: one}]
  - {options: {transform: output.trim()}, assert: [{type: contains, value: z}]}
)yaml");
  expect_in(text, R"yaml(default_test:
  expected:
    - type: icontains
      text: x
    - type: latency
      max_ms: 5
tests:
  - id: test-1
    expected:
      - type: icontains
        text: one
  - id: test-2
    default_test: false
    expected:
      - type: must_contain
        text: z
      - type: must_contain
        text: x
      - type: latency
        max_ms: 5
)yaml");
}

TEST_F(Promptfoo, LeavesOutASetOfWhichAPartCannotBeSaid) {
  const std::string text = suite(R"yaml(prompts: [a]
tests:
  - options: {transform: output.toLowerCase()}
    assert:
      - {type: assert-set, threshold: 0.5, assert: [{type: contains, value: a}, {type: icontains, value: b}]}
      - {type: assert-set, threshold: 0.5, assert: [{type: contains, value: c}, {type: regex, value: d}]}
)yaml");
  expect_in(text,
            "        of:\n          - type: icontains\n            text: a\n          - type: icontains\n");
  expect_not_in(text, "text: c\n");
  expect_in(text, "# 6: the check regex judges what the \"transform\" of its test makes of the answer");
}

}  // namespace sluice::promptfoo_transforms_test
