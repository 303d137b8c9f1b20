#include "common/settings/load_settings.hpp"
#include "common/settings/setting_definitions.hpp"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::judge_settings_test {

using Variables = std::map<std::string, std::string, std::less<>>;

SuiteSetting in_suite(std::string key, decltype(DocumentNode::value) value) {
  return {key, "\"" + key + "\" in settings", "suite.yaml", DocumentNode{std::move(value), 4}};
}

/// One place after another may name a judge.
struct Places {
  std::string file;
  std::vector<SuiteSetting> suite;
  Variables variables;
  std::vector<FlagValue> flags;
};

tl::expected<Settings, std::vector<Finding>> merge(const Places& places) {
  SettingSources sources;
  sources.file_name = "sluice.toml";
  sources.file_text = places.file;
  sources.suite = places.suite;
  sources.environment = [&](std::string_view name) -> std::optional<std::string> {
    const auto found = places.variables.find(name);
    return found != places.variables.end() ? std::optional(found->second) : std::nullopt;
  };
  sources.flags = places.flags;
  return merge_settings(sources);
}

Settings merged(const Places& places) {
  auto settings = merge(places);
  EXPECT_TRUE(settings) << join_findings(settings.error());
  return settings ? *settings : Settings{};
}

std::string findings(const Places& places) {
  const auto settings = merge(places);
  return settings ? "" : join_findings(settings.error());
}

std::string line_of(const Settings& settings, std::string_view key) {
  for (const SettingLine& line : describe(settings)) {
    if (line.key == key) return line.value + " # " + line.origin;
  }
  return "(no such line)";
}

TEST(JudgeSettings, NobodyJudgesByDefault) {
  const Settings settings = merged({});
  EXPECT_EQ(line_of(settings, "judge.provider"), "\"none\" # default");
  EXPECT_EQ(line_of(settings, "judge.model"), "(none) # default");
  EXPECT_EQ(line_of(settings, "judge.samples"), "3 # default");
  EXPECT_EQ(line_of(settings, "judge.temperature"), "0 # default");
  EXPECT_EQ(line_of(settings, "judge.max_tokens"), "1024 # default");
  EXPECT_EQ(line_of(settings, "judge.min_kappa"), "(none) # default");
}

TEST(JudgeSettings, AModelThatTakesNoTemperatureIsAskedWithItsOnlyOne) {
  const auto temperature = [](const char* model, std::string_view more) {
    Places places;
    places.file =
        "[judge]\nprovider = \"openai\"\nmodel = \"" + std::string(model) + "\"\n" + std::string(more);
    const auto judge = resolve_judge(merged(places), {});
    EXPECT_TRUE(judge);
    return judge ? judge->judge.temperature : -1;
  };
  EXPECT_EQ(temperature("gpt-4o-mini", ""), 0);
  EXPECT_EQ(temperature("gpt-5-mini", ""), 1);
  EXPECT_EQ(temperature("gpt-5-mini", "temperature = 0.5\n"), 0.5) << "as it was set";
}

TEST(Settings, AModelThatTakesNoTemperatureIsSentNoneUnlessOneWasSet) {
  EXPECT_EQ(temperature_for(merged({}), "gpt-4o-mini"), 0.1);
  EXPECT_EQ(temperature_for(merged({}), "gpt-5-mini"), std::nullopt);
  Places places;
  places.file = "[eval]\ntemperature = 0.1\n";
  EXPECT_EQ(temperature_for(merged(places), "gpt-5-mini"), 0.1);
}

// A setting with a value for each place that may have one, weakest first.
struct Ladder {
  std::string key;       // Of the setting.
  std::string in_file;   // Its key in [judge].
  std::string variable;  // Behind SLUICE_ or VERDICT_.
  std::string flag;
  std::vector<std::string>
      values;  // Of file, suite, VERDICT_, SLUICE_ and flag, as `sluice config` shows them.
};

decltype(DocumentNode::value) value_of(const std::string& shown) {
  if (shown.starts_with('"')) return shown.substr(1, shown.size() - 2);
  if (shown.find('.') != std::string::npos) return std::stod(shown);
  return std::int64_t{std::stoll(shown)};
}

std::string as_text(const std::string& shown) {
  return shown.starts_with('"') ? shown.substr(1, shown.size() - 2) : shown;
}

