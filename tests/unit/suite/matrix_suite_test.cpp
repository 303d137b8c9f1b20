// Suites as people write them: prompts, providers, a default test, tests in CSV, files by globs.

#include "coordinator/suite/file_glob.hpp"
#include "coordinator/suite/prompts/arms.hpp"
#include "tests/unit/suite/suite_files.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace sluice {
namespace {

class MatrixSuite : public SuiteFiles {
 protected:
  /// `id [prompt|...] metric text,...` for each case.
  static std::string cases(const LoadedSuite& loaded) {
    std::string text;
    for (std::size_t i = 0; i < loaded.suite.cases.size(); ++i) {
      const auto read = loaded.suite.cases.read(i);
      if (!read) return read.error().message;
      const Case& one = **read;
      text += one.id + " [" + one.content + "]";
      for (const Expectation& expectation : one.expectations) {
        text += " " + std::string(info(expectation.what.metric).name);
        for (const std::string& value : expectation.what.texts) text += " " + value;
      }
      text += "\n";
    }
    return text;
  }
  std::string cases(const std::string& yaml) const { return cases(load(yaml)); }
  static std::string arms(const LoadedSuite& loaded) {
    std::string text;
    for (const Arm& arm : arms_of(loaded.suite.prompts, loaded.suite.arms))
      text += (text.empty() ? "" : " ") + arm.name + "=" + arm.provider + ":" + arm.model;
    return text;
  }
};

constexpr const char* capitals_prompts = R"yaml(suite: capitals
prompts:
  - {id: short, prompt: "Capital of {{country}}?"}
  - {id: polite, prompt: "Please: the capital of {{country}}?"}
)yaml";

TEST_F(MatrixSuite, IsOneFileOfPromptsProvidersAndTests) {
  std::string rows = "country,capital,__expected\n";
  for (int i = 1; i <= 20; ++i)
    rows += "c" + std::to_string(i) + ",p" + std::to_string(i) + ",contains: {{capital}}\n";
  write("capitals.csv", rows);
  const LoadedSuite loaded = load(std::string(capitals_prompts) +
                                  "providers:\n  - openai:gpt-5-mini\n  - {provider: anthropic, model: "
                                  "claude-haiku-4-5, temperature: 0}\ntests_file: capitals.csv\n");
  EXPECT_EQ(arms(loaded),
            "gpt-5-mini/short=openai:gpt-5-mini gpt-5-mini/polite=openai:gpt-5-mini "
            "claude-haiku-4-5/short=anthropic:claude-haiku-4-5 "
            "claude-haiku-4-5/polite=anthropic:claude-haiku-4-5");
  const auto all = arms_of(loaded.suite.prompts, loaded.suite.arms);
  const CaseList asked = loaded.suite.cases.under(all);
  EXPECT_EQ(asked.size(), 80u);
  EXPECT_EQ(asked.id(79), "capitals-9@gpt-5-mini/short");
  EXPECT_EQ((*asked.read(79))->content, "Capital of c9?");
  EXPECT_EQ(loaded.suite.arms[1].temperature, 0.0);
}

TEST_F(MatrixSuite, CallsProvidersByTheirModels) {
  const auto of = [&](const std::string& providers) {
    return arms(load("suite: s\nproviders: " + providers +
                     "\ntests: [{id: t, input: {prompt: x}, expected: {type: must_contain, text: x}}]\n"));
  };
  EXPECT_EQ(of("[openai:gpt-5-mini]"), "gpt-5-mini=openai:gpt-5-mini");
  EXPECT_EQ(of("[mine=openai:gpt-5-mini]"), "mine=openai:gpt-5-mini");
  EXPECT_EQ(of("[local:library/llama3:8b]"), "library-llama3-8b=local:library/llama3:8b");
  EXPECT_EQ(of("[openai:m, gateway:m]"), "m=openai:m gateway-m=gateway:m");
  EXPECT_EQ(of("[{provider: openai}, {model: m, name: b}]"), "openai=openai: b=:m");
}

