// What is wrong in a suite in YAML, and how it is said.
#include "common/defaults.hpp"
#include "tests/unit/suite/yaml_suite.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <sys/stat.h>

namespace sluice::yaml_suite_test {

struct BadSuite {
  std::string yaml;
  std::string findings;
};

TEST_F(YamlSuite, NamesEverythingThatIsWrongInOneGo) {
  write("empty.txt", "");
  write("bytes.txt", "\xff");
  const std::vector<BadSuite> suites{
      {"",
       "suite.yaml:1: the suite is empty: it is a mapping with \"suite\" and \"tests\" (`sluice init` writes "
       "one)\n"},
      {"# later\n",
       "suite.yaml:1: the suite is empty: it is a mapping with \"suite\" and \"tests\" (`sluice "
       "init` writes one)\n"},
      {"[]", "suite.yaml:1: a suite must be a mapping with \"suite\" and \"tests\", not a list\n"},
      {"suit: s\ntests: []\nsettings: {api_key: x, temprature: 1}\n",
       "suite.yaml:1: unknown key \"suit\"; did you mean \"suite\", which is missing?\n"
       "suite.yaml:2: \"tests\" must not be empty\n"
       "suite.yaml:3: \"api_key\" in settings is no setting of a suite: keys stay in the environment\n"
       "suite.yaml:3: unknown key \"temprature\" in settings; did you mean \"temperature\"?\n"},
      {"suite: s\ntests: []\ntimeout: 5\nsettings: {timeout: 5, concurrency: 4}\n",
       "suite.yaml:2: \"tests\" must not be empty\n"
       "suite.yaml:3: unknown key \"timeout\"; it belongs in \"settings\" as \"timeout_seconds\"\n"
       "suite.yaml:4: unknown key \"concurrency\" in settings; no suite has it: it is \"max_concurrent\" in "
       "the "
       "settings file's [eval]\n"
       "suite.yaml:4: unknown key \"timeout\" in settings; it is called \"timeout_seconds\"\n"},
      {"suite: s\ntests: []\nsettings: {max_tokens: 5}\n",
       "suite.yaml:2: \"tests\" must not be empty\n"
       "suite.yaml:3: \"max_tokens\" in settings is now called \"max_output_tokens\"; the budget of the "
       "whole "
       "run is \"max_run_tokens\" in [eval]\n"},
      {"suite: 1\n",
       "suite.yaml:1: \"suite\" must be a string, not a whole number (put it in quotes)\n"
       "suite.yaml:1: the suite has no tests: expected \"tests\", \"tests_file\" or \"fixtures\"\n"},
      {"suite: s\nsuite: t\ntests:\n - x\n",
       "suite.yaml:2: the key \"suite\" stands twice (first in line 1)\n"
       "suite.yaml:4: a test must be a mapping, not a string\n"},
      {"suite: s\ntests:\n  - id: 7\n    inputs: {}\n  - id: a\n    input: {prompt: 1, file: x}\n    "
       "expected: []\n",
       "suite.yaml:3: \"id\" in the test must be a string, not a whole number (put it in quotes)\n"
       "suite.yaml:3: missing \"expected\" in the test: expected what the answer is judged by\n"
       "suite.yaml:4: unknown key \"inputs\" in the test; did you mean \"input\", which is missing?\n"
       "suite.yaml:6: \"prompt\" in input must be a string, not a whole number (put it in quotes)\n"
       "suite.yaml:6: \"file\" in input cannot stand beside \"prompt\": one of them is the prompt\n"
       "suite.yaml:6: \"file\" in input names \"x\", which cannot be read: No such file or directory\n"
       "suite.yaml:7: \"expected\" must name at least one metric\n"},
      {"suite: s\ndefault_test: {input: x}\ntests:\n  - id: a\n    input: What is it?\n    expected: {type: "
       "must_contain, text: x}\n",
       "suite.yaml:2: \"input\" in default_test must be a mapping such as {\"system\": \"Answer in one "
       "word.\"}, not a string\n"
       "suite.yaml:5: \"input\" in the test must be a mapping such as {\"prompt\": \"What is the capital of "
       "France?\"}, not a string\n"},
      {expecting("      type: cost\n      max_dollars: -1\n"),
       "suite.yaml:8: \"max_dollars\" in expected must be from 0 to 1000000, not -1\n"},
      {expecting("      must_contain: x\n"),
       "suite.yaml:7: \"must_contain\" in expected is a metric: write type: must_contain, text: ...\n"},
      {expecting("      latency: 300\n"),
       "suite.yaml:7: \"latency\" in expected is a metric: write type: latency, max_ms: ...\n"},
      {expecting("      must_contain: [{subject: a/b, predicate: c, value: true}]\n"),
       "suite.yaml:7: missing \"type\" in expected: expected a string\n"},
      // Parameters are called as some metrics are.
      {expecting("      command: [./check.py]\n"),
       "suite.yaml:7: missing \"type\" in expected: expected a string\n"},
      {expecting("      typ: rubric\n      criteria: c\n      rubric: tone\n"),
       "suite.yaml:7: unknown key \"typ\" in expected; did you mean \"type\", which is missing?\n"},
      {expecting("      type: must_contian\n      text: x\n"),
       "suite.yaml:7: \"type\" in expected is the unknown metric \"must_contian\"; did you mean "
       "\"must_contain\"?\n"},
      {expecting(
           "      type: claims_absent\n      must_contain: [{subject: a/b, predicate: c, value: true}]\n"),
       "suite.yaml:6: claims_absent is for tests that expect no claim, and this one has \"must_contain\"\n"},
      {expecting("      type: must_contain\n      min_score: 0.5\n      pattern: x\n"),
       "suite.yaml:7: missing \"text\" in expected: expected a string or a list of strings\n"
       "suite.yaml:8: \"min_score\" in expected cannot stand with must_contain, which only passes or "
       "fails: "
       "thresholds are for metrics with a score (rouge_n, command_score, semantic_similarity_to, "
       "claims_precision, "
       "claims_recall, "
       "claims_f1, faithfulness, relevancy, correctness, rubric, context_recall, "
       "context_relevance)\n"
       "suite.yaml:9: \"pattern\" in expected does not belong to must_contain, which takes \"text\"\n"},
      {expecting("      - {type: semantic_similarity_to, text: a}\n      - {type: "
                 "semantic_similarity_to, text: b}\n"
                 "      - {type: claims_f1}\n"),
       "suite.yaml:8: \"type\" in expected[1] semantic_similarity_to stands in the test already (line 7): "
       "give each a \"name\", such as \"name\": \"tone\", to tell their scores apart\n"
       "suite.yaml:9: \"type\" in expected[2] cannot be claims_f1 here: claims metrics and metrics of "
       "the answer's "
       "text need a test each\n"},
      {expecting("      type: regex_match\n      pattern: ['a(b', 'ok']\n"),
       "suite.yaml:8: \"pattern\" in expected cannot be used: the pattern \"a(b\" is no regular expression "
       "of "
       "RE2: missing ): a(b; a sign that stands for itself has a backslash before it\n"},
      {expecting("      type: exact_match\n      text: [a, 1, [b]]\n"),
       "suite.yaml:8: \"text\" in expected must hold strings alone, not a whole number (put it in "
       "quotes)\n"
       "suite.yaml:8: \"text\" in expected must hold strings alone, not a list\n"},
      {expecting("      type: must_contain\n      text: []\n"),
       "suite.yaml:8: \"text\" in expected must not be empty\n"},
      {expecting("      type: must_contain\n      text: ['']\n"),
       "suite.yaml:8: \"text\" in expected must not be empty\n"},
      {expecting("      type: not_icontains\n      text: [a, b]\n"),
       "suite.yaml:8: \"text\" in expected must be one text here; of several, not_icontains_any asks that "
       "none "
       "of them stands in the answer, and not_icontains_all that not all of them do\n"},
      {expecting("      type: not_starts_with\n      text: ' '\n"),
       "suite.yaml:8: \"text\" in expected must not be empty\n"},
      {expecting("      type: claims_f1\n      must_contain: [{subject: a, predicate: b, value: .nan}]\n"
                 "      min_score: .inf\n"),
       "suite.yaml:8: \"value\" in must_contain[0] must be a finite number\n"
       "suite.yaml:9: \"min_score\" in expected must be a finite number\n"},
      {expecting("      type: claims_f1\n      must_contain: [{subject: a, predicate: b, value: "
                 "18446744073709551617}]\n"),
       "suite.yaml:8: \"value\" in must_contain[0] is a number too large to be exact: write it as a "
       "string\n"},
      {expecting("      type: claims_f1\n      min_score: 1.5\n      thresholding: {max_drop: -0.1, "
                 "min_floor: 1e400}\n"),
       "suite.yaml:8: \"min_score\" in expected must be from 0 to 1, not 1.5\n"
       "suite.yaml:9: \"max_drop\" in thresholding must be from 0 to 1, not -0.1\n"
       "suite.yaml:9: \"min_floor\" in thresholding must be a finite number\n"},
      {expecting("      type: claims_f1\n      thresholding: {mode: absolut}\n"),
       "suite.yaml:8: \"mode\" in thresholding must be \"relative\" or \"absolute\", not \"absolut\"; "
       "did you mean "
       "\"absolute\"?\n"},
      {expecting("      type: claims_f1\n      thresholding: {mode: absolute, max_drop: 0.1, min_score: "
                 "0.5}\n"),
       "suite.yaml:8: \"max_drop\" in thresholding has no effect with the mode \"absolute\", which takes "
       "\"min_score\"\n"},
      {expecting("      type: claims_f1\n      thresholding: {min_score: 0.1}\n",
                 "settings: {thresholding: {mode: relative}}\n"),
       "suite.yaml:8: \"min_score\" in thresholding has no effect with the mode \"relative\" of "
       "settings.thresholding, which takes \"max_drop\" and \"min_floor\"\n"},
      {expecting("      type: claims_f1\n", "settings: {thresholding: {mode: absolute}}\n"),
       "suite.yaml:7: \"type\" in expected has the mode \"absolute\" and no \"min_score\", here or in "
       "settings.thresholding\n"},
      {expecting("      - {type: claims_f1, min_confidence: 0.5}\n      - {type: claims_recall, "
                 "min_confidence: 0.5}\n"),
       "suite.yaml:8: \"min_confidence\" in expected[1] stands in the test already (line 7): its claims "
       "metrics "
       "share it\n"},
      {expecting("      type: json_schema\n      schema: {type: objct, properties: [a], requird: [a]}\n"),
       "suite.yaml:8: \"schema\" in expected cannot be used: the schema is wrong at the root: \"requird\" is "
       "no keyword; did you mean \"required\"?; at /properties: an object is expected; at /type: \"objct\" "
       "is "
       "no type; did you mean \"object\"?\n"},
      {expecting("      type: json_schema\n      schema: {$ref: 'https://x/y.json'}\n"),
       "suite.yaml:8: \"schema\" in expected cannot be used: the schema is wrong at the root: only "
       "references "
       "within the schema are followed, as #/definitions/x; not \"https://x/y.json\"\n"},
      {expecting("      type: json_schema\n      schema: {properties: {a: {pattern: '(?!x)'}}}\n"),
       "suite.yaml:8: \"schema\" in expected cannot be used: the schema is wrong at /properties/a/pattern: "
       "the pattern \"(?!x)\" is no regular expression of RE2: invalid perl operator: (?!; there are no "
       "look-arounds and no "
       "back-references: a pattern that must not be found is a check of its own, regex_not_match\n"},
      {expecting("      type: json_schema\n      schema: none.json\n"),
       "suite.yaml:8: \"schema\" in expected names \"none.json\", which cannot be read: No such file or "
       "directory\n"},
      {expecting("      type: json_schema\n      schema: {minimum: .inf}\n"),
       "suite.yaml:8: \"schema\" in expected holds a number that is not finite\n"},
      {"suite: s\ntests:\n- {id: a, weight: 0, input: {file: empty.txt}, expected: {type: exact_match, "
       "text: a}}\n"
       "- {id: b, input: {file: bytes.txt}, expected: {type: exact_match, text: a}}\n"
       "- {id: c, input: {file: /etc/x}, expected: {type: exact_match, text: a}}\n"
       "- {id: d, input: {prompt: p, context: c, system: s}, expected: {type: claims_f1}}\n",
       "suite.yaml:3: \"weight\" in the test must be more than 0 and at most 1000, not 0\n"
       "suite.yaml:3: \"file\" in input names \"empty.txt\", which is empty\n"
       "suite.yaml:4: \"file\" in input names \"bytes.txt\", which is not valid UTF-8: save it as UTF-8 "
       "(`iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW` converts what Windows wrote)\n"
       "suite.yaml:5: \"file\" in input names \"/etc/x\", which must be a path relative to the suite's "
       "folder\n"
       "suite.yaml:6: \"context\" in input does not go with claims metrics: the prompt is what the "
       "claims prompt "
       "asks about\n"
       "suite.yaml:6: \"system\" in input does not go with claims metrics: the prompt is what the claims "
       "prompt "
       "asks about\n"},
      {"suite: s\nfixtures: [none, /tmp]\ntests_file: none.jsonl\n",
       "suite.yaml:2: \"fixtures\" names \"none\", which cannot be read: No such file or directory\n"
       "suite.yaml:2: \"fixtures\" names \"/tmp\", which must be a path relative to the suite's folder\n"
       "suite.yaml:3: \"tests_file\" names \"none.jsonl\", which cannot be read: No such file or "
       "directory\n"},
  };
  for (const BadSuite& bad : suites) EXPECT_EQ(findings(bad.yaml), bad.findings) << bad.yaml;
}

TEST_F(YamlSuite, AnUnknownKeyHidesNoWrongTypeElsewhere) {
  EXPECT_EQ(findings("suite: s\nmodel: [m]\nsettings:\n  temprature: 0\n  seed: none\n  repeat: 0\ntests:\n"
                     "  - {id: a, weigth: 2, input: {prompt: p}, expected: {type: must_contain, text: a}}\n"
                     "  - {id: b, input: {prompt: p}, expected: {type: must_contain, text: 1}}\n"),
            "suite.yaml:2: \"model\" must be a string, not an array\n"
            "suite.yaml:4: unknown key \"temprature\" in settings; did you mean \"temperature\"?\n"
            "suite.yaml:5: \"seed\" in settings must be a whole number, not \"none\"\n"
            "suite.yaml:6: \"repeat\" in settings must be a whole number from 1 to 100, not 0\n"
            "suite.yaml:8: unknown key \"weigth\" in the test; did you mean \"weight\"?\n"
            "suite.yaml:9: \"text\" in expected must be a string or a list of strings, not a whole number "
            "(put it in quotes)\n");
}

std::string with_type(const std::string& type) {
  return "suite: s\ntests:\n- {id: t, input: {prompt: p}, expected: {type: '" + type + "'}}\n";
}

// It listed all names, and knew no word of promptfoo's, nor what they are here.
TEST_F(YamlSuite, AnUnknownMetricIsToldAFewThatThereAre) {
  const auto of = [&](const std::string& type) {
    const std::string place = "suite.yaml:3: \"type\" in expected is ";
    const std::string found = findings(with_type(type));
    return found.starts_with(place) ? found.substr(place.size(), found.find('\n') - place.size()) : found;
  };
  const std::string others = " among others: docs/suites.md lists all under \"Metrics\"";
  EXPECT_EQ(of("sentiment"),
            "the unknown metric \"sentiment\"; there are \"must_contain\", \"regex_match\", \"exact_match\", "
            "\"label\", \"json_schema\", \"tool_call\" and \"rubric\"" +
                others);
  EXPECT_EQ(of("json_valid"),
            "the unknown metric \"json_valid\"; there are \"json_schema\", \"contains_json\", "
            "\"tool_calls_valid\" and \"is_json\"" +
                others);
  EXPECT_EQ(
      of("javascript"),
      "\"javascript\", a check of promptfoo, which has no counterpart (`type: command` runs a program of "
      "yours); docs/suites.md lists all under \"Metrics\"");
  EXPECT_EQ(of("bleu"),
            "\"bleu\", a check of promptfoo, which has no counterpart; docs/suites.md lists all under "
            "\"Metrics\"");
  for (const auto& [name, counterpart] : {std::pair("factuality", "\"correctness\" with \"reference\""),
                                          {"g-eval", "\"rubric\" with \"criteria\""},
                                          {"model_graded_closedqa", "\"rubric\" with \"criteria\""},
                                          {"word-count", "\"regex_match\" with \"pattern\""},
                                          {"not-word-count", "\"regex_not_match\" with \"pattern\""},
                                          {"answer-relevance", "\"relevancy\""},
                                          {"context-faithfulness", "\"faithfulness\""},
                                          {"is-refusal", "\"any_of\" of \"refusal\" and \"regex_match\""}}) {
    EXPECT_EQ(of(name), '"' + std::string(name) + "\", as promptfoo calls it; here it is " + counterpart);
  }
}

// "not_rubric" was asked whether it meant "rubric".
TEST_F(YamlSuite, NoHintAsksForTheOpposite) {
  const std::string judges =
      "and judge metrics have no form with \"not_\": write the opposite into the \"criteria\" of a rubric";
  for (const auto& [name, way] :
       {std::pair("not_rubric", judges),
        {"not-llm-rubric", judges},
        {"not_faithfulness", judges},
        {"not_faithfullness", judges},
        {"not_factuality", judges},
        {"not-g-eval", judges},
        {"not_semantic_similarity_to",
         "and semantic_similarity_to has no form with \"not_\": a similarity has no upper bound"},
        {"not_claims_f1",
         "and claims metrics have no form with \"not_\": what an answer must not claim stands in "
         "\"must_not_contain\""},
        {"not_contains_all", "and contains_all has no form with \"not_\": must_not_contain asks that none"},
        {"not_must_contian", "did you mean \"must_not_contain\"?"},
        {"nto_contains", "did you mean \"not_contains\"?"}}) {
    const std::string found = findings(with_type(name));
    EXPECT_NE(found.find(way), std::string::npos) << name << ": " << found;
    if (way == judges) EXPECT_EQ(found.find("did you mean"), std::string::npos) << found;
  }
}

TEST_F(YamlSuite, AnUnknownMetricHidesNothingElseOfItsEntry) {
  const std::string found =
      findings(expecting("      type: must_contian\n      texts: x\n      min_score: high\n"
                         "      thresholding: {max_drop: 2}\n      must_contain: [{subject: a/b}]\n"));
  EXPECT_TRUE(found.starts_with("suite.yaml:7: \"type\" in expected is the unknown metric")) << found;
  EXPECT_TRUE(found.ends_with(
      "suite.yaml:8: unknown key \"texts\" in expected; did you mean \"text\"?\n"
      "suite.yaml:9: \"min_score\" in expected must be a number, not a string\n"
      "suite.yaml:10: \"max_drop\" in thresholding must be from 0 to 1, not 2\n"
      "suite.yaml:11: missing \"predicate\" in must_contain[0]: expected a string\n"
      "suite.yaml:11: missing \"value\" in must_contain[0]: expected a boolean, a number or a string\n"))
      << found;
}

TEST_F(YamlSuite, AConfigurationOfPromptfooIsOneFinding) {
  const auto of = [&](const std::string& yaml) { return findings(yaml); };
  const std::string finding =
      "suite.yaml:1: this is a configuration of promptfoo: `sluice import suite.yaml"
      "` makes a suite of it\n";
  EXPECT_EQ(of("prompts: [a]\ntests:\n  - vars: {a: 1}\n  - assert: [{type: contains, value: x}]\n"),
            finding);
  EXPECT_EQ(of("providers: ['openai:chat:m']\ntests: [{assert: [{type: cost}]}]\n"), finding);
  EXPECT_EQ(of("defaultTest: {options: {}}\ntests: file://tests.csv\n"), finding);
  EXPECT_EQ(
      of("suite: s\nprompts: [a]\ntests: [{id: t, assert: [x], expected: {type: exact_match, text: x}}]\n")
          .find("configuration"),
      std::string::npos)
      << "what has a name is a suite";
}

// Each was told all the keys that there are, and "provider" that "providers" is one.
TEST_F(YamlSuite, ASettingInAnotherPlaceIsToldItsOwn) {
  EXPECT_EQ(
      findings("suite: s\nprovider: openai\nmin_pass_rate: 1\nrequest_timeout_seconds: 3\n"
               "max_concurrent: 3\njudge_samples: 3\nrequests_per_minute: 60\nother: 1\n"
               "settings:\n  mode: live\n  request_timeout_seconds: 3\n  model: m\n"
               "tests: [{id: a, input: {prompt: p}, expected: {type: exact_match, text: x}}]\n"),
      "suite.yaml:2: unknown key \"provider\"; it belongs in \"settings\", or, as a list with models, is "
      "called \"providers\"\n"
      "suite.yaml:3: unknown key \"min_pass_rate\"; it belongs in \"settings\"\n"
      "suite.yaml:4: unknown key \"request_timeout_seconds\"; it belongs in \"settings\" as "
      "\"timeout_seconds\"\n"
      "suite.yaml:5: unknown key \"max_concurrent\"; no suite has it: it belongs in the settings file's "
      "[eval]\n"
      "suite.yaml:6: unknown key \"judge_samples\"; it belongs in \"settings\"\n"
      "suite.yaml:7: unknown key \"requests_per_minute\"; no suite has it: it belongs in the settings "
      "file's [providers.NAME]\n"
      "suite.yaml:8: unknown key \"other\"; valid here: suite, model, settings, rubrics, prompts, arms, "
      "providers, examples, default_test, tests, fixtures, tests_file\n"
      "suite.yaml:10: unknown key \"mode\" in settings; no suite has it: it belongs in the settings "
      "file's [eval]\n"
      "suite.yaml:11: unknown key \"request_timeout_seconds\" in settings; it is called "
      "\"timeout_seconds\"\n"
      "suite.yaml:12: unknown key \"model\" in settings; it stands at the top level of the suite\n");
}

TEST_F(YamlSuite, AMisspeltKeyAndTheMissingOneThatItWasMeantToBeAreOneFinding) {
  EXPECT_EQ(
      findings("suite: s\ntests:\n- id: a\n  input: {prompt: p}\n  expct: {type: exact_match}\n"),
      "suite.yaml:5: unknown key \"expct\" in the test; did you mean \"expected\", which is missing?\n");
  EXPECT_EQ(findings("suite: s\ntest:\n- {id: a}\n"),
            "suite.yaml:2: unknown key \"test\"; did you mean \"tests\", which is missing?\n");
  EXPECT_EQ(findings("suite: s\ntests:\n- id: a\n  input: {promt: p}\n  expected: {tpye: exact_match}\n"),
            "suite.yaml:4: unknown key \"promt\" in input; did you mean \"prompt\", which is missing?\n"
            "suite.yaml:5: unknown key \"tpye\" in expected; did you mean \"type\", which is missing?\n");
}

// The suite itself was named as a file in that folder.
TEST_F(YamlSuite, NamesNoSuiteInAFolderThatHasNone) {
  write("fix/readme.txt", "");
  EXPECT_EQ(findings("suite: s\nfixtures: fix\n"),
            "fix: there is no fixture (*.toml) in the folder; of a suite name the file (.yaml)\n");
  write("fix/suite.yml", "suite: other\n");
  EXPECT_EQ(findings("suite: s\nfixtures: fix\n"),
            "fix: there is no fixture (*.toml) in the folder; of a suite name the file (fix/suite.yml)\n");
}

TEST_F(YamlSuite, NamesBothPlacesOfADuplicateId) {
  write("fix/a.toml", "[metadata]\nid = \"x\"\ncategory = \"c\"\n[input]\ncontent = \"x\"\n");
  write("l.jsonl",
        "\n{\"id\":\"x\",\"input\":{\"prompt\":\"p\"},\"expected\":{\"type\":\"must_contain\",\"text\":"
        "\"a\"}}\n");
  EXPECT_EQ(findings("suite: s\nfixtures: fix\ntests_file: l.jsonl\ntests:\n"
                     "- {id: x, input: {prompt: p}, expected: {type: must_contain, text: a}}\n"),
            "fix/a.toml:2: the id \"x\" is already used in suite.yaml:5\n"
            "l.jsonl:2: the id \"x\" is already used in suite.yaml:5\n");
}

TEST_F(YamlSuite, NeverCrashesOnATruncatedOne) {
  const std::string whole =
      "suite: s\nmodel: m\nsettings:\n  thresholding:\n    mode: relative\n    max_drop: 0.1\ntests:\n  "
      "- id: a\n"
      "    input:\n      prompt: |\n        text\n    expected:\n      - type: json_schema\n        "
      "schema:\n"
      "          type: object\n      - type: regex_match\n        pattern: \"a\\\\db\"\n";
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto loaded = load_any_suite(write("suite.yaml", whole.substr(0, size)));
    if (loaded) continue;
    for (const Finding& finding : loaded.error()) EXPECT_GT(finding.line, 0u) << to_text(finding);
  }
  EXPECT_EQ(load(whole).suite.cases.size(), 1u);
}

