#include "coordinator/suite/canonical_case.hpp"
#include "coordinator/suite/prompts/arms.hpp"
#include "tests/unit/suite/suite_files.hpp"

#include <map>
#include <string>
#include <vector>

namespace sluice {
namespace {

class TemplatedSuite : public SuiteFiles {
 protected:
  /// A suite with one test, of which `expected` is all that is given (its first line is line 3).
  static std::string with_test(const std::string& rest) {
    return "suite: s\ntests:\n- id: t\n  expected: {type: exact_match, text: a}\n" + rest;
  }
};

constexpr const char* matrix = R"yaml(suite: capitals
prompts:
  - id: short
    system: You know {{continent}}.
    prompt: "Capital of {{country}}?"
  - id: polite
    file: prompts/polite.txt
arms:
  - {name: mini, provider: openai, model: gpt-5-mini, temperature: 0, max_output_tokens: 100, seed: 7}
  - haiku=anthropic:claude-haiku-4-5
  - {name: long, model: gpt-5, prompt: polite}
tests:
  - id: france
    vars: {country: France, capital: Paris, continent: Europe, year: 2026, share: 1.10, code: 007, big: True}
    input: {context: "Of {{year}}, {{share}}, {{code}}, {{big}}."}
    expected:
      - {type: must_contain, text: ["{{capital}}", "{{ '{{' }}x}}"]}
      - {type: correctness, reference: "{{capital}}."}
      - {type: rubric, criteria: "Names {{capital}}."}
      - {type: regex_match, pattern: "a{{2}}|{{other}}|."}
  - id: peru
    vars: {country: Peru, capital: Lima, continent: America}
    expected: {type: must_contain, text: "{{capital}}"}
  - id: own
    input: {prompt: "Who are you? {{ }} {{ x | y }}"}
    expected: {type: must_contain, text: "{{literal}}"}
)yaml";

TEST_F(TemplatedSuite, AsksEachTestByEachPrompt) {
  // As editors on Windows write it.
  write("prompts/polite.txt", "\xef\xbb\xbfPlease,\r\nwhat is the capital of {{ country }}?\n");
  const LoadedSuite loaded = load(matrix);
  const Suite& suite = loaded.suite;
  ASSERT_EQ(suite.cases.size(), 3u);
  std::string golden;
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    const auto one = suite.cases.read(i);
    ASSERT_TRUE(one);
    golden += (*one)->id + ": [" + (*one)->system + "|" + (*one)->content + "|" + (*one)->context + "]\n";
    for (const RenderedPrompt& prompt : (*one)->prompts) {
      golden += "  [" + prompt.system + "|" + prompt.prompt + "]\n";
    }
    for (const Expectation& expectation : (*one)->expectations) {
      for (const std::string& text : expectation.what.texts) golden += "  text " + text + "\n";
      if (expectation.judge) {
        golden += "  judge " + expectation.judge->reference + "|" + expectation.judge->criteria + "\n";
      }
    }
  }
  EXPECT_EQ(golden,
            "france: [You know Europe.|Capital of France?|Of 2026, 1.10, 007, True.]\n"
            "  [You know Europe.|Capital of France?]\n"
            "  [|Please,\nwhat is the capital of France?\n]\n"
            "  text Paris\n"
            "  text {{x}}\n"
            "  judge Paris.|\n"
            "  judge |Names Paris.\n"
            "  text a{{2}}|{{other}}|.\n"
            "own: [|Who are you? {{ }} {{ x | y }}|]\n"
            "  text {{literal}}\n"
            "peru: [You know America.|Capital of Peru?|]\n"
            "  [You know America.|Capital of Peru?]\n"
            "  [|Please,\nwhat is the capital of Peru?\n]\n"
            "  text Lima\n");
  ASSERT_EQ(suite.prompts.size(), 2u);
  EXPECT_EQ(suite.prompts[0], (PromptVariant{"short", "You know {{continent}}.", "Capital of {{country}}?"}));
  EXPECT_EQ(suite.prompts[1],
            (PromptVariant{"polite", "", "Please,\nwhat is the capital of {{ country }}?\n"}));
  const std::string file = (folder_ / "suite.yaml").generic_string();
  ASSERT_EQ(suite.arms.size(), 3u);
  EXPECT_EQ(suite.arms[0], (Arm{"mini", "openai", "gpt-5-mini", {}, 0.0, 100, 7, file + ":9"}));
  EXPECT_EQ(suite.arms[1], (Arm{"haiku", "anthropic", "claude-haiku-4-5", {}, {}, {}, {}, file + ":10"}));
  EXPECT_EQ(suite.arms[2], (Arm{"long", "", "gpt-5", 1, {}, {}, {}, file + ":11"}));
  std::string names;
  for (const Arm& arm : arms_of(suite.prompts, suite.arms)) names += arm.name + " ";
  EXPECT_EQ(names, "mini/short mini/polite haiku/short haiku/polite long ");
  EXPECT_EQ(suite.input_files.size(), 2u);
}

