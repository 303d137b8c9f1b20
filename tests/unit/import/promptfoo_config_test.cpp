// What a configuration becomes: prompts, providers, tests and their files.
#include "coordinator/import/promptfoo_config.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/import/foreign_template.hpp"
#include "coordinator/suite/prompts/arms.hpp"
#include "tests/unit/import/promptfoo_fixture.hpp"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::promptfoo_config_test {

TEST_F(Promptfoo, BecomesASuite) {
  write("prompts.txt", "To {{language}}: {{input}}\n---\n{# short #}In {{ language }}: {{input | safe}}\n");
  EXPECT_EQ(suite(R"yaml(description: Translations
prompts: [file://prompts.txt]
providers:
  - openai:chat:gpt-4o-mini
  - {id: 'anthropic:messages:claude-haiku-4-5', label: My Claude, config: {temperature: 0, max_tokens: 100}}
defaultTest:
  assert: [{type: not-icontains, value: as an AI}]
tests:
  - description: Says hello!
    vars: {language: French, input: Hello}
    assert:
      - {type: contains, value: Bonjour}
      - {type: llm-rubric, value: is polite}
      - {type: similar, value: 'Bonjour, {{input}}', threshold: 0.8}
)yaml"),
            R"yaml(settings:
  temperature: 0
  max_output_tokens: 1024
  embedding_provider: openai
  embedding_model: text-embedding-3-large
prompts:
  - id: prompts
    prompt: "To {{language}}: {{input}}"
  - id: prompts-2
    prompt: "In {{language}}: {{input}}"
providers:
  - "openai:gpt-4o-mini"
  - name: My-Claude
    provider: anthropic
    model: claude-haiku-4-5
    temperature: 0
    max_output_tokens: 100
default_test:
  expected:
    - type: not_icontains
      text: as an AI
tests:
  - id: says-hello
    name: "Says hello!"
    vars:
      input: Hello
      language: French
    expected:
      - type: must_contain
        text: Bonjour
      - type: rubric
        criteria: is polite
      - type: semantic_similarity_to
        text: "Bonjour, {{input}}"
        min_score: 0.8
# 1: rubrics and references need a model that judges: name one with --judge PROVIDER --judge-model MODEL, or as "judge" and "judge_model" in settings
)yaml");
}

TEST_F(Promptfoo, MakesATestOfEachEntryOfAList) {
  const std::string config =
      "prompts: ['{{a}} {{b}}']\ntests: [{vars: {a: [x, y], b: ['1', '2']}, assert: [{type: "
      "contains, value: z}]}]\n";
  EXPECT_EQ(import(config).tests, 4u);
  EXPECT_EQ(import("defaultTest: {options: {disableVarExpansion: true}}\n" + config).tests, 1u);
}

TEST_F(Promptfoo, TakesTestsOfEachKindOfFile) {
  write("tests.csv", "a,__expected,__description\nx,contains: 1,First\ny,\"contains: a, b\",\n");
  write("tests.yaml", "- vars: {a: z}\n  assert: [{type: contains, value: b}]\n");
  write("tests.json", "[{\"vars\": {\"a\": \"v\"}, \"assert\": [{\"type\": \"contains-json\"}]}]");
  write("tests.jsonl",
        "{\"vars\": {\"a\": \"w\"}, \"assert\": [{\"type\": \"contains-any\", \"value\": \"p, q\"}]}\n");
  EXPECT_EQ(suite("prompts: ['{{a}}']\ntests: 'file://tests.*'\n"), R"yaml(prompts:
  - id: "1"
    prompt: "{{a}}"
tests:
  - id: first
    name: First
    vars:
      a: x
    expected:
      - type: must_contain
        text: "1"
  - id: test-2
    vars:
      a: y
    expected:
      - type: must_contain
        text: "a, b"
  - id: test-3
    vars:
      a: v
    expected:
      - type: contains_json
        schema: {}
  - id: test-4
    vars:
      a: w
    expected:
      - type: contains_any
        text:
          - p
          - q
  - id: test-5
    vars:
      a: z
    expected:
      - type: must_contain
        text: b
)yaml");
}

TEST_F(Promptfoo, NamesWhatNothingUsesAtTheTopAndInMappings) {
  EXPECT_EQ(notes(R"yaml(description: mine
tags: {team: evals}
sharing: false
prompts: ['{{user.name}} {{all}}']
defaultTest:
  vars:
    user: {name: Ann, age: 7, home: {town: Lima, street: x}}
    all: {b: 1}
    idle: {c: 1}
tests: [{vars: {more: {d: 1}}, assert: [{type: contains, value: '{{user.home.town}}'}]}]
)yaml"),
            R"(promptfooconfig.yaml:2: "tags" has no counterpart: left out
promptfooconfig.yaml:3: "sharing" has no counterpart: left out
promptfooconfig.yaml:6: the variable "idle" is used by no prompt and no check: left out
promptfooconfig.yaml:6: the variable "user.age" is used by no prompt and no check: left out
promptfooconfig.yaml:6: the variable "user.home.street" is used by no prompt and no check: left out
promptfooconfig.yaml:10: the variable "more" is used by no prompt and no check: left out
)");
}

TEST_F(Promptfoo, CrossesScenarios) {
  const ImportedSuite imported = import(
      "prompts: ['{{a}} {{b}}']\nscenarios:\n  - config: [{vars: {a: 1}}, {vars: {a: 2}}]\n    tests: "
      "[{vars: {b: 3}, assert: [{type: contains, value: '{{a}}'}]}, {vars: {b: 4}}]\n");
  EXPECT_EQ(imported.tests, 4u);
  EXPECT_EQ(
      notes(
          "prompts: ['{{a}}']\nscenarios:\n  - config: [{vars: {a: 1, b: 2}}]\n    tests: [{assert: [{type: "
          "contains, value: '{{b}}'}]}, {assert: [{type: contains, value: x}]}]\n"),
      "")
      << "a variable that another test uses is no loss";
}

TEST_F(Promptfoo, LosesNothingSilently) {
  EXPECT_EQ(
      notes(R"yaml(prompts: ['{{a}}', '{% if a %}x{% endif %}', 'file://prompt.py:make', '{{ a | upper }}']
providers:
  - id: openai:gpt-5
    config: {logit_bias: {a: 1}, apiKey: k}
  - bedrock:some.model
  - file://provider.js
redteam: {plugins: [pii]}
evaluateOptions: {maxConcurrency: 4, repeat: 2}
defaultTest: {options: {transform: output.trim()}}
tests:
  - vars: {a: 1, b: 2}
    metadata: {x: 1}
    threshold: 2
    options: {prefix: x}
    assert:
      - {type: ruby, value: output.length > 3}
      - {type: webhook, value: 'http://x'}
      - {type: regex, value: 'a(?=b)'}
      - {type: contains, value: x, weight: 2, metric: m}
      - {type: contains, value: '{{ a | upper }}'}
      - {type: no-such-check, value: x}
  - vars: {a: 2}
)yaml"),
      R"notes(promptfooconfig.yaml:1: a prompt holds "{% if a %}", a block, of which there are none: left out
promptfooconfig.yaml:1: the prompt is made by the program "prompt.py", which has no counterpart: left out
promptfooconfig.yaml:1: a prompt holds "{{ a | upper }}", an expression or filter, of which there are none: left out
promptfooconfig.yaml:4: "apiKey" of a provider: sluice reads the key from the environment; "api_key_env" in [providers.NAME] of sluice.toml names another variable
promptfooconfig.yaml:4: "logit_bias" in config of a provider has no counterpart: left out
promptfooconfig.yaml:5: the provider "bedrock:some.model" has no counterpart: left out
promptfooconfig.yaml:6: the provider "file://provider.js" is a program, which reads and writes another form here (`kind = "exec"` in docs/providers.md): left out
promptfooconfig.yaml:7: "redteam" has no counterpart: left out
promptfooconfig.yaml:8: "maxConcurrency" is said with --max-concurrent, or found: left out
promptfooconfig.yaml:11: the variable "b" is used by no prompt and no check: left out
promptfooconfig.yaml:13: "threshold" of a test has no counterpart: left out
promptfooconfig.yaml:14: "prefix" in options of a test has no counterpart: left out
promptfooconfig.yaml:16: the check ruby has no counterpart (`type: command` runs a program of yours): left out
promptfooconfig.yaml:17: the check webhook has no counterpart: left out
promptfooconfig.yaml:18: the check regex cannot be said: its pattern has "(?=", and RE2 has no look-arounds and no back-references: write what must not be found as not-regex, or the pattern as a check javascript, `/.../.test(output)`: left out
promptfooconfig.yaml:19: "metric" of the check contains, "m", names a score of several checks, and one that only passes or fails has no name in a suite: left out
promptfooconfig.yaml:19: "weight" of the check contains counts beside a "threshold" alone: left out, and it must pass as any other
promptfooconfig.yaml:20: the check contains holds "{{ a | upper }}", an expression or filter, of which there are none: left out
promptfooconfig.yaml:21: the check no-such-check is no check that promptfoo documents: left out
promptfooconfig.yaml:22: a test without a check that a suite has: it passes if the answer is not blank
)notes");
}

TEST_F(Promptfoo, SaysTheSameOfSeveralPlacesOnce) {
  EXPECT_EQ(notes("prompts: [a]\ntests:\n  - assert: [{type: contains, value: x}, {type: cost}]\n"
                  "  - assert: [{type: contains, value: x}, {type: cost}]\n"
                  "  - assert: [{type: contains, value: x}, {type: cost}]\n"),
            "promptfooconfig.yaml:3: the check cost names no threshold: left out (and in 2 more places)\n");
}

TEST_F(Promptfoo, TakesOverTheParamsOfModels) {
  const std::string text = suite(R"yaml(prompts: [a]
providers:
  - id: openai:chat:gpt-5
    label: low
    config: &shared {apiBaseUrl: 'http://gpu.example/v1', apiKeyEnvar: GPU_KEY, top_p: 0.5, reasoning: {effort: low}}
  - id: openai:chat:gpt-5
    label: high
    config: {<<: *shared, reasoning: {effort: high}}
  - {id: 'google:gemini-2.5-flash', config: {generationConfig: {topK: 3, stopSequences: [END]}}}
  - {id: 'openai:gpt-5', config: {reasoning: {effort: low, summary: auto}}}
tests: [{assert: [{type: contains, value: x}]}]
)yaml");
  for (const std::string expected :
       {"name: low\n    provider: gpu-example\n    model: gpt-5\n    params:\n      reasoning_effort: low\n  "
        "    top_p: 0.5\n",
        "name: high\n    provider: gpu-example\n    model: gpt-5\n    params:\n      reasoning_effort: "
        "high\n  "
        "    top_p: 0.5\n",
        "    params:\n      stop:\n        - END\n      top_k: 3\n"}) {
    EXPECT_NE(text.find(expected), std::string::npos) << expected << "\n" << text;
  }
  EXPECT_EQ(text.substr(text.find("# ")),
            "# 10: \"reasoning\" in config of a provider has no counterpart: left out\n");
}

TEST_F(Promptfoo, TakesTheDefaultOfAProviderFromTheEnvironment) {
  const std::string tests = "prompts: [a]\ntests: [{assert: [{type: contains, value: x}]}]\n";
  for (const std::string id :
       {"{{ env.EVAL_MODEL or 'openai:gpt-5' }}", "{{env.X | default('openai:gpt-5', true)}}",
        "{{ env.X | default('openai:gpt-5') }}"}) {
    const std::string text = suite(tests + "providers: [{id: \"" + id + "\"}]\n");
    EXPECT_NE(text.find("  - \"openai:gpt-5\"\n"), std::string::npos) << text;
    EXPECT_NE(text.find("depends on the environment: \"openai:gpt-5\" is taken"), std::string::npos) << text;
  }
  EXPECT_NE(notes(tests + "providers: ['{{ env.EVAL_MODEL }}']\n").find("has no counterpart"),
            std::string::npos);
}

TEST_F(Promptfoo, LimitsProvidersToWhatARunTakes) {
  std::string config = "prompts: [a, b]\ntests: [{assert: [{type: contains, value: x}]}]\nproviders:\n";
  for (std::size_t i = 0; i <= defaults::max_arms / 2; ++i)
    config += "  - openai:m" + std::to_string(i) + "\n";
  EXPECT_EQ(import(config).providers, defaults::max_arms / 2);
}

TEST_F(Promptfoo, TakesAConversationIntoItsTests) {
  const std::string made = suite(R"yaml(prompts:
  - |
    - {role: system, content: "You count {{what}}."}
    - {role: user, content: "One {{what}}?"}
    - {role: assistant, content: "One."}
    - {role: user, content: "And two?"}
providers: [openai:gpt-4o-mini]
tests:
  - vars: {what: bears}
    assert: [{type: contains, value: Two}]
)yaml");
  EXPECT_EQ(made, R"yaml(settings:
  temperature: 0
  max_output_tokens: 1024
providers:
  - "openai:gpt-4o-mini"
tests:
  - id: test-1
    vars:
      what: bears
    input:
      messages:
        - role: system
          content: "You count {{what}}."
        - role: user
          content: "One {{what}}?"
        - role: assistant
          content: One.
        - role: user
          content: "And two?"
    expected:
      - type: must_contain
        text: Two
)yaml");
  const std::string beside = notes(R"yaml(prompts:
  - "Plain {{what}}"
  - '[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]'
  - '[{"role": "user", "content": [{"type": "image_url"}]}]'
tests: [{vars: {what: x}, assert: [{type: contains, value: y}]}]
)yaml");
  EXPECT_NE(beside.find(":3: a prompt is a conversation of several turns, which a suite has in"),
            std::string::npos)
      << beside;
  EXPECT_NE(beside.find(":4: a prompt is a conversation with more than texts"), std::string::npos) << beside;
}

TEST_F(Promptfoo, TakesTheFormOfTheAnswerThatAllProvidersHave) {
  const std::string schema = R"yaml(prompts: ["Order {{n}}"]
providers:
  - id: openai:gpt-4o-mini
    config:
      response_format:
        type: json_schema
        json_schema: {name: order, strict: true, schema: {type: object, properties: {n: {type: integer}}}}
tests: [{vars: {n: "1"}, assert: [{type: contains-json}]}]
)yaml";
  const std::string made = suite(schema);
  EXPECT_NE(made.find("response_format:\n        name: order\n        strict: true\n        schema:"),
            std::string::npos)
      << made;
  EXPECT_EQ(made.find('#'), std::string::npos) << made;
  const std::string some = notes(R"yaml(prompts: ["Order {{n}}"]
providers:
  - {id: "openai:gpt-4o-mini", config: {response_format: {type: json_object}}}
  - openai:gpt-4o
tests: [{vars: {n: "1"}, assert: [{type: is-json}]}]
)yaml");
  EXPECT_NE(some.find(":3: \"response_format\" is not that of all providers"), std::string::npos) << some;
}

