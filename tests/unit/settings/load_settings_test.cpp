#include "common/settings/load_settings.hpp"

#include "common/settings/setting_definitions.hpp"
#include "tests/support/paths.hpp"

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

tl::expected<Settings, std::vector<Finding>> merge(std::optional<std::string> file,
                                                   const Variables& variables = {},
                                                   std::vector<FlagValue> flags = {}) {
  SettingSources sources;
  sources.file_name = "sluice.toml";
  sources.file_text = std::move(file);
  sources.environment = [variables](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found != variables.end() ? std::optional(found->second) : std::nullopt;
  };
  sources.flags = std::move(flags);
  return merge_settings(sources);
}

Settings merged(std::optional<std::string> file, const Variables& variables = {},
                std::vector<FlagValue> flags = {}) {
  auto settings = merge(std::move(file), variables, std::move(flags));
  EXPECT_TRUE(settings) << join_findings(settings.error());
  return settings ? *settings : Settings{};
}

std::string findings(std::optional<std::string> file, const Variables& variables = {},
                     std::vector<FlagValue> flags = {}) {
  const auto settings = merge(std::move(file), variables, std::move(flags));
  EXPECT_FALSE(settings);
  return settings ? "" : join_findings(settings.error());
}

TEST(Settings, DefaultsAreTheSpecs) {
  const Settings settings = merged(std::nullopt, {{"HOME", "/home/u"}});
  EXPECT_EQ(settings.fixtures_dir.value, "tests/llm_fixtures");
  EXPECT_EQ(settings.mode.value, Mode::cached);
  EXPECT_EQ(settings.max_concurrent.value, 5u);
  EXPECT_EQ(settings.rate_limit_initial_delay.value, std::chrono::milliseconds(500));
  EXPECT_EQ(settings.rate_limit_max_retries.value, 5u);
  EXPECT_EQ(settings.temperature.value, 0.1);
  EXPECT_EQ(settings.home.value, "/home/u/.sluice");
  EXPECT_EQ(settings.max_concurrent.origin, Origin::default_value);
}

TEST(Settings, FlagsGoBeforeTheEnvironmentAndThatBeforeTheFile) {
  const std::string file = "[eval]\nmax_concurrent = 6\nmax_output_tokens = 7\ntemperature = 1\nseed = -3\n";
  const Settings settings =
      merged(file, {{"SLUICE_MAX_CONCURRENT", "8"}, {"SLUICE_MAX_OUTPUT_TOKENS", "9"}, {"SLUICE_SEED", ""}},
             {{"max_concurrent", "--max-concurrent", "10"}});
  EXPECT_EQ(settings.max_concurrent.value, 10u);
  EXPECT_EQ(settings.max_concurrent.origin, Origin::flag);
  EXPECT_EQ(settings.max_concurrent.where, "--max-concurrent");
  EXPECT_EQ(settings.max_output_tokens.value, 9u);
  EXPECT_EQ(settings.max_output_tokens.where, "SLUICE_MAX_OUTPUT_TOKENS");
  EXPECT_EQ(settings.temperature.value, 1.0);
  EXPECT_EQ(settings.temperature.where, "sluice.toml:4");
  EXPECT_EQ(settings.seed.value, -3) << "an empty variable counts as not set";
}

TEST(Settings, ReadsFractionsOfSecondsAndFoldersOfTheUser) {
  const Settings settings =
      merged("[eval]\nconnect_timeout_seconds = 0.25\nfixtures_dir = \"~/suite\"\n",
             {{"SLUICE_REQUEST_TIMEOUT_SECONDS", "1.5"}, {"HOME", "/h"}, {"SLUICE_HOME", "~"}});
  EXPECT_EQ(settings.connect_timeout.value, std::chrono::milliseconds(250));
  EXPECT_EQ(settings.request_timeout.value, std::chrono::milliseconds(1500));
  EXPECT_EQ(settings.fixtures_dir.value, "/h/suite");
  EXPECT_EQ(settings.home.value, "/h");
}

SuiteSetting suite_setting(std::string key, decltype(DocumentNode::value) value, std::uint32_t line) {
  return {key, "\"" + key + "\" in settings", "suite.yaml", DocumentNode{std::move(value), line}};
}

