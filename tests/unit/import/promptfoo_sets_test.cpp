// Sets of assertions, thresholds, weights and names of metrics.
#include "tests/unit/import/promptfoo_fixture.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice::promptfoo_sets_test {

// It was followed until the stack was full.
TEST_F(Promptfoo, FollowsNoSetThatHoldsItselfForEver) {
  const std::string said = notes(R"yaml(prompts: ['{{q}}']
assertionTemplates:
  all: {type: assert-set, assert: [{type: contains, value: y}, {$ref: '#/assertionTemplates/all'}]}
tests: [{vars: {q: x}, assert: [{$ref: '#/assertionTemplates/all'}]}]
)yaml");
  EXPECT_TRUE(has(said, "\"#/assertionTemplates/all\" is a set that holds itself: left out")) << said;
}

std::string reference(const std::string& name) {
  return "{$ref: '#/assertionTemplates/" + name + "'}";
}

std::string with_templates(const std::string& templates, const std::string& first) {
  return "prompts: ['{{q}}']\nassertionTemplates:\n" + templates +
         "tests: [{vars: {q: x}, assert: [{type: contains, value: z}, " + reference(first) + "]}]\n";
}

// Each of its ten ways into itself was followed, eight deep.
TEST_F(Promptfoo, FollowsASetThatHoldsItselfOften) {
  std::string ways;
  for (int i = 0; i < 10; ++i) ways += ", " + reference("all");
  const std::string said = notes(
      with_templates("  all: {type: assert-set, assert: [{type: contains, value: y}" + ways + "]}\n", "all"));
  EXPECT_TRUE(has(said, "\"#/assertionTemplates/all\" is a set that holds itself: left out")) << said;
}

// Sets that hold each other have more ways than any import takes.
TEST_F(Promptfoo, EndsWhereManySetsHoldEachOther) {
  std::string templates;
  for (int i = 0; i < 12; ++i) {
    templates += "  s" + std::to_string(i) + ": {type: assert-set, assert: [";
    for (int j = 0; j < 12; ++j) templates += (j > 0 ? ", " : "") + reference("s" + std::to_string(j));
    templates += "]}\n";
  }
  const std::string said = notes(with_templates(templates, "s0"));
  EXPECT_TRUE(has(said, "is a set that holds itself: left out")) << said;
  EXPECT_TRUE(has(said, "or behind more than 1000 of them: left out")) << said;
}

// Those from the ninth on were said to hold themselves.
TEST_F(Promptfoo, FollowsDeepSets) {
  std::string templates;
  for (int i = 0; i < 20; ++i)
    templates += "  s" + std::to_string(i) + ": {type: assert-set, assert: [" +
                 reference("s" + std::to_string(i + 1)) + "]}\n";
  write("deep.txt", "deepest");
  const std::string made =
      suite(with_templates(templates + "  s20: {type: contains, value: 'file://deep.txt'}\n", "s0"));
  EXPECT_TRUE(has(made, "text: deepest\n")) << made;
  EXPECT_FALSE(has(made, "# ")) << made;
}

TEST_F(Promptfoo, MakesAGroupOfASetWithAThreshold) {
  const std::string set = R"yaml(prompts: ['{{a}}']
tests:
  - vars: {a: x}
    assert:
      - type: assert-set
        threshold: 0.5
        assert: [{type: contains, value: '{{a}}', weight: 3}, {type: rouge-n, value: b c, threshold: 0.4}]
)yaml";
  const std::string text = suite(set);
  EXPECT_NE(text.find(R"yaml(      - type: all_of
        pass_mark: 0.5
        of:
          - type: must_contain
            text: "{{a}}"
            weight: 3
          - type: rouge_n
            text: b c
            min_score: 0.4
)yaml"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("left out"), std::string::npos) << text;
  const std::string judged =
      "prompts: [a]\ntests: [{assert: [{type: contains, value: x}, {type: assert-set, threshold: 1, assert: "
      "[{type: llm-rubric, value: is kind}]}]}]\n";
  EXPECT_NE(notes(judged).find("holds a check by a model, which no group takes: left out"),
            std::string::npos);
}

TEST_F(Promptfoo, MakesAGroupOfATestWithAThreshold) {
  const std::string made = suite(R"yaml(prompts: ["Say {{x}}"]
tests:
  - vars: {x: a}
    threshold: 0.6
    assert:
      - {type: contains, value: a, weight: 3}
      - {type: contains, value: b}
)yaml");
  EXPECT_NE(made.find("type: all_of\n        pass_mark: 0.6\n        of:"), std::string::npos) << made;
  EXPECT_NE(made.find("weight: 3"), std::string::npos) << made;
  EXPECT_EQ(made.find('#'), std::string::npos) << made;
  const std::string judged = notes(R"yaml(prompts: ["Say {{x}}"]
defaultTest: {threshold: 0.5, assert: [{type: contains, value: a}]}
tests:
  - {vars: {x: a}, threshold: 0.6, assert: [{type: llm-rubric, value: kind, weight: 3}]}
  - {vars: {x: a}, threshold: 60, assert: [{type: contains, value: a}]}
)yaml");
  for (const char* words :
       {":2: \"threshold\" of the default test is left out: a test without a \"threshold\" of its own passes "
        "if",
        "which no group takes: each check must pass", "must pass beside the \"threshold\" of a test",
        ":5: \"threshold\" of a test has no counterpart"})
    EXPECT_NE(judged.find(words), std::string::npos) << words << "\n" << judged;
}