TEST_F(MatrixSuite, RefusesProvidersThatSayNothing) {
  const auto of = [&](const std::string& providers) {
    return findings("suite: s\nproviders: " + providers +
                    "\ntests: [{id: t, input: {prompt: x}, expected: {type: must_contain, text: x}}]\n");
  };
  EXPECT_EQ(of("openai:m"),
            "suite.yaml:2: \"providers\" must be a list of providers, such as {provider: openai, model: "
            "gpt-5-mini}\n");
  EXPECT_EQ(of("[openai]"),
            "suite.yaml:2: providers[0] must be PROVIDER:MODEL, such as openai:gpt-5-mini, or "
            "NAME=PROVIDER:MODEL, not \"openai\"\n");
  EXPECT_EQ(of("[openai:chat:gpt-5]"),
            "suite.yaml:2: providers[0] names an endpoint before the model: write openai:gpt-5\n");
  EXPECT_EQ(of("[{id: openai:gpt-5}]"),
            "suite.yaml:2: \"id\" in providers[0] is said as \"provider\" and \"model\", or as a text "
            "PROVIDER:MODEL\n");
  EXPECT_EQ(of("[{name: a}]"), "suite.yaml:2: missing \"provider\" and \"model\": expected one of them\n");
  EXPECT_EQ(
      of("[openai:m]\narms: [a=openai:m]"),
      "suite.yaml:2: \"providers\" cannot stand beside \"arms\", which say the same with names: keep one\n");
}

// They became two arms, and each test was asked twice of one model.
TEST_F(MatrixSuite, RefusesTwoProvidersThatSayTheSame) {
  const auto of = [&](const std::string& providers) {
    return findings("suite: s\nproviders: " + providers +
                    "\ntests: [{id: t, input: {prompt: x}, expected: {type: must_contain, text: x}}]\n");
  };
  const std::string advice =
      " (suite.yaml:2): leave one of them out, or give one a \"name\" if the model is to be asked twice\n";
  EXPECT_EQ(of("[openai:m, openai:m]"), "suite.yaml:2: providers[1] is the same as providers[0]" + advice);
  EXPECT_EQ(of("[openai:m, openai:n, {provider: openai, model: m}]"),
            "suite.yaml:2: providers[2] is the same as providers[0]" + advice);
  EXPECT_EQ(of("[openai:m, openai:m, openai:m]"),
            "suite.yaml:2: providers[1] is the same as providers[0]" + advice +
                "suite.yaml:2: providers[2] is the same as providers[0]" + advice);
  EXPECT_EQ(of("[openai:m, again=openai:m]"), "(none)\n") << "it is meant";
  EXPECT_EQ(of("[openai:m, {provider: openai, model: m, temperature: 0}]"), "(none)\n");
  EXPECT_EQ(of("[{provider: openai, model: m, temperature: 1}, openai:m, {provider: openai, model: m, seed: "
               "1}]"),
            "suite.yaml:2: the arm \"openai-m\" is named already (suite.yaml:2): give it another name\n");
}

TEST_F(MatrixSuite, ATestsOwnScoreReplacesTheDefaultTestsByAnyName) {
  for (const std::string name : {"similar", "semantic-similarity-to", "semantic_similarity_to"}) {
    const LoadedSuite loaded =
        load("suite: s\ndefault_test:\n  expected:\n    - {type: " + name +
             ", text: everyone, min_score: 0.5}\n    - {type: contains, text: x}\ntests:\n"
             "  - id: own\n    input: {prompt: Hi}\n"
             "    expected: {type: similar, text: mine, min_score: 0.9}\n");
    EXPECT_EQ(cases(loaded), "own [Hi] semantic_similarity_to mine must_contain x\n") << name;
  }
}

TEST_F(MatrixSuite, GivesEachTestWhatTheDefaultTestSays) {
  const LoadedSuite loaded = load(std::string(capitals_prompts) + R"yaml(default_test:
  category: europe
  weight: 2
  vars: {country: France, capital: Paris}
  input: {context: "A map."}
  expected:
    - {type: must_contain, text: "{{capital}}"}
    - {type: semantic_similarity_to, text: "It is {{capital}}.", min_score: 0.5}
tests:
  - id: default
  - id: own
    category: america
    vars: {country: Peru, capital: Lima}
    expected: {type: semantic_similarity_to, text: "Lima it is.", min_score: 0.9}
  - id: without
    default_test: false
    input: {prompt: "Who are you?"}
    expected: {type: must_not_contain, text: map}
)yaml");
  EXPECT_EQ(cases(loaded),
            "default [Capital of France?] must_contain Paris semantic_similarity_to It is Paris.\n"
            "own [Capital of Peru?] semantic_similarity_to Lima it is. must_contain Lima\n"
            "without [Who are you?] must_not_contain map\n");
  const auto read = [&](std::size_t i) { return **loaded.suite.cases.read(i); };
  EXPECT_EQ(read(0).category, "europe");
  EXPECT_EQ(read(1).category, "america");
  EXPECT_EQ(read(2).category, "tests");
  EXPECT_EQ(read(1).weight, 2.0);
  EXPECT_EQ(read(0).context, "A map.");
  EXPECT_EQ(read(2).context, "");
}

