// What the values of a test make of its checks: promptfoo renders a check's value, and reads it then.
#include "tests/unit/import/promptfoo_fixture.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice::promptfoo_templates_test {

// The suite looked for the braces themselves.
TEST_F(Promptfoo, FillsTemplatesInPatterns) {
  const std::string made = suite(R"yaml(prompts: ['Cost of {{what}}?']
defaultTest: {assert: [{type: not-regex, value: 'no {{what}}'}]}
tests:
  - vars: {what: [tea, coffee], n: 5}
    assert:
      - {type: regex, value: 'cost {{ n }} of {{what}}'}
      - {type: not-icontains-any, value: ['{{what}}?', b]}
)yaml");
  EXPECT_TRUE(has(made, "pattern: cost 5 of tea\n")) << made;
  EXPECT_TRUE(has(made, "pattern: cost 5 of coffee\n")) << made;
  EXPECT_TRUE(has(made, "type: not_icontains_any\n        text:\n          - \"{{what}}?\"\n          - b\n"))
      << made;
  EXPECT_TRUE(has(made, "pattern: no coffee\n")) << made;
  EXPECT_FALSE(has(made, "default_test:")) << made;
  EXPECT_FALSE(has(made, "      n: ")) << "nothing uses it any more: " << made;
  EXPECT_FALSE(has(made, "# ")) << made;
}

TEST_F(Promptfoo, FillsTemplatesInSchemasTablesAndScenarios) {
  write("tests.csv", "n,__expected\n5,regex: cost {{n}}\n");
  const std::string made = suite(R"yaml(prompts: ['{{n}}']
tests:
  - file://tests.csv
  - vars: {n: 6}
    assert: [{type: is-json, value: {properties: {n: {const: '{{n}}'}}}}]
  - vars: {n: 7}
    assert: [{type: is-json, value: '{"required": ["k{{n}}"]}'}]
  - vars: {n: 8}
    assert: [{type: regex, value: '{{ n | upper }}'}, {type: contains, value: x}]
scenarios:
  - config: [{vars: {n: 9}}]
    tests: [{assert: [{type: regex, value: 'is {{n}}'}]}]
)yaml");
  EXPECT_TRUE(has(made, "pattern: cost 5\n")) << made;
  EXPECT_TRUE(has(made, "const: \"6\"\n")) << made;
  EXPECT_TRUE(has(made, "- k7\n")) << made;
  EXPECT_TRUE(has(made, "pattern: is 9\n")) << made;
  EXPECT_TRUE(has(made, "# 9: the check regex holds \"{{ n | upper }}\", an expression or filter")) << made;
}

TEST_F(Promptfoo, SplitsAListAfterItIsRendered) {
  const std::string made = suite(R"yaml(prompts: [p]
tests:
  - vars: {keywords: 'foo, bar', last: "{{ '{{' }}z"}
    assert: [{type: contains-any, value: '{{keywords}}'}, {type: icontains-all, value: 'a, {{last}}'}]
  - vars: {keywords: [x, y]}
    options: {disableVarExpansion: true}
    assert: [{type: contains-all, value: '{{keywords}}'}]
  - assert: [{type: contains, value: x}, {type: contains-any, value: "{{ ['a','b'] | join(',') }}"}]
)yaml");
  EXPECT_TRUE(has(made, "type: contains_any\n        text:\n          - foo\n          - bar\n")) << made;
  EXPECT_TRUE(has(made, "type: icontains\n        text:\n          - a\n          - \"{{ '{{' }}z\"\n"))
      << made;
  EXPECT_TRUE(has(made, "type: must_contain\n        text:\n          - x\n          - y\n")) << made;
  EXPECT_TRUE(has(made, "# 8: the check contains-any holds \"{{ ['a','b'] | join(',') }}\", an expression"))
      << made;
}

