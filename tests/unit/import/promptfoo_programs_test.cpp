// Assertions that are programs, as commands of a suite.
#include "tests/unit/import/promptfoo_fixture.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice::promptfoo_programs_test {

void expect_in(const std::string& text, const std::string& wanted) {
  EXPECT_NE(text.find(wanted), std::string::npos) << wanted << "\n" << text;
}
void expect_not_in(const std::string& text, const std::string& unwanted) {
  EXPECT_EQ(text.find(unwanted), std::string::npos) << unwanted << "\n" << text;
}

TEST_F(Promptfoo, RunsCodeAsACommandThatReadsTheVariables) {
  const std::string text = suite(R"yaml(prompts: ['Say {{topic}}']
tests:
  - vars: {topic: tea, least: 3, wanted: true, user: {name: Jo, says: 'I want {{topic}}'}, note: 'braces { {'}
    assert:
      - {type: javascript, value: output.length >= context.vars.least, threshold: 0.5}
      - type: not-python
        value: |
          import re
          return bool(re.search('{{topic}}', output))
        config: {limits: [1, 2]}
)yaml");
  expect_in(text, R"yaml(    vars:
      note: "braces { {"
      topic: tea
    expected:
      - type: command
        command:
          - node
          - promptfoo_check.cjs
        parameters:
          code: "output.length >= context.vars.least"
          threshold: 0.5
          vars:
            least: 3
            note: "{{note}}"
            topic: "{{topic}}"
            user:
              name: Jo
              says: "I want {{topic}}"
            wanted: true
      - type: not_command
        command:
          - python3
          - promptfoo_check.py
        parameters:
          code: |
            import re
            return bool(re.search('{{topic}}', output))
          config:
            limits:
              - 1
              - 2
          negated: true
          vars:
            least: 3
)yaml");
  expect_not_in(text, "# ");
}

TEST_F(Promptfoo, RunsAFunctionOfAFileByItsExtension) {
  write("checks/long.js", "module.exports = (output) => output.length > 3\n");
  write("checks/tone.py", "def get_assert(output, context):\n    return True\n");
  const std::string text = suite(R"yaml(prompts: [a]
tests:
  - assert:
      - {type: javascript, value: 'file://checks/long.js'}
      - {type: javascript, value: 'file://checks/long.js:atLeast', config: {least: '{{ braces }}'}}
      - {type: python, value: 'file://./checks/tone.py:kind'}
)yaml");
  expect_in(text, R"yaml(    vars: {}
    expected:
      - type: command
        command:
          - node
          - promptfoo_check.cjs
          - checks/long.js
        parameters: {}
      - type: command
        command:
          - node
          - promptfoo_check.cjs
          - checks/long.js
          - atLeast
        parameters:
          config:
            least: "{{ '{{' }} braces }}"
      - type: command
        command:
          - python3
          - promptfoo_check.py
          - "./checks/tone.py"
          - kind
)yaml");
  expect_not_in(text, "# ");
}

TEST_F(Promptfoo, NamesItsProgramsFromTheFolderOfTheSuite) {
  write("evals/long.js", "");
  write("evals/promptfooconfig.yaml",
        "prompts: [a]\ntests: [{assert: [{type: javascript, value: 'file://long.js'}]}]\n");
  const auto imported =
      import_promptfoo(folder_.path() / "evals" / "promptfooconfig.yaml", {}, folder_.path() / "suites");
  ASSERT_TRUE(imported) << join_findings(imported.error());
  expect_in(suite_yaml(imported->suite), "- \"../evals/long.js\"\n");
  ASSERT_EQ(imported->programs.size(), 1u);
  EXPECT_EQ(imported->programs[0].file, "promptfoo_check.cjs");
  EXPECT_EQ(imported->programs[0].interpreter, "node");
  EXPECT_EQ(imported->programs[0].checks, 1u);
  EXPECT_FALSE(imported->programs[0].text.empty());
}