TEST_F(MatrixSuite, GivesTestsOfFilesTheSame) {
  write("tests.jsonl", "{\"id\": \"a\"}\n{\"id\": \"b\", \"vars\": {\"country\": \"Peru\"}}\n");
  EXPECT_EQ(cases(std::string(capitals_prompts) +
                  "default_test: {vars: {country: France}, expected: {type: must_contain, text: x}}\n"
                  "tests_file: tests.jsonl\n"),
            "a [Capital of France?] must_contain x\nb [Capital of Peru?] must_contain x\n");
}

TEST_F(MatrixSuite, SaysWhatIsWrongWithADefaultTestOnce) {
  const std::string tests = "tests: [{id: a, vars: {country: x}}, {id: b, vars: {country: y}}]\n";
  EXPECT_EQ(findings(capitals_prompts + std::string("default_test: 7\n") + tests).substr(0, 83),
            "suite.yaml:5: \"default_test\" must be a mapping with what holds for every test, not ");
  EXPECT_EQ(
      findings(capitals_prompts +
               std::string("default_test:\n  id: x\n  wieght: 2\n  input: {prompt: x}\n"
                           "  expected: {type: must_contains, text: x}\n") +
               tests),
      "suite.yaml:6: \"id\" in default_test is a test's own: take it out\n"
      "suite.yaml:7: unknown key \"wieght\" in default_test; did you mean \"weight\"?\n"
      "suite.yaml:8: \"prompt\" in default_test.input cannot stand here: a prompt for every test stands "
      "in the suite's \"prompts\"\n"
      "suite.yaml:9: \"type\" in expected is the unknown metric \"must_contains\"; did you mean "
      "\"must_contain\"?\n");
  EXPECT_EQ(
      findings(capitals_prompts +
               std::string("default_test:\n  assert: [x]\n  expected: {type: must_contain, text: x}\n") +
               tests),
      "suite.yaml:6: unknown key \"assert\" in default_test; the checks of an answer stand in \"expected\"; "
      "`sluice import` converts tests of promptfoo\n");
  EXPECT_EQ(findings(capitals_prompts +
                     std::string("default_test: {expected: {type: must_contain, text: '{{x}}'}}\n") +
                     "tests: [{id: a, vars: {country: x}}]\n"),
            "suite.yaml:6: \"text\" in expected[0] uses {{x}}, which the test's \"vars\" do not have, only "
            "\"country\"\n")
      << "at the test, which lacks the variable";
  EXPECT_EQ(
      findings(capitals_prompts +
               std::string("tests: [{id: a, default_test: true, vars: {country: x}, expected: "
                           "{type: must_contain, text: x}}]\n")),
      "suite.yaml:5: \"default_test\" in the test can only be false in a test, which then takes nothing "
      "of the suite's\n");
}

TEST_F(MatrixSuite, ReadsTestsFromCsv) {
  write("data/capitals.csv",
        "country,note,__expected,__expected2,__description,__id,__category\r\n"
        "France,\"big, old\",contains: Paris,not-contains: Rome,The first,fr,europe\r\n"
        "\r\n"
        "Peru,,Lima,,,,\r\n");
  const LoadedSuite loaded = load(std::string(capitals_prompts) + "tests_file: data/capitals.csv\n");
  EXPECT_EQ(cases(loaded),
            "capitals-2 [Capital of Peru?] exact_match Lima\n"
            "fr [Capital of France?] must_contain Paris must_not_contain Rome\n");
  const auto first = *loaded.suite.cases.read(1);
  EXPECT_EQ(first->name, "The first");
  EXPECT_EQ(first->category, "europe");
  EXPECT_EQ(first->line, 2u);
  EXPECT_EQ(first->source, "data/capitals.csv");
}

