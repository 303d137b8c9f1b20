#include "coordinator/session/run_options.hpp"

#include "common/settings/load_settings.hpp"
#include "coordinator/session/arm_options.hpp"
#include "tests/support/temporary_folder.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

Settings settings_of(const std::string& file, std::vector<FlagValue> flags = {}) {
  SettingSources sources;
  sources.environment = [](std::string_view name) {
    return name == "SLUICE_MODEL" ? std::optional<std::string>("m") : std::nullopt;
  };
  sources.file_name = "sluice.toml";
  sources.file_text = file;
  sources.flags = std::move(flags);
  auto settings = merge_settings(sources);
  EXPECT_TRUE(settings) << join_findings(settings.error());
  return settings ? *settings : Settings{};
}

std::string refusal(const RunFlags& flags, Settings settings) {
  const auto options = make_run_options(flags, std::move(settings));
  EXPECT_FALSE(options);
  if (options) return "";
  EXPECT_EQ(options.error().reason, Reason::usage_invalid);
  return options.error().message;
}

TEST(RunOptions, ABudgetForWhatIsPaidIsRefusedWhereNothingIs) {
  EXPECT_EQ(
      refusal({}, settings_of("", {{"max_run_tokens", "--max-tokens", "100"}})),
      "--max-tokens bounds what the providers are paid for, and --mode cached calls none: leave it out");
  EXPECT_EQ(refusal({}, settings_of("[eval]\nmode = \"mock\"\n", {{"max_run_cost", "--max-cost", "2"}})),
            "--max-cost bounds what the providers are paid for, and --mode mock calls none: leave it out");
}

TEST(RunOptions, AMismatchIsOneWithABaseline) {
  RunFlags flags;
  flags.fail_on_mismatch = true;
  EXPECT_EQ(refusal(flags, settings_of("")),
            "--fail-on-mismatch needs something to compare with: add --baseline FILE");
  flags.baseline = "base.json";
  const auto options = make_run_options(flags, settings_of(""));
  ASSERT_TRUE(options);
  EXPECT_TRUE(options->fail_on_mismatch);
}

TEST(RunOptions, ABudgetInAFileIsForOtherRunsToo) {
  EXPECT_TRUE(make_run_options({}, settings_of("[eval]\nmax_run_tokens = 5\nmax_run_cost = 1\n")));
  EXPECT_TRUE(make_run_options({}, settings_of("", {{"run_deadline_seconds", "--deadline", "5m"}})))
      << "a deadline holds in every mode";
  EXPECT_TRUE(make_run_options(
      {}, settings_of("", {{"mode", "--mode", "live"}, {"max_run_tokens", "--max-tokens", "100"}})));
}

TEST(RunOptions, ARunWithoutAModelIsRefusedNamingTwoThatHavePrices) {
  Settings settings = settings_of("", {{"mode", "--mode", "live"}});
  settings.model = {};
  const auto options = make_run_options({}, settings);
  ASSERT_FALSE(options);
  EXPECT_EQ(
      options.error().message,
      "no model is named for the provider \"gemini\": name it with --model, such as \"gemini-3.8-flash\" or "
      "\"gemini-3.5-flash-lite\", or as \"model\" in [eval], or \"model\" in [providers.gemini] of the "
      "settings file; \"gemini\" is the default, and --provider names another");
}

TEST(RunOptions, ACallLogNeedsWorkersInThisProcess) {
  RunFlags flags;
  flags.call_log = "calls.jsonl";
  EXPECT_EQ(make_run_options(flags, settings_of(""))->call_log, "calls.jsonl");
  flags.listen = "tcp://127.0.0.1:0";
  EXPECT_EQ(refusal(flags, settings_of("")),
            "--call-log is written by the workers inside this process, of which there are none: say it to "
            "sluice-worker");
  flags.workers = "2";
  EXPECT_TRUE(make_run_options(flags, settings_of("")));
  flags.call_log = "";
  EXPECT_EQ(refusal(flags, settings_of("")), "--call-log must name a file");
}

TEST(RunOptions, VotesAreRenewedWhereAJudgeIsCalledAndTheCacheIsUsed) {
  RunFlags flags;
  flags.judge_refresh = true;
  EXPECT_TRUE(make_run_options(flags, settings_of("", {{"mode", "--mode", "live"}}))->judge_refresh);
  EXPECT_EQ(refusal(flags, settings_of("")),
            "--judge-refresh asks the judge again, so it needs --mode live (the mode is cached)");
  flags.no_cache = true;
  EXPECT_EQ(
      refusal(flags, settings_of("", {{"mode", "--mode", "live"}})),
      "--judge-refresh renews the votes that the cache holds and --no-cache ignores it: use one of them");
}