SettingSources sources_with_suite(std::vector<SuiteSetting> suite) {
  SettingSources sources;
  sources.file_name = "sluice.toml";
  sources.file_text = "[eval]\nmax_output_tokens = 1\nseed = 1\ntemperature = 1\nmax_concurrent = 1\n";
  sources.environment = [](std::string_view name) -> std::optional<std::string> {
    if (name == "SLUICE_SEED") return "3";
    if (name == "SLUICE_TEMPERATURE") return "1.5";
    return std::nullopt;
  };
  sources.flags = {{"temperature", "--temperature", "2"}};
  sources.suite = std::move(suite);
  return sources;
}

TEST(Settings, ASuiteGoesBeforeTheFileAndAfterTheEnvironment) {
  const auto settings = merge_settings(
      sources_with_suite({suite_setting("max_output_tokens", std::int64_t{2}, 7),
                          suite_setting("seed", std::int64_t{2}, 8), suite_setting("temperature", 0.5, 9)}));
  ASSERT_TRUE(settings) << join_findings(settings.error());
  EXPECT_EQ(settings->max_concurrent.value, 1u);
  EXPECT_EQ(settings->max_output_tokens.value, 2u);
  EXPECT_EQ(settings->max_output_tokens.origin, Origin::suite);
  EXPECT_EQ(settings->max_output_tokens.where, "suite.yaml:7");
  EXPECT_EQ(settings->seed.value, 3);
  EXPECT_EQ(settings->temperature.value, 2.0);
}

TEST(Settings, ASuitesModelIsMeantForItsProvider) {
  SettingSources sources;
  sources.suite = {suite_setting("provider", std::string("openai"), 2),
                   suite_setting("model", std::string("m"), 3)};
  const auto settings = merge_settings(sources);
  ASSERT_TRUE(settings) << join_findings(settings.error());
  EXPECT_EQ(settings->model_provider, "openai");
  sources.flags = {{"provider", "--provider", "gemini"}};
  const auto other = resolve_provider(*merge_settings(sources));
  ASSERT_FALSE(other);
  EXPECT_TRUE(other.error().message.starts_with(
      "the model \"m\" (suite.yaml:3) is meant for the provider \"openai\": name one for \"gemini\""))
      << other.error().message;
}

TEST(Settings, AModelWithoutAProviderBesideItGoesWithTheOneInEffect) {
  SettingSources sources;
  sources.suite = {suite_setting("model", std::string("x"), 3)};
  sources.flags = {{"provider", "--provider", "openai"}};
  const auto by_flag = resolve_provider(*merge_settings(sources));
  ASSERT_TRUE(by_flag) << by_flag.error().message;
  EXPECT_EQ(by_flag->model, "x");
  EXPECT_EQ(by_flag->provider.name, "openai");

  sources.file_name = "sluice.toml";
  sources.file_text = "[eval]\nprovider = \"anthropic\"\nmodel = \"of-the-file\"\n";
  EXPECT_EQ(resolve_provider(*merge_settings(sources))->model, "x") << "the suite's goes before the file's";
  sources.suite.clear();
  EXPECT_FALSE(resolve_provider(*merge_settings(sources))) << "the file's is meant for anthropic";
  sources.environment = [](std::string_view name) {
    return name == "SLUICE_MODEL" ? std::optional<std::string>("e") : std::nullopt;
  };
  EXPECT_EQ(resolve_provider(*merge_settings(sources))->model, "e");
  sources.flags = {{"model", "--model", "f"}};
  const auto by_file = resolve_provider(*merge_settings(sources));
  EXPECT_EQ(by_file->model, "f");
  EXPECT_EQ(by_file->provider.name, "anthropic");
}

TEST(Settings, WrongOnesOfASuiteAreNamedWithItsLine) {
  const auto settings = merge_settings(
      sources_with_suite({suite_setting("seed", std::string("x"), 4), suite_setting("nope", true, 5)}));
  ASSERT_FALSE(settings);
  EXPECT_EQ(join_findings(settings.error()),
            "suite.yaml:4: \"seed\" in settings must be a whole number, not \"x\"; "
            "suite.yaml:5: \"nope\" in settings is no setting");
}