// The column was a variable that no check looked at, and the check asked for an input.context.
TEST_F(MatrixSuite, ChecksOfCsvJudgeByTheColumnContext) {
  const std::string checks =
      "__expected,__expected2,__expected3\nFrance,#context-faithfulness(0.8),context-recall: "
      "Paris,context-relevance\n";
  const auto of = [&](std::string csv, const std::string& context, const std::string& keys) {
    csv.replace(csv.find('#'), 1, context);
    write("t.csv", "country," + csv);
    const auto first = load(std::string(capitals_prompts) + keys + "tests_file: t.csv\n").suite.cases.read(0);
    std::string contexts;
    for (const Expectation& one : (*first)->expectations) contexts += one.judge->context + "|";
    return contexts;
  };
  EXPECT_EQ(of("context," + checks, "Paris is it.,", ""), "Paris is it.|Paris is it.|Paris is it.|");
  EXPECT_EQ(of(checks, "", "default_test: {vars: {context: Of all.}}\n"), "Of all.|Of all.|Of all.|");
  EXPECT_EQ(of(checks, "", "default_test: {input: {context: Sent.}}\n"), "|||") << "input.context is shown";
}

TEST_F(MatrixSuite, TakesMetadataOfCsvAsTagsAndAThresholdAsAPassMark) {
  write("t.csv",
        "country,__expected,__expected2,__threshold,__metadata:area,__metadata:uses[]\n"
        "France,contains: Paris,contains: river,0.5,europe,\"fast, a\\,b\"\n"
        "Peru,Lima,,,,\n"
        "Chile,contains: Santiago,contains: river,0,,\n");
  const LoadedSuite loaded = load(std::string(capitals_prompts) + "tests_file: t.csv\n");
  const auto first = *loaded.suite.cases.read(0);
  EXPECT_EQ(first->tags, (std::vector<std::string>{"area:europe", "uses:fast", "uses:a,b"}));
  ASSERT_EQ(first->expectations.size(), 1u);
  const TextExpectation& group = first->expectations[0].what;
  EXPECT_EQ(group.metric, MetricId::all_of);
  EXPECT_EQ(group.numbers, std::vector<double>{0.5});
  EXPECT_EQ(group.parts.size(), 2u);
  const auto second = *loaded.suite.cases.read(1);
  EXPECT_TRUE(second->tags.empty());
  EXPECT_EQ(second->expectations.at(0).what.metric, MetricId::exact_match);
  const std::size_t prompts = loaded.suite.cases.size() / 3;
  const auto third = *loaded.suite.cases.read(2 * prompts);
  EXPECT_EQ(third->expectations.at(0).what.metric, MetricId::must_contain) << "0 is no threshold";
}

TEST_F(MatrixSuite, ReadsColumnsOfCsvThatAreJsonWithTheirTypes) {
  const std::string suite =
      "suite: s\nprompts: ['Send {{n}} of {{code}}: {{note}}']\ntests_file: t.csv\ndefault_test:\n  "
      "expected:\n"
      "  - {type: tool_call, name: send, arguments: {n: '{{n}}', code: '{{code}}', note: '{{note}}'}}\n"
      "  - {type: command, command: [x]}\n";
  write("t.csv", "n:json,code,note:json\n1.50,007,\"\"\"a, b\"\"\"\n");
  const LoadedSuite loaded = load(suite);
  const auto one = loaded.suite.cases.read(0);
  ASSERT_TRUE(one);
  EXPECT_EQ((*one)->content, "Send 1.50 of 007: a, b");
  EXPECT_EQ((*one)->expectations.at(0).what.texts.at(1), R"({"code":"007","n":1.5,"note":"a, b"})");
  EXPECT_EQ((*one)->command_vars, R"({"code":"007","n":1.5,"note":"a, b"})");
  const auto found = [&](const std::string& table) {
    write("t.csv", table);
    return findings(suite);
  };
  EXPECT_EQ(found("n:json,code,note\n1 2,007,x\n"),
            "t.csv:2: the column \"n:json\" must hold JSON, such as 12, true or \"a text\", not \"1 2\"\n");
  EXPECT_NE(found("n:json,code,note\n[1],007,x\n").find("must be a string, a number or a boolean"),
            std::string::npos);
  EXPECT_NE(found("n:json,n,code,note\n1,1,2,x\n").find("the column \"n\" stands twice"), std::string::npos);
  EXPECT_NE(found("n:yaml,code,note\n1,2,x\n").find("cannot be a variable's name"), std::string::npos);
}