// It said to leave out --repeat, which nobody had typed: the suite asks for it.
TEST(RunOptions, RecordedAnswersNameWhereRepeatsAndPerturbationsComeFrom) {
  RunFlags flags;
  flags.answers = "answers.jsonl";
  const std::string begin = "--answers has one answer to each test as it is: ";
  EXPECT_EQ(refusal(flags, settings_of("", {{"repeat", "--repeat", "3"}, {"perturb", "--perturb", "crlf"}})),
            begin + "leave out --repeat; leave out --perturb");
  EXPECT_EQ(refusal(flags, settings_of("[eval]\nrepeat = 3\nperturb = [\"crlf\"]\n")),
            begin +
                "say --repeat 1, which goes before sluice.toml:2; say --perturb none, which goes before "
                "sluice.toml:3");
  EXPECT_EQ(refusal(flags, settings_of("[eval]\nmode = \"robust\"\n")),
            begin + "say --mode live, which goes before sluice.toml:2");
  flags.perturb_commands = {"shout=tr a-z A-Z"};
  EXPECT_EQ(refusal(flags, settings_of("")), begin + "leave out --perturb-command");
}

// Of an empty command it said which letters a name has.
TEST(RunOptions, APerturbCommandWithoutACommandIsToldSo) {
  RunFlags flags;
  flags.perturb_commands = {"up="};
  EXPECT_EQ(refusal(flags, settings_of("")),
            "--perturb-command \"up=\" names no command behind the name: it must be NAME=COMMAND, like "
            "shout=\"tr a-z A-Z\"");
  flags.perturb_commands = {"Up=cat"};
  EXPECT_NE(refusal(flags, settings_of("")).find("with a name of small letters"), std::string::npos);
}

TEST(RunOptions, MetricsAreServedOnLoopbackByDefault) {
  RunFlags flags;
  EXPECT_FALSE(make_run_options(flags, settings_of(""))->metrics_listen);
  flags.metrics_listen = ":9464";
  EXPECT_EQ(make_run_options(flags, settings_of(""))->metrics_listen, "127.0.0.1:9464");
  flags.metrics_listen = "everywhere";
  EXPECT_NE(refusal(flags, settings_of("")).find("--metrics-listen must be HOST:PORT"), std::string::npos);
}

std::vector<Arm> arms_of_flags(const std::vector<std::string>& texts) {
  RunFlags flags;
  flags.arms = texts;
  const auto arms = run_arms(flags, Suite());
  EXPECT_TRUE(arms) << arms.error().message;
  return arms ? *arms : std::vector<Arm>();
}

TEST(RunOptions, EachArmHasItsProviderAndTheRunsNeedsNoModel) {
  Settings settings = settings_of("[providers.openai]\nmodel = \"own\"\n");
  settings.model = {};
  const auto options =
      make_run_options({}, settings, arms_of_flags({"mini=openai:gpt-x:2", "haiku=anthropic:h"}));
  ASSERT_TRUE(options) << options.error().message;
  ASSERT_EQ(options->arms.size(), 2u);
  EXPECT_EQ(options->arms[0].provider.model, "gpt-x:2");
  EXPECT_EQ(options->arms[1].provider.provider.name, "anthropic");
  EXPECT_EQ(options->provider.model, "gpt-x:2");
  EXPECT_EQ(options->baseline_arm, std::nullopt);
}

TEST(RunOptions, AModelIsNamedWithThePlaceThatNamesIt) {
  Settings settings = settings_of("");
  settings.model = {"gpt-x", Origin::flag, "--model"};
  settings.provider = {"openai", Origin::flag, "--provider"};
  const auto alone = make_run_options({}, settings, {});
  ASSERT_TRUE(alone) << alone.error().message;
  EXPECT_EQ(places_of_models(*alone), (std::vector<std::string>{R"("gpt-x" (--model))"}));
  std::vector<Arm> arms = arms_of_flags({"mini=openai:gpt-y"});
  arms.push_back({.name = "of_run", .provider = "", .model = "", .where = "suite.yaml:7"});
  arms.front().where = "suite.yaml:5";
  const auto several = make_run_options({}, settings, arms);
  ASSERT_TRUE(several) << several.error().message;
  EXPECT_EQ(places_of_models(*several), (std::vector<std::string>{R"("gpt-y" (suite.yaml:5, arm "mini"))",
                                                                  R"("gpt-x" (--model, arm "of_run"))"}));
}

