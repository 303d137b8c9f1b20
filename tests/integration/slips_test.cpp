// Slips that people make, each with what it must be answered by: the place, and what to do.

#include "tests/integration/malformed_inputs.hpp"

namespace sluice::slips_test {

using namespace support;

/// What stands in a suite, and the words of what is found: one finding, unless a slip is seen from two sides.
struct SuiteSlip {
  const char* name;
  std::string text;
  std::vector<std::string> words;
  std::size_t findings = 1;
};
/// What stands on a command line, and the words of its one message.
struct CommandSlip {
  const char* name;
  Flags flags;
  std::vector<std::string> words;
};

const std::string expected = "expected: {type: must_contain, text: x}";
const std::string one_test = "tests: [{id: a, input: {prompt: Hello}, " + expected + "}]\n";
const std::string prompts = "prompts: [{id: p, prompt: 'Capital of {{country}}?'}]\n";

std::string in_suite(const std::string& line) {
  return "suite: demo\n" + line + "\n" + one_test;
}
std::string in_test(const std::string& keys) {
  return "suite: demo\ntests:\n  - id: a\n    " + keys + "\n";
}
std::string in_expected(const std::string& metric) {
  return in_test("input: {prompt: Hello}\n    expected: " + metric);
}
std::string in_templates(const std::string& test) {
  return "suite: demo\n" + prompts + "tests:\n  - {id: a, " + expected + ", " + test + "}\n";
}

class Slips : public MalformedInputs {
 protected:
  void expect_one_line(const Finished& finished, const std::vector<std::string>& words) {
    EXPECT_EQ(finished.exit_code, 2) << finished.errors;
    EXPECT_EQ(finished.error_lines().size(), 1u) << finished.errors;
    for (const std::string& word : words)
      EXPECT_NE(finished.errors.find(word), std::string::npos) << word << " in: " << finished.errors;
  }
};

TEST_F(Slips, InASuiteNameTheLineAndWhatIsMeant) {
  write_text(folder() / "comma.csv", "country,__expected\nFrance,Paris\nPeru,Lima, or so\n");
  write_text(folder() / "check.csv", "country,__expected\nFrance,javascript: output\n");
  const std::vector<SuiteSlip> slips{
      {"a misspelt suite", "suit: demo\n" + one_test, {"bad.yaml:1", "\"suit\"", "\"suite\""}},
      {"a misspelt list of tests",
       "suite: demo\ntest" + one_test.substr(5),
       {"bad.yaml:2", "\"test\"", "\"tests\""}},
      {"a tests file in the plural",
       in_suite("tests_files: t.csv"),
       {"bad.yaml:2", "did you mean \"tests_file\"?"}},
      {"a file for the tests",
       "suite: demo\nprompts: [x]\ntests: more.csv\n",
       {"bad.yaml:3", "stands as \"tests_file\""}},
      {"one prompt", in_suite("prompt: Hello"), {"bad.yaml:2", "did you mean \"prompts\"?"}},
      {"misspelt prompts",
       "suite: demo\npromts: ['Capital of {{country}}?']\ntests:\n  - {id: a, vars: {country: Peru}, " +
           expected + "}\n  - {id: b, vars: {country: Chad}, " + expected + "}\n",
       {"bad.yaml:2", "did you mean \"prompts\"?"}},
      {"one prompt for all tests",
       "suite: demo\nprompt: Hello\ntests: [{id: a, " + expected + "}]\n",
       {"bad.yaml:2", "did you mean \"prompts\"?"}},
      {"a model among the settings",
       in_suite("settings: {model: gpt-5-mini}"),
       {"bad.yaml:2", "unknown key \"model\" in settings; it stands at the top level of the suite"}},
      {"one arm", in_suite("arm: a=openai:m"), {"bad.yaml:2", "did you mean \"arms\"?"}},
      {"a provider at the top",
       in_suite("provider: openai"),
       {"bad.yaml:2", "belongs in \"settings\"", "\"providers\""}},
      {"misspelt settings", in_suite("setings: {}"), {"bad.yaml:2", "did you mean \"settings\"?"}},
      {"the default test of promptfoo",
       in_suite("defaultTest: {}"),
       {"bad.yaml:2", "did you mean \"default_test\"?"}},
      {"a misspelt setting",
       in_suite("settings: {temprature: 0}"),
       {"bad.yaml:2", "did you mean \"temperature\"?"}},
      {"a temperature in words",
       in_suite("settings: {temperature: hot}"),
       {"bad.yaml:2", "\"temperature\"", "number"}},
      {"too hot", in_suite("settings: {temperature: 3}"), {"bad.yaml:2", "\"temperature\"", "2"}},
      {"a key in the suite",
       in_suite("settings: {api_key: k}"),
       {"bad.yaml:2", "keys stay in the environment"}},
      {"an endpoint for a base URL",
       in_suite("settings: {base_url: 'http://localhost:1/v1/chat/completions'}"),
       {"bad.yaml:2", "\"/chat/completions\"", "leave it out, as in http://localhost:1/v1"}},
      {"a base URL without its scheme",
       in_suite("settings: {base_url: 'localhost:1'}"),
       {"bad.yaml:2", "starts with http:// or https://"}},
      {"a name in place of an id",
       "suite: demo\ntests:\n  - {name: a, input: {prompt: x}, " + expected + "}\n",
       {"bad.yaml:3", "missing \"id\""}},
      {"an id twice",
       "suite: demo\ntests:\n  - {id: a, input: {prompt: x}, " + expected +
           "}\n  - {id: a, input: {prompt: y}, " + expected + "}\n",
       {"bad.yaml:4", "bad.yaml:3"}},
      {"a misspelt prompt",
       in_test("input: {promt: x}\n    " + expected),
       {"bad.yaml:4", "\"promt\"", "\"prompt\""}},
      {"a prompt beside a file",
       in_test("input: {prompt: x, file: suite.yaml}\n    " + expected),
       {"bad.yaml:4", "cannot stand beside \"prompt\""}},
      {"a misspelt expectation",
       in_test("input: {prompt: x}\n    expect: {type: must_contain, text: x}"),
       {"bad.yaml:5", "\"expect\"", "\"expected\""}},
      {"a misspelt metric",
       in_expected("{type: must_contian, text: x}"),
       {"bad.yaml:5", "did you mean \"must_contain\"?"}},
      {"a metric without its type", in_expected("{text: x}"), {"bad.yaml:5", "missing \"type\""}},
      {"texts", in_expected("{type: must_contain, texts: [x]}"), {"bad.yaml:5", "\"texts\"", "\"text\""}},
      {"a weight of a check alone",
       in_expected("{type: must_contain, text: x, weight: 2}"),
       {"bad.yaml:5", "\"weight\" in expected; it belongs to the parts of any_of and all_of"}},
      {"a score in percent",
       in_expected("{type: semantic_similarity_to, text: x, min_score: 85}"),
       {"bad.yaml:5", "\"min_score\"", "0", "1"}},
      {"a threshold",
       in_expected("{type: semantic_similarity_to, text: x, threshold: 0.8}"),
       {"bad.yaml:5", "is called \"min_score\""}},
      {"an open group", in_expected("{type: regex_match, pattern: '(a'}"), {"bad.yaml:5", "(a", "RE2"}},
      {"a look-ahead", in_expected("{type: regex_match, pattern: 'a(?=b)'}"), {"bad.yaml:5", "RE2"}},
      {"a schema that is not there",
       in_expected("{type: json_schema, schema: no.json}"),
       {"bad.yaml:5", "no.json", "cannot be read"}},
      {"a template without variables",
       in_test("input: {prompt: 'Capital of {{country}}?'}\n    " + expected),
       {"bad.yaml:4", "{{country}}", "give it \"vars\" with \"country\""}},
      {"a misspelt variable",
       in_templates("vars: {contry: x}"),
       {"bad.yaml:4", "{{country}}", "did you mean \"contry\"?", "did you mean \"country\"?"},
       2},
      {"a variable for nothing",
       in_templates("vars: {country: x, capital: y}"),
       {"bad.yaml:4", "\"capital\" in vars is used by nothing"}},
      {"a filter",
       "suite: demo\nprompts: [{id: p, prompt: '{{country | upper}}'}]\ntests: [{id: a, vars: {}, " +
           expected + "}]\n",
       {"bad.yaml:2", "has a filter, of which there are none"}},
      {"a block",
       "suite: demo\nprompts: [{id: p, prompt: '{% if a %}'}]\ntests: [{id: a, vars: {}, " + expected +
           "}]\n",
       {"bad.yaml:2", "a block, of which there are none"}},
      {"a file's URL",
       "suite: demo\nprompts: ['file://p.txt']\ntests: [{id: a, " + expected + "}]\n",
       {"bad.yaml:2", "which stands in \"file\", without \"file://\""}},
      {"a model alone",
       in_suite("providers: [gpt-5]"),
       {"bad.yaml:2", "PROVIDER:MODEL, such as openai:gpt-5-mini"}},
      {"an endpoint before a model",
       in_suite("providers: ['openai:chat:gpt-5']"),
       {"bad.yaml:2", "write openai:gpt-5"}},
      {"a provider of promptfoo",
       in_suite("providers: [{id: 'openai:gpt-5'}]"),
       {"bad.yaml:2", "is said as \"provider\" and \"model\""}},
      {"providers beside arms",
       in_suite("providers: ['openai:m']\narms: ['a=openai:m']"),
       {"bad.yaml:2", "cannot stand beside \"arms\""}},
      {"a prompt for every test",
       in_suite("default_test: {input: {prompt: x}}"),
       {"bad.yaml:2", "a prompt for every test stands in the suite's \"prompts\""}},
      {"a tab", "suite: demo\ntests:\n\t- id: a\n", {"bad.yaml:3", "a tab"}},
      {"a comma in a row",
       "suite: demo\n" + prompts + "tests_file: comma.csv\n",
       {"comma.csv:3", "3 fields", "2 columns", "stands in quotes"}},
      {"a program in a row",
       "suite: demo\n" + prompts + "tests_file: check.csv\n",
       {"check.csv:2", "javascript", "has no counterpart", "`type: command`"}},
      {"a command for a shell",
       in_expected("{type: command, command: 'python3 check.py'}"),
       {"bad.yaml:5", "must be a list", "no shell reads it"}},
      {"a command that is not there",
       in_expected("{type: command, command: [./check.py]}"),
       {"bad.yaml:5", "./check.py"}},
      {"a variable in a command",
       in_test(
           "vars: {name: x}\n    input: {prompt: '{{name}}'}\n    expected: {type: command, command: [check, "
           "'{{name}}']}"),
       {"bad.yaml:6", "reads the test's variables from its standard input"}},
      {"a threshold of a verdict",
       in_expected("{type: command, command: ['true'], min_score: 0.5}"),
       {"bad.yaml:5", "only passes or fails", "command_score"}},
      {"a text for a check",
       in_test("input: {prompt: x}\n    expected: Paris"),
       {"bad.yaml:5", "must be a mapping such as {\"type\": \"must_contain\", \"text\": \"Paris\"}"}},
      {"the checks of promptfoo",
       in_test("input: {prompt: x}\n    " + expected + "\n    assert: [{type: contains, value: x}]"),
       {"bad.yaml:6", "\"assert\"", "the checks of an answer stand in \"expected\""}},
      {"the threshold and the metadata of promptfoo",
       in_test("input: {prompt: x}\n    " + expected + "\n    threshold: 0.5\n    metadata: {kind: a}"),
       {"bad.yaml:6", "\"pass_mark\" of an all_of", "bad.yaml:7", "\"tags\", a list"},
       2},
      {"a colon without quotes",
       in_test("input: {prompt: What: is}\n    " + expected),
       {"bad.yaml:4", "stands in quotes"}},
      {"braces without quotes",
       in_test("input: {prompt: Hello {{name}}}\n    " + expected),
       {"bad.yaml:4", "stands in quotes"}},
      {"a glob for nothing", in_suite("tests_file: 'none/*.csv'"), {"bad.yaml:2", "none/*.csv"}},
      {"a file elsewhere", in_suite("tests_file: ../tests.jsonl"), {"bad.yaml:2", "--allow-path DIR"}},
  };
  for (const SuiteSlip& slip : slips) {
    SCOPED_TRACE(slip.name);
    write_text(folder() / "bad.yaml", slip.text);
    expect_findings(run_suite("bad.yaml"), slip.findings, slip.words);
  }
}

TEST_F(Slips, AKeyOfBlanksIsNone) {
  set_variable("OPENAI_API_KEY", " \n");
  expect_one_line(run_sluice({"run", "suite.yaml", "--mode", "live", "--provider", "openai", "--model", "m"}),
                  {"needs an API key, and OPENAI_API_KEY is not set"});
}

// It advised a filter for what there is, and there was nothing.
TEST_F(Slips, ARunWithoutAResultHasNoneToShow) {
  EXPECT_EQ(
      run_sluice({"run", "suite.yaml", "--mode", "cached", "--provider", "openai", "--model", "m"}).exit_code,
      2);
  const auto grid = run_sluice({"show", "last", "--grid"});
  EXPECT_EQ(grid.exit_code, 2);
  EXPECT_TRUE(grid.errors.ends_with("has no result; the run ended before it had one\n")) << grid.errors;
}

TEST_F(Slips, OnACommandLineNameWhatIsMeant) {
  set_variable("OPENAI_API_KEY", "");
  set_variable("ANTHROPIC_API_KEY", "");
  const std::vector<CommandSlip> slips{
      {"a misspelt command", {"rn", "suite.yaml"}, {"unknown command \"rn\"", "did you mean \"run\"?"}},
      {"a command of others", {"test"}, {"unknown command \"test\"", "did you mean \"run\"?"}},
      {"help as a command", {"help"}, {"did you mean `sluice --help`"}},
      {"a suite without a command", {"suite.yaml"}, {"did you mean `sluice run suite.yaml`?"}},
      {"a suite that is not there", {"sweet.yaml"}, {"did you mean `sluice run sweet.yaml`?"}},
      {"the first word of a command", {"validate", "suite.yaml"}, {"did you mean \"validate-fixtures\"?"}},
      {"a misspelt flag",
       {"run", "suite.yaml", "--mod", "mock"},
       {"unknown flag \"--mod\"", "did you mean \"--mode\"?"}},
      {"a flag of rerun",
       {"run", "suite.yaml", "--failed"},
       {"unknown flag \"--failed\"", "did you mean `sluice rerun --failed`"}},
      {"a short flag of others",
       {"run", "suite.yaml", "-o", "a.html"},
       {"unknown flag \"-o\"", "did you mean \"--output\"?"}},
      {"a flag of others", {"run", "suite.yaml", "--concurrency=4"}, {"did you mean \"--max-concurrent\"?"}},
      {"a short flag of others", {"run", "suite.yaml", "-j", "4"}, {"did you mean \"--max-concurrent\"?"}},
      {"a trial run", {"run", "suite.yaml", "--dry-run"}, {"did you mean `sluice plan`"}},
      {"a number of tests", {"run", "suite.yaml", "--limit", "3"}, {"did you mean \"--max-fixtures\"?"}},
      {"no run to show", {"show"}, {"RUN is required: `last` for the newest one"}},
      {"a flag of a run for what calls nobody",
       {"show", "last", "t", "--forget-limits"},
       {"unknown flag \"--forget-limits\"", "sluice show --help"}},
      {"a budget for what pays for nothing", {"diff", "--deadline", "5"}, {"unknown flag \"--deadline\""}},
      {"a suite by a variable of the shell that is not set",
       {"validate-fixtures", ""},
       {"SUITE is empty", "sluice validate-fixtures --help"}},
      {"a run by such a variable", {"show", ""}, {"RUN is empty: `last` for the newest one"}},
      {"such a run of observations",
       {"observations", "export", "--run", ""},
       {"--run must not be empty", "sluice observations export --help"}},
      {"such a file", {"keys", "new", "w1", "--output", ""}, {"--output must name a file"}},
      {"such a provider to forget",
       {"limits", "--forget-limits", ""},
       {"write --forget-limits PROVIDER, or --forget-limits alone", "sluice limits --help"}},
      {"such a run to go on with",
       {"run", "--resume", ""},
       {"write --resume RUN, or --resume alone", "sluice run --help"}},
      {"such perturbations",
       {"run", "suite.yaml", "--perturb", "", "--mode", "mock"},
       {"write --perturb A,B, or --perturb alone"}},
      {"such a model behind a =, in front of the suite",
       {"run", "--model=", "suite.yaml"},
       {"--model is given an empty value: write --model MODEL"}},
      {"a status of no observation",
       {"observations", "list", "--status", "passed"},
       {"--status must be one of", "\"passed\""}},
      {"no run to report", {"report"}, {"RUN is required: `last` for the newest one"}},
      {"a misspelt mode", {"run", "suite.yaml", "--mode", "mok"}, {"--mode", "\"mok\"", "mock"}},
      {"a misspelt provider",
       {"run", "suite.yaml", "--mode", "mock", "--provider", "openia"},
       {"did you mean \"openai\"?"}},
      {"an endpoint for a base URL",
       {"run", "suite.yaml", "--mode", "mock", "--base-url", "https://api.example.com/v1/messages/"},
       {"--base-url", "ends in \"/v1/messages\"", "as in https://api.example.com"}},
      {"no key",
       {"run", "suite.yaml", "--mode", "live", "--provider", "openai", "--model", "m"},
       {"needs an API key, and OPENAI_API_KEY is not set", "export OPENAI_API_KEY=..."}},
      {"no keys",
       {"run", "suite.yaml", "--mode", "live", "--arm", "a=openai:m", "--arm", "b=anthropic:m"},
       {"the providers \"openai\" and \"anthropic\" need API keys",
        "OPENAI_API_KEY, ANTHROPIC_API_KEY are not set: `export OPENAI_API_KEY=... ANTHROPIC_API_KEY=...`"}},
      {"no model",
       {"run", "suite.yaml", "--mode", "live", "--provider", "openai"},
       {"no model is named", "--model", "such as"}},
      {"an arm without a provider",
       {"run", "suite.yaml", "--mode", "mock", "--arm", "mini"},
       {"--arm", "NAME=PROVIDER:MODEL"}},
      {"no repeat", {"run", "suite.yaml", "--mode", "mock", "--repeat", "0"}, {"--repeat", "1"}},
      {"a filter for nothing", {"run", "suite.yaml", "--mode", "mock", "--filter", "id=none"}, {"none"}},
      {"a suite of another name",
       {"run", "missing.yaml", "--mode", "mock"},
       {"missing.yaml", "there is a suite.yaml here"}},
      {"a suite that would be replaced",
       {"init", "suite.yaml", "--yes"},
       {"suite.yaml is there already", "--force"}},
      {"no suite's name", {"init", "suite.txt", "--yes"}, {"suite.txt", ".yaml or .yml"}},
      {"no configuration", {"import", "missing.yaml"}, {"missing.yaml", "cannot be read"}},
      {"no configuration here", {"import"}, {"there is no promptfooconfig.yaml here", "sluice import"}},
      {"a suite to import",
       {"import", "suite.yaml", "--output", "other.yaml"},
       {"suite.yaml:1", "is a suite already", "sluice run"}},
  };
  for (const CommandSlip& slip : slips) {
    SCOPED_TRACE(slip.name);
    expect_one_line(run_sluice(slip.flags), slip.words);
  }
}

TEST_F(Slips, AnUnknownProviderIsNamedByWhateverReadsTheSuite) {
  write_text(folder() / "bad.yaml", in_suite("providers: ['openai:m', 'opnai:gpt-5-mini']"));
  const std::string words = "bad.yaml:2: the arm \"gpt-5-mini\": there is no provider \"opnai\"; there are";
  const std::string meant = "of the settings file; did you mean \"openai\"?";
  for (const char* command : {"run", "plan"})
    expect_one_line(run_sluice({command, "bad.yaml"}), {words, meant});
  const auto checked = run_sluice({"validate-fixtures", "bad.yaml"});
  EXPECT_EQ(checked.exit_code, 2);
  EXPECT_TRUE(checked.output.starts_with(words)) << checked.output;
  EXPECT_NE(checked.output.find(meant), std::string::npos) << checked.output;
  expect_one_line(checked, {"1 finding in bad.yaml"});
  write_text(folder() / "bad.yaml", in_suite("settings: {provider: opnai}"));
  const auto of_settings = run_sluice({"validate-fixtures", "bad.yaml"});
  EXPECT_EQ(of_settings.exit_code, 2);
  EXPECT_TRUE(of_settings.output.starts_with("bad.yaml:2: there is no provider \"opnai\"; there are"))
      << of_settings.output;
  EXPECT_NE(of_settings.output.find(meant), std::string::npos) << of_settings.output;
}

// An imported suite asks the embedder of promptfoo: nothing else in it named the provider.
TEST_F(Slips, AMissingKeyIsSaidToBeTheJudgesOrTheEmbedders) {
  set_variable("OPENAI_API_KEY", "");
  set_variable("GEMINI_API_KEY", "not-sent");
  const Flags answers{"run", "suite.yaml", "--mode", "live", "--provider", "gemini", "--model", "m"};
  write_text(folder() / "suite.yaml",
             "settings: {judge: openai, judge_model: gpt-4o}\n" + in_expected("{type: rubric, criteria: c}"));
  expect_one_line(run_sluice(answers),
                  {"\"openai\", which judges (--judge names another), needs an API key, and OPENAI_API_KEY"});
  write_text(folder() / "suite.yaml",
             "settings: {embedding_provider: openai, embedding_model: text-embedding-3-small}\n" +
                 in_expected("{type: semantic_similarity_to, text: x, min_score: 0.5}"));
  expect_one_line(run_sluice(answers),
                  {"\"openai\", which embeds texts (--embedding-provider names another), needs an API key"});
}

TEST_F(Slips, AllSettingsOfASuiteThatARunWouldRefuseAreNamedAtOnce) {
  write_text(folder() / "bad.yaml",
             in_suite("settings:\n  provider: opnai\n  judge: antropic\n  embedding_provider: gemni\n"
                      "  perturb: [whitespac]"));
  const auto checked = run_sluice({"validate-fixtures", "bad.yaml"});
  EXPECT_EQ(checked.exit_code, 2);
  for (const char* words :
       {"bad.yaml:3: there is no provider \"opnai\"", "bad.yaml:4: there is no provider \"antropic\"",
        "bad.yaml:5: there is no provider \"gemni\"", "bad.yaml:6: there is no perturbation \"whitespac\""})
    EXPECT_NE(checked.output.find(words), std::string::npos) << words << " in: " << checked.output;
  expect_one_line(checked, {"4 findings in bad.yaml"});
  // Nobody needs a judge that another place names, and no test asks.
  write_text(folder() / "bad.yaml", in_suite(""));
  set_variable("SLUICE_JUDGE", "antropic");
  EXPECT_EQ(run_sluice({"validate-fixtures", "bad.yaml"}).exit_code, 0);
}

// Such a suite was said to be in order, and refused by the run.
TEST_F(Slips, AModelThatARunRefusesIsNoSuiteInOrder) {
  const std::string prefixed = "the model \"openai:gpt-5-mini\" begins with a provider's name";
  for (const auto& [line, words] :
       {std::pair("model: openai:gpt-5-mini", prefixed),
        std::pair("arms: [{name: a, model: 'openai:gpt-5-mini'}]", "the arm \"a\": " + prefixed),
        std::pair("settings: {base_url: 'http://127.0.0.1:1/v1'}\nproviders: [openai:a, anthropic:b]",
                  std::string("the arms ask \"openai\" and \"anthropic\"")),
        std::pair("settings: {base_url: 'http://127.0.0.1:1/v1'}\n"
                  "arms: [{name: a, model: claude-x}, {name: b, model: llama3}]",
                  std::string("the arms ask \"anthropic\" and \"gemini\""))}) {
    write_text(folder() / "bad.yaml", in_suite(line));
    const auto checked = run_sluice({"validate-fixtures", "bad.yaml"});
    EXPECT_EQ(checked.output.rfind("bad.yaml:2", 0), 0u) << checked.output;
    EXPECT_NE(checked.output.find(words), std::string::npos) << checked.output;
    expect_one_line(checked, {"1 finding in bad.yaml"});
    expect_one_line(run_sluice({"run", "bad.yaml", "--mode", "mock"}), {words});
  }
}

// A newcomer was told when the run had begun.
TEST_F(Slips, AKeyThatARunWithholdsIsSaidBefore) {
  const std::string words =
      "the key in OPENAI_API_KEY is not sent to https://gw.invalid/v1, which the suite alone names; add its "
      "host to key_hosts under [providers.openai] in sluice.toml, or say --base-url https://gw.invalid/v1";
  const std::string settings = "settings: {base_url: 'https://gw.invalid/v1'}\n";
  for (const char* who :
       {"providers: ['openai:m']", "arms: [{name: a, model: gpt-5-mini}]", "model: gpt-5-mini"}) {
    write_text(folder() / "suite.yaml", in_suite(settings + who));
    const auto checked = run_sluice({"validate-fixtures", "suite.yaml"});
    EXPECT_EQ(checked.exit_code, 0) << checked.errors;
    EXPECT_NE(checked.output.find("suite.yaml: warning: " + words), std::string::npos) << checked.output;
    EXPECT_NE(checked.output.find("1 warning\n"), std::string::npos) << checked.output;
    const auto planned = run_sluice({"plan", "suite.yaml"});
    EXPECT_EQ(planned.exit_code, 0) << planned.errors;
    EXPECT_NE(planned.errors.find("warning: " + words), std::string::npos) << planned.errors;
  }
  for (const Flags& more : {Flags{"--mode", "cached"}, Flags{"--base-url", "https://gw.invalid/v1"}}) {
    const auto planned = run_sluice(Flags{"plan", "suite.yaml"} + more);
    EXPECT_EQ(planned.exit_code, 0) << planned.errors;
    EXPECT_EQ(planned.errors.find("is not sent"), std::string::npos) << planned.errors;
  }
  expect_one_line(run_sluice({"run", "suite.yaml", "--mode", "live"}), {words});
  write_text(folder() / "sluice.toml", "[providers.openai]\nkey_hosts = [\"gw.invalid\"]\n");
  const auto named = run_sluice({"validate-fixtures", "suite.yaml"});
  EXPECT_EQ(named.exit_code, 0) << named.output;
  EXPECT_EQ(named.output.find("is not sent"), std::string::npos) << named.output;
}

TEST_F(Slips, ASettingsFileBesideTheSuiteIsNamedWhereItHasTheProvider) {
  write_text(folder() / "evals" / "suite.yaml", in_suite("providers: ['mine:m']"));
  write_text(folder() / "evals" / "sluice.toml",
             "[providers.mine]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\n");
  const std::string way = "; evals/sluice.toml has \"mine\": --config evals/sluice.toml";
  expect_one_line(run_sluice({"run", "evals/suite.yaml", "--mode", "mock"}), {"no provider \"mine\"", way});
  expect_one_line(run_sluice({"plan", "evals/suite.yaml"}), {"no provider \"mine\"", way});
  const auto checked = run_sluice({"validate-fixtures", "evals/suite.yaml"});
  EXPECT_NE(checked.output.find(way), std::string::npos) << checked.output;
  write_text(folder() / "evals" / "sluice.toml", "[eval]\n");
  const auto without = run_sluice({"plan", "evals/suite.yaml"});
  EXPECT_EQ(without.errors.find("has \"mine\""), std::string::npos) << without.errors;
}

// It was ignored without a word: another model was asked, for another price.
TEST_F(Slips, ASettingsFileBesideTheSuiteThatIsNotReadIsNamed) {
  write_text(folder() / "evals" / "suite.yaml", in_suite("model: gpt-5-mini"));
  write_text(folder() / "evals" / "sluice.toml", "[eval\n");  // Nobody reads it.
  const std::string words =
      "warning: evals/sluice.toml lies beside the suite and is not read, since settings come from "
      "sluice.toml "
      "in the current folder: to use it, add --config evals/sluice.toml";
  const auto planned = run_sluice({"plan", "evals/suite.yaml"});
  EXPECT_EQ(planned.exit_code, 0) << planned.errors;
  EXPECT_NE(planned.errors.find(words), std::string::npos) << planned.errors;
  const auto checked = run_sluice({"validate-fixtures", "evals/suite.yaml"});
  EXPECT_EQ(checked.exit_code, 0) << checked.errors;
  EXPECT_NE(checked.output.find(words), std::string::npos) << checked.output;
  write_text(folder() / "evals" / "sluice.toml", "[eval]\n");
  const auto named = run_sluice({"plan", "evals/suite.yaml", "--config", "evals/sluice.toml"});
  EXPECT_EQ(named.errors.find("is not read"), std::string::npos) << named.errors;
  std::filesystem::rename(folder() / "evals" / "suite.yaml", folder() / "suite.yaml");
  const auto here = run_sluice({"plan", "suite.yaml"});
  EXPECT_EQ(here.errors.find("is not read"), std::string::npos) << here.errors;
}

}  // namespace sluice::slips_test