TEST_F(TemplatedSuite, LinesOfATestsFileAreRenderedAsInYaml) {
  const std::string prompts = "prompts: [\"{{a}}?\", {id: two, prompt: \"{{b}}!\", system: \"{{a}}\"}]\n";
  const std::string test =
      R"("vars": {"a": "x", "b": 1.50, "unused_here": 18446744073709551615}, "input": {"context": "{{unused_here}}"},)"
      R"( "expected": {"type": "must_contain", "text": "{{a}}{{b}}"}})";
  write("l.jsonl", "{\"id\": \"t\", " + test + "\n");
  const LoadedSuite lines = load("suite: s\n" + prompts + "tests_file: l.jsonl\n");
  const LoadedSuite yaml = load("suite: s\n" + prompts + "tests:\n- {\"id\": \"t\", " + test + "\n");
  for (const LoadedSuite* loaded : {&lines, &yaml}) {
    const Case one = first_case(*loaded);
    EXPECT_EQ(one.prompts, (std::vector<RenderedPrompt>{{"", "x?"}, {"x", "1.50!"}}));
    EXPECT_EQ(one.content, "x?");
    EXPECT_EQ(one.context, "18446744073709551615");
    EXPECT_EQ(one.expectations[0].what.texts, std::vector<std::string>{"x1.50"});
  }
  EXPECT_EQ(lines.suite.content_fingerprint, yaml.suite.content_fingerprint);
  EXPECT_EQ(lines.suite.prompts[0].id, "1");
}

TEST_F(TemplatedSuite, FindingsOfATestsFileHaveItsLines) {
  write("l.jsonl",
        R"({"id": "a", "vars": {"name": "x"}, "expected": {"type": "exact_match", "text": ""}})"
        "\n"
        R"({"id": "b", "vars": {"nmae": "x"}, "expected": {"type": "exact_match", "text": ""}})"
        "\n"
        R"({"id": "c", "input": {"prompt": "{{name}}"}, "expected": {"type": "exact_match", "text": ""}})"
        "\n");
  EXPECT_EQ(
      findings("suite: s\nprompts: [\"{{name}}\"]\ntests_file: l.jsonl\n"),
      "l.jsonl:2: the prompt \"1\" (suite.yaml:2) uses {{name}}, which the test's \"vars\" do not have; did "
      "you mean \"nmae\"?\n"
      "l.jsonl:2: \"nmae\" in vars is used by nothing: no prompt and no other text of the test that is "
      "rendered holds it; did you mean \"name\"?\n"
      "l.jsonl:3: \"prompt\" in input holds {{name}}, and the test has no \"vars\": give it \"vars\" with "
      "\"name\", or, where the braces themselves are meant, \"vars: {}\" and {{ '{{' }}name}}\n");
}