TEST(RunOptions, ABaseUrlIsThatOfTheRunsProviderAlone) {
  const Settings settings = settings_of(
      "", {{"provider", "--provider", "openai"}, {"base_url", "--base-url", "http://127.0.0.1:1/v1"}});
  const auto options = make_run_options({}, settings, arms_of_flags({"a=openai:m", "b=anthropic:m"}));
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->arms[0].provider.provider.base_url, "http://127.0.0.1:1/v1");
  EXPECT_NE(options->arms[1].provider.provider.base_url, "http://127.0.0.1:1/v1") << "its key would go there";
}

TEST(RunOptions, ABaseUrlOfTheSuiteIsThatOfTheOneProviderThatItsArmsAsk) {
  Settings settings = settings_of("");
  settings.base_url.value = "http://127.0.0.1:1/v1";
  settings.base_url.origin = Origin::suite;
  settings.base_url.where = "a.yaml:2";
  Settings of_one = settings;
  auto arms = arms_of_flags({"a=openai:m", "b=openai:n"});
  ASSERT_TRUE(fit_to_arms(of_one, arms));
  const auto options = make_run_options({}, of_one, arms);
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->arms[0].provider.provider.base_url, "http://127.0.0.1:1/v1");
  EXPECT_EQ(options->arms[1].provider.provider.base_url, "http://127.0.0.1:1/v1");
  const auto of_another = fit_to_arms(settings, arms_of_flags({"a=anthropic:m", "b=gemini:n"}));
  ASSERT_FALSE(of_another) << "the key of one would go to the server of the other";
  EXPECT_TRUE(of_another.error().message.starts_with("a.yaml:2: the arms ask \"anthropic\" and \"gemini\""))
      << of_another.error().message;
}

std::vector<Arm> arms_of_models(const std::vector<std::string>& models) {
  std::vector<Arm> arms;
  for (const std::string& model : models)
    arms.push_back({.name = model, .model = model, .where = "a.yaml:3"});
  return arms;
}

// The one was asked at the other's base URL, and the key that is withheld was another than was warned of.
TEST(RunOptions, WhoMakesAnArmsModelCountsAsAProviderThatIsAsked) {
  Settings settings = settings_of("");
  settings.base_url = {"http://127.0.0.1:1/v1", Origin::suite, "a.yaml:2"};
  const auto arms = arms_of_models({"claude-x", "llama3"});
  const auto refused = fit_to_arms(settings, arms);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().message.starts_with("a.yaml:2: the arms ask \"anthropic\" and \"gemini\""))
      << refused.error().message;
  EXPECT_EQ(refused_arms(settings, {}, arms).size(), 1u) << "not that the base URL is none of anthropic's";
  ASSERT_TRUE(fit_to_arms(settings, arms_of_models({"gpt-x", "o3"})));
  EXPECT_EQ(settings.provider.value, "openai");
}

// As a gateway serves them, which was said to be asked by no arm.
TEST(RunOptions, ModelsOfSeveralMakersAreAskedOfTheProviderThatIsNamed) {
  Settings settings = settings_of("[eval]\nprovider = \"openai\"\n");
  settings.base_url = {"http://127.0.0.1:1/v1", Origin::suite, "a.yaml:2"};
  const auto arms = arms_of_models({"claude-x", "gemini-y"});
  const auto fitting = fit_to_arms(settings, arms);
  ASSERT_TRUE(fitting) << fitting.error().message;
  const auto options = make_run_options({}, settings, arms);
  ASSERT_TRUE(options) << options.error().message;
  for (const RunArm& one : options->arms) {
    EXPECT_EQ(one.provider.provider.name, "openai");
    EXPECT_EQ(one.provider.provider.base_url, "http://127.0.0.1:1/v1");
  }
}

// With --max-in-flight 6 a suite whose arms name their provider had 40 calls in flight.
TEST(RunOptions, TheNumberInFlightOfARunHoldsForEachProviderThatItsArmsAsk) {
  Settings settings =
      settings_of("[providers.openai]\nmax_in_flight = 3\n", {{"max_in_flight", "--max-in-flight", "6"}});
  ASSERT_TRUE(fit_to_arms(settings, arms_of_flags({"a=anthropic:m", "b=gemini:n"})));
  EXPECT_EQ(limits_of(settings, "anthropic").max_in_flight, 6u);
  EXPECT_EQ(limits_of(settings, "gemini").max_in_flight, 6u);
  EXPECT_EQ(limits_of(settings, "openai").max_in_flight, 3u) << "no arm asks it";
}

