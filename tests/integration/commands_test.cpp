// What the commands print and where: reports on stdout, everything else on stderr.

#include "tests/support/paths.hpp"
#include "tests/support/report_text.hpp"
#include "tests/support/workbench.hpp"

#include <map>
#include <regex>
#include <sstream>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using namespace support;

class Commands : public Workbench {
 protected:
  static bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
  }

  // The line of `sluice config` for this key.
  static std::string line_of(const Finished& config, const std::string& key) {
    const auto begin = config.output.find("\n" + key + " ");
    if (begin == std::string::npos) return "";
    return config.output.substr(begin + 1, config.output.find('\n', begin + 1) - begin - 1);
  }

  /// Adds the help of the command, and of all that it lists, by their words.
  void add_help(const Flags& words, std::map<std::string, std::string>& pages) {
    const auto help = run_sluice(words + Flags{"--help"});
    EXPECT_EQ(help.exit_code, 0) << help.errors;
    std::string name = "sluice";
    for (const auto& word : words) name += " " + word;
    pages[name] = help.output;
    const std::string heading = "\nSubcommands:\n";
    const auto begin = help.output.find(heading);
    if (begin == std::string::npos) return;
    std::istringstream lines(help.output.substr(begin + heading.size()));
    for (std::string line; std::getline(lines, line) && !line.empty();) {
      if (line.starts_with("   ")) continue;  // The rest of what stands above.
      add_help(words + Flags{line.substr(2, line.find(' ', 2) - 2)}, pages);
    }
  }

  /// The help of another program of this build.
  std::string help_of(const std::string& program) {
    const auto stem = (folder() / program).string();
    Process process(Command{{program_path(program), "--help"}, {}, folder(), stem + ".out", stem + ".err"});
    EXPECT_EQ(process.wait(), 0) << process.errors();
    return process.output();
  }
};

TEST_F(Commands, NoLibraryIsTakenFromTheWorkingDirectory) {
  for (const char* library : {"libfmt.so.9", "libspdlog.so.1.10", "libcaf_core.so.0.17.6", "libstdc++.so.6"})
    write_text(folder() / library, "no library");
  for (const char* program : {"sluice", "sluice-worker"}) {
    const auto stem = (folder() / program).string();
    Process process(
        Command{{program_path(program), "--version"}, {}, folder(), stem + ".out", stem + ".err"});
    EXPECT_EQ(process.wait(), 0) << process.errors();
  }
}

TEST_F(Commands, HelpFitsEightyColumnsAndHasNoTypeNamesOfALibrary) {
  std::map<std::string, std::string> pages{{"sluice-worker", help_of("sluice-worker")},
                                           {"provider-sim", help_of("provider-sim")}};
  add_help({}, pages);
  EXPECT_TRUE(pages.contains("sluice run")) << pages["sluice"];
  EXPECT_TRUE(pages.contains("sluice cache export")) << pages["sluice cache"];
  const std::regex raw(
      R"(\b(TEXT|U?INT|FLOAT|BOOLEAN|ENUM|NONNEGATIVE|POSITIVE|REQUIRED)\b|:\{| in \[[0-9]|:FILE)");
  for (const auto& [name, page] : pages) {
    std::istringstream lines(page);
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 80u) << name << ": " << line;
      EXPECT_FALSE(std::regex_search(line, raw)) << name << ": " << line;
    }
  }
}

TEST_F(Commands, HelpOfACommandThatThereIsNotIsAnErrorThatNamesTheNearest) {
  const auto errors_of = [&](const Flags& words) {
    const auto finished = run_sluice(words + Flags{"--help"});
    EXPECT_EQ(finished.exit_code, 2) << finished.output;
    EXPECT_EQ(finished.output, "");
    EXPECT_EQ(finished.errors, run_sluice(words).errors) << "the same as without --help";
    return finished.errors;
  };
  EXPECT_EQ(errors_of({"confg"}),
            "sluice: error: unknown command \"confg\"; did you mean \"config\"? (see `sluice --help`)\n");
  for (const std::string word : {"validate", "valdate"}) {
    EXPECT_EQ(errors_of({word}), "sluice: error: unknown command \"" + word +
                                     "\"; did you mean \"validate-fixtures\"? (see `sluice --help`)\n");
  }
  EXPECT_EQ(
      errors_of({"cache", "exprt"}),
      "sluice: error: unknown command \"exprt\"; did you mean \"export\"? (see `sluice cache --help`)\n");
  EXPECT_EQ(errors_of({"runs", "frobnicate"}),
            "sluice: error: unknown command \"frobnicate\"; there are list, show and prune (see `sluice runs "
            "--help`)\n");
  const auto help = run_sluice({"run", "--bogus", "--help"});
  EXPECT_EQ(help.exit_code, 0) << "who looks for a flag finds it there";
  EXPECT_TRUE(has(help.output, "--max-fixtures")) << help.output;
}