TEST_F(Promptfoo, KeepsProgramsInTheDefaultTestThatReadTheSameVariablesInAllTests) {
  const std::string config = R"yaml(prompts: ['{{a}}']
defaultTest:
  vars: {shared: every, mapped: {list: [1, x]}}
  assert: [{type: python, value: len(output) > 3}, {type: contains, value: x}]
tests:
  - vars: {a: one}
  - vars: {a: three}
  - {vars: {a: two, shared: own}, options: {disableDefaultAsserts: true}, assert: [{type: javascript, value: output}]}
)yaml";
  const ImportedSuite imported = import(config);
  const std::string text = suite_yaml(imported.suite);
  expect_in(text, R"yaml(default_test:
  vars:
    shared: every
  expected:
    - type: must_contain
      text: x
    - type: command
      command:
        - python3
        - promptfoo_check.py
      parameters:
        code: "len(output) > 3"
        vars:
          a: "{{a}}"
          mapped:
            list:
              - 1
              - x
          shared: "{{shared}}"
tests:
  - id: test-1
    vars:
      a: one
  - id: test-2
    vars:
      a: three
  - id: test-3
    default_test: false
    vars:
      a: two
      shared: own
)yaml");
  ASSERT_EQ(imported.programs.size(), 2u);
  EXPECT_EQ(imported.programs[0].checks + imported.programs[1].checks, 2u);
  EXPECT_EQ(notes_of(imported), "");
}

// Their types are written out.
TEST_F(Promptfoo, GivesEachTestTheProgramsOfTheDefaultTestThatReadItsOwnVariables) {
  const std::string text = suite(R"yaml(prompts: ['{{a}}']
defaultTest: {assert: [{type: python, value: "len(output) > context['vars']['n']"}]}
tests: [{vars: {a: one, n: 1}}, {vars: {a: two, n: 2}}]
)yaml");
  expect_not_in(text, "default_test");
  expect_in(text, "          vars:\n            a: \"{{a}}\"\n            n: 1\n");
  expect_in(text, "          vars:\n            a: \"{{a}}\"\n            n: 2\n");
}

std::string tests_of_numbers(std::size_t count) {
  std::string tests = "tests:\n";
  for (std::size_t i = 0; i < count; ++i) tests += "  - vars: {n: " + std::to_string(i) + "}\n";
  return tests;
}

TEST_F(Promptfoo, WritesLongCodeOfManyTestsOnceIntoAFile) {
  const std::string line = "output.includes('{% raw %}{{x}}{% endraw %}') || " + std::string(1000, '1');
  const std::string config =
      "prompts: ['Say {{n}}']\ndefaultTest: {assert: [{type: not-javascript, value: \"" + line + "\"}]}\n";
  const ImportedSuite imported = import(config + tests_of_numbers(100));
  const std::string text = suite_yaml(imported.suite);
  ASSERT_EQ(imported.code_files.size(), 1u);
  EXPECT_EQ(imported.code_files[0].file, "promptfoo_code_1.js");
  EXPECT_EQ(imported.code_files[0].text, "output.includes('{{x}}') || " + std::string(1000, '1') + "\n");
  expect_not_in(text, "output.includes");
  expect_in(text,
            "          - node\n          - promptfoo_check.cjs\n          - \"--code\"\n"
            "          - promptfoo_code_1.js\n        parameters:\n          negated: true\n");
  ASSERT_EQ(imported.programs.size(), 1u);
  EXPECT_EQ(imported.programs[0].checks, 100u);
}

TEST_F(Promptfoo, KeepsCodeInTheSuiteThatFewTestsHaveOrThatShowsVariables) {
  const auto files = [&](const std::string& code, std::size_t tests) {
    return import("prompts: ['Say {{n}}']\ndefaultTest: {assert: [{type: python, value: \"" + code +
                  "\"}]}\n" + tests_of_numbers(tests))
        .code_files.size();
  };
  const std::string code = "len(output) > 1" + std::string(1000, '1');
  EXPECT_EQ(files(code, 100), 1u);
  EXPECT_EQ(files(code, 10), 0u);
  EXPECT_EQ(files("len('{{n}}') > 1" + std::string(1000, '1'), 100), 0u);
  EXPECT_EQ(files("len(output) > 1", 100), 0u);
}

