// What is wrong with the prompts and the arms of a suite, and which tests take them.
#include "tests/unit/suite/suite_files.hpp"

#include <string>
#include <vector>

namespace sluice {
namespace {

class SuitePromptsAndArms : public SuiteFiles {
 protected:
  /// A suite with one test, of which `rest` follows its expectation.
  static std::string with_test(const std::string& rest) {
    return "suite: s\ntests:\n- id: t\n  expected: {type: exact_match, text: a}\n" + rest;
  }
};

TEST_F(SuitePromptsAndArms, NamesWhatIsWrongWithPrompts) {
  write("empty.txt", "");
  write("bad.txt", "a\n{{ x | y }}\n");
  const std::string tests = "tests: [{id: t, expected: {type: exact_match, text: a}}]\n";
  EXPECT_EQ(
      findings("suite: s\nprompts:\n- {id: a, prompt: p}\n- {id: a, prompt: q}\n- {prompt: q}\n"
               "- {id: a/b, prompt: q}\n- {id: c, promt: q}\n- {id: d, prompt: q, file: f}\n"
               "- {id: e, file: none.txt}\n- {id: f, file: empty.txt}\n- {id: g, file: bad.txt}\n"
               "- {id: h, prompt: \"\"}\n- \"{{ x\"\n- 12\n- file://a.txt\n" +
               tests),
      R"(suite.yaml:4: the id "a" in prompts[1] is that of the prompt "a" (suite.yaml:3): give it another
suite.yaml:5: missing "id" in prompts[2]: expected a string
suite.yaml:6: "id" in prompts[3] must be of letters, digits, ".", "_" and "-", at most 64 of them, not "a/b"
suite.yaml:7: unknown key "promt" in prompts[4]; did you mean "prompt"?
suite.yaml:7: missing "prompt" in prompts[4]: expected a string, or "file" with the path of one
suite.yaml:8: "file" in prompts[5] cannot stand beside "prompt": one of them is the prompt
suite.yaml:9: "file" in prompts[6] names "none.txt", which cannot be read: No such file or directory
suite.yaml:10: "file" in prompts[7] names "empty.txt", which is empty
suite.yaml:11: "file" in prompts[8] names "bad.txt", which holds "{{ x | y }}", which has a filter, of which there are none: {{name}} is all that is rendered; write {{ '{{' }} where the braces themselves are meant (line 2 of the text)
suite.yaml:12: "prompt" in prompts[9] must not be empty
suite.yaml:13: "prompt" in prompts[10] holds "{{ x" without the "}}" that closes it; write {{ '{{' }} where the braces themselves are meant
suite.yaml:14: prompts[11] must be a text or a mapping, such as {id: short, prompt: "..."}, not a whole number
suite.yaml:15: "prompt" in prompts[12] is the name of a file, which stands in "file", without "file://"
)");
  EXPECT_EQ(
      findings("suite: s\nprompts: []\n" + with_test("  input: {prompt: p}\n").substr(9)),
      "suite.yaml:2: \"prompts\" must be a list of prompts, such as {id: short, prompt: \"...\"}, and not "
      "empty\n");
  EXPECT_EQ(findings("suite: s\nprompts: {a: b}\n" + with_test("  input: {prompt: p}\n").substr(9)),
            "suite.yaml:2: \"prompts\" must be a list of prompts, such as {id: short, prompt: \"...\"}\n");
}

TEST_F(SuitePromptsAndArms, PromptsThatNoTestTakesAreAFinding) {
  EXPECT_EQ(findings("suite: s\nprompts: [p]\n" + with_test("  input: {prompt: p}\n").substr(9)),
            "suite.yaml:2: \"prompts\" have no effect: they are for tests without a prompt of their own\n");
}

TEST_F(SuitePromptsAndArms, ATestsSystemPromptHoldsForPromptsWithoutOne) {
  const std::string test = "tests: [{id: t, input: {system: S}, expected: {type: exact_match, text: a}}]\n";
  const Case one = first_case("suite: s\nprompts: [p, q]\n" + test);
  EXPECT_EQ(one.prompts, (std::vector<RenderedPrompt>{{"S", "p"}, {"S", "q"}}));
  EXPECT_EQ(one.system, "S");
  EXPECT_EQ(
      findings("suite: s\nprompts:\n- p\n- {id: q, prompt: q, system: s}\n" + test),
      "suite.yaml:5: \"system\" in input cannot stand beside that of the prompt \"q\" (suite.yaml:4): one of "
      "them is the system prompt\n");
}

TEST_F(SuitePromptsAndArms, ClaimsTestsNeedCodeOfTheirOwn) {
  EXPECT_EQ(
      findings("suite: s\nprompts: [p]\ntests:\n- id: t\n  expected: {type: claims_absent}\n"),
      "suite.yaml:4: missing \"prompt\" in input: claims metrics are about a test's own code, so that the "
      "suite's \"prompts\" are not for it\n");
}

TEST_F(SuitePromptsAndArms, FaithfulnessNeedsAContextUnderPromptsToo) {
  EXPECT_EQ(findings("suite: s\nprompts: [p]\ntests:\n- id: t\n  expected: {type: faithfulness}\n"),
            "suite.yaml:4: missing \"context\" in input: expected the text that faithfulness v1 shows as "
            "{{context}}, here or as \"context\" of the metric\n");
}

TEST_F(SuitePromptsAndArms, NamesWhatIsWrongWithArms) {
  const std::string tests = "tests: [{id: t, vars: {}, expected: {type: exact_match, text: a}}]\n";
  EXPECT_EQ(
      findings(
          "suite: s\nprompts: [{id: short, prompt: p}]\narms:\n- a=openai:m\n- {name: a, model: m}\n"
          "- {model: m}\n- {name: x y}\n- {name: b, modl: m}\n- {name: c, prompt: shrt}\n- nothing\n- 12\n"
          "- {name: d, temperature: 3, max_output_tokens: 0, seed: x}\n" +
          tests),
      "suite.yaml:5: the arm \"a\" is named already (suite.yaml:4): give it another name\n"
      "suite.yaml:6: missing \"name\" in arms[2]: expected a string\n"
      "suite.yaml:7: \"name\" in arms[3] must be of letters, digits, \".\", \"_\" and \"-\", at most 64 of "
      "them, not \"x y\"\n"
      "suite.yaml:8: unknown key \"modl\" in arms[4]; did you mean \"model\"?\n"
      "suite.yaml:9: \"prompt\" in arms[5] names \"shrt\", which is no id of the suite's \"prompts\"; did "
      "you mean \"short\"?\n"
      "suite.yaml:10: arms[6] must be NAME=PROVIDER:MODEL, such as mini=openai:gpt-5-mini, not \"nothing\"\n"
      "suite.yaml:11: arms[7] must be a mapping, such as {name: mini, provider: openai, model: gpt-5-mini}, "
      "or a text NAME=PROVIDER:MODEL, not a whole number\n"
      "suite.yaml:12: \"temperature\" in arms[8] must be a number from 0 to 2, not 3\n"
      "suite.yaml:12: \"max_output_tokens\" in arms[8] must be a whole number from 1 to 10000000, not 0\n"
      "suite.yaml:12: \"seed\" in arms[8] must be a whole number, not \"x\"\n");
  EXPECT_EQ(findings("suite: s\nprompts: [p]\narms: {a: openai:m}\n" + tests),
            "suite.yaml:3: \"arms\" must be a list of arms, such as {name: mini, provider: openai, model: "
            "gpt-5-mini}\n");
  EXPECT_EQ(findings("suite: s\nprompts: [p]\narms: []\n" + tests),
            "suite.yaml:3: \"arms\" must be a list of arms, such as {name: mini, provider: openai, model: "
            "gpt-5-mini}, and not empty\n");
}

TEST_F(SuitePromptsAndArms, TooManyArmsAreAFinding) {
  std::string arms = "arms:\n";
  for (int i = 0; i < 17; ++i) arms += "- a" + std::to_string(i) + "=openai:m\n";
  const std::string tests = "tests: [{id: t, expected: {type: exact_match, text: a}}]\n";
  EXPECT_EQ(findings("suite: s\nprompts: [p]\n" + arms + tests), "(none)\n");
  EXPECT_EQ(findings("suite: s\nprompts: [p, q]\n" + arms + tests),
            "suite.yaml:3: there are 34 arms, each named one with each prompt; 32 are the most of a run\n");
  // Each was compared with each: 50,000 took more than a minute.
  std::string many = "providers:\n";
  for (int i = 0; i < 100'000; ++i) many += "- openai:m" + std::to_string(i) + "\n";
  EXPECT_EQ(findings("suite: s\nprompts: [p]\n" + many + tests),
            "suite.yaml:3: \"providers\" has 100000 entries, and a run has at most 32 arms: leave the others "
            "out\n");
}

}  // namespace
}  // namespace sluice