TEST_F(TemplatedSuite, KeepsTheVariablesOfATestForPeople) {
  write("prompts/polite.txt", "Please, what is the capital of {{ country }}?\n");
  const LoadedSuite loaded = load(matrix);
  std::map<std::string, Variables> vars;
  for (std::size_t i = 0; i < loaded.suite.cases.size(); ++i) {
    const CaseRef test = *loaded.suite.cases.read(i);
    if (test->vars) vars.emplace(test->id, *test->vars);
  }
  ASSERT_EQ(vars.size(), 2u) << "one has none";
  EXPECT_EQ(vars["peru"], (Variables{{"capital", "Lima"}, {"continent", "America"}, {"country", "Peru"}}));
  EXPECT_EQ(vars["france"]["code"], "007") << "as it is written";
}

TEST_F(TemplatedSuite, NothingIsRenderedWithoutVariables) {
  const Case one = first_case(
      with_test("  input: {prompt: \"{{ }} {{ a | b }} {% x %} {{ '{{' }}\", context: \"{{a}}\"}\n"));
  EXPECT_EQ(one.content, "{{ }} {{ a | b }} {% x %} {{ '{{' }}");
  EXPECT_EQ(one.context, "{{a}}");
  EXPECT_TRUE(one.prompts.empty());
}

TEST_F(TemplatedSuite, AVariableThatNothingFillsInIsAFinding) {
  const std::string ways = "or, where the braces themselves are meant, \"vars: {}\" and {{ '{{' }}";
  EXPECT_EQ(
      findings(with_test("  input:\n    prompt: \"Hello {{ name }}\"\n    system: \"{{role}}\"\n")),
      "suite.yaml:6: \"prompt\" in input holds {{name}}, and the test has no \"vars\": give it \"vars\" with "
      "\"name\", " +
          ways +
          "name}}\n"
          "suite.yaml:7: \"system\" in input holds {{role}}, and the test has no \"vars\": give it \"vars\" "
          "with "
          "\"role\", " +
          ways + "role}}\n");
  const Case one = first_case(with_test("  vars: {}\n  input: {prompt: \"{{ '{{' }}name}}\"}\n"));
  EXPECT_EQ(one.content, "{{name}}");
}

// A check that looks for the braces in vain passed, and no run showed that "vars" was forgotten.
TEST_F(TemplatedSuite, AVariableThatMustNotBeFoundIsAFindingWithoutVariables) {
  const std::string input = "  input: {prompt: p}\n";
  const auto expecting = [&](const std::string& check, const std::string& before = "") {
    return findings("suite: s\ntests:\n- id: a\n" + before + input + "  expected: " + check + "\n");
  };
  EXPECT_EQ(
      expecting("{type: must_not_contain, text: '{{name}}'}"),
      "suite.yaml:5: \"text\" in expected holds {{name}}, and the test has no \"vars\": the check would "
      "pass for want of the braces; give it \"vars\" with \"name\", or, where the braces themselves are "
      "meant, \"vars: {}\" and {{ '{{' }}name}}\n");
  EXPECT_NE(expecting("{type: not_icontains, text: '{{name}}'}"), "(none)\n");
  EXPECT_EQ(expecting("{type: must_contain, text: '{{name}}'}"), "(none)\n") << "a run would show it";
  EXPECT_NE(expecting("{type: not_all_of, of: [{type: icontains, text: '{{name}}'}]}"), "(none)\n");
  EXPECT_EQ(expecting("{type: not_any_of, of: [{type: must_not_contain, text: '{{name}}'}]}"), "(none)\n");
  EXPECT_EQ(expecting("{type: must_not_contain, text: \"{{ '{{' }}name}}\"}", "  vars: {}\n"), "(none)\n");
}