TEST_F(Commands, JsonAloneStandsOnStandardOutput) {
  const auto simulator = start_simulator();
  const auto finished = run_sluice(live(simulator) + Flags{"--log-level", "debug"});
  const auto report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object()) << finished.output.substr(0, 300);
  EXPECT_EQ(schema_findings(report), "");
  EXPECT_TRUE(has(finished.errors, "cases done")) << finished.errors;
  EXPECT_FALSE(has(finished.errors + finished.output, "key-for-tests"));
}

TEST_F(Commands, OutputTakesTheReportAwayFromStandardOutput) {
  const auto simulator = start_simulator();
  const auto file = folder() / "report.json";
  const auto finished = run_sluice(live(simulator) + Flags{"--output", file.string()});
  EXPECT_EQ(finished.exit_code, 1);
  EXPECT_EQ(finished.output, "");
  EXPECT_EQ(comparable_part(read_text(file)), reference_report());
}

TEST_F(Commands, TableAndMarkdownAgree) {
  const auto simulator = start_simulator();
  const auto table = run_sluice(with(live(simulator), "--format", "table"));
  const auto markdown = run_sluice(with(live(simulator), "--format", "markdown"));
  const auto report = parse_report(run_sluice(cached(simulator)).output);
  ASSERT_TRUE(report.is_object());
  for (const auto& result : report["fixture_results"]) {
    if (result["status"] == "pass") continue;
    const auto id = result["id"].get<std::string>();
    EXPECT_TRUE(has(table.output, id)) << id;
    EXPECT_TRUE(has(markdown.output, id)) << id;
  }
}

TEST_F(Commands, ARunOfSomeCasesHasThoseAlone) {
  const auto simulator = start_simulator();
  const auto finished = run_sluice(live(simulator) + Flags{"--categories", "tls,jwt", "--max-fixtures", "3"});
  const auto report = parse_report(finished.output);
  ASSERT_TRUE(report.is_object()) << finished.errors;
  ASSERT_EQ(report["fixture_results"].size(), 3u);
  EXPECT_EQ(report["fixture_results"][0]["id"], "jwt-001");
  EXPECT_EQ(report["fixture_results"][2]["id"], "jwt-003");
}

TEST_F(Commands, TheShippedFixturesAreValid) {
  const auto finished = run_sluice({"validate-fixtures", "--fixtures", shipped_fixtures().string()});
  EXPECT_EQ(finished.exit_code, 0) << finished.output << finished.errors;
  EXPECT_TRUE(has(finished.output, std::to_string(fixture_count()) + " fixtures ok")) << finished.output;
}

TEST_F(Commands, ListFixturesKnowsEveryCase) {
  const Flags flags{"list-fixtures", "--fixtures", shipped_fixtures().string()};
  const auto all = run_sluice(flags);
  EXPECT_EQ(all.exit_code, 0) << all.errors;
  EXPECT_TRUE(has(all.output, "auth-001"));
  const auto some = run_sluice(flags + Flags{"--category", "tls"});
  EXPECT_FALSE(has(some.output, "auth-001"));
  EXPECT_TRUE(has(some.output, "tls-001"));
}

TEST_F(Commands, CategoriesHaveBothNamesInBothCommands) {
  const Flags both{"--category", "tls", "--categories", "jwt,auth"};
  const Flags list{"list-fixtures", "--fixtures", shipped_fixtures().string()};
  const auto listed = run_sluice(list + both);
  EXPECT_EQ(listed.exit_code, 0) << listed.errors;
  EXPECT_EQ(listed.output, run_sluice(list + Flags{"--category", "tls,jwt,auth"}).output);
  const Flags mock{"run",      "--mode", "mock",   "--fixtures", shipped_fixtures().string(),
                   "--format", "json",   "--quiet"};
  const auto run = run_sluice(mock + both);
  EXPECT_EQ(run.exit_code, 1) << run.errors;
  EXPECT_TRUE(has(run.output, "\"tls-001\""));
  EXPECT_TRUE(has(run.output, "\"auth-001\""));
  EXPECT_FALSE(has(run.output, "\"edge-001\""));
  for (const auto* command : {"run", "list-fixtures"}) {
    const auto help = run_sluice({command, "--help"}).output;
    EXPECT_TRUE(has(help, "--category") && has(help, "--categories")) << help;
  }
}