// Beside quotes and within them.
TEST_F(Promptfoo, WritesTheJsonOfAValueIntoCode) {
  const std::string text = suite(R"yaml(prompts: ['{{a}}']
tests:
  - vars: {a: 'x "y"', items: {k: [1]}}
    assert: [{type: javascript, value: 'output == {{ a | dump }} && {{items|tojson|safe}}.k'}]
)yaml");
  expect_in(text, R"(code: "output == \"x \\\"y\\\"\" && {\"k\":[1]}.k")");
}

TEST_F(Promptfoo, HandsOverTheValueOfAnAnswerThatIsAskedForBySchema) {
  const std::string start = "prompts: [a]\nproviders: [{id: 'openai:m', config: {response_format: ";
  const std::string end = "}}]\ntests: [{assert: [{type: javascript, value: output.k == 1}]}]\n";
  expect_in(suite(start + "{type: json_schema, json_schema: {name: n, schema: {type: object}}}" + end),
            "          json: true\n");
  expect_not_in(suite(start + "{type: json_object}" + end), "json: true");
}

TEST_F(Promptfoo, LeavesOutProgramsThatCannotRun) {
  write("check.ts", "export default () => true\n");
  EXPECT_EQ(
      notes(R"yaml(prompts: [a]
tests:
  - assert:
      - {type: contains, value: x}
      - {type: javascript, value: 'file://check.ts'}
      - {type: javascript, value: 'file://gone.js'}
      - {type: python, value: 'file://../outside.py'}
      - {type: javascript, value: 'package:@scope/checks:fn'}
      - {type: python}
      - {type: python, value: '{{ a | upper }}'}
      - {type: python, value: output.k, transform: JSON.parse(output)}
      - {type: javascript, value: output.k, metric: m}
)yaml"),
      R"notes(promptfooconfig.yaml:5: the check javascript names the program "check.ts", which neither node nor python3 runs as it is: left out
promptfooconfig.yaml:6: the check javascript names "gone.js", which cannot be read: No such file or directory: left out
promptfooconfig.yaml:7: the check python names "../outside.py", which lies outside of the suite's folder: move it there, or allow its folder with --allow-path DIR: left out
promptfooconfig.yaml:8: the check javascript is a program of a package, which has no counterpart: left out
promptfooconfig.yaml:9: the check python names no value: left out
promptfooconfig.yaml:10: the check python holds "{{ a | upper }}", an expression or filter, of which there are none: left out
promptfooconfig.yaml:11: the check python judges what its "transform" makes of the answer: the transform is in JavaScript, and the check in Python: write it as get_transform of a Python file: left out
promptfooconfig.yaml:12: "metric" of the check javascript, "m", names a score of several checks, and one that only passes or fails has no name in a suite: left out
)notes");
}

TEST_F(Promptfoo, SaysThatTheScoreOfAProgramCountsForNoThreshold) {
  const std::string text = suite(R"yaml(prompts: ['{{a}}']
tests:
  - vars: {a: x}
    threshold: 0.5
    assert: [{type: javascript, value: output.length, weight: 2}, {type: contains, value: x}]
)yaml");
  expect_in(text, "type: all_of\n        pass_mark: 0.5\n        of:\n          - type: command\n");
  expect_in(text, "            weight: 2\n");
  expect_in(
      text,
      "# 5: the check javascript counts as passed or failed towards a \"threshold\"; there the score that "
      "it returns counts");
}

TEST_F(Promptfoo, ReadsProgramsInCellsOfATable) {
  write("check.py", "def get_assert(output, context):\n    return True\n");
  write("tests.csv",
        "a,__expected1,__expected2\n1,file://check.py,\"python: len(output) > 1\"\n2,fn: output.length,\n");
  const std::string text = suite("prompts: ['{{a}}']\ntests: file://tests.csv\n");
  expect_in(text, "          - promptfoo_check.py\n          - check.py\n");
  expect_in(text, "          code: \"len(output) > 1\"\n          vars:\n            a: \"{{a}}\"\n");
  expect_in(text, "          code: output.length\n");
}

}  // namespace sluice::promptfoo_programs_test