TEST_F(TemplatedSuite, CodeMayHoldBraces) {
  write("page.html", "<p>{{ name }}</p>{% if x %}");
  EXPECT_EQ(first_case(with_test("  input: {file: page.html}\n")).content, "<p>{{ name }}</p>{% if x %}");
  EXPECT_EQ(first_case(with_test("  vars: {x: \"{{y}}\"}\n  input: {file: page.html, context: \"{{x}}\"}\n"))
                .content,
            "<p>{{ name }}</p>{% if x %}");
  const Case code = first_case(
      "suite: s\ntests:\n- id: t\n  input: {prompt: \"run: echo ${{ title }}\"}\n  expected: {type: "
      "claims_absent}\n");
  EXPECT_EQ(code.content, "run: echo ${{ title }}");
}

TEST_F(TemplatedSuite, NamesWhatIsWrongWithTemplates) {
  EXPECT_EQ(
      findings("suite: s\ntests:\n- id: t\n  vars:\n    name: x\n    other: y\n  input:\n    prompt: |\n"
               "      Hello\n      {{nmae}}\n    system: \"{{ name\"\n    context:\n    - a\n"
               "    - \"{{ name | upper }}\"\n  expected:\n  - type: must_contain\n    text:\n    - a\n"
               "    - \"{{x}}\"\n  - type: correctness\n    reference: \"{% r %}\"\n"),
      "suite.yaml:8: \"prompt\" in input uses {{nmae}}, which the test's \"vars\" do not have; did you mean "
      "\"name\"? (line 2 of the text)\n"
      "suite.yaml:11: \"system\" in input holds \"{{ name\" without the \"}}\" that closes it; write "
      "{{ '{{' }} where the braces themselves are meant\n"
      "suite.yaml:14: \"context\" in input holds \"{{ name | upper }}\", which has a filter, of which there "
      "are none: {{name}} is all that is rendered; write {{ '{{' }} where the braces themselves are meant\n"
      "suite.yaml:19: \"text\" in expected[0] uses {{x}}, which the test's \"vars\" do not have, only "
      "\"name\" and \"other\"\n"
      "suite.yaml:21: \"reference\" in expected[1] holds \"{% r %}\", a block, of which there are none: "
      "{{name}} is all that is rendered; write {{ '{%' }} where the signs themselves are meant\n");
}

TEST_F(TemplatedSuite, NamesWhatIsWrongWithVariables) {
  EXPECT_EQ(
      findings(with_test("  vars:\n    a: [1]\n    b: {c: 1}\n    d:\n    my var: x\n    -e: x\n"
                         "  input: {prompt: \"{{a}}{{b}}{{d}}\"}\n")),
      "suite.yaml:6: \"a\" in vars must be a string, a number or a boolean, not a list: write a test for "
      "each of its entries, or all of them as one text\n"
      "suite.yaml:7: \"b\" in vars must be a string, a number or a boolean, not a mapping: write its "
      "JSON as a text, or a variable for each of its members (\"NAME.MEMBER\")\n"
      "suite.yaml:8: \"d\" in vars must be a string, a number or a boolean, not null: write \"\" for an "
      "empty text\n"
      "suite.yaml:9: \"my var\" in vars cannot be a variable's name: these are of letters, digits, \"_\", "
      "\"-\" and \".\", and begin with none of the last two\n"
      "suite.yaml:10: \"-e\" in vars cannot be a variable's name: these are of letters, digits, \"_\", "
      "\"-\" and \".\", and begin with none of the last two\n");
  EXPECT_EQ(findings(with_test("  vars: [a]\n  input: {prompt: a}\n")),
            "suite.yaml:5: \"vars\" must be a mapping of names with values, not a list\n");
}

TEST_F(TemplatedSuite, AVariableThatNothingUsesIsAFinding) {
  EXPECT_EQ(
      findings(
          with_test("  vars:\n    name: x\n    country: y\n  input: {prompt: \"{{name}} {{contry}}\"}\n")),
      "suite.yaml:7: \"country\" in vars is used by nothing: no prompt and no other text of the test that is "
      "rendered holds it; did you mean \"contry\"?\n"
      "suite.yaml:8: \"prompt\" in input uses {{contry}}, which the test's \"vars\" do not have; did you "
      "mean "
      "\"country\"?\n");
  // One that some prompt of the suite uses may stand in every test.
  EXPECT_EQ(findings("suite: s\nprompts: [\"{{a}}\"]\ntests:\n"
                     "- {id: t, vars: {a: 1}, expected: {type: exact_match, text: a}}\n"
                     "- {id: u, vars: {a: 1}, input: {prompt: p}, expected: {type: exact_match, text: a}}\n"),
            "(none)\n");
}