TEST_F(Commands, EveryBadFixtureIsNamedInOneGo) {
  const auto suite = folder() / "suite";
  const std::string good = "[metadata]\nid = \"a-1\"\nname = \"A\"\ncategory = \"tls\"\nlanguage = \"c\"\n";
  write_text(suite / "unknown_key.toml", good + "colour = \"red\"\n[input]\ncontent = \"x\"\n");
  write_text(suite / "missing.toml", "[metadata]\nid = \"b-1\"\nname = \"B\"\ncategory = \"tls\"\n");
  write_text(suite / "weight.toml",
             "[metadata]\nid = \"c-1\"\nname = \"C\"\ncategory = \"tls\"\nlanguage = \"c\"\n"
             "[input]\ncontent = \"x\"\n[scoring]\nweight = -2.0\n");
  const auto finished = run_sluice({"validate-fixtures", "--fixtures", suite.string()});
  EXPECT_EQ(finished.exit_code, 2);
  EXPECT_TRUE(has(finished.output, "unknown_key.toml:6")) << finished.output;
  EXPECT_TRUE(has(finished.output, "colour")) << finished.output;
  EXPECT_TRUE(has(finished.output, "missing.toml:")) << finished.output;
  EXPECT_TRUE(has(finished.output, "\"input\"")) << finished.output;
  EXPECT_TRUE(has(finished.output, "weight.toml:9")) << finished.output;

  // A run over them says the same, and does not begin.
  const auto run = run_sluice({"run", "--mode", "mock", "--fixtures", suite.string()});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.output, "");
  EXPECT_TRUE(has(run.errors, "unknown_key.toml:6")) << run.errors;
  EXPECT_TRUE(has(run.errors, "weight.toml:9")) << run.errors;
}

TEST_F(Commands, WhatIsWrongWithJudgedTestsAndTheirRubricsIsNamed) {
  const auto suite = folder() / "suite.yaml";
  write_text(folder() / "rubrics" / "tone" / "v2.toml",
             "id = \"tone\"\nversion = \"v1\"\ndescription = \"d\"\nsystem = \"\"\nuser = \"{{anser}}\"\n");
  write_text(suite,
             "suite: s\nrubrics: rubrics\ntests:\n"
             "- id: a\n  input: {prompt: p}\n  expected: {type: faithfulness, threshold: 0.5}\n"
             "- id: b\n  input: {prompt: p}\n  expected: {type: correctness, rubric_version: v7}\n");
  const auto finished = run_sluice({"validate-fixtures", suite.string()});
  EXPECT_EQ(finished.exit_code, 2);
  for (const char* place :
       {"v2.toml:2: \"version\"", "v2.toml:5: \"user\" has the unknown placeholder {{anser}}",
        "v2.toml:5: \"user\" must show {{answer}}", "suite.yaml:5: missing \"context\"",
        "suite.yaml:6: \"threshold\" in expected is called \"min_score\"",
        "suite.yaml:9: \"rubric_version\" in expected names \"v7\""}) {
    EXPECT_TRUE(has(finished.output, place)) << place << " is not in:\n" << finished.output;
  }
}

TEST_F(Commands, TheSuiteOfTheDocumentsWithJudgesIsValid) {
  const auto suite = support::source_path("docs/examples/judges/suite.yaml");
  const auto finished = run_sluice({"validate-fixtures", suite});
  EXPECT_EQ(finished.exit_code, 0) << finished.output << finished.errors;
  EXPECT_TRUE(has(finished.output, "all: 5 tests ok")) << finished.output;
}