TEST(Settings, TheRegressionThresholdIsANumberOfPoints) {
  EXPECT_EQ(merged(std::nullopt).regression_threshold.value, 0.05);
  EXPECT_EQ(merged("[eval]\nregression_threshold = 0\n").regression_threshold.value, 0.0);
  EXPECT_EQ(findings(std::nullopt, {}, {{"regression_threshold", "--threshold", "5"}}),
            "--threshold: must be a number from 0 to 1, not \"5\"");
  EXPECT_EQ(
      findings("[eval]\nregression_threshold = nan\n"),
      "sluice.toml:2: \"regression_threshold\" in [eval] must be a number from 0 to 1, not an infinite or "
      "undefined number");
}

struct BadSetting {
  std::string file;
  std::string finding;
};

TEST(Settings, WrongOnesAreNamedWithFileLineAndNearestKey) {
  const std::vector<BadSetting> cases{
      {"[eval]\nmax_concurent = 1\n",
       "sluice.toml:2: unknown key \"max_concurent\" in [eval]; did you mean \"max_concurrent\"?"},
      {"[evall]\n", "sluice.toml:1: unknown table \"evall\"; did you mean \"eval\"?"},
      {"[eval]\n\nmax_concurrent = 0\n",
       "sluice.toml:3: \"max_concurrent\" in [eval] must be a whole number from 1 to 10000, not 0"},
      {"[eval]\nmax_concurrent = \"5\"\n",
       "sluice.toml:2: \"max_concurrent\" in [eval] must be a whole number from 1 to 10000, not \"5\""},
      {"[eval]\ntemperature = nan\n",
       "sluice.toml:2: \"temperature\" in [eval] must be a number from 0 to 2, or \"default\" to send none, "
       "not an infinite or undefined "
       "number"},
      {"[eval]\nmode = \"livee\"\n",
       "sluice.toml:2: \"mode\" in [eval] must be \"live\", \"cached\", \"mock\" or \"robust\", not "
       "\"livee\"; did you mean \"live\"?"},
      {"[eval]\nmodel = \"\"\n", "sluice.toml:2: \"model\" in [eval] must not be empty"},
      {"eval = 1\n", "sluice.toml:1: \"eval\" must be a table, not a whole number"},
      {"[providers.x]\nbase_url = \"http://h\"\n",
       "sluice.toml:1: missing \"kind\" in [providers.x]: expected "
       "\"openai\", \"openai-responses\", \"anthropic\", \"gemini\", \"http\" or \"exec\""},
      {"[providers.x]\nknid = \"openai\"\n",
       "sluice.toml:2: unknown key \"knid\" in [providers.x]; did you mean \"kind\", which is missing?"},
      {"[providers.opnai]\nmodel = \"m\"\n",
       "sluice.toml:1: missing \"kind\" in [providers.opnai]: expected \"openai\", \"openai-responses\", "
       "\"anthropic\", "
       "\"gemini\", \"http\" or \"exec\"; did you mean [providers.openai]?"},
      {"[providers.gemnii]\n",
       "sluice.toml:1: missing \"kind\" in [providers.gemnii]: expected \"openai\", \"openai-responses\", "
       "\"anthropic\", "
       "\"gemini\", \"http\" or \"exec\"; did you mean [providers.gemini]?"},
      {"[eval]\nmax_tokens = 4096\n",
       "sluice.toml:2: \"max_tokens\" in [eval] is now called \"max_output_tokens\"; the budget of the whole "
       "run is \"max_run_tokens\" in [eval]"},
      {"[eval]\nrun_deadline_seconds = \"soon\"\n",
       "sluice.toml:2: \"run_deadline_seconds\" in [eval] must be a time of more than 0 and at most 168 "
       "hours: a "
       "number of seconds, or one with a unit such as \"90s\", \"10m\" or \"2h\", not \"soon\""},
      {"[eval]\nmax_run_cost = 0\n",
       "sluice.toml:2: \"max_run_cost\" in [eval] must be a number from 0.001 to 999999, not 0"},
      {"[providers.openai]\nrequests_per_minute = 0\n",
       "sluice.toml:2: \"requests_per_minute\" in [providers.openai] must be a whole number from 1 to "
       "10000000, "
       "not 0"},
      {"[providers.openai]\nburst_seconds = -1\nrequests_per_minute = 3\n",
       "sluice.toml:2: \"burst_seconds\" in [providers.openai] must be a number from 0.001 to 3600, not -1"},
      {"[providers.openai]\nburst_seconds = 2\nmax_in_flight = 3\n",
       "sluice.toml:2: \"burst_seconds\" in [providers.openai] has no effect without a rate: name "
       "\"requests_per_minute\" or one of \"tokens_per_minute\", \"input_tokens_per_minute\" and "
       "\"output_tokens_per_minute\""},
      {"[providers.openai]\ntokens_per_minute = 100\noutput_tokens_per_minute = 100\n",
       "sluice.toml:3: \"output_tokens_per_minute\" in [providers.openai] has no effect: "
       "\"tokens_per_minute\", "
       "which counts the same tokens, allows no more (100); leave one of them out"},
      {"[providers.openai]\nbase_url = \"http://user:secret@h/v1\"\n",
       "sluice.toml:2: \"base_url\" in [providers.openai] must not contain a user name or password: keys "
       "belong in "
       "the environment"},
      {"[providers.openai]\napi_key_env = \"sk-secret\"\n",
       "sluice.toml:2: \"api_key_env\" in [providers.openai] must be the name of an environment variable in "
       "upper "
       "case, or \"\" to call without a key"},
      {"[providers.openai]\napi_key = \"sk-secret\"\n",
       "sluice.toml:2: \"api_key\" in [providers.openai] is no setting: keys stay in the environment; name "
       "the "
       "variable with \"api_key_env\""},
      {"[providers.gemini]\nmax_tokens_field = \"max_tokens\"\n",
       "sluice.toml:2: \"max_tokens_field\" in [providers.gemini] has no meaning for a provider of the kind "
       "\"gemini\""},
      {"[providers.openai]\nkey_hosts = [\"https://h\"]\n",
       "sluice.toml:2: \"key_hosts\" in [providers.openai] must be a list of hosts, each \"host\" or "
       "\"host:port\" "
       "without a scheme"},
      {"[providers]\nopenai = 1\n", "sluice.toml:2: [providers.openai] must be a table, not a whole number"}};
  for (const BadSetting& bad : cases) EXPECT_EQ(findings(bad.file), bad.finding) << bad.file;
}