TEST(JudgeSettings, FlagsGoBeforeTheEnvironmentAndThatBeforeTheSuiteAndThatBeforeTheFile) {
  const std::vector<Ladder> ladders{
      {"judge",
       "provider",
       "JUDGE",
       "--judge",
       {"\"openai\"", "\"gemini\"", "\"fake\"", "\"local\"", "\"x\""}},
      {"judge_model", "model", "JUDGE_MODEL", "--judge-model", {"\"a\"", "\"b\"", "\"c\"", "\"d\"", "\"e\""}},
      {"judge_samples", "samples", "JUDGE_SAMPLES", "--judge-samples", {"1", "2", "4", "5", "99"}},
      {"judge_temperature",
       "temperature",
       "JUDGE_TEMPERATURE",
       "--judge-temperature",
       {"0.1", "0.2", "0.3", "0.4", "0.5"}},
      {"judge_max_tokens", "max_tokens", "JUDGE_MAX_TOKENS", "--judge-max-tokens", {"1", "2", "3", "4", "5"}},
      {"judge_min_kappa",
       "min_kappa",
       "JUDGE_MIN_KAPPA",
       "--judge-min-kappa",
       {"0.1", "0.2", "", "0.4", "0.5"}}};
  for (const Ladder& one : ladders) {
    SCOPED_TRACE(one.key);
    const std::string line = "judge." + one.in_file;
    Places places;
    places.file = "[judge]\n" + one.in_file + " = " + one.values[0] + "\n";
    EXPECT_EQ(line_of(merged(places), line), one.values[0] + " # sluice.toml:2");
    places.suite = {in_suite(one.key, value_of(one.values[1]))};
    EXPECT_EQ(line_of(merged(places), line), one.values[1] + " # suite.yaml:4");
    // Other harnesses ask for no kappa.
    if (!one.values[2].empty()) {
      places.variables["VERDICT_" + one.variable] = as_text(one.values[2]);
      EXPECT_EQ(line_of(merged(places), line), one.values[2] + " # VERDICT_" + one.variable);
    }
    places.variables["SLUICE_" + one.variable] = as_text(one.values[3]);
    EXPECT_EQ(line_of(merged(places), line), one.values[3] + " # SLUICE_" + one.variable);
    places.flags = {{one.key, one.flag, as_text(one.values[4])}};
    EXPECT_EQ(line_of(merged(places), line), one.values[4] + " # flag " + one.flag);
  }
}

TEST(JudgeSettings, AnEmptyVariableLeavesTheWordToTheOneBehindIt) {
  EXPECT_EQ(line_of(merged({{}, {}, {{"SLUICE_JUDGE_SAMPLES", ""}, {"VERDICT_JUDGE_SAMPLES", "5"}}, {}}),
                    "judge.samples"),
            "5 # VERDICT_JUDGE_SAMPLES");
}

TEST(JudgeSettings, WrongOnesAreNamedWithTheirPlace) {
  EXPECT_EQ(findings({"[judge]\nsamples = 0\n", {}, {{"VERDICT_JUDGE_TEMPERATURE", "hot"}}, {}}),
            "VERDICT_JUDGE_TEMPERATURE: must be a number from 0 to 2, not \"hot\"; "
            "sluice.toml:2: \"samples\" in [judge] must be a whole number from 1 to 99, not 0");
  EXPECT_EQ(findings({"[judge]\nsample = 1\n", {}, {}, {}}),
            "sluice.toml:2: unknown key \"sample\" in [judge]; did you mean \"samples\"?");
  EXPECT_EQ(findings({"[judge]\nrefresh = true\n", {}, {}, {}}),
            "sluice.toml:2: unknown key \"refresh\" in [judge]; valid here: provider, model, samples, "
            "temperature, max_tokens, min_kappa");
  EXPECT_EQ(findings({"[eval]\njudge_model = \"m\"\n", {}, {}, {}}),
            "sluice.toml:2: unknown key \"judge_model\" in [eval]; it belongs in [judge] as \"model\"");
  EXPECT_EQ(findings({"[judge]\njudge = \"openai\"\n", {}, {}, {}}),
            "sluice.toml:2: unknown key \"judge\" in [judge]; it belongs in [judge] as \"provider\"");
  EXPECT_EQ(findings({{}, {in_suite("judge_samples", std::string("many"))}, {}, {}}),
            "suite.yaml:4: \"judge_samples\" in settings must be a whole number from 1 to 99, not \"many\"");
}