// A model answers in that order.
TEST_F(Promptfoo, KeepsTheOrderOfKeysInSchemas) {
  const std::string made = suite(R"yaml(prompts: ["Order {{n}}"]
providers:
  - id: openai:gpt-4o-mini
    config:
      response_format:
        type: json_schema
        json_schema: {schema: {type: object, properties: {why: {type: string}, answer: {type: string}}}}
      tools: [{type: function, function: {name: f, parameters: {type: object, properties: {b: {}, a: {}}}}}]
tests: [{vars: {n: "1"}, assert: [{type: contains-json}]}]
)yaml");
  const std::string indent(10, ' ');
  EXPECT_NE(made.find("schema:\n" + indent + "type: object\n" + indent + "properties:\n" + indent +
                      "  why:\n" + indent + "    type: string\n" + indent + "  answer:\n"),
            std::string::npos)
      << made;
  EXPECT_NE(made.find("type: object\n" + indent + "  properties:\n" + indent + "    b: {}\n" + indent +
                      "    a: {}\n"),
            std::string::npos)
      << made;
}

TEST_F(Promptfoo, LeavesOutOfAFormWhatASuiteRefuses) {
  const auto config = [](const std::string& form) {
    return "prompts: [\"Order {{n}}\"]\nproviders:\n  - id: openai:gpt-4o-mini\n    config:\n"
           "      response_format: {type: json_schema, json_schema: " +
           form + "}\ntests: [{vars: {n: \"1\"}, assert: [{type: is-json}]}]\n";
  };
  const std::string unusable = notes(config("{schema: {type: objekt}}"));
  EXPECT_NE(unusable.find(":5: the schema of \"response_format\" cannot be used: "), std::string::npos)
      << unusable;
  EXPECT_EQ(suite(config("{schema: {type: objekt}}")).find("response_format:"), std::string::npos);
  const std::string form = "{name: \"an order\", strict: maybe, schema: {type: object}}";
  const std::string parts = notes(config(form));
  EXPECT_NE(parts.find(":5: \"name\" of \"response_format\" is none that a suite takes: left out"),
            std::string::npos)
      << parts;
  EXPECT_NE(parts.find(":5: \"strict\" of \"response_format\""), std::string::npos) << parts;
  const std::string made = suite(config(form));
  EXPECT_NE(made.find("response_format:\n        schema:"), std::string::npos) << made;
}