// The line of the base URL names no provider: the flag does.
TEST(RunOptions, AProviderThatNoArmAsksIsNamedByItsOwnPlace) {
  Settings settings = settings_of("", {{"provider", "--provider", "anthropic"}});
  settings.base_url = {"http://127.0.0.1:1/v1", Origin::suite, "a.yaml:2"};
  const auto arms = arms_of_flags({"a=openai:m", "b=openai:n"});
  const auto by_flag = fit_to_arms(settings, arms);
  ASSERT_FALSE(by_flag);
  EXPECT_TRUE(
      by_flag.error().message.ends_with("--provider: every arm of the run names another provider; "
                                        "leave it out, or say --arm NAME=PROVIDER:MODEL for other arms"))
      << by_flag.error().message;
  settings.provider = {"anthropic", Origin::suite, "a.yaml:3"};
  const auto in_suite = fit_to_arms(settings, arms);
  ASSERT_FALSE(in_suite);
  EXPECT_TRUE(in_suite.error().message.starts_with(
      "a.yaml:2 goes with the provider \"anthropic\" (a.yaml:3), which no arm asks: name it as base_url"))
      << in_suite.error().message;
}

TEST(RunOptions, AnArmWithAnUnknownProviderIsNamed) {
  const auto options = make_run_options({}, settings_of(""), arms_of_flags({"a=opnai:m", "b=openai:m"}));
  ASSERT_FALSE(options);
  EXPECT_EQ(options.error().reason, Reason::settings_invalid);
  EXPECT_TRUE(options.error().message.starts_with(
      "--arm a=opnai:m: the arm \"a\": there is no provider \"opnai\"; there are "))
      << options.error().message;
  EXPECT_NE(options.error().message.find("did you mean \"openai\""), std::string::npos);
}

TEST(RunOptions, AKeyOfTheHomeIsNotUsedOnLoopbackUnlessItIsNamed) {
  const support::TemporaryFolder home;
  const Settings settings = settings_of("", {{"home", "--home", home.path().string()}});
  RunFlags flags;
  flags.listen = "tcp://127.0.0.1:0";
  EXPECT_EQ(make_run_options(flags, settings)->unused_key, std::nullopt);
  const std::string key = fleet_files_in(home.path().string()).key;
  support::write_text(key, "");
  EXPECT_EQ(make_run_options(flags, settings)->unused_key, key);
  EXPECT_FALSE(make_run_options(flags, settings)->fleet);
  flags.insecure = true;
  EXPECT_EQ(make_run_options(flags, settings)->unused_key, std::nullopt) << "it was asked for";
  flags.insecure = false;
  flags.fleet_key = key;
  EXPECT_EQ(make_run_options(flags, settings)->unused_key, std::nullopt);
  EXPECT_TRUE(make_run_options(flags, settings)->fleet);
  flags.fleet_key.reset();
  flags.listen = "tcp://0.0.0.0:0";
  EXPECT_EQ(make_run_options(flags, settings)->unused_key, std::nullopt) << "it is used";
  EXPECT_TRUE(make_run_options(flags, settings)->fleet);
}

// Whether there is one was asked in a way that ends the process: a run on loopback needs none.
TEST(RunOptions, AFolderOfKeysThatCannotBeReadIsNothingToARunOnLoopback) {
  const support::TemporaryFolder home;
  const auto folder = std::filesystem::path(fleet_files_in(home.path().string()).key).parent_path();
  std::filesystem::create_directory_symlink(folder, folder);  // Nothing is found through it, by root neither.
  RunFlags flags;
  flags.listen = "tcp://127.0.0.1:0";
  const auto options = make_run_options(flags, settings_of("", {{"home", "--home", home.path().string()}}));
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->unused_key, std::nullopt);
}

TEST(RunOptions, ABaselineArmIsOneOfSeveral) {
  RunFlags flags;
  flags.baseline_arm = "mni";
  EXPECT_NE(refusal(flags, settings_of("")).find("the run has none"), std::string::npos);
  const auto unknown =
      make_run_options(flags, settings_of(""), arms_of_flags({"mini=openai:m", "b=openai:n"}));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().message,
            "--baseline-arm names \"mni\", which is no arm of the run; there are "
            "\"mini\" and \"b\"; did you mean \"mini\"?");
  flags.baseline_arm = "b";
  EXPECT_EQ(
      make_run_options(flags, settings_of(""), arms_of_flags({"mini=openai:m", "b=openai:n"}))->baseline_arm,
      1u);
  flags.baseline = "base.json";
  EXPECT_EQ(refusal(flags, settings_of("")),
            "--baseline and --baseline-arm both name what the run is gated against: use one of them");
}

}  // namespace
}  // namespace sluice
