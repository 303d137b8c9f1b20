// What configurations that people wrote say in other ways, or of all tests at once.
#include "tests/unit/import/promptfoo_fixture.hpp"

#include <string>

#include <gtest/gtest.h>

namespace sluice::promptfoo_values_test {

const std::string one_test = "tests: [{vars: {q: x}, assert: [{type: contains, value: y}]}]\n";

// The older form: a model, and beneath it a name and the prompt that it is for.
TEST_F(Promptfoo, KeepsTheNameAndThePromptOfAModelThatIsAKey) {
  const std::string made = suite(
      "prompts: [{raw: 'Say {{q}}', label: chat}, {raw: '{{q}}:', label: plain}]\n"
      "providers:\n"
      "  - openai:gpt-4o: {id: cold, prompts: chat, config: {temperature: 0}}\n"
      "  - openai:gpt-4o: {id: hot, prompts: [plain]}\n" +
      one_test);
  EXPECT_TRUE(has(made, "  - name: cold-chat\n    provider: openai\n    model: gpt-4o\n    prompt: chat\n"))
      << made;
  EXPECT_TRUE(has(made, "  - name: hot-plain\n")) << made;
  EXPECT_EQ(made.find('#'), std::string::npos) << made;
}

TEST_F(Promptfoo, FindsThePromptsOfAProviderByFileToo) {
  write("prompts/a.txt", "Say {{q}}");
  const std::string prompts = "prompts: ['file://prompts/a.txt', 'Ask {{q}}']\n" + one_test;
  const std::string made =
      suite(prompts + "providers: [{id: 'openai:m', prompts: ['file://./prompts/a.txt']}]\n");
  EXPECT_TRUE(has(made, "    prompt: a\n")) << made;
  EXPECT_EQ(made.find('#'), std::string::npos) << made;
  const std::string lost = notes(prompts + "providers: [{id: 'openai:m', prompts: [gone, {a: 1}]}]\n");
  EXPECT_TRUE(has(lost, ":3: of the \"prompts\" of a provider none is there")) << lost;
  EXPECT_TRUE(has(lost, ":3: \"prompts\" of a provider holds what is no text")) << lost;
}

TEST_F(Promptfoo, MakesATestOfEachEntryOfAListInTheDefaultTest) {
  const std::string config =
      "prompts: ['{{a}} {{b}}']\ndefaultTest: {vars: {a: [x, y], b: z}}\n"
      "tests: [{assert: [{type: contains, value: v}]}, {vars: {a: own}, assert: [{type: contains, value: "
      "v}]}]\n";
  const std::string made = suite(config);
  EXPECT_EQ(import(config).tests, 3u) << made;
  EXPECT_TRUE(has(made, "      a: y\n")) << made;
  const std::string scenario =
      "prompts: ['{{a}} {{b}}']\ndefaultTest: {vars: {a: [x, y]}}\nscenarios:\n"
      "  - {config: [{vars: {b: 1}}, {vars: {a: own, b: 2}}], tests: [{assert: [{type: contains, value: "
      "v}]}], "
      "weight: 2}\n";
  EXPECT_EQ(import(scenario).tests, 3u);
  EXPECT_EQ(notes(scenario),
            "promptfooconfig.yaml:4: \"weight\" of a scenario has no counterpart: left out\n");
  EXPECT_EQ(import("prompts: ['{{a}}']\ndefaultTest: {vars: {a: [x, y]}}\n").tests, 2u);
}

TEST_F(Promptfoo, TakesOverWhoGradesAndEmbeds) {
  const std::string config = R"yaml(prompts: ['{{q}}']
defaultTest:
  options:
    provider:
      text: {id: 'anthropic:messages:claude-haiku-4-5', config: {temperature: 0, max_tokens: 200, top_p: 1}}
      embedding: openai:embedding:text-embedding-3-large
      moderation: openai:moderation:latest
tests: [{vars: {q: x}, assert: [{type: llm-rubric, value: kind}, {type: similar, value: x}]}]
)yaml";
  const std::string made = suite(config);
  EXPECT_TRUE(has(made,
                  "settings:\n  judge: anthropic\n  judge_model: claude-haiku-4-5\n  judge_temperature: 0\n"
                  "  judge_max_tokens: 200\n  embedding_provider: openai\n"
                  "  embedding_model: text-embedding-3-large\n"))
      << made;
  EXPECT_EQ(
      notes(config),
      "promptfooconfig.yaml:5: \"top_p\" of the provider that grades has no counterpart: left out\n"
      "promptfooconfig.yaml:7: \"moderation\" among the providers that grade has no counterpart: left out\n");
}