TEST_F(Promptfoo, TakesATableOfTestsByItself) {
  const std::string made = suite("city,__expected\nParis,contains: France\n", "cities.csv");
  EXPECT_NE(made.find("prompt: \"{{city}}\""), std::string::npos) << made;
  EXPECT_NE(made.find("city: Paris"), std::string::npos) << made;
  EXPECT_NE(made.find("# 1: no prompt could be taken over"), std::string::npos) << made;
}

TEST_F(Promptfoo, LeavesOutEmptyTurns) {
  const std::string chat = R"yaml(prompts:
  - '[{"role": "user", "content": "a"}, {"role": "assistant", "content": " "}, {"role": "user", "content": "c"}]'
tests: [{assert: [{type: contains, value: y}]}]
)yaml";
  EXPECT_NE(notes(chat).find(":2: a prompt has an empty turn of the assistant: left out"), std::string::npos)
      << notes(chat);
  EXPECT_EQ(suite(chat).find("role: assistant"), std::string::npos) << suite(chat);
  const std::string silent = notes(R"yaml(prompts:
  - "Say x"
  - '[{"role": "system", "content": "a"}, {"role": "user", "content": ""}]'
tests: [{assert: [{type: contains, value: y}]}]
)yaml");
  EXPECT_NE(silent.find(":3: a prompt asks nothing: left out"), std::string::npos) << silent;
  // What is left would ask to go on with the answer.
  const std::string half = notes(R"yaml(prompts:
  - "Say x"
  - '[{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": ""}]'
tests: [{assert: [{type: contains, value: y}]}]
)yaml");
  EXPECT_NE(half.find(":3: a prompt asks nothing: left out"), std::string::npos) << half;
}