TEST_F(MatrixSuite, RefusesAThresholdOfCsvThatNoPassMarkCanBe) {
  const auto of = [&](const std::string& row) {
    write("t.csv", "country,__expected,__threshold\n" + row + "\n");
    return findings(std::string(capitals_prompts) + "tests_file: t.csv\n");
  };
  EXPECT_EQ(of("Peru,Lima,most"), "t.csv:2: \"__threshold\" must be a number from 0 to 1, not \"most\"\n");
  EXPECT_EQ(of("Peru,Lima,1.5"), "t.csv:2: \"__threshold\" must be a number from 0 to 1, not \"1.5\"\n");
  EXPECT_EQ(of("Peru,,0.5"), "t.csv:2: \"__threshold\" is of the checks in its row, which has none\n");
  EXPECT_EQ(
      of("Peru,llm-rubric: It is polite,0.5"),
      "t.csv:2: \"__threshold\" is of checks that need no model, and its row has rubric: leave it empty, "
      "so that each check must pass\n");
  write("t.csv", "country,__expected,__metadata:conversationId\nPeru,Lima,1\n");
  EXPECT_EQ(
      findings(std::string(capitals_prompts) + "tests_file: t.csv\n")
          .find("t.csv:1: the column \"__metadata:conversationId\" has no counterpart here: take it out;"),
      0u);
}

TEST_F(MatrixSuite, SaysWhatIsWrongInCsvWithItsLine) {
  const auto of = [&](const std::string& csv) {
    write("t.csv", csv);
    return findings(std::string(capitals_prompts) + "tests_file: t.csv\n");
  };
  EXPECT_EQ(of(""), "t.csv: the tests file is empty: its first line has the names of the variables\n");
  EXPECT_EQ(of("country\n"), "t.csv:1: there is no row below the names of the variables\n");
  EXPECT_EQ(of("country,country,a b,__metric\nx,y,z,m\n"),
            "t.csv:1: the column \"country\" stands twice\n"
            "t.csv:1: the column \"a b\" cannot be a variable's name: these are of letters, digits, \"_\", "
            "\"-\" and \".\", and begin with none of the last two\n"
            "t.csv:1: the column \"__metric\" has no counterpart here: take it out; there are __expected, "
            "__threshold, __description, __metadata:KEY, __id and __category\n");
  EXPECT_EQ(
      of("country,__expected\nx\nFrance,javascript: 1\nPeru,\nChile,\"contains: a\"\n"),
      "t.csv:2: the row has 1 field, and there are 2 columns: a field with a comma in it stands in "
      "quotes\n"
      "t.csv:3: \"__expected\" asks for javascript, which has no counterpart (`type: command` runs a program "
      "of yours): docs/suites.md lists what a cell may ask for\n"
      "t.csv:4: missing \"expected\" in the test: expected what the answer is judged by\n");
  EXPECT_EQ(of("country,__expected\nFrance,contain: Paris\nPeru,Contains: Lima\nChile,Note: x\n"),
            "t.csv:2: \"__expected\" asks for \"contain\", which is no check; did you mean \"contains:\"? A "
            "text that begins so is \"equals: contain: ...\"\n"
            "t.csv:3: \"__expected\" asks for \"Contains\", which is no check; did you mean \"contains:\"? A "
            "text that begins so is \"equals: Contains: ...\"\n");
  // They were texts that no answer equals.
  EXPECT_EQ(of("country,__expected\nFrance,must_contain: Paris\nPeru,tool-calls: f\n")
                .find("t.csv:2: \"__expected\" asks for \"must_contain\", a check of suites in YAML, which "
                      "no cell can ask for"),
            0u);
  EXPECT_NE(of("country,__expected\nPeru,tool-calls: f\n").find("asks for \"tool-calls\", a check of suites"),
            std::string::npos);
  EXPECT_EQ(of("country,__expected\nFrance,latency(abc)\n"),
            "t.csv:2: \"__expected\" asks for \"latency(abc)\", which is no check; did you mean "
            "\"latency(NUMBER)\"? A text that begins so is \"equals: latency(abc)\"\n");
  EXPECT_EQ(of("country;__expected\nFrance;Paris, Lyon\n"),
            "t.csv:1: there is one column, \"country;__expected\": columns stand between commas, not between "
            "semicolons\n");
  EXPECT_EQ(
      of("country\t__expected\nFrance\tParis\n"),
      "t.csv:1: there is one column, \"country\\t__expected\": columns stand between commas, not between "
      "tabs\n");
  EXPECT_EQ(
      of("country,expected\nFrance,Paris\nPeru,Lima\n"),
      "t.csv:1: the column \"expected\" is a variable, and none says what the answers are judged by: call "
      "it \"__expected\"\n");
  write("t.csv", "country,expected\nFrance,Paris\n");
  EXPECT_EQ(
      findings(std::string(capitals_prompts) +
               "default_test: {expected: {type: must_contain, text: '{{expected}}'}}\ntests_file: t.csv\n"),
      "(none)\n");
  EXPECT_EQ(
      of("land,__expected\nFrance,Paris\n"),
      "t.csv:2: the prompt \"short\" (suite.yaml:3) uses {{country}}, which the test's \"vars\" do not "
      "have, only \"land\"\n"
      "t.csv:2: the prompt \"polite\" (suite.yaml:4) uses {{country}}, which the test's \"vars\" do not "
      "have, only \"land\"\n");
  EXPECT_EQ(of("country,__expected\nFrance,\"Par\nis\"\nPeru,\"Li\nma\n"),
            "t.csv:4: the quote that opens a field here is closed by nothing\n");
}