TEST_F(Promptfoo, SendsTheValuesOfVariablesAsThere) {
  write("facts.md", "# Facts\nOne.\n\n");
  write("facts.yaml", "b: [1]\na: x\n");
  write("code.cjs", "module.exports = () => 1;\n");
  write("code.spec.ts", "it();\n");
  const std::string made = suite(R"yaml(prompts: ['{{a}} {{b}} {{c}} {{d}} {{e}}']
tests:
  - vars:
      a: file://facts.md
      b: file://facts.yaml
      c: file://code.cjs
      d: file://code.spec.ts
      e: |
        block
    assert: [{type: contains, value: y}]
)yaml");
  EXPECT_TRUE(has(made, "a: |-\n        # Facts\n        One.\n")) << made;
  EXPECT_TRUE(has(made, R"(b: "{\"b\":[1],\"a\":\"x\"}")")) << made;
  EXPECT_TRUE(has(made, "# 6: the variable \"c\" is made by a program")) << made;
  EXPECT_TRUE(has(made, "d: it();\n") || has(made, "d: \"it();\"\n")) << made;
  EXPECT_TRUE(has(made, "# 7: the variable \"d\" is a file that newer versions of promptfoo run")) << made;
  EXPECT_TRUE(has(made, "e: block\n")) << made;
}

TEST_F(Promptfoo, SaysWhatIsNoMapping) {
  const std::string said = notes(
      "prompts: ['{{q}}']\nproviders: [{id: 'openai:m', config: cold}, {id: 'openai:n', config: }]\n"
      "evaluateOptions: fast\ncommandLineOptions:\n"
      "tests: [{vars: {q: x}, options: none, assert: [{type: contains, value: y}]}]\n");
  EXPECT_EQ(said,
            "promptfooconfig.yaml:2: \"config\" is no mapping: left out\n"
            "promptfooconfig.yaml:3: \"evaluateOptions\" is no mapping: left out\n"
            "promptfooconfig.yaml:5: \"options\" is no mapping: left out\n");
}

// It cost more than there, and only its keys were said to have no counterpart.
TEST_F(Promptfoo, SaysByWhomATestIsAskedThatWasForSome) {
  const std::string tests =
      "tests: [{vars: {q: [x, y]}, prompts: [first], providers: ['openai:m'], assert: [{type: contains, "
      "value: z}]}]\n";
  EXPECT_EQ(
      notes("prompts: ['{{q}}', 'Say {{q}}']\nproviders: ['openai:m', 'openai:n', 'openai:o']\n" + tests),
      "promptfooconfig.yaml:3: \"prompts\" of a test has no counterpart: left out, and it is asked by "
      "all 2 prompts of all 3 models\n"
      "promptfooconfig.yaml:3: \"providers\" of a test has no counterpart: left out, and it is asked by "
      "all 2 prompts of all 3 models\n");
  const std::string few =
      notes("prompts: ['{{q}}']\nscenarios:\n  - config: [{prompts: [first]}]\n    " + tests);
  EXPECT_TRUE(
      has(few,
          "\"prompts\" of a test has no counterpart: left out, and it is asked by the one prompt (and in 1 "
          "more place)\n"))
      << few;
  EXPECT_TRUE(has(few, ":4: \"providers\" of a test")) << few;
}

TEST_F(Promptfoo, NamesWhereATestHasTheToolsOfAProvider) {
  EXPECT_EQ(
      notes("prompts: ['{{q}}']\nproviders: [{id: 'openai:m', config: {tools: [], tool_choice: auto}}]\n" +
            one_test),
      "promptfooconfig.yaml:2: \"tool_choice\" in config of a provider has no counterpart (a test names "
      "it as \"input.tool_choice\"): left out\n"
      "promptfooconfig.yaml:2: \"tools\" in config of a provider are none that a suite takes (a test names "
      "them as \"input.tools\"): left out\n");
}

TEST_F(Promptfoo, GivesEachTestTheToolsOfTheProvidersAndHoldsCallsAgainstThem) {
  const std::string function =
      "{name: look_up, description: Finds it., parameters: {type: object, required: [order]}";
  const std::string head =
      "prompts: ['{{q}}']\nproviders:\n- {id: 'openai:m', config: {tools: [{type: function, function: ";
  const std::string tests =
      "tests: [{vars: {q: x}, assert: [{type: is-valid-openai-tools-call}, {type: "
      "not-is-valid-openai-tools-call}]}]\n";
  const std::string made = suite(head + function + "}}]}}\n" + tests);
  EXPECT_TRUE(
      has(made,
          "      tools:\n        - name: look_up\n          description: Finds it.\n          parameters:\n"))
      << made;
  EXPECT_TRUE(has(
      made,
      "      - type: all_of\n        of:\n          - type: tool_call\n          - type: tool_calls_valid\n"))
      << made;
  EXPECT_TRUE(has(made, "      - type: not_all_of\n")) << made;
  EXPECT_EQ(notes(head + function + ", strict: true}}]}}\n" + tests),
            "promptfooconfig.yaml:3: \"strict\" of the tool look_up has no counterpart: left out\n");
  EXPECT_TRUE(has(notes(head + "{name: look_up, parameters: {type: objekt}}}]}}\n" + tests),
                  ":3: \"tools\" in config of a provider are none that a suite takes"));
  EXPECT_TRUE(has(notes("prompts: ['{{q}}']\nproviders:\n- {id: 'openai:m', config: {tools: [{type: "
                        "web_search_20250305, name: web_search}]}}\n" +
                        tests),
                  ":3: \"tools\" in config of a provider are none that a suite takes"))
      << "the provider runs it itself";
  EXPECT_TRUE(has(notes(head + function + "}}]}}\n- openai:n\n" + tests),
                  ":3: \"tools\" is not that of all providers"));
}

// Its name was taken for a pattern, and for nothing with braces in it.
TEST_F(Promptfoo, TakesATableOfTestsWhateverItsName) {
  write("a1b.csv", "city,__expected\nLima,contains: Peru\n");
  for (const std::string name : {"a*b.csv", "a?b.csv", "a[1]b.csv", "{a}.csv"}) {
    const std::string table = "city,__expected\nParis,contains: France\n";
    EXPECT_EQ(import(table, name).tests, 1u) << name;
    EXPECT_TRUE(has(suite(table, name), "city: Paris")) << name;
  }
}

TEST_F(Promptfoo, IsNotMadeOfAProgram) {
  write("promptfooconfig.js", "module.exports = {prompts: ['a']};\n");
  const auto imported = import_promptfoo(folder_.path() / "promptfooconfig.js", {});
  ASSERT_FALSE(imported);
  EXPECT_TRUE(has(imported.error().front().message, "promptfoo eval --output out.json"));
}

// Each made another prompt, and a check that what passed there could not pass.
TEST_F(Promptfoo, TakesTheValueOfANumberAndNotItsSpelling) {
  const std::string made = suite(
      "prompts: ['{{amount}} {{n}} {{big}} {{is}}']\n"
      "tests: [{vars: {amount: 10.50, n: 007, big: 12345678901234567890, is: True}, "
      "assert: [{type: equals, value: 1.0}, {type: contains, value: 0x10}]}]\n");
  EXPECT_TRUE(has(made,
                  "      amount: \"10.5\"\n      big: \"12345678901234567890\"\n      is: \"true\"\n"
                  "      n: \"7\"\n"))
      << made;
  EXPECT_TRUE(has(made, "text: \"1\"\n")) << made;
  EXPECT_TRUE(has(made, "text: \"16\"\n")) << made;
  const std::string small = suite(
      "prompts: ['{{a}} {{b}} {{c}} {{d}}']\n"
      "tests: [{vars: {a: 0.0001, b: 100000.0, c: 1e6, d: -0.0}, assert: [{type: contains, value: "
      "1.5e-7}]}]\n");
  EXPECT_TRUE(has(small, "      a: \"0.0001\"\n      b: \"100000\"\n      c: \"1000000\"\n      d: \"0\"\n"))
      << small;
  EXPECT_TRUE(has(small, "text: \"1.5e-7\"\n")) << small;
}

// js-yaml 4 reads numbers there, and 5 texts: which of them a configuration is for is unknown.
TEST_F(Promptfoo, SaysWhichTextsAreNumbersToOlderVersions) {
  const std::string text = "is a text, as the newest promptfoo reads it, and a number to older versions";
  write("more.yaml", "- {vars: {a: 0b101, b: '0b101'}, assert: [{type: contains, value: x}]}\n");
  const auto imported = import(
      "prompts: ['{{a}} {{b}}']\n"
      "tests:\n"
      "  - {vars: {a: 1_000, b: '1_000'}, assert: [{type: contains, value: _1}]}\n"
      "  - {vars: {a: -0x1F, b: 2_5.5}, assert: [{type: contains, value: 1_}]}\n"
      "  - file://more.yaml\n");
  const std::string said = notes_of(imported);
  EXPECT_TRUE(has(said, "promptfooconfig.yaml:3: \"1_000\" " + text)) << said;
  EXPECT_TRUE(has(said, "promptfooconfig.yaml:4: \"-0x1F\" " + text)) << said;
  EXPECT_TRUE(has(said, "promptfooconfig.yaml:4: \"2_5.5\" " + text)) << said;
  EXPECT_TRUE(has(said, "more.yaml:1: \"0b101\" " + text)) << said;
  EXPECT_EQ(imported.notes.size(), 4u) << said;
  EXPECT_EQ(lost(imported, Loss::change), 4u);
  EXPECT_TRUE(has(suite_yaml(imported.suite), "a: \"1_000\"")) << suite_yaml(imported.suite);
}

// A list within a value became JSON, and so did the list itself where a value showed it by `dump`.
TEST_F(Promptfoo, ShowsAListInAValueAsTheFilterSays) {
  const std::string both = suite(
      "prompts: ['{{items | dump}} {{intro}}']\n"
      "tests: [{vars: {items: [1, 2], intro: 'of {{items}}'}, assert: [{type: contains, value: a}]}]\n"
      "defaultTest: {options: {disableVarExpansion: true}}\n");
  EXPECT_TRUE(has(both, "intro: \"of 1,2\"\n")) << both;
  EXPECT_TRUE(has(both, "items-json: \"[1,2]\"\n")) << both;
  const std::string dumped = suite(
      "prompts: ['{{items}} {{j}}']\n"
      "tests: [{vars: {items: [1, 2], j: '{{ items | dump }}'}, assert: [{type: contains, value: a}]}]\n"
      "defaultTest: {options: {disableVarExpansion: true}}\n");
  EXPECT_TRUE(has(dumped, "items: \"1,2\"\n")) << dumped;
  EXPECT_TRUE(has(dumped, "j: \"[1,2]\"\n")) << dumped;
  const std::string of_default = suite(
      "prompts: ['{{question}}']\n"
      "defaultTest: {vars: {n: [red, blue]}, options: {disableVarExpansion: true}, assert: [{type: contains, "
      "value: x}]}\n"
      "tests: [{vars: {question: 'data {{n | dump}}'}, options: {disableDefaultAsserts: true}, "
      "assert: [{type: contains, value: y}]}]\n");
  EXPECT_TRUE(has(of_default, "data [\\\"red\\\",\\\"blue\\\"]")) << of_default;
}

// The filter was lost, without a line: the prompt was broken JSON, and the check weaker.
TEST_F(Promptfoo, ShowsATextAsJsonWhereAFilterSaysSo) {
  const std::string made = suite(R"yaml(prompts: ['{"question": {{ q | dump }}, "lang": "en"}']
tests:
  - vars: {q: 'What "is" it?'}
    assert: [{type: contains, value: '{{ q | dump }}'}, {type: regex, value: '^{{ q | dump | safe }}$'}]
  - {vars: {q: plain}, assert: [{type: contains, value: '{{q}}'}]}
)yaml");
  EXPECT_TRUE(has(made, R"({\"question\": {{q-json}}, \"lang\": \"en\"})")) << made;
  EXPECT_TRUE(has(made, R"(q-json: "\"What \\\"is\\\" it?\"")")) << made;
  EXPECT_TRUE(has(made, "text: \"{{q-json}}\"\n")) << made;
  EXPECT_TRUE(has(made, R"(pattern: "^\"What \\\"is\\\" it?\"$")")) << made;
  EXPECT_TRUE(has(made, R"(      q: plain
      q-json: "\"plain\""
)")) << made;
  EXPECT_FALSE(has(made, "#")) << made;
}

TEST_F(Promptfoo, ShowsEachKindOfValueAsTheFilterWritesIt) {
  const std::string made = suite(R"yaml(
prompts: ['{{a|dump}} {{b | dump}} {{c | tojson}} {{d | dump}} {{e | dump}} {{shown}} {{gone | dump}}']
defaultTest: {vars: {d: 'of "all"', e: '<{{a}}>'}}
tests:
  - vars: {a: 1.50, b: true, c: null, shown: 'see {{ d | dump }} {{ m.t | dump }} {{a | dump}}', m: {t: [x]}}
    assert: [{type: contains, value: x}]
)yaml");
  EXPECT_TRUE(has(made, "{{a-json}} {{b-json}} {{c-json}} {{d-json}} {{e-json}} {{shown}} {{gone-json}}"))
      << made;
  EXPECT_TRUE(has(made, R"(  vars:
    d-json: "\"of \\\"all\\\"\""
)")) << made;
  EXPECT_TRUE(has(made, R"(      a-json: "1.5"
      b-json: "true"
      c-json: "null"
      e-json: "\"<1.5>\""
      gone-json: ""
      shown: "see \"of \\\"all\\\"\" [\"x\"] 1.5"
)")) << made;
  EXPECT_TRUE(has(made, "the variable \"gone\" has no value: it is empty\n")) << made;
}

// A test's description, a turn of a chat that is JSON as it stands, and a value that a table has.
TEST_F(Promptfoo, ShowsATextAsJsonInNamesAndTurns) {
  write("t.csv", "q,__description,__expected\n\"say \"\"a\"\"\",of {{q | dump}},contains: {{q | dump}}\n");
  const std::string chat = suite(
      R"yaml(prompts: ['[{"role": "system", "content": "A"}, {"role": "user", "content": "{{ q | dump }}"}]']
tests: file://t.csv
)yaml");
  EXPECT_TRUE(has(chat, "prompt: \"{{q-json}}\"\n")) << chat;
  EXPECT_TRUE(has(chat, R"(name: "of \"say \\\"a\\\"\"")")) << chat;
  EXPECT_TRUE(has(chat, "text: \"{{q-json}}\"\n")) << chat;
  const std::string bare = suite(
      R"yaml(prompts: ['[{"role": "system", "content": "A"}, {"role": "user", "content": {{ q | dump }}}]']
tests: [{vars: {q: 'say "a"'}, assert: [{type: contains, value: x}]}]
)yaml");
  EXPECT_TRUE(has(bare, "prompt: \"{{q}}\"\n")) << bare;
  EXPECT_FALSE(has(bare, "q-json")) << bare;
}

TEST_F(Promptfoo, SaysThatAVariableHasTheNameOfTheJsonOfAnother) {
  const std::string made = suite(
      "prompts: ['{{q | dump}}']\n"
      "tests: [{vars: {q: a, q-json: b}, assert: [{type: contains, value: x}]}]\n");
  EXPECT_TRUE(has(made, R"(q-json: "\"a\"")")) << made;
  EXPECT_TRUE(has(made, "the variable \"q-json\" has the name of what the suite has as the JSON of \"q\""))
      << made;
}

// It became a check that no answer passes.
TEST_F(Promptfoo, TakesABlankCellForNoCheck) {
  const std::string made = suite("x,__expected,__expected2\nParis,contains: Paris, \n", "t.csv");
  EXPECT_TRUE(has(made, "type: must_contain\n")) << made;
  EXPECT_FALSE(has(made, "regex_match")) << made;
}

TEST_F(Promptfoo, TakesTheThresholdOfARow) {
  const std::string made = suite(
      "city,__expected,__expected2,__threshold\nParis,contains: France,contains: river,0.5\nLima,contains: "
      "Peru,,most\n",
      "cities.csv");
  EXPECT_TRUE(has(made, "type: all_of\n        pass_mark: 0.5\n")) << made;
  EXPECT_TRUE(has(made, "# 3: \"threshold\" of a test has no counterpart")) << made;
}

// The column was left out, and with it the names of the scores.
TEST_F(Promptfoo, TakesTheMetricOfARow) {
  const std::string made = suite(
      "city,__metric,__expected,__expected2\nParis,Tone,llm-rubric: kind,contains: France\nLima,,llm-rubric: "
      "short,\n",
      "cities.csv");
  EXPECT_TRUE(has(made, "type: rubric\n        name: Tone\n        criteria: kind\n")) << made;
  EXPECT_TRUE(has(made, "type: rubric\n        criteria: short\n")) << made;
  EXPECT_TRUE(has(made, "# 2: \"metric\" of the check contains, \"Tone\", names a score of several checks"))
      << made;
}

// The check stood with the limit that it has by default, and a weight of 0 counted as 1.
TEST_F(Promptfoo, TakesNumbersThatAreWrittenAsTexts) {
  const std::string made = suite(R"yaml(prompts: [p]
tests:
  - assert:
      - {type: llm-rubric, value: kind, threshold: '0.9'}
      - {type: levenshtein, value: kind, threshold: '2'}
      - {type: contains, value: gone, weight: '0'}
  - threshold: '0.5'
    assert: [{type: contains, value: x, weight: '3'}, {type: contains, value: y}]
)yaml");
  EXPECT_TRUE(has(made, "criteria: kind\n        min_score: 0.9\n")) << made;
  EXPECT_TRUE(has(made, "text: kind\n        max_distance: 2\n")) << made;
  EXPECT_TRUE(has(made, "# 6: the check contains has the weight 0")) << made;
  EXPECT_FALSE(has(made, "text: gone")) << made;
  EXPECT_TRUE(has(made, "pass_mark: 0.5\n")) << made;
  EXPECT_TRUE(has(made, "text: x\n            weight: 3\n")) << made;
}

TEST_F(Promptfoo, LeavesOutAThresholdThatIsNoNumber) {
  const ImportedSuite made = import(R"yaml(prompts: [p]
tests:
  - assert:
      - {type: similar, value: a, threshold: '{{ env.LIMIT }}'}
      - {type: contains, value: b, weight: heavy, threshold: null}
)yaml");
  EXPECT_TRUE(has(notes_of(made), ":4: the check similar has a \"threshold\" that is no number: left out"))
      << notes_of(made);
  EXPECT_TRUE(has(notes_of(made), ":5: \"weight\" of the check contains has no counterpart: left out"))
      << notes_of(made);
  EXPECT_FALSE(has(suite_yaml(made.suite), "similar"));
}

// The checks of its tests judged the whole answer, though the note said that they are left out.
TEST_F(Promptfoo, TakesWhatTheConfigOfAScenarioSaysOfItsTests) {
  const std::string yaml = suite_yaml(import(R"yaml(prompts: [p]
defaultTest: {assert: [{type: contains, value: by-default}]}
scenarios:
  - config: [{options: {transform: output.name}}, {options: {disableDefaultAsserts: true}}]
    tests: [{assert: [{type: contains, value: judged}, {type: latency, threshold: 100}]}]
)yaml")
                                          .suite);
  const auto second = yaml.find("id: test-2");
  ASSERT_NE(second, std::string::npos) << yaml;
  EXPECT_FALSE(has(yaml.substr(0, second), "text: judged")) << yaml;
  EXPECT_TRUE(has(yaml.substr(0, second), "type: latency\n")) << yaml;
  EXPECT_TRUE(has(yaml.substr(second), "text: judged")) << yaml;
  EXPECT_TRUE(has(yaml.substr(second), "default_test: false\n")) << yaml;
}

TEST_F(Promptfoo, CountsWordsByAPattern) {
  const std::string made = suite(R"yaml(prompts: ['{{n}}']
tests:
  - {vars: {n: 12}, assert: [{type: word-count, value: '{{n}}'}, {type: not-word-count, value: {max: 7}}]}
  - {vars: {n: x}, assert: [{type: word-count, value: {min: 9}}]}
)yaml");
  EXPECT_TRUE(has(made, "){12,12}$")) << made;
  EXPECT_TRUE(has(made, "- type: regex_not_match")) << made;
  EXPECT_TRUE(has(made, "){0,7}$")) << made;
  EXPECT_TRUE(has(made, "){8}[^")) << made;
  EXPECT_FALSE(has(made, "# ")) << made;
}

}  // namespace sluice::promptfoo_values_test