TEST_F(Commands, ValidateFixturesCountsPromptsAndArms) {
  write_text(folder() / "suite.yaml",
             "suite: s\nprompts: [\"{{a}}?\", \"{{a}}!\"]\narms: [x=openai:m, {name: y, prompt: \"2\"}]\n"
             "tests:\n- {id: t, vars: {a: 1}, expected: {type: exact_match, text: b}}\n");
  const auto finished = run_sluice({"validate-fixtures", (folder() / "suite.yaml").string()});
  EXPECT_EQ(finished.exit_code, 0) << finished.output << finished.errors;
  EXPECT_TRUE(has(finished.output, "all: 1 test ok, 2 prompts, 3 arms\n")) << finished.output;
}

TEST_F(Commands, WordsThatTheOntologyLacksAreNamedAtTheLineOfTheCase) {
  const auto suite = folder() / "suite";
  write_text(suite / "odd.toml",
             "# A comment.\n[metadata]\nid = \"a-1\"\ncategory = \"tls\"\n[input]\ncontent = \"x\"\n"
             "[[expected.must_contain]]\nsubject = \"no/such\"\npredicate = \"thing\"\nvalue = true\n");
  const auto finished = run_sluice({"validate-fixtures", suite.string()});
  EXPECT_EQ(finished.exit_code, 0) << finished.errors;
  EXPECT_TRUE(
      has(finished.output, "odd.toml:3: warning: a-1 names no/such/thing, which the ontology does not"))
      << finished.output;
}

// It showed the default provider beside such a model, without a word: a run asks neither.
TEST_F(Commands, ConfigWarnsOfAModelThatBeginsWithAProvidersName) {
  const std::string words =
      "warning: the model \"openai:m\" begins with a provider's name: --provider openai --model m name both";
  const auto config = run_sluice({"config", "--model", "openai:m"});
  EXPECT_EQ(config.exit_code, 0) << config.errors;
  EXPECT_TRUE(has(config.errors, words)) << config.errors;
  EXPECT_TRUE(has(line_of(config, "eval.provider"), "# default")) << config.output;
  write_text(folder() / "sluice.toml", "[eval]\nmodel = \"openai:m\"\n");
  EXPECT_TRUE(has(run_sluice({"config"}).errors, words));
  for (const Flags& clear : {Flags{"--provider", "openai"}, Flags{"--model", "gpt-5-mini"}})
    EXPECT_EQ(run_sluice(Flags{"config"} + clear).errors, "");
  const auto made = run_sluice({"config", "--model", "gpt-5-mini"});
  EXPECT_TRUE(has(line_of(made, "eval.provider"), "\"openai\"")) << made.output;
  EXPECT_TRUE(has(line_of(made, "eval.provider"), "# flag --model")) << made.output;
}

TEST_F(Commands, ConfigShowsWhereEachValueComesFrom) {
  write_text(folder() / "sluice.toml",
             "[eval]\nmodel = \"from-file\"\ntemperature = 0.5\nmax_output_tokens = 100\n");
  set_variable("SLUICE_TEMPERATURE", "0.7");
  set_variable("SLUICE_MAX_OUTPUT_TOKENS", "200");
  const auto config = run_sluice({"config", "--max-output-tokens", "300"});
  EXPECT_EQ(config.exit_code, 0) << config.errors;
  EXPECT_TRUE(has(line_of(config, "eval.model"), "\"from-file\"")) << config.output;
  EXPECT_TRUE(has(line_of(config, "eval.model"), "sluice.toml:2")) << config.output;
  EXPECT_TRUE(has(line_of(config, "eval.temperature"), "= 0.7")) << config.output;
  EXPECT_TRUE(has(line_of(config, "eval.temperature"), "SLUICE_TEMPERATURE")) << config.output;
  EXPECT_TRUE(has(line_of(config, "eval.max_output_tokens"), "= 300")) << config.output;
  EXPECT_TRUE(has(line_of(config, "eval.max_output_tokens"), "--max-output-tokens")) << config.output;
  EXPECT_TRUE(has(line_of(config, "eval.max_concurrent"), "# default")) << config.output;
  EXPECT_TRUE(has(line_of(config, "home"), "SLUICE_HOME")) << config.output;
}