TEST_F(Promptfoo, KeepsAListOfOtherThanTextsWhole) {
  const std::string made = suite(R"yaml(prompts: ['{{years}}: {{turns | dump}} {{both}} {{both | dump}}']
tests:
  - vars: {years: [1990, 2000], turns: [{user: hi}], both: [1, a]}
    assert: [{type: contains, value: x}]
)yaml");
  EXPECT_TRUE(has(made, "years: \"1990,2000\"\n")) << made;
  EXPECT_TRUE(has(made, R"(turns-json: "[{\"user\":\"hi\"}]")")) << made;
  EXPECT_TRUE(has(made, R"(both-json: "[1,\"a\"]")")) << made;
}

TEST_F(Promptfoo, RendersTheValuesOfTheDefaultTestForEachTest) {
  const std::string made = suite(R"yaml(prompts: ['{{b}}']
defaultTest: {vars: {b: 'deep {{a}}', a: well, c: 'of {{b}}'}}
tests:
  - {assert: [{type: contains, value: '{{c}}'}]}
  - {vars: {a: sea}, assert: [{type: contains, value: '{{b}}'}]}
)yaml");
  EXPECT_TRUE(has(made, "b: deep well\n      c: of deep well\n")) << made;
  EXPECT_TRUE(has(made, "vars:\n      b: deep sea\n    expected")) << made;
  EXPECT_FALSE(has(made, "# ")) << made;
}

TEST_F(Promptfoo, RendersValuesThatShowOthersOnce) {
  const std::string made = suite(R"yaml(prompts: ['{{a}} {{list}} {{o.k}}']
tests:
  - vars:
      a: '{# said twice #}{{ b | safe }}, {{ b }}{{gone}}'
      b: "{% raw %}{{c}}{% endraw %} {{d}}"
      d: well
      list: ['{{d}}', 2]
      o: {k: 'so {{d}}'}
    options: {disableVarExpansion: true}
    assert: [{type: contains, value: x}]
)yaml");
  EXPECT_TRUE(
      has(made,
          "    vars:\n      a: \"{{c}} well, {{c}} well\"\n      list: \"well,2\"\n      o.k: so well\n"
          "    expected"))
      << made;
  EXPECT_EQ(made.substr(made.find("# ")), "# 3: the variable \"gone\" has no value: it is empty\n");
}

// The templates were sent as they stood.
TEST_F(Promptfoo, LeavesOutATestWhoseValuesCannotBeRendered) {
  const std::string made = suite(R"yaml(prompts: ['{{a}}']
tests:
  - {vars: {id: AB7, a: 'order-{{ id | lower }}'}, assert: [{type: contains, value: x}]}
  - {vars: {a: '{% if x %}y{% endif %}'}, assert: [{type: contains, value: x}]}
  - {vars: {a: 'of {{b}}', b: '{{c}}', c: '{{b}}'}, assert: [{type: contains, value: x}]}
  - {vars: {a: '{{env.KEY}}'}, assert: [{type: contains, value: x}]}
  - {vars: {a: '{#in {%fine', b: '{{ a | upper }}'}, assert: [{type: contains, value: kept}]}
)yaml");
  EXPECT_TRUE(has(made, "tests:\n  - id: test-1\n    vars:\n      a: \"{#in {%fine\"\n    expected")) << made;
  EXPECT_EQ(
      made.substr(made.find("# ")),
      "# 3: the variable \"a\" holds \"{{ id | lower }}\", an expression or filter, of which there are "
      "none: the test is left out\n"
      "# 4: the variable \"a\" holds \"{% if x %}\", a block, of which there are none: the test is left "
      "out\n"
      "# 5: the variable \"c\" shows itself, or others more than 32 deep: the test is left out\n"
      "# 6: the variable \"a\" holds \"{{env.KEY}}\", a variable of the environment, which a suite does "
      "not read: the test is left out\n");
}

TEST_F(Promptfoo, LeavesOutTestsByAValueOfTheDefaultTest) {
  const std::string config = "prompts: ['{{a}}']\ndefaultTest: {vars: {a: '{{ b | upper }}'}}\ntests:\n";
  const std::string lost = "  - {vars: {b: x}, assert: [{type: contains, value: x}]}\n";
  const std::string made =
      suite(config + lost + "  - {vars: {a: own}, assert: [{type: contains, value: kept}]}\n");
  EXPECT_TRUE(has(made, "tests:\n  - id: test-1\n    vars:\n      a: own\n")) << made;
  EXPECT_TRUE(has(made, "# 4: the variable \"a\" holds \"{{ b | upper }}\"")) << made;
  EXPECT_EQ(import(config + lost + lost).tests, 1u);
  EXPECT_TRUE(has(notes(config + lost), ":1: no test could be taken over")) << notes(config + lost);
}

// The suite that was written did not load.
TEST_F(Promptfoo, JudgesByNoEmptyText) {
  write("tests.csv",
        "q,keyword,__expected,__expected2\na,k,contains: {{keyword}},\nb,,contains: {{keyword}},equals: "
        "{{keyword}}\n");
  const std::string made = suite(
      "prompts: ['{{q}}']\ndefaultTest: {assert: [{type: icontains, value: '{{keyword}}'}]}\n"
      "tests:\n  - file://tests.csv\n  - {vars: {q: c, keyword: d}, assert: [{type: equals, value: ''}]}\n");
  EXPECT_TRUE(has(made,
                  "    expected:\n      - type: must_contain\n        text: \"{{keyword}}\"\n"
                  "      - type: icontains\n        text: \"{{keyword}}\"\n"))
      << made;
  EXPECT_TRUE(has(made, "      q: b\n    expected:\n      - type: exact_match\n        text: \"\"\n  -"))
      << made;
  EXPECT_TRUE(
      has(made, "# 3: the check contains has an empty value, by which no answer can be judged: left out"))
      << made;
  EXPECT_TRUE(has(made, "# 2: the check icontains has an empty value")) << made;
}

// It was judged as it came.
TEST_F(Promptfoo, LeavesOutWhatJudgesATransformedAnswer) {
  const std::string of_check = suite(R"yaml(prompts: [p]
tests:
  - assert:
      - {type: equals, value: get_weather, transform: output.name}
      - {type: contains, value: x}
)yaml");
  EXPECT_FALSE(has(of_check, "get_weather")) << of_check;
  EXPECT_TRUE(has(of_check,
                  "# 4: the check equals judges what its \"transform\" makes of the answer, which no metric "
                  "says: write it as a check javascript, which runs the transform: left out"))
      << of_check;
  const std::string of_test = suite(R"yaml(prompts: [p]
defaultTest: {assert: [{type: contains, value: d}]}
tests:
  - options: {transform: output.name}
    assert: [{type: equals, value: a}, {type: latency, threshold: 5}]
  - assert: [{type: equals, value: b}]
)yaml");
  EXPECT_TRUE(has(of_test, "  - id: test-1\n    default_test: false\n    expected:\n      - type: latency\n"))
      << of_test;
  EXPECT_TRUE(has(of_test, "# 2: the check contains judges what the \"transform\" of its test makes of the"))
      << of_test;
  EXPECT_TRUE(has(of_test, "# 5: the check equals judges what the \"transform\" of its test makes of the"))
      << of_test;
  const std::string of_all = suite(R"yaml(prompts: [p]
defaultTest: {options: {transform: output.name}, assert: [{type: contains, value: d}]}
tests: [{assert: [{type: equals, value: a}]}, {assert: [{type: equals, value: b}]}]
)yaml");
  EXPECT_FALSE(has(of_all, "exact_match")) << of_all;
  const std::string why =
      " judges what the \"transform\" of its test makes of the answer, which no metric says: write it as a "
      "check javascript, which runs the transform: left out\n";
  EXPECT_EQ(of_all.substr(of_all.find("# ")),
            "# 2: the check contains" + why +
                "# 2: of 2 tests no check of their own is left: they pass if the answer is not blank\n" +
                "# 3: the check equals" + why);
}

// All tests lost their checks without a line.
TEST_F(Promptfoo, CountsTheTestsThatTheDefaultTransformLeavesWithoutACheck) {
  const std::string made = suite(R"yaml(prompts: ['{{a}}']
defaultTest:
  options: {transform: output.name}
  assert: [{type: contains, value: 'd {{a}}'}, {type: latency, threshold: 5}]
tests:
  - {vars: {a: [x, y]}, assert: [{type: equals, value: a}]}
  - {vars: {a: z}, options: {transform: output.trim()}, assert: [{type: starts-with, value: b}]}
  - {vars: {a: z}, options: {transform: output.x}, assert: [{type: starts-with, value: c}]}
  - {vars: {a: z}, options: {transform: output.trim(), disableDefaultAsserts: true}, assert: [{type: icontains, value: e}]}
)yaml");
  EXPECT_TRUE(has(made, "default_test:\n  expected:\n    - type: latency\n      max_ms: 5\ntests:")) << made;
  EXPECT_TRUE(has(made, "  - id: test-2\n    vars:\n      a: y\n  - id: test-3\n")) << made;
  EXPECT_TRUE(
      has(made,
          "    expected:\n      - type: starts_with\n        text: b\n      - type: must_contain\n        "
          "text: \"d {{a}}\"\n  - id: test-4\n    vars:\n      a: z\n  - id: test-5\n"))
      << made;
  EXPECT_TRUE(has(made, "    expected:\n      - type: icontains\n        text: e\n")) << made;
  EXPECT_TRUE(
      has(made, "# 3: of 2 tests no check of their own is left: the default test's alone judge them\n"))
      << made;
  EXPECT_TRUE(has(made, "# 8: of the test \"test-4\" no check of its own is left: the default test's alone"))
      << made;
  EXPECT_FALSE(has(made, "if the answer is not blank")) << made;
}

TEST_F(Promptfoo, KeepsProvidersWhoseTransformOnlyTrims) {
  const std::string made = suite(R"yaml(prompts: [p]
providers:
  - {id: 'openai:a', transform: output.trim()}
  - {id: 'openai:b', transform: output.trim().slice(1)}
  - openai:c: {transform: output.trim(), config: {temperature: 0}}
tests: [{assert: [{type: contains, value: x, transform: output.trim()}]}]
)yaml");
  EXPECT_TRUE(has(made, "providers:\n  - \"openai:a\"\n  - name: c\n")) << made;
  EXPECT_TRUE(has(made, "- type: must_contain\n        text: x\n")) << made;
  EXPECT_FALSE(has(made, "# 3:")) << made;
  EXPECT_TRUE(has(made, "# 4: the provider \"openai:b\" changes answers by its \"transform\"")) << made;
}

// A suite takes {{name}} in a pattern or schema for a slip.
TEST_F(Promptfoo, PatternsMayLookForTheBracesOfAVariable) {
  const std::string made = suite(R"yaml(prompts: ['{{a}}']
tests:
  - vars: {a: x}
    assert:
      - {type: regex, value: '{% raw %}\{{a}}|[{{ a }}]|{{2}}{% endraw %}'}
      - {type: not-regex, value: '^{{a}} {% raw %}{{a}}{% endraw %}'}
      - {type: is-json, value: {const: '{% raw %}{{a}}{% endraw %}'}}
      - {type: is-json, value: {const: '{{a}}'}}
)yaml");
  EXPECT_TRUE(has(made, R"(pattern: "\\{\\{a}}|[{\\{ a }}]|{{2}}")")) << made;
  EXPECT_TRUE(has(made, R"(pattern: "^x {\\{a}}")")) << made;
  EXPECT_TRUE(has(made, "const: x\n")) << made;
  EXPECT_TRUE(has(made, "# 7: the check is-json has a schema with {{a}}, which a suite takes for a variable"))
      << made;
}

TEST_F(Promptfoo, TakesTheThresholdOfAScenario) {
  const std::string made = suite(R"yaml(prompts: ['{{a}}']
scenarios:
  - config: [{vars: {a: x}, threshold: 0.5, assert: [{type: contains, value: p, weight: 3}]}]
    tests: [{assert: [{type: contains, value: q}]}, {threshold: 0.75, assert: [{type: contains, value: r}]}]
)yaml");
  EXPECT_TRUE(has(made,
                  "type: all_of\n        pass_mark: 0.5\n        of:\n          - type: must_contain\n"
                  "            text: p\n            weight: 3\n          - type: must_contain\n"
                  "            text: q\n"))
      << made;
  EXPECT_TRUE(has(made, "pass_mark: 0.75\n")) << made;
  EXPECT_FALSE(has(made, "# ")) << made;
}

TEST_F(Promptfoo, SaysForATestThatTheDefaultTestIsNotForIt) {
  const std::string made = suite(R"yaml(prompts: ['{{a}}']
defaultTest: {vars: {a: x}, assert: [{type: contains, value: d}], metadata: {team: search}}
tests:
  - {options: {disableDefaultAsserts: true}, assert: [{type: contains, value: '{{a}}'}]}
  - {metadata: {team: maps, areas: [eu, us]}, assert: [{type: contains, value: y}]}
)yaml");
  EXPECT_TRUE(has(made,
                  "  - id: test-1\n    tags:\n      - \"team:search\"\n    default_test: false\n    vars:\n"
                  "      a: x\n"))
      << made;
  EXPECT_TRUE(has(made, "    tags:\n      - \"areas:eu\"\n      - \"areas:us\"\n      - \"team:maps\"\n"))
      << made;
  EXPECT_FALSE(has(made, "# ")) << made;
}

TEST_F(Promptfoo, TakesTheJudgeThatAllChecksName) {
  const std::string judge = "provider: {id: 'anthropic:messages:claude-haiku-4-5', config: {temperature: 0}}";
  const std::string start =
      "prompts: [p]\ntests:\n  - assert: [{type: llm-rubric, value: kind, " + judge + "}]\n";
  const std::string made =
      suite(start + "  - assert: [{type: llm-rubric, value: true to life, " + judge + "}]\n");
  EXPECT_TRUE(
      has(made, "settings:\n  judge: anthropic\n  judge_model: claude-haiku-4-5\n  judge_temperature: 0\n"))
      << made;
  EXPECT_FALSE(has(made, "# ")) << made;
  const std::string some = notes(start + "  - assert: [{type: llm-rubric, value: long}]\n");
  EXPECT_TRUE(has(some, ":3: the \"provider\" of a check is not that of all checks which a model judges"))
      << some;
}

TEST_F(Promptfoo, NamesWhatItKnowsOfTheOtherMeasuresAndContexts) {
  const std::string said = notes(R"yaml(prompts: [p]
tests:
  - assert:
      - {type: 'similar:dot', value: x}
      - {type: context-faithfulness, contextTransform: output.context}
      - {type: 'similar:cosine', value: y}
      - {type: not-contains-all, value: [a, b]}
)yaml");
  EXPECT_TRUE(has(said, ":4: the check similar:dot has no counterpart (`similar`")) << said;
  EXPECT_TRUE(has(said, ":5: the check context-faithfulness judges by what its \"contextTransform\" finds"))
      << said;
  EXPECT_EQ(said.find(":6:"), std::string::npos) << said;
  EXPECT_EQ(said.find(":7:"), std::string::npos) << said;
}

// It judged by nothing that such a suite had, and was left out.
TEST_F(Promptfoo, JudgesFaithfulnessByTheContextThatThePromptPlaces) {
  const std::string made = suite(R"yaml(prompts: ["Use this:\n{{context}}\n\nQuestion: {{query}}"]
defaultTest:
  assert:
    - {type: context-faithfulness, threshold: 0.8, value: '{{unused}}'}
    - {type: answer-relevance, threshold: 0.8}
tests:
  - vars: {query: refund?, context: Refunds take five days.}
  - vars: {query: ship?, context: [c1, c2]}
)yaml");
  EXPECT_TRUE(has(made,
                  "default_test:\n  expected:\n    - type: faithfulness\n      context: \"{{context}}\"\n"
                  "      min_score: 0.8\n    - type: relevancy\n"))
      << made;
  EXPECT_EQ(made.find("# 4:"), std::string::npos) << made;
}

TEST_F(Promptfoo, JudgesNoFaithfulnessWhereThereIsNoContext) {
  const ImportedSuite made = import(R"yaml(prompts: ['{{query}}']
defaultTest: {assert: [{type: context-faithfulness}, {type: contains, value: a}]}
tests:
  - vars: {query: a}
  - vars: {query: b, context: c}
)yaml");
  EXPECT_TRUE(
      has(notes_of(made),
          ":2: the check context-faithfulness judges by the variable \"context\", which has no value: "
          "left out"))
      << notes_of(made);
  const std::string yaml = suite_yaml(made.suite);
  EXPECT_EQ(yaml.find("faithfulness"), yaml.rfind("faithfulness")) << yaml;
  EXPECT_TRUE(has(yaml, "context: c\n")) << yaml;
}

TEST_F(Promptfoo, TakesTheChecksOfTheContextItself) {
  const std::string made = suite(R"yaml(prompts: ["{{context}}\n\n{{query}}"]
tests:
  - vars: {query: How long?, context: Five days.}
    assert:
      - {type: context-recall, value: 'It takes five {{unit}}.', threshold: 1}
      - {type: context-relevance, threshold: 0.5, provider: 'openai:gpt-5-mini'}
      - {type: context-faithfulness, provider: 'openai:gpt-5-mini'}
      - {type: llm-rubric, value: kind}
defaultTest: {vars: {unit: days}}
)yaml");
  EXPECT_TRUE(
      has(made,
          "      - type: context_recall\n        reference: \"It takes five {{unit}}.\"\n"
          "        context: \"{{context}}\"\n        min_score: 1\n"
          "      - type: context_relevance\n        context: \"{{context}}\"\n        min_score: 0.5\n"
          "      - type: faithfulness\n        context: \"{{context}}\"\n"
          "      - type: rubric\n        criteria: kind\n"))
      << made;
}

TEST_F(Promptfoo, LeavesOutChecksOfAContextThatThereIsNot) {
  const std::string said = notes(R"yaml(prompts: [p]
tests:
  - assert:
      - {type: context-recall, value: five}
      - {type: context-relevance, contextTransform: output.context}
      - {type: contains, value: a}
)yaml");
  EXPECT_TRUE(has(said,
                  ":4: the check context-recall judges by the variable \"context\", which has no value: left "
                  "out"))
      << said;
  EXPECT_TRUE(has(said, ":5: the check context-relevance judges by what its \"contextTransform\" finds"))
      << said;
}

TEST_F(Promptfoo, SaysWhatAModelWithoutAPriceMeansForACheckOfCost) {
  const std::string tests = "prompts: [p]\ntests: [{assert: [{type: cost, threshold: 0.1}]}]\n";
  EXPECT_EQ(notes(tests + "providers: ['openai:gpt-4o-mini']\n"), "");
  EXPECT_TRUE(has(notes(tests + "providers: ['openai:my-own']\n"),
                  ":3: a check of cost needs the price of \"my-own\", which sluice does not know"));
}

}  // namespace sluice::promptfoo_templates_test