TEST_F(MatrixSuite, AColumnInAPatternOfCsvIsAFinding) {
  write("t.csv",
        "country,bad,__expected,__expected2\nFrance,Rome,not-regex: {{bad}},\n"
        "Peru,x,contains: {{bad}},not-regex: {{nothing}}\nChile,x,is-json: s.json,not-contains: {{bad}}\n");
  write("s.json", R"({"const": "{{bad}}"})");
  EXPECT_EQ(
      findings(std::string(capitals_prompts) + "tests_file: t.csv\n"),
      "t.csv:2: \"pattern\" in the column \"__expected\" holds {{bad}}, a variable of the test, which is not "
      "filled in "
      "here: look for its text with \"contains:\" or \"not-contains:\", or write the pattern out; "
      "\\{\\{bad\\}\\} looks for the braces themselves\n"
      "t.csv:4: \"schema\" in the column \"__expected\" names \"s.json\", which holds {{bad}}, a variable of "
      "the test, "
      "which is not filled in here: look for its text with \"contains:\" or \"not-contains:\", or write "
      "the schema out\n");
}

// They named the metrics by numbers that no table has, and a row as the line of both.
TEST_F(MatrixSuite, WhatIsWrongWithACheckOfCsvNamesItsColumn) {
  const auto of = [&](const std::string& cells) {
    write("t.csv", "country,__expected,__expected2,__expected7\n" + cells + "\n");
    return findings(std::string(capitals_prompts) + "tests_file: t.csv\n");
  };
  EXPECT_EQ(
      of("Peru,similar: Lima,,similar: Cusco"),
      "t.csv:2: \"type\" in the column \"__expected7\" semantic_similarity_to stands in the test already "
      "(the column \"__expected\"): a scored metric has one score a test\n");
  EXPECT_EQ(
      of("Peru,,regex: (,contains: a").find("t.csv:2: \"pattern\" in the column \"__expected2\" cannot"), 0u);
  EXPECT_NE(
      of("Peru,,regex: a,contains: {{x}}").find("t.csv:2: \"text\" in the column \"__expected7\" uses "),
      std::string::npos);
}