TEST(Settings, NamesTheVariableOrFlagOfAWrongValue) {
  EXPECT_EQ(findings(std::nullopt, {{"SLUICE_MAX_OUTPUT_TOKENS", "1e3"}, {"SLUICE_REPEAT", "x"}},
                     {{"temperature", "--temperature", "hot"}}),
            "--temperature: must be a number from 0 to 2, or \"default\" to send none, not \"hot\"; "
            "SLUICE_MAX_OUTPUT_TOKENS: must be a whole number from 1 to 10000000, not \"1e3\"; "
            "SLUICE_REPEAT: must be a whole number from 1 to 100, not \"x\"");
}

TEST(Settings, AnOldNameIsRefusedInTheEnvironmentToo) {
  EXPECT_EQ(findings(std::nullopt, {{"SLUICE_MAX_TOKENS", "9"}}),
            "SLUICE_MAX_TOKENS: is now called SLUICE_MAX_OUTPUT_TOKENS; the budget of the whole run is "
            "SLUICE_MAX_RUN_TOKENS");
}

TEST(Settings, LimitsOfAProviderAreReadAndShown) {
  const Settings settings = merged(
      "[providers.openai]\nrequests_per_minute = 500\ntokens_per_minute = 30_000\n"
      "output_tokens_per_minute = 8000\nmax_in_flight = 64\nburst_seconds = 0.5\n");
  ProviderLimits expected;
  expected.requests_per_minute = 500;
  expected.tokens_per_minute = 30'000;
  expected.output_tokens_per_minute = 8000;
  expected.max_in_flight = 64;
  expected.burst_seconds = 0.5;
  EXPECT_EQ(settings.find_provider("openai")->limits(), expected);
  EXPECT_EQ(settings.find_provider("gemini")->limits(), ProviderLimits());
}