// Its checks stood alone, and failed.
TEST_F(Promptfoo, ATestWithAThresholdOfZeroPassesAlways) {
  const std::string made = suite(R"yaml(prompts: ["Say {{x}}"]
defaultTest: {threshold: 0.5}
tests:
  - {vars: {x: a}, threshold: 0, assert: [{type: contains, value: a}, {type: assert-set, threshold: 0, assert: [{type: contains, value: b}]}]}
)yaml");
  EXPECT_NE(made.find("    expected:\n      - type: all_of\n        pass_mark: 0\n        of:\n"
                      "          - type: must_contain\n            text: a\n          - type: all_of\n"
                      "            pass_mark: 0\n"),
            std::string::npos)
      << made;
  EXPECT_NE(made.find("# 4: a \"threshold\" of 0 lets any answer pass, as there"), std::string::npos) << made;
}

TEST_F(Promptfoo, LeavesOutASetWhoseThresholdIsNoShare) {
  EXPECT_EQ(
      notes("prompts: [a]\ntests: [{assert: [{type: contains, value: x}, {type: assert-set, threshold: 2, "
            "assert: [{type: contains, value: b}]}]}]\n"),
      "promptfooconfig.yaml:2: the check assert-set has a threshold beyond 0 to 1: left out\n");
}

TEST_F(Promptfoo, ASetWithoutAThresholdIsItsChecks) {
  const std::string made = suite(R"yaml(prompts: ["Say {{x}}"]
tests:
  - vars: {x: a}
    options: {transform: output.a}
    assert:
      - {type: assert-set, assert: [{type: contains, value: a}, {type: latency, threshold: 500}]}
  - vars: {x: b}
    assert:
      - type: assert-set
        assert:
          - {type: contains, value: b}
          - {type: assert-set, threshold: 0.5, assert: [{type: contains, value: c}, {type: contains, value: d}]}
)yaml");
  EXPECT_NE(made.find("- type: latency"), std::string::npos) << "it reads no answer: " << made;
  EXPECT_EQ(made.find("text: a\n"), std::string::npos) << made;
  EXPECT_NE(made.find("text: b\n"), std::string::npos) << made;
  EXPECT_NE(made.find("pass_mark: 0.5"), std::string::npos) << "a set in a set: " << made;
}

TEST_F(Promptfoo, KeepsASetAsOnePartOfATestWithAThreshold) {
  const std::string config = R"yaml(prompts: ["Say {{x}}"]
tests:
  - vars: {x: a}
    threshold: 0.5
    assert:
      - {type: contains, value: a}
      - {type: assert-set, weight: 2, assert: [{type: contains, value: b}, {type: contains, value: c}]}
)yaml";
  const std::string made = suite(config);
  EXPECT_NE(made.find("pass_mark: 0.5\n        of:\n          - type: must_contain\n            text: a\n"
                      "          - type: all_of\n            pass_mark: 1\n"),
            std::string::npos)
      << made;
  EXPECT_NE(made.find("weight: 2"), std::string::npos) << made;
  EXPECT_NE(notes(config).find(":7: an assert-set in a test with a \"threshold\" passes as a whole or not"),
            std::string::npos)
      << notes(config);
}

TEST_F(Promptfoo, SaysEachNameOfAMetricThatIsLostOnce) {
  EXPECT_EQ(
      notes("prompts: [a]\nderivedMetrics: [{name: F1, value: Tone / 2}]\ntests:\n"
            "  - assert: [{type: contains, value: x, metric: Tone}]\n"
            "  - assert: [{type: contains, value: y, metric: Tone}]\n"
            "  - assert: [{type: contains, value: z, metric: Form}]\n"),
      "promptfooconfig.yaml:2: \"derivedMetrics\" are formulas over scores with a name, which a suite does "
      "not compute: make them of the columns of `--report csv=FILE`: left out\n"
      "promptfooconfig.yaml:4: \"metric\" of the check contains, \"Tone\", names a score of several checks, "
      "and one that only passes or fails has no name in a suite: left out (and in 1 more place)\n"
      "promptfooconfig.yaml:6: \"metric\" of the check contains, \"Form\", names a score of several checks, "
      "and one that only passes or fails has no name in a suite: left out\n");
}

TEST_F(Promptfoo, NotesWhatASetOfChecksLoses) {
  EXPECT_EQ(
      notes("prompts: [a]\ntests:\n  - assert:\n    - {type: contains, value: x}\n"
            "    - {type: assert-set, weight: 2, metric: m, assert: [{type: contains, value: b}]}\n"
            "    - {type: assert-set, weight: 0, assert: [{type: contains, value: c}]}\n"
            "    - {type: contains, weight: 0, value: d}\n"),
      "promptfooconfig.yaml:5: \"metric\" of the check assert-set, \"m\", names a score of several checks, "
      "and one that only passes or fails has no name in a suite: left out\n"
      "promptfooconfig.yaml:5: \"weight\" of the check assert-set counts beside a \"threshold\" alone: left "
      "out, and it must pass as any other\n"
      "promptfooconfig.yaml:6: the check assert-set has the weight 0, with which it fails no test: left "
      "out\n"
      "promptfooconfig.yaml:7: the check contains has the weight 0, with which it fails no test: left "
      "out\n");
}

}  // namespace sluice::promptfoo_sets_test
