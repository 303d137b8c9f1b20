#include "coordinator/cli/setting_flags.hpp"

#include "coordinator/cli/run_flags.hpp"
#include "tests/support/temporary_folder.hpp"

#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice::setting_flags_test {

TEST(SettingFlags, NoJudgeIsAJudgeOfNone) {
  const support::TemporaryFolder folder;
  const std::string config = (folder.path() / "s.toml").string();
  support::write_text(config, "[judge]\nprovider = \"openai\"\n");
  CLI::App app;
  SettingFlags flags;
  flags.add_to(app, {"judge"});
  app.parse("--no-judge --config " + config);
  const auto settings = flags.load(Warnings::left_out);
  ASSERT_TRUE(settings) << join_findings(settings.error());
  EXPECT_EQ(settings->judge.value, "none");
  EXPECT_EQ(settings->judge.where, "--no-judge");
  EXPECT_EQ(settings->judge_provider.value, "openai");
}

TEST(SettingFlags, AJudgeIsNotNamedAndRefusedAtOnce) {
  CLI::App app;
  SettingFlags flags;
  flags.add_to(app, {"judge"});
  EXPECT_THROW(app.parse("--judge openai --no-judge"), CLI::ExcludesError);
}

TEST(SettingFlags, ACommandMayHaveAFlagForASettingThatHasNoneElsewhere) {
  CLI::App other;
  SettingFlags without;
  without.add_to(other, {"max_tokens_per_file"});
  EXPECT_EQ(other.get_option_no_throw("--max-tokens-per-file"), nullptr);
  CLI::App app;
  SettingFlags flags;
  flags.rename("max_tokens_per_file", "--max-tokens-per-file");
  flags.add_to(app, {"max_tokens_per_file"});
  app.parse("--max-tokens-per-file 12");
  const auto settings = flags.load(Warnings::left_out);
  ASSERT_TRUE(settings) << join_findings(settings.error());
  EXPECT_EQ(settings->max_tokens_per_file.value, 12u);
  EXPECT_EQ(settings->max_tokens_per_file.where, "--max-tokens-per-file");
}

// `sluice rerun` looked for the file where the rerun stood.
TEST(GivenFlags, NameFilesAndFoldersSoThatAnotherFolderFindsThem) {
  CLI::App app;
  SettingFlags flags;
  flags.add_to(app, {"model", "prices_file", "ontology_file", "prompt_file", "home"});
  app.parse(
      "--config conf/../s.toml --model m --prices p.toml --ontology /o.toml --prompt ~/p.toml --home h");
  const auto given = nlohmann::json::parse(given_flags(app));
  const auto here = std::filesystem::current_path();
  EXPECT_EQ(given["config"][0], (here / "s.toml").string());
  EXPECT_EQ(given["prices"][0], (here / "p.toml").string());
  EXPECT_EQ(given["home"][0], (here / "h").string());
  EXPECT_EQ(given["ontology"][0], "/o.toml");
  EXPECT_EQ(given["prompt"][0], "~/p.toml");
  EXPECT_EQ(given["model"][0], "m");
}

TEST(SettingFlags, OneThatMayStandAloneSaysWhatItTook) {
  CLI::App app;
  SettingFlags flags;
  flags.add_to(app, {"save_observations"});
  app.parse("--save-observations suite.yaml");
  const auto settings = flags.load(Warnings::left_out);
  ASSERT_FALSE(settings);
  ASSERT_EQ(settings.error().size(), 1u);
  EXPECT_NE(settings.error()[0].message.find("took \"suite.yaml\" for its value"), std::string::npos);
}

}  // namespace sluice::setting_flags_test