TEST(Settings, TheNumberInFlightOfAFlagGoesBeforeThatOfTheRunsProvider) {
  const std::string file =
      "[providers.openai]\nrequests_per_minute = 500\nmax_in_flight = 64\n[providers.gemini]\nmax_in_flight "
      "= 3\n";
  const Settings settings = merged(file, {{"SLUICE_MAX_IN_FLIGHT", "9"}, {"SLUICE_PROVIDER", "openai"}},
                                   {{"max_in_flight", "--max-in-flight", "7"}});
  ProviderLimits expected;
  expected.requests_per_minute = 500;
  expected.max_in_flight = 7;
  EXPECT_EQ(limits_of(settings, "openai"), expected);
  EXPECT_EQ(limits_of(settings, "gemini").max_in_flight, 3u);
  EXPECT_EQ(limits_of(settings, "nobody"), ProviderLimits());
  EXPECT_EQ(limits_of(merged(file), "gemini").max_in_flight, 3u);
  EXPECT_EQ(limits_of(merged(file, {{"SLUICE_MAX_IN_FLIGHT", "9"}}), "gemini").max_in_flight, 9u);
  EXPECT_EQ(findings(std::nullopt, {}, {{"max_in_flight", "--max-in-flight", "0"}}),
            "--max-in-flight: must be a whole number from 1 to 1000000, not \"0\"");
}