TEST_F(Commands, AWrongSettingIsNamedWithTheNearestRightOne) {
  write_text(folder() / "sluice.toml", "[eval]\nmax_concurent = 5\nmode = \"lively\"\n");
  const auto config = run_sluice({"config"});
  EXPECT_EQ(config.exit_code, 2);
  ASSERT_EQ(config.error_lines().size(), 2u) << config.errors;
  EXPECT_TRUE(has(config.errors, "sluice.toml:2")) << config.errors;
  EXPECT_TRUE(has(config.errors, "max_concurrent")) << config.errors;
  EXPECT_TRUE(has(config.errors, "sluice.toml:3")) << config.errors;
  EXPECT_TRUE(has(config.errors, "live")) << config.errors;
}

TEST_F(Commands, OnlyConfigListsTheValidKeysItself) {
  write_text(folder() / "sluice.toml", "[eval]\nparallelism = 5\n");
  const auto config = run_sluice({"config"});
  EXPECT_EQ(config.exit_code, 2);
  EXPECT_TRUE(has(config.errors, "; valid here: fixtures_dir, mode, ")) << config.errors;
  EXPECT_FALSE(has(config.errors, "sluice config")) << config.errors;
  const auto run = run_sluice({"run", "--fixtures", shipped_fixtures().string()});
  EXPECT_TRUE(has(run.errors, "`sluice config` lists those that are valid")) << run.errors;
}

// What `sluice run` says of the same settings: all of it is in what `sluice config` says.
TEST_F(Commands, ConfigRefusesTheValuesThatARunRefuses) {
  set_variable("SLUICE_MODEL", "m");
  const std::vector<std::string> wrong{"prompt_file = \"nope.toml\"", "ontology_file = \"nope.toml\"",
                                       "prices_file = \"nope.toml\""};
  std::string all = "[eval]\n";
  std::vector<std::string> expected;
  for (const std::string& line : wrong) {
    write_text(folder() / "sluice.toml", "[eval]\n" + line + "\n");
    const auto config = run_sluice({"config"});
    EXPECT_EQ(config.exit_code, 2) << line;
    EXPECT_EQ(config.output, "") << line;
    EXPECT_TRUE(has(config.errors, "sluice.toml:2")) << config.errors;
    const auto run = run_sluice({"run", "--fixtures", shipped_fixtures().string()});
    EXPECT_EQ(run.exit_code, 2) << line;
    EXPECT_EQ(run.errors, config.errors) << line;
    all += line + "\n";
  }
  write_text(folder() / "sluice.toml", all);
  EXPECT_EQ(run_sluice({"config"}).error_lines().size(), wrong.size());
}

// The settings file gives way to a suite, the environment and flags do not.
TEST_F(Commands, ConfigWarnsOfValuesThatASuiteMayReplace) {
  set_variable("SLUICE_MODEL", "m");
  for (const std::string line : {"provider = \"opnai\"", "perturb = [\"crl\"]"}) {
    write_text(folder() / "sluice.toml", "[eval]\n" + line + "\n");
    const auto config = run_sluice({"config"});
    EXPECT_EQ(config.exit_code, 0) << line;
    EXPECT_TRUE(has(config.errors, "warning: ")) << config.errors;
    EXPECT_TRUE(has(config.errors, "sluice.toml:2")) << config.errors;
    EXPECT_EQ(run_sluice({"run", "--fixtures", shipped_fixtures().string()}).exit_code, 2) << line;
  }
  std::filesystem::remove(folder() / "sluice.toml");
  EXPECT_EQ(run_sluice({"config", "--provider", "opnai"}).exit_code, 2);
  EXPECT_EQ(run_sluice({"config", "--perturb", "crl"}).exit_code, 2);
  const auto unneeded = run_sluice({"config", "--embedding-provider", "opnai"});
  EXPECT_EQ(unneeded.exit_code, 0) << "only similarity needs one";
  EXPECT_TRUE(has(unneeded.errors, "opnai")) << unneeded.errors;
  EXPECT_EQ(run_sluice({"config", "--embedding-provider", "opnai", "--embedding-model", "lexical-ngrams-v1"})
                .errors,
            "");
}