// A pattern was taken as it stands, so that one that must not be found passed any answer.
TEST_F(TemplatedSuite, AVariableInAPatternOrSchemaIsAFinding) {
  const std::string pattern =
      "a variable of the test, which is not filled in here: look for its text with must_contain or "
      "must_not_contain, or write the pattern out; ";
  const std::string schema =
      "a variable of the test, which is not filled in here: look for its text with must_contain or "
      "must_not_contain, or write the schema out\n";
  write("s.json", R"({"properties": {"{{ c }}": {"const": 1}}})");
  const std::string test =
      "  input: {prompt: \"{{c}}\"}\n  vars: {c: x, only_here: y}\n  expected:\n"
      "  - {type: regex_not_match, pattern: [\"{{d}} {{ c }}\", \"{{only_here}}\"]}\n"
      "  - {type: any_of, of: [{type: json_schema, schema: {const: \"{{c}}\"}}]}\n"
      "  - {type: not_contains_json, schema: s.json}\n"
      "  - {type: tool_call, name: \"{{c}}\"}\n";
  EXPECT_EQ(findings("suite: s\ntests:\n- id: t\n" + test),
            "suite.yaml:7: \"pattern\" in expected[0] holds {{c}}, " + pattern +
                "\\{\\{c\\}\\} looks for the braces themselves\n"
                "suite.yaml:7: \"pattern\" in expected[0] holds {{only_here}}, " +
                pattern +
                "\\{\\{only_here\\}\\} looks for the braces themselves\n"
                "suite.yaml:8: \"schema\" in expected[1].of[0] holds {{c}}, " +
                schema + "suite.yaml:9: \"schema\" in expected[2] names \"s.json\", which holds {{c}}, " +
                schema +
                "suite.yaml:10: \"name\" in expected[3] holds {{c}}, a variable of the test, which is not "
                "filled in here: write out what it stands for\n");
  write("l.jsonl", R"({"id": "a", "vars": {"c": "x"}, "input": {"prompt": "{{c}}"},)"
                   R"( "expected": {"type": "regex_match", "pattern": "^{{c}}$"}})"
                   "\n");
  EXPECT_EQ(findings("suite: s\ntests_file: l.jsonl\n"),
            "l.jsonl:1: \"pattern\" in expected holds {{c}}, " + pattern +
                "\\{\\{c\\}\\} looks for the braces themselves\n");
}

// A call's arguments have types: what was asked for by a number stayed a number.
TEST_F(TemplatedSuite, ArgumentsOfCallsAreTemplates) {
  const Case test = first_case(
      "suite: s\ntests:\n- id: t\n  vars: {o: 17, on: true, c: Lima}\n  input: {prompt: p}\n  expected:\n"
      "  - {type: tool_call, name: f, arguments: {order: \"{{o}}\", on: \"{{ on }}\", at: [\"{{c}}\", {n: "
      "\"no. "
      "{{o}}\"}]}}\n");
  ASSERT_EQ(test.expectations.size(), 1u);
  EXPECT_EQ(test.expectations[0].what.texts,
            (std::vector<std::string>{"f", R"({"at":["Lima",{"n":"no. 17"}],"on":true,"order":17})"}));
  const Case listed = first_case(
      "suite: s\ntests:\n- id: t\n  vars: {o: 17}\n  input: {prompt: p}\n  expected:\n"
      "  - {type: tool_calls, calls: [{name: f, arguments: {order: \"{{o}}\"}}, {name: g}]}\n");
  EXPECT_EQ(listed.expectations.at(0).what.texts,
            (std::vector<std::string>{"f", R"({"order":17})", "g", "{}"}));
  EXPECT_NE(
      findings("suite: s\ntests:\n- id: t\n  input: {prompt: p}\n  expected: {type: not_tool_call, name: "
               "f, arguments: {order: \"{{o}}\"}}\n")
          .find("suite.yaml:5: \"arguments\" in expected holds {{o}}, and the test has no \"vars\": the "
                "check would pass for want of the braces"),
      std::string::npos);
}