TEST(Settings, TheRunsBudgetsAreReadFromFilesVariablesAndFlags) {
  using std::chrono::milliseconds;
  const Settings none = merged(std::nullopt);
  EXPECT_FALSE(none.run_deadline.value || none.max_run_tokens.value || none.max_run_cost.value);
  const Settings file =
      merged("[eval]\nrun_deadline_seconds = 1.5\nmax_run_tokens = 5_000_000_000\nmax_run_cost = 2\n");
  EXPECT_EQ(file.run_deadline.value, milliseconds(1500));
  EXPECT_EQ(file.max_run_tokens.value, 5'000'000'000u);
  EXPECT_EQ(file.max_run_cost.value, 2.0);
  EXPECT_EQ(merged("[eval]\nrun_deadline_seconds = \"2h\"\n").run_deadline.value, std::chrono::hours(2));
  EXPECT_EQ(merged(std::nullopt, {{"SLUICE_RUN_DEADLINE_SECONDS", "90"}}).run_deadline.value,
            std::chrono::seconds(90));
  for (const auto& [text, time] : std::map<std::string, milliseconds>{{"90s", milliseconds(90'000)},
                                                                      {"10m", milliseconds(600'000)},
                                                                      {"1.5h", milliseconds(5'400'000)}}) {
    const Settings settings = merged(std::nullopt, {}, {{"run_deadline_seconds", "--deadline", text}});
    EXPECT_EQ(settings.run_deadline.value, time) << text;
    EXPECT_EQ(settings.run_deadline.where, "--deadline");
  }
  for (const std::string wrong : {"0", "-5", "s", "5d", "169h", "nan", "1 m", ""}) {
    EXPECT_NE(findings(std::nullopt, {}, {{"run_deadline_seconds", "--deadline", wrong}}), "") << wrong;
  }
}

TEST(Settings, EveryDefinitionIsDocumentedAndUnique) {
  std::set<std::string_view> keys;
  std::set<std::string_view> flags;
  for (const SettingDefinition& definition : setting_definitions()) {
    EXPECT_FALSE(definition.doc.empty()) << definition.key;
    EXPECT_TRUE(keys.insert(definition.key).second) << definition.key;
    if (!definition.flag.empty()) {
      EXPECT_TRUE(flags.insert(definition.flag).second) << definition.flag;
    }
  }
  EXPECT_EQ(variable_of("max_concurrent"), "SLUICE_MAX_CONCURRENT");
}

TEST(Settings, ShippedExampleIsValidAndShowsTheDefaults) {
  std::ifstream file(support::source_path("config/sluice.example.toml"));
  std::stringstream text;
  text << file.rdbuf();
  ASSERT_FALSE(text.str().empty());
  const Settings settings = merged(text.str());
  const Settings defaults = merged(std::nullopt);
  for (const SettingDefinition& definition : setting_definitions()) {
    if (definition.key == "model") continue;
    EXPECT_EQ(definition.show(settings), definition.show(defaults)) << definition.key;
  }
  EXPECT_NE(settings.find_provider("local"), nullptr);
  EXPECT_NE(settings.find_provider("gateway"), nullptr);
}

std::string line_of(const std::vector<SettingLine>& lines, std::string_view key) {
  for (const SettingLine& line : lines) {
    if (line.key == key) return line.value + " # " + line.origin;
  }
  return "(no such line)";
}

TEST(Settings, DescribesValuesWithTheirOrigins) {
  const auto lines =
      describe(merged("[eval]\nprovider = \"local\"\n[providers.local]\nkind = \"openai\"\n"
                      "base_url = \"http://127.0.0.1:1/v1/\"\napi_key_env = \"\"\nmodel = \"m\"\n"
                      "requests_per_minute = 120\nburst_seconds = 0.5\n",
                      {{"SLUICE_SEED", "4"}}, {{"mode", "--mode", "live"}}));
  EXPECT_EQ(line_of(lines, "eval.mode"), "\"live\" # flag --mode");
  EXPECT_EQ(line_of(lines, "eval.seed"), "4 # SLUICE_SEED");
  EXPECT_EQ(line_of(lines, "eval.provider"), "\"local\" # sluice.toml:2");
  EXPECT_EQ(line_of(lines, "eval.model"), "\"m\" # sluice.toml:7");
  EXPECT_EQ(line_of(lines, "eval.case_timeout_seconds"), "900 # default");
  EXPECT_EQ(line_of(lines, "eval.regression_threshold"), "0.05 # default");
  EXPECT_EQ(line_of(lines, "eval.embedding_provider"), "\"openai\" # default");
  EXPECT_EQ(line_of(lines, "eval.embedding_model"), "\"text-embedding-3-small\" # default");
  EXPECT_EQ(line_of(lines, "providers.local.base_url"), "\"http://127.0.0.1:1/v1\" # sluice.toml:5");
  EXPECT_EQ(line_of(lines, "eval.run_deadline_seconds"), "(none) # default");
  EXPECT_EQ(line_of(lines, "eval.outage_timeout_seconds"), "600 # default");
  EXPECT_EQ(line_of(lines, "eval.temperature"), "0.1 # default");
  EXPECT_EQ(line_of(lines, "providers.local.requests_per_minute"), "120 # sluice.toml:8");
  EXPECT_EQ(line_of(lines, "providers.local.burst_seconds"), "0.5 # sluice.toml:9");
  EXPECT_EQ(line_of(lines, "providers.openai.max_in_flight"), "(none) # default");
  EXPECT_EQ(line_of(lines, "providers.gemini.api_key_env"), "\"GEMINI_API_KEY\" # default");
}

TEST(Settings, DescribesTheEmbedderThatASuiteWouldGet) {
  const auto other = describe(merged("[eval]\nembedding_provider = \"gemini\"\n"));
  EXPECT_EQ(line_of(other, "eval.embedding_provider"), "\"gemini\" # sluice.toml:2");
  EXPECT_EQ(line_of(other, "eval.embedding_model"), "(none) # default");
  const auto named = describe(merged("[eval]\nembedding_model = \"m\"\n"));
  EXPECT_EQ(line_of(named, "eval.embedding_provider"), "\"openai\" # default");
  EXPECT_EQ(line_of(named, "eval.embedding_model"), "\"m\" # sluice.toml:2");
  const auto built_in = describe(merged("[eval]\nembedding_model = \"lexical-ngrams-v1\"\n"));
  EXPECT_EQ(line_of(built_in, "eval.embedding_provider"), "(none) # default");
}

}  // namespace
}  // namespace sluice