TEST_F(YamlSuite, RefusesWhatIsNoSuite) {
  EXPECT_EQ(
      shown(load_any_suite(folder_ / "none.yaml").error()),
      "none.yaml: there is no such file or folder; name a folder of fixtures or a suite (.yaml or .yml)\n");
  EXPECT_EQ(shown(load_any_suite(folder_ / "none").error()),
            "none: there is no such file or folder; name a folder of fixtures or a suite (.yaml or .yml)\n");
  EXPECT_EQ(shown(load_any_suite(write("tests.txt", "")).error()),
            "tests.txt: is neither a folder of fixtures nor a suite (.yaml or .yml)\n");
  for (const char* tests : {"tests.jsonl", "tests.csv"}) {
    EXPECT_EQ(shown(load_any_suite(write(tests, "")).error()),
              std::string(tests) +
                  ": is neither a folder of fixtures nor a suite (.yaml or .yml); a suite names a "
                  "file of tests as its \"tests_file\"\n");
  }
  EXPECT_EQ(
      shown(load_any_suite(write("suite.json", "{}")).error()),
      "suite.json: is neither a folder of fixtures nor a suite (.yaml or .yml); rename a suite in JSON to "
      ".yaml\n");
  ASSERT_EQ(::mkfifo((folder_ / "pipe.yaml").c_str(), 0600), 0);
  EXPECT_EQ(shown(load_any_suite(folder_ / "pipe.yaml").error()),
            "pipe.yaml: the suite cannot be read: not a regular file\n");
  const auto large = write("large.yaml", "");
  std::filesystem::resize_file(large, defaults::max_suite_bytes + 1);
  EXPECT_EQ(
      shown(load_any_suite(large).error()),
      "large.yaml: the suite is too large: at most 16777216 bytes are read; a \"tests_file\" in JSON Lines "
      "may be of any size\n");
  std::filesystem::resize_file(write("large.csv", ""), defaults::max_suite_bytes + 1);
  EXPECT_EQ(
      findings("suite: s\nprompts: [p]\ntests_file: large.csv\n"),
      "suite.yaml:3: \"tests_file\" names \"large.csv\", which is too large: at most 16777216 bytes are "
      "read; a \"tests_file\" in JSON Lines may be of any size\n");
}

// Each was compared with all before it in its line: 200,000 took minutes.
TEST_F(YamlSuite, ManyFindingsOfALineAreReadInOnePass) {
  std::string check = "      - {type: exact_match, text: x";
  constexpr int many = 60'000;
  for (int i = 0; i < many; ++i) check += ", u" + std::to_string(i) + ": 1";
  const auto file = write("suite.yaml", expecting(check + "}\n"));
  const auto loaded = load_any_suite(file);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().size(), std::size_t{many});
}

}  // namespace sluice::yaml_suite_test
