// What of an import changes a request or a verdict, and what the last lines and --strict count.
#include "tests/unit/import/promptfoo_fixture.hpp"

#include <cstddef>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::import_losses_test {

const std::string one_test = "tests: [{assert: [{type: contains, value: x}]}]\n";

TEST_F(Promptfoo, CountsEachLineThatChangesARequestOrAVerdict) {
  for (const std::string& config : std::vector<std::string>{
           "prompts: [a]\ndefaultTest: {threshold: 0.5}\n" + one_test,
           "prompts: [a]\ndefaultTest: {options: {prefix: p}}\n" + one_test,
           "prompts: [a]\ndefaultTest: {options: {rubricPrompt: p}}\n" + one_test,
           "prompts: [{raw: a, prefix: p}]\n" + one_test,
           "prompts: [a]\nextensions: ['file://x.js:f']\n" + one_test,
           "prompts: [a]\ncommandLineOptions: {promptSuffix: s}\n" + one_test,
           "prompts: [a]\nproviders: [{id: 'openai:m', config: {tool_choice: auto}}]\n" + one_test,
           "prompts: [a]\ntests: [{assert: [{type: contains, value: x, provider: 'openai:m'}]}]\n",
           "prompts: [a]\ntests: [{assert: [{type: equals, value: 'x '}]}]\n",
           "prompts: [a]\ntests: [{assert: [{type: starts-with, value: 'No '}]}]\n",
           "prompts: ['{{a}}']\ntests: [{vars: {a: 'No '}, assert: [{type: starts-with, value: '{{a}}'}]}]\n",
           "prompts: [a]\ntests: [{assert: [{type: equals, value: {a: 1}}]}]\n",
           "prompts: [a]\ntests: [{assert: [{type: regex, value: '^.{2}$'}]}]\n",
           "prompts: [a]\ntests: [{assert: [{type: not-regex, value: '(?i)yes'}]}]\n",
           "prompts: ['{{a}}']\ntests: [{vars: {a: '.{2}'}, assert: [{type: regex, value: '^{{a}}$'}]}]\n",
       })
    EXPECT_EQ(lost(import(config), Loss::change), 1u) << config;
}

TEST_F(Promptfoo, CountsNoLineThatChangesNeither) {
  for (const std::string& config : std::vector<std::string>{
           "prompts: [a]\ntags: {a: b}\nsharing: true\nevaluateOptions: {maxConcurrency: 2, delay: 1}\n" +
               one_test,
           // They made --strict fail for nearly every configuration.
           "prompts: ['{{a}}']\ntests: [{vars: {a: b}, assert: [{type: equals, value: x}, {type: equals, "
           "value: '{{a}}'}, {type: starts-with, value: x}, {type: levenshtein, value: x}]}]\n",
           "prompts: [a]\ntests: [{vars: {idle: 1}, assert: [{type: contains, value: x, metric: m, weight: "
           "2}]}]\n",
           "prompts: [a]\nproviders: [{id: 'openai:gpt-5', delay: 5, config: {temperature: 1, apiKey: "
           "k}}]\n" +
               one_test,
       }) {
    const ImportedSuite imported = import(config);
    EXPECT_FALSE(imported.notes.empty()) << config;
    EXPECT_EQ(imported.losses, Losses{}) << notes_of(imported);
  }
}

TEST_F(Promptfoo, PointsToRubricsForTheirPrompts) {
  const std::string why =
      " is left out: sluice asks judges by rubrics of its own; to ask by this one, write it as a rubric "
      "(\"rubrics\" of a suite, docs/judges.md)\n";
  const std::string made = notes(R"yaml(prompts: [a]
tests:
  - options: {rubricPrompt: p}
    assert: [{type: llm-rubric, value: kind, rubricPrompt: q}]
)yaml");
  EXPECT_TRUE(has(made, ":3: \"rubricPrompt\" in options of a test" + why)) << made;
  EXPECT_TRUE(has(made, ":4: \"rubricPrompt\" of the check llm-rubric" + why)) << made;
}