// Each row was said to lack an "input", which none can have.
TEST_F(MatrixSuite, ATableWithoutPromptsIsOneFinding) {
  write("t.csv", "country,__expected\nFrance,Paris\nPeru,Lima\nChile,contain: x\n");
  const std::string what =
      "t.csv:1: the rows of a table are asked by the suite's \"prompts\", and it has none: add them, such as "
      "prompts: [\"Capital of {{country}}?\"]\n";
  const std::string other =
      "t.csv:4: \"__expected\" asks for \"contain\", which is no check; did you mean \"contains:\"? A text "
      "that begins so is \"equals: contain: ...\"\n";
  EXPECT_EQ(findings("suite: s\ntests_file: t.csv\n"), what + other);
  EXPECT_EQ(findings("suite: s\ndefault_test: {input: {system: S}}\ntests_file: t.csv\n"), what + other);
}

TEST_F(MatrixSuite, NamesFilesByGlobs) {
  write("tests/a/one.csv", "country,__expected\nFrance,Paris\n");
  write("tests/b/two.csv", "country,__expected\nPeru,Lima\n");
  write("tests/b/.hidden.csv", "broken");
  write("tests/b/three.jsonl",
        R"({"id": "j", "vars": {"country": "Chile"}, "expected": {"type": "must_contain", "text": "x"}})");
  write("prompts/first one.txt", "Of {{country}}?");
  write("prompts/second.txt", "And {{country}}?");
  const LoadedSuite loaded = load(
      "suite: s\nprompts: [{file: 'prompts/*.txt'}]\ntests_file: ['tests/**/*.csv', 'tests/?/t*.jsonl']\n");
  EXPECT_EQ(
      cases(loaded),
      "j [Of Chile?] must_contain x\none-1 [Of France?] exact_match Paris\ntwo-1 [Of Peru?] exact_match "
      "Lima\n");
  EXPECT_EQ(arms(loaded), "first-one=: second=:");
  EXPECT_EQ(arms(load("suite: s\nprompts: [{id: p, file: 'prompts/s*.txt'}, {id: q, prompt: '{{country}}'}]\n"
                      "tests_file: tests/b/two.csv\n")),
            "p-second=: q=:");
  EXPECT_EQ(
      findings("suite: s\nprompts: [{file: 'none/*.txt'}]\ntests_file: 'tests/*.csv'\n"),
      "suite.yaml:2: \"file\" in prompts[0] names \"none/*.txt\", which cannot be read: No such file or "
      "directory\n"
      "suite.yaml:3: \"tests_file\" names \"tests/*.csv\", which fits no file\n");
  EXPECT_EQ(
      findings("suite: s\ntests_file: '../*.csv'\n"),
      "suite.yaml:2: \"tests_file\" names \"../*.csv\", which lies outside of the suite's folder: move it "
      "there, or allow its folder with --allow-path DIR\n");
}

TEST(FileGlobs, FitWholeParts) {
  EXPECT_TRUE(fits_glob_part("abc.txt", "*.txt"));
  EXPECT_TRUE(fits_glob_part("abc.txt", "a?c*"));
  EXPECT_TRUE(fits_glob_part("abc", "***"));
  EXPECT_TRUE(fits_glob_part("aXbXc", "a*X*c"));
  EXPECT_TRUE(fits_glob_part(".a", ".*"));
  EXPECT_FALSE(fits_glob_part(".a", "*"));
  EXPECT_FALSE(fits_glob_part("abc.txt", "*.tx"));
  EXPECT_FALSE(fits_glob_part("", "?"));
  EXPECT_FALSE(fits_glob_part(std::string(5000, 'a'), "*a*a*a*a*a*a*a*b")) << "and in time";
}

}  // namespace
TEST_F(MatrixSuite, AVariableInChecksOfAllTestsNeedsTestsWithVariables) {
  const std::string defaults =
      "suite: s\nmodel: gpt-x\ndefault_test: {expected: {type: must_contain, text: "
      "\"{{capital}}\"}}\ntests:\n";
  EXPECT_EQ(
      findings(defaults + "  - {id: a, input: {prompt: x}}\n"),
      "suite.yaml:5: \"expected\" in default_test holds {{capital}}, and the test has no \"vars\": give it "
      "\"vars\" with \"capital\", or checks of its own with \"default_test: false\"\n");
  EXPECT_EQ(findings(defaults + "  - {id: a, vars: {capital: Paris}, input: {prompt: x}}\n"
                                "  - {id: b, default_test: false, input: {prompt: x}, expected: {type: "
                                "must_contain, text: \"{{braces}}\"}}\n"),
            "(none)\n");
}

}  // namespace sluice