TEST(JudgeSettings, AKappaBeyondItsBoundsIsRefusedWithItsPlace) {
  EXPECT_EQ(findings({"[judge]\nmin_kappa = 1.1\n", {}, {}, {}}),
            "sluice.toml:2: \"min_kappa\" in [judge] must be a number from 0 to 1, not 1.1");
  EXPECT_EQ(findings({"[judge]\nmin_kappa = -0.1\n", {}, {}, {}}),
            "sluice.toml:2: \"min_kappa\" in [judge] must be a number from 0 to 1, not -0.1");
  EXPECT_EQ(findings({{}, {in_suite("judge_min_kappa", std::string("good"))}, {}, {}}),
            "suite.yaml:4: \"judge_min_kappa\" in settings must be a number from 0 to 1, not \"good\"");
  EXPECT_EQ(
      findings(
          {{}, {}, {{"SLUICE_JUDGE_MIN_KAPPA", "2"}}, {{"judge_min_kappa", "--judge-min-kappa", "nan"}}}),
      "--judge-min-kappa: must be a number from 0 to 1, not \"nan\"; "
      "SLUICE_JUDGE_MIN_KAPPA: must be a number from 0 to 1, not \"2\"");
  EXPECT_EQ(merged({"[judge]\nmin_kappa = 1\n", {}, {}, {}}).judge_min_kappa.value, 1.0);
  EXPECT_EQ(merged({"[judge]\nmin_kappa = 0\n", {}, {}, {}}).judge_min_kappa.value, 0.0);
}

ResolvedJudge resolved(const Places& places) {
  auto judge = resolve_judge(merged(places));
  EXPECT_TRUE(judge) << judge.error().message;
  return judge ? *judge : ResolvedJudge{};
}

std::string refusal(const Places& places, const ExampleModels& examples = {}) {
  const auto judge = resolve_judge(merged(places), examples);
  EXPECT_FALSE(judge);
  if (judge) return "";
  EXPECT_EQ(judge.error().reason, Reason::settings_invalid);
  return judge.error().message;
}

TEST(ResolveJudge, AProviderJudgesWithTheModelThatIsNamedForIt) {
  const auto judge = resolved(
      {"[judge]\nprovider = \"openai\"\nmodel = \"m\"\nmax_tokens = 77\ntemperature = 1\n", {}, {}, {}});
  EXPECT_EQ(judge.judge.judge, Judge::model);
  EXPECT_EQ(judge.judge.provider, "openai");
  EXPECT_EQ(judge.judge.model, "m");
  EXPECT_EQ(judge.judge.max_tokens, 77u);
  EXPECT_EQ(judge.judge.temperature, 1.0);
  ASSERT_TRUE(judge.provider);
  EXPECT_EQ(judge.provider->base_url, "https://api.openai.com/v1");
  EXPECT_EQ(judge.provider->api_key_env, "OPENAI_API_KEY");
}

TEST(ResolveJudge, AModelNamedAloneGoesWithAnyJudge) {
  const auto judge = resolved({"[judge]\nprovider = \"openai\"\n",
                               {},
                               {{"SLUICE_JUDGE", "anthropic"}},
                               {{"judge_model", "--judge-model", "m"}}});
  EXPECT_EQ(judge.judge.provider, "anthropic");
  EXPECT_EQ(judge.judge.model, "m");
}

TEST(ResolveJudge, AVariableOfEitherNameIsBesideTheOther) {
  const auto judge = resolved({{}, {}, {{"VERDICT_JUDGE", "openai"}, {"SLUICE_JUDGE_MODEL", "m"}}, {}});
  EXPECT_EQ(judge.judge.provider, "openai");
  EXPECT_EQ(judge.judge.model, "m");
}

TEST(ResolveJudge, AModelMeantForAnotherProviderIsRefused) {
  EXPECT_EQ(
      refusal({{},
               {in_suite("judge", std::string("openai")), in_suite("judge_model", std::string("m"))},
               {},
               {{"judge", "--judge", "gemini"}}}),
      "the model \"m\" (suite.yaml:4) is meant for the provider \"openai\": name one for \"gemini\" with "
      "--judge-model, or as \"model\" in [providers.gemini] of the settings file");
}

TEST(ResolveJudge, AJudgeWithoutAModelIsRefusedNamingTwoThatHavePrices) {
  const auto examples = [](ProviderKind kind) {
    return kind == ProviderKind::openai ? std::vector<std::string>{"a", "b"} : std::vector<std::string>{};
  };
  const FlagValue openai{"judge", "--judge", "openai"};
  const FlagValue live{"mode", "--mode", "live"};
  EXPECT_EQ(
      refusal({{}, {}, {}, {openai, live}}, examples),
      "no model is named for the judge \"openai\": name it with --judge-model, such as \"a\" or \"b\", or "
      "as \"model\" in [judge], or \"model\" in [providers.openai] of the settings file");
  EXPECT_EQ(refusal({{}, {}, {}, {openai}}),
            "no model is named for the judge \"openai\", and a cached run replays the votes of one: name it "
            "with --judge-model, or as \"model\" in [judge], or \"model\" in [providers.openai] of the "
            "settings file");
  EXPECT_EQ(resolved({"[providers.openai]\nmodel = \"own\"\n", {}, {}, {openai}}).judge.model, "own");
}