TEST_F(Promptfoo, SaysWhereTwoChecksBecomeOneThatAreJudgedOtherwise) {
  const std::string first =
      ":6: the check llm-rubric asks for the same as another, by another \"provider\" or \"rubricPrompt\", "
      "of "
      "which a suite has one: one check stands for both (and in 2 more places)\n";
  const std::string made = notes(R"yaml(prompts: [a]
defaultTest: {assert: [{type: llm-rubric, value: short, rubricPrompt: p}], options: {provider: 'openai:gpt-4o'}}
tests:
  - assert:
      - {type: llm-rubric, value: nice}
      - {type: llm-rubric, value: nice, rubricPrompt: p}
      - {type: llm-rubric, value: kind}
      - {type: llm-rubric, value: kind, provider: 'openai:gpt-5'}
      - {type: llm-rubric, value: calm}
      - {type: llm-rubric, value: calm, provider: {id: 'openai:gpt-4o', config: {temperature: 0}}}
      - {type: llm-rubric, value: short}
)yaml");
  EXPECT_TRUE(has(made, first)) << made;
  EXPECT_FALSE(has(made, ":10:")) << made;
}

// The line was false.
TEST_F(Promptfoo, KnowsAJudgeThatIsWrittenInTwoWays) {
  const std::string start =
      "prompts: [p]\ntests:\n  - assert:\n      - {type: llm-rubric, value: kind, provider: ";
  const std::string more = "}\n      - {type: llm-rubric, value: short, provider: ";
  const std::string made =
      suite(start + "{id: 'openai:gpt-4o', config: {temperature: 0}}" + more + "'openai:chat:gpt-4o'}\n");
  EXPECT_TRUE(has(made, "  judge: openai\n  judge_model: gpt-4o\n")) << made;
  EXPECT_FALSE(has(made, "# ")) << made;
  const std::string beside = suite("defaultTest: {options: {provider: 'openai:gpt-4o'}}\n" + start +
                                   "'openai:gpt-4o'}\n" + "      - {type: llm-rubric, value: short}\n");
  EXPECT_FALSE(has(beside, "# ")) << beside;
  EXPECT_TRUE(
      has(suite(start + "'openai:gpt-4o'" + more + "'openai:gpt-4.1'}\n"), "is not that of all checks"));
}

// They had neither the tag nor a place in the last lines.
TEST_F(Promptfoo, CountsTestsThatLostAllChecksOfTheDefaultTest) {
  const ImportedSuite imported = import(R"yaml(prompts: ['{{a}}']
defaultTest: {assert: [{type: webhook, value: 'http://x'}]}
tests:
  - {vars: {a: x}}
  - {vars: {a: y}}
  - {vars: {a: z}, options: {disableDefaultAsserts: true}}
  - {vars: {a: v}, assert: [{type: contains, value: k}]}
)yaml");
  const std::string made = suite_yaml(imported.suite);
  EXPECT_EQ(lost(imported, Loss::all_checks), 2u);
  EXPECT_TRUE(has(made, "  - id: test-1\n    tags:\n      - unchecked\n")) << made;
  EXPECT_TRUE(has(made, "  - id: test-2\n    tags:\n      - unchecked\n")) << made;
  EXPECT_TRUE(has(made, "  - id: test-3\n    vars:\n")) << "it had none: " << made;
  EXPECT_TRUE(
      has(notes_of(imported),
          ":4: no check of the default test is left for a test without its own: it passes if the answer is "
          "not blank (and in 1 more place)\n"))
      << notes_of(imported);
}

TEST_F(Promptfoo, NamesTheFileOfADefaultTest) {
  write("def.yaml",
        "\n\nthreshold: 0.5\noptions: {prefix: p, provider: 'bedrock:m'}\nassert: [{type: webhook, value: "
        "x}]\n");
  const std::string made = notes("prompts: [a]\ndefaultTest: file://def.yaml\n" + one_test);
  for (const char* line : {"def.yaml:3: \"threshold\"", "def.yaml:4: \"prefix\"", "def.yaml:4: the provider",
                           "def.yaml:5: the check webhook"})
    EXPECT_TRUE(has(made, line)) << line << "\n" << made;
  EXPECT_FALSE(has(made, "promptfooconfig.yaml")) << made;
}

TEST_F(Promptfoo, NamesTheFileOfACheckThatAnotherFileRefersTo) {
  write("tests.yaml", "- assert: [{$ref: '#/assertionTemplates/hook'}, {type: contains, value: x}]\n");
  EXPECT_EQ(
      notes(
          "prompts: [a]\ntests: file://tests.yaml\nassertionTemplates:\n  hook: {type: webhook, value: x}\n"),
      "promptfooconfig.yaml:4: the check webhook has no counterpart: left out\n");
}

}  // namespace sluice::import_losses_test