TEST_F(Promptfoo, IsRefusedWhereItIsNone) {
  const auto error = [&](const std::string& text) {
    write("c.yaml", text);
    const auto imported = import_promptfoo(folder_.path() / "c.yaml", {});
    return imported ? std::string("(none)") : imported.error().front().message;
  };
  EXPECT_EQ(error("- a\n"),
            "a configuration must be a mapping with \"prompts\", \"providers\" and \"tests\"");
  EXPECT_EQ(error("a: 1\n"),
            "is no configuration of promptfoo: it has neither \"prompts\" nor \"providers\" nor \"tests\"");
  EXPECT_TRUE(error("a: [\n").starts_with("not valid YAML")) << error("a: [\n");
}

TEST_F(Promptfoo, IsTakenOutOfAnOutputFile) {
  const std::string text =
      suite(R"({"results": {"results": []}, "config": {"prompts": ["Hi"], "tests": [{"assert":
    [{"type": "contains", "value": "x"}]}]}})",
            "output.json");
  EXPECT_NE(text.find("prompt: Hi"), std::string::npos) << text;
}

TEST(ForeignTemplates, BecomeThoseOfASuite) {
  const auto of = [](const std::string& text) {
    const auto translated = translate_template(text);
    return translated ? translated->text : "! " + translated.error();
  };
  EXPECT_EQ(of("a {{ b }} {c}"), "a {{b}} {c}");
  EXPECT_EQ(of("a {# no #}b"), "a b");
  EXPECT_EQ(of("a \n{{- b -}}\n c"), "a{{b}}c");
  EXPECT_EQ(of("{{ b | safe }}"), "{{b}}");
  EXPECT_EQ(of("{{ b | dump | safe }}"), "{{b-json}}");
  EXPECT_EQ(of("{{ 'a' | dump }}"), "\"a\"");
  EXPECT_TRUE(of("{{ b | dump | dump }}").starts_with("! holds")) << of("{{ b | dump | dump }}");
  EXPECT_EQ(of("{% raw %}{{x}}{% endraw %}!"), "{{ '{{' }}x}}!");
  EXPECT_EQ(of("{{ 'a' }}"), "{{'a'}}");
  EXPECT_EQ(of("\\d{{2}}"), "\\d2");
  EXPECT_TRUE(of("{{ b[0] }}").starts_with("! holds")) << of("{{ b[0] }}");
  EXPECT_TRUE(of("{{ env.KEY }}").starts_with("! holds")) << of("{{ env.KEY }}");
  EXPECT_TRUE(of("{{ b").starts_with("! holds")) << of("{{ b");
}

}  // namespace sluice::promptfoo_config_test