TEST_F(TemplatedSuite, PatternsAndSchemasMayLookForBraces) {
  const std::string metrics =
      "  input: {prompt: p}\n  expected:\n"
      "  - {type: regex_not_match, pattern: [\"{{other}}\", \"\\\\{\\\\{c\\\\}\\\\}\", \"c{{2}}\"]}\n"
      "  - {type: not_json_schema, schema: {const: \"{{other}}\"}}\n";
  const Case with_variables = first_case("suite: s\ntests:\n- id: t\n  vars: {c: x}\n" + metrics +
                                         "  - {type: icontains, text: \"{{c}}\"}\n");
  EXPECT_EQ(with_variables.expectations[0].what.texts,
            (std::vector<std::string>{"{{other}}", "\\{\\{c\\}\\}", "c{{2}}"}));
  EXPECT_EQ(first_case("suite: s\ntests:\n- id: t\n" + metrics).expectations.size(), 2u);
}

TEST_F(TemplatedSuite, AVariableInAPatternOfTheDefaultTestIsNamedThereAndOnce) {
  const std::string what =
      ", a variable of the test, which is not filled in here: look for its text with must_contain or "
      "must_not_contain, or write the pattern out; ";
  const auto of = [&](const std::string& vars) {
    return findings("suite: s\nprompts: [\"{{a}}\"]\ndefault_test:\n  vars: {" + vars +
                    "}\n  expected:\n  - {type: regex_not_match, pattern: \"{{a}}{{b}}\"}\n"
                    "tests: [{id: s, vars: {a: 1}}, {id: t, vars: {a: 2}}]\n"
                    "tests_file: [l.jsonl, t.csv]\n");
  };
  write("t.csv", "a,b\n1,2\n3,4\n");
  write("l.jsonl",
        "{\"id\": \"k\", \"vars\": {\"a\": 1, \"b\": 1}}\n{\"id\": \"l\", \"vars\": {\"a\": 2, \"b\": 2}}\n");
  const std::string of_a = "suite.yaml:6: \"pattern\" in expected[0] holds {{a}}" + what +
                           "\\{\\{a\\}\\} looks for the braces themselves\n";
  const std::string of_b = "suite.yaml:6: \"pattern\" in expected[0] holds {{b}}" + what +
                           "\\{\\{b\\}\\} looks for the braces themselves\n";
  EXPECT_EQ(of(""), of_a + of_b);
  EXPECT_EQ(of("a: 7"), of_a + of_b);
  EXPECT_EQ(of("a: 7, b: 8"), of_a + of_b);
  EXPECT_EQ(findings("suite: s\nprompts: [\"{{a}}\"]\n"
                     "default_test: {expected: {type: regex_not_match, pattern: \"{{a}}\"}}\n"
                     "tests: [{id: s, default_test: false, vars: {a: 1}, expected: {type: starts_with, text: "
                     "x}}]\n"),
            "(none)\n");
}

TEST_F(TemplatedSuite, WhatIsRenderedMayNotBeEmpty) {
  EXPECT_EQ(findings(with_test("  vars: {a: \"\"}\n  input: {prompt: \"{{a}}\"}\n")),
            "suite.yaml:6: \"prompt\" in input must not be empty: {{a}} is empty here\n");
  EXPECT_EQ(
      findings("suite: s\nprompts: [\"{{a}}\"]\n"
               "tests:\n- id: t\n  vars: {a: \"\"}\n  expected: {type: must_contain, text: \"{{a}}\"}\n"),
      "suite.yaml:5: the prompt \"1\" (suite.yaml:2) is empty with the test's \"vars\"\n"
      "suite.yaml:6: \"text\" in expected must not be empty: {{a}} is empty here\n");
}