TEST_F(Commands, WhereNoSuiteIsNamedTheOneThatLiesThereIsProposed) {
  write_text(folder() / "suite.yaml", "suite: here\n");
  const auto refused = run_sluice({"run"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.errors.find("there is a suite.yaml here"), std::string::npos) << refused.errors;
}

TEST_F(Commands, ALiveRunWithoutAModelIsRefusedNamingTwoOfItsProvider) {
  const auto run = run_sluice(
      {"run", "--mode", "live", "--provider", "openai", "--fixtures", shipped_fixtures().string()});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(
      run.errors,
      "sluice: error: no model is named for the provider \"openai\": name it with --model, such as "
      "\"gpt-6.1-sol\" or \"gpt-6-luna\", or as \"model\" in [eval], or \"model\" in [providers.openai] of "
      "the settings file\n");
}

TEST_F(Commands, WhatIsWrongInADataFileIsReportedLineByLine) {
  set_variable("SLUICE_MODEL", "m");
  write_text(folder() / "p.toml", "version = \"1\"\nsystem = \"{{content}}\"\nuser = \"\"\nextra = 1\n");
  const std::string prompt =
      "sluice: error: p.toml:2: \"system\" has the unknown placeholder {{content}}; known there: "
      "{{ontology}}\n"
      "sluice: error: p.toml:3: \"user\" must contain {{content}}, where the code to analyse goes\n"
      "sluice: error: p.toml:4: unknown key \"extra\"; valid here: version, system, user\n";
  const Flags run{"run", "--fixtures", shipped_fixtures().string(), "--prompt", "p.toml"};
  EXPECT_EQ(run_sluice(run).errors, prompt);
  EXPECT_EQ(run_sluice({"config", "--prompt", "p.toml"}).errors, prompt);
  write_text(folder() / "o.toml", "version = 1\nextra = 1\n");
  const std::string ontology =
      "sluice: error: o.toml:1: \"version\" must be a string, not a whole number\n"
      "sluice: error: o.toml:1: missing \"subject\": expected an array\n"
      "sluice: error: o.toml:2: unknown key \"extra\"; valid here: version, subject\n";
  const auto validated =
      run_sluice({"validate-fixtures", shipped_fixtures().string(), "--ontology", "o.toml"});
  EXPECT_EQ(validated.exit_code, 2);
  EXPECT_EQ(validated.errors, ontology);
}

TEST_F(Commands, WhatHasNoEffectIsWarnedOfOnce) {
  write_text(folder() / "sluice.toml", "[eval]\nsave_observations = false\nretention_days = 30\n");
  set_variable("SLUICE_MAX_CONCURENT", "3");
  const std::string warnings =
      "sluice: warning: SLUICE_MAX_CONCURENT is no setting; did you mean SLUICE_MAX_CONCURRENT?\n";
  const auto config = run_sluice({"config"});
  EXPECT_EQ(config.exit_code, 0);
  EXPECT_EQ(config.errors, warnings);
  const Flags mock{"run", "--mode", "mock", "--fixtures", shipped_fixtures().string(), "--quiet"};
  EXPECT_EQ(run_sluice(mock).errors, warnings);
  const Flags only_errors{"run",         "--mode", "mock", "--fixtures", shipped_fixtures().string(),
                          "--log-level", "error"};
  EXPECT_FALSE(has(run_sluice(only_errors).errors, "warning"));
  const auto worker = run_worker("tcp://127.0.0.1:1", {"--coordinator-timeout", "0.1"});
  EXPECT_TRUE(has(worker.errors, "SLUICE_MAX_CONCURENT is no setting")) << worker.errors;
  const auto misspelt = run_worker("tcp://127.0.0.1:1", {"--stya"});
  EXPECT_TRUE(has(misspelt.errors, "unknown flag \"--stya\"; did you mean \"--stay\"?")) << misspelt.errors;
}

TEST_F(Commands, CategoriesMayHaveBlanksAroundThem) {
  const auto listed = run_sluice({"list-fixtures", shipped_fixtures().string(), "--category", "tls, jwt"});
  EXPECT_EQ(listed.exit_code, 0) << listed.errors;
  EXPECT_TRUE(has(listed.output, "tls-001")) << listed.output;
  EXPECT_TRUE(has(listed.output, "jwt-001")) << listed.output;
  EXPECT_FALSE(has(listed.output, "auth-001")) << listed.output;
  for (const std::string nothing : {",", "", "tls,,jwt"}) {
    const auto run = run_sluice({"run", "--mode", "mock", "--fixtures", shipped_fixtures().string(),
                                 "--categories", nothing, "--format", "json"});
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_EQ(run.errors,
              "sluice: error: --categories must be names with a comma between them, like tls,jwt, not \"" +
                  nothing + "\"\n");
  }
}

}  // namespace
}  // namespace sluice