TEST(ResolveJudge, AnUnknownOneIsNamedWithWhatThereIs) {
  EXPECT_EQ(
      refusal({{}, {}, {}, {{"judge", "--judge", "fak"}}}),
      "there is no provider \"fak\" (flag --judge); there are \"none\", \"fake\", "
      "\"anthropic\", \"gemini\", \"openai\" and \"openai-responses\", and each [providers.NAME] of the "
      "settings file; did you mean \"fake\"?");
  EXPECT_EQ(
      refusal({{}, {}, {}, {{"judge", "--judge", "openai:m"}}}),
      "there is no provider \"openai:m\" (flag --judge); there are \"none\", \"fake\", \"anthropic\", "
      "\"gemini\", \"openai\" and \"openai-responses\", and each [providers.NAME] of the settings file; a "
      "model is named by itself here: the provider is \"openai\", the model \"m\"");
  EXPECT_FALSE(check_judge_provider(merged({{}, {}, {{"VERDICT_JUDGE", "opnai"}}, {}})));
  EXPECT_TRUE(check_judge_provider(merged({{}, {}, {{"VERDICT_JUDGE", "fake"}}, {}})));
}

TEST(ResolveJudge, NoneKeepsWhomTheNextPlaceNamesForVotesFromCaches) {
  const std::string file = "[judge]\nprovider = \"openai\"\nmodel = \"m\"\n";
  const FlagValue none{"judge", "--no-judge", "none"};
  const auto judge = resolved({file, {}, {}, {none}});
  EXPECT_EQ(judge.judge.judge, Judge::none);
  EXPECT_EQ(judge.judge.provider, "openai");
  EXPECT_EQ(judge.judge.model, "m");
  ASSERT_TRUE(judge.provider);
  EXPECT_EQ(line_of(merged({file, {}, {}, {none}}), "judge.provider"),
            "\"none\" # flag --no-judge; votes in caches are those of \"openai\" (sluice.toml:2)");
  EXPECT_EQ(line_of(merged({file, {}, {}, {none}}), "judge.model"), "\"m\" # sluice.toml:3");
  const auto by_variable = resolved(
      {file, {}, {{"SLUICE_JUDGE", "none"}, {"VERDICT_JUDGE", "gemini"}, {"SLUICE_JUDGE_MODEL", "g"}}, {}});
  EXPECT_EQ(by_variable.judge.judge, Judge::none);
  EXPECT_EQ(by_variable.judge.provider, "gemini");
  EXPECT_EQ(by_variable.judge.model, "g");
  const auto beneath_fake = resolved({file, {in_suite("judge", std::string("fake"))}, {}, {none}});
  EXPECT_EQ(beneath_fake.judge.provider, "openai") << "the fake judge has no votes in caches";
  const auto nobody = resolved({{}, {}, {}, {none}});
  EXPECT_EQ(nobody.judge.provider, "");
  EXPECT_FALSE(nobody.provider);
}

TEST(ResolveJudge, TheFakeJudgeAndAMockRunNeedNothing) {
  const FlagValue openai{"judge", "--judge", "openai"};
  for (const Places& places : {Places{{}, {}, {}, {{"judge", "--judge", "fake"}}},
                               Places{{}, {}, {}, {openai, {"mode", "--mode", "mock"}}},
                               Places{{}, {}, {}, {{"mode", "--mode", "mock"}}}}) {
    const auto judge = resolved(places);
    EXPECT_EQ(judge.judge.judge, Judge::fake);
    EXPECT_EQ(judge.judge.provider + judge.judge.model, "");
    EXPECT_FALSE(judge.provider);
  }
}

TEST(ResolveJudge, TheRunsBaseUrlIsThatOfAJudgeAtTheSameProvider) {
  const FlagValue judge{"judge", "--judge", "openai"};
  const FlagValue model{"judge_model", "--judge-model", "m"};
  const FlagValue url{"base_url", "--base-url", "http://127.0.0.1:1/v1"};
  EXPECT_EQ(resolved({"[eval]\nprovider = \"openai\"\n", {}, {}, {judge, model, url}}).provider->base_url,
            "http://127.0.0.1:1/v1");
  EXPECT_EQ(resolved({"[eval]\nprovider = \"gemini\"\n", {}, {}, {judge, model, url}}).provider->base_url,
            "https://api.openai.com/v1");
}

}  // namespace sluice::judge_settings_test