TEST_F(TemplatedSuite, WhatIsRenderedForATestIsBounded) {
  const std::string vars = "\ntests:\n- id: t\n  vars: {a: " + std::string(1 << 20, 'x') + "}\n";
  std::string prompt;
  std::string texts;
  for (int i = 0; i < 8; ++i) prompt += "{{a}}";
  for (int i = 0; i < 17; ++i) texts += "\"{{a}}\",";
  const auto prompts = [&](const std::string& last) {
    return "suite: s\nprompts: [\"" + prompt + "\", \"" + prompt + last + "\"]" + vars +
           "  expected: {type: exact_match, text: a}\n";
  };
  EXPECT_EQ(findings(prompts("")), "(none)\n");
  EXPECT_EQ(findings(prompts("!")),
            "suite.yaml:5: the prompt \"2\" (suite.yaml:2) makes the texts of the test longer than 16777216 "
            "bytes\n");
  EXPECT_EQ(findings("suite: s" + vars + "  input: {prompt: p}\n  expected: {type: exact_match, text: [" +
                     texts + "b]}\n"),
            "suite.yaml:6: \"text\" in expected makes the texts of the test longer than 16777216 bytes\n");
}

TEST_F(TemplatedSuite, FingerprintsHoldWhatIsRendered) {
  const auto fingerprint = [this](const std::string& prompts, const std::string& vars) {
    return load("suite: s\n" + prompts + "tests:\n- id: t\n" + vars +
                "  expected: {type: exact_match, text: a}\n")
        .suite.content_fingerprint;
  };
  const auto first_one = fingerprint("prompts: [\"{{a}}\", q]\n", "  vars: {a: 1}\n");
  EXPECT_EQ(fingerprint("prompts: [\"{{ a }}\", q]\n", "  vars: {a: \"1\"}\n"), first_one);
  EXPECT_EQ(fingerprint("prompts: [{id: x, prompt: \"{{a}}\"}, q]\narms: [a=openai:m]\n", "  vars: {a: 1}\n"),
            first_one);
  EXPECT_NE(fingerprint("prompts: [\"{{a}}\", q]\n", "  vars: {a: 2}\n"), first_one);
  EXPECT_NE(fingerprint("prompts: [\"{{a}}\", r]\n", "  vars: {a: 1}\n"), first_one);
  EXPECT_NE(fingerprint("prompts: [\"{{a}}\"]\n", "  vars: {a: 1}\n"), first_one);
  EXPECT_NE(fingerprint("prompts: [\"{{a}}\", {id: q, prompt: q, system: s}]\n", "  vars: {a: 1}\n"),
            first_one);
  // A test whose prompt is written out is the same as one whose prompt is rendered.
  EXPECT_EQ(fingerprint("", "  input: {prompt: A 1}\n"),
            fingerprint("", "  vars: {a: 1}\n  input: {prompt: \"A {{a}}\"}\n"));
}

TEST_F(TemplatedSuite, HasAGoldenCanonicalForm) {
  EXPECT_EQ(
      canonical_case(
          first_case("suite: s\nprompts: [\"{{a}}\", {id: q, prompt: q, system: s}]\ntests:\n- id: t\n"
                     "  vars: {a: 1.0}\n  expected: {type: exact_match, text: a}\n")),
      R"({"category":"tests","content":"1.0","context":"","expectations":[{"metric":"exact_match",)"
      R"("texts":["a"],"thresholding":{}}],"id":"t","kind":"text","prompts":[{"prompt":"1.0","system":""},)"
      R"({"prompt":"q","system":"s"}],"system":"","weight":1})");
}

}  // namespace
}  // namespace sluice
