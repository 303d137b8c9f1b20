// Suites as people write them: prompts, providers, a default test, files by globs.

#include "tests/unit/suite/matrix_suite.hpp"

#include "coordinator/suite/file_glob.hpp"

#include <string>

namespace sluice {
namespace {

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

// They became two arms of the same answers. A name asks nothing twice either: equal arms share their answers.
TEST_F(MatrixSuite, RefusesTwoProvidersThatSayTheSame) {
  const auto of = [&](const std::string& providers) {
    return findings("suite: s\nproviders: " + providers +
                    "\ntests: [{id: t, input: {prompt: x}, expected: {type: must_contain, text: x}}]\n");
  };
  const std::string advice =
      " (suite.yaml:2): leave one of them out; to ask the model several times, use --repeat\n";
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

TEST_F(MatrixSuite, ATestReplacesTheScoreOfTheSameNameAlone) {
  const LoadedSuite loaded = load(std::string(capitals_prompts) + R"yaml(default_test:
  vars: {country: France}
  expected:
    - {type: rubric, criteria: polite}
    - {type: rubric, name: brief, criteria: brief}
tests:
  - {id: a, expected: {type: rubric, criteria: kind}}
  - {id: b, expected: {type: rubric, name: brief, criteria: one word}}
  - {id: c, expected: {type: rubric, name: honest, criteria: no lie}}
)yaml");
  std::string scores;
  for (std::size_t i = 0; i < loaded.suite.cases.size(); ++i) {
    for (const Expectation& one : (*loaded.suite.cases.read(i))->expectations)
      scores += score_text(one.what.metric, one.name) + " " + one.judge->criteria + ". ";
    scores += '\n';
  }
  EXPECT_EQ(scores,
            "rubric kind. rubric:brief brief. \n"
            "rubric:brief one word. rubric polite. \n"
            "rubric:honest no lie. rubric polite. rubric:brief brief. \n");
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
  EXPECT_EQ(findings("suite: s\nprompts: [{file: 'none/*.txt'}]\ntests_file: 'tests/*.csv'\n"),
            "suite.yaml:2: \"file\" in prompts[0] names \"none/*.txt\", which fits no file: there is no "
            "folder \"none\"\n"
            "suite.yaml:3: \"tests_file\" names \"tests/*.csv\", which fits no file\n");
  EXPECT_EQ(
      findings("suite: s\ntests_file: 'none/at all/*.csv'\n"),
      "suite.yaml:2: \"tests_file\" names \"none/at all/*.csv\", which fits no file: there is no folder "
      "\"none/at all\"\n");
  EXPECT_EQ(
      findings("suite: s\ntests_file: '../*.csv'\n"),
      "suite.yaml:2: \"tests_file\" names \"../*.csv\", which lies outside of the suite's folder: move it "
      "there, or allow its folder with --allow-path DIR\n");
}

// The ways through folders were counted: more than there are files that a glob may stand for, or without end.
TEST_F(MatrixSuite, GlobsWithSeveralAnyFoldersAreThroughInTime) {
  const auto repeated = [](const std::string& part, int times) {
    std::string text;
    for (int i = 0; i < times; ++i) text += part;
    return text;
  };
  const std::string deep = repeated("a/", 40);
  for (int i = 0; i < 11; ++i) write(deep + std::to_string(i) + ".csv", "country,__expected\nPeru,Lima\n");
  const std::string head = "suite: s\nprompts: ['{{country}}']\ntests_file: '";
  for (const std::string& glob : {repeated("**/", 12) + "*.csv", repeated("**/a/", 12) + "**/*.csv"}) {
    EXPECT_EQ(load(head + glob + "'\n").suite.cases.size(), 11u) << glob;
  }
  for (const std::string& glob : {repeated("**/", 12) + "b.csv", repeated("**/a/", 12) + "**/b.csv"}) {
    EXPECT_EQ(findings(head + glob + "'\n"),
              "suite.yaml:3: \"tests_file\" names \"" + glob + "\", which fits no file\n");
  }
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

}  // namespace
}  // namespace sluice
