#include "common/settings/load_settings.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::observations_test {

using Warnings = std::vector<std::string>;

tl::expected<Settings, std::vector<Finding>> merged(const std::string& file, const std::string& variable = "",
                                                    const std::string& value = "") {
  SettingSources sources;
  sources.file_name = "sluice.toml";
  sources.file_text = file;
  sources.environment = [&](std::string_view name) {
    return name == variable ? std::optional(value) : std::nullopt;
  };
  return merge_settings(sources);
}

std::string finding(const std::string& file, const std::string& variable = "",
                    const std::string& value = "") {
  const auto settings = merged(file, variable, value);
  EXPECT_FALSE(settings) << file << variable;
  return settings ? "" : join_findings(settings.error());
}

// As users of the format write it.
constexpr const char* spec_block = R"([eval]
# Save observations during scans
save_observations = false
# SQLite database path
database_path = "~/.aphoria/eval/observations.db"
# Default fixtures directory
fixtures_dir = "tests/llm_fixtures"
# Regression threshold (5% = 0.05)
regression_threshold = 0.05
# Maximum concurrent LLM calls
max_concurrent = 5
# Retention: days to keep observations
retention_days = 30
# Retention: max observations to keep regardless of age
retention_max_count = 1000
# Rate limit: initial backoff delay (ms)
rate_limit_initial_delay_ms = 500
# Rate limit: max retries before failing
rate_limit_max_retries = 5
)";

std::string line_of(const Settings& settings, const std::string& key) {
  for (const SettingLine& line : describe(settings)) {
    if (line.key == key) return line.value + " # " + line.origin;
  }
  return "no such line";
}

TEST(Observations, TheSpecsOwnSettingsLoad) {
  const auto settings = merged(spec_block, "HOME", "/home/me");
  ASSERT_TRUE(settings) << join_findings(settings.error());
  EXPECT_EQ(settings->max_concurrent.where, "sluice.toml:11");
  EXPECT_EQ(settings->warnings, Warnings{});
  EXPECT_FALSE(settings->save_observations.value);
  EXPECT_EQ(observations_file(*settings), "/home/me/.aphoria/eval/observations.db");
  EXPECT_EQ(settings->retention_days.value, 30u);
  EXPECT_EQ(line_of(*settings, "eval.retention_max_count"), "1000 # sluice.toml:15");
}

TEST(Observations, AreOffAndInTheHomeUnlessSomebodySaysOtherwise) {
  const auto settings = merged("", "SLUICE_HOME", "/home/me/.sluice");
  ASSERT_TRUE(settings) << join_findings(settings.error());
  EXPECT_EQ(line_of(*settings, "eval.save_observations"), "false # default");
  EXPECT_EQ(line_of(*settings, "eval.database_path"), "\"/home/me/.sluice/observations.db\" # default");
  EXPECT_EQ(line_of(*settings, "eval.retention_days"), "30 # default");
  EXPECT_TRUE(merged("[eval]\nsave_observations = true\n")->save_observations.value);
}

TEST(Observations, TheEnvironmentMaySwitchThemOn) {
  const auto settings = merged("", "SLUICE_SAVE_OBSERVATIONS", "true");
  ASSERT_TRUE(settings) << join_findings(settings.error());
  EXPECT_EQ(line_of(*settings, "eval.save_observations"), "true # SLUICE_SAVE_OBSERVATIONS");
  EXPECT_EQ(observations_file(*merged("", "SLUICE_DATABASE_PATH", "x.db")), "x.db");
  EXPECT_EQ(finding("", "SLUICE_SAVE_OBSERVATIONS", "yes"),
            "SLUICE_SAVE_OBSERVATIONS: must be true or false, not \"yes\"");
  EXPECT_EQ(finding("[eval]\nsave_observations = 0\n"),
            "sluice.toml:2: \"save_observations\" in [eval] must be true or false, not 0");
}

TEST(Redaction, IsOffUntilPatternsAreNamed) {
  EXPECT_TRUE(redaction_of(*merged("")).empty());
  EXPECT_TRUE(redaction_of(*merged("[redaction]\nshipped = [\"none\"]\n")).empty());
  const auto settings =
      merged("[redaction]\nshipped = [\"mail\"]\n[redaction.patterns]\ncustomer = 'C-\\d{4}'\nb = \"x\"\n");
  ASSERT_TRUE(settings) << join_findings(settings.error());
  const auto patterns = redaction_of(*settings);
  ASSERT_EQ(patterns.size(), 3u);
  EXPECT_EQ(patterns[0].name, "mail");
  EXPECT_EQ(patterns[1], (RedactionPattern{"b", "x"}));
  EXPECT_EQ(patterns[2], (RedactionPattern{"customer", "C-\\d{4}"}));
  EXPECT_EQ(line_of(*settings, "redaction.shipped"), "[\"mail\"] # sluice.toml:2");
  EXPECT_EQ(line_of(*settings, "redaction.patterns.customer"), "\"C-\\\\d{4}\" # sluice.toml:4");
  EXPECT_EQ(redaction_of(*merged("", "SLUICE_REDACT", "keys, mail")).size(), 2u);
  EXPECT_EQ(redaction_of(*merged("", "SLUICE_REDACT", "all")).size(), shipped_redactions().size());
}

TEST(Redaction, WhatCannotBeMeantIsRefused) {
  EXPECT_EQ(finding("[redaction]\nshipped = [\"phones\"]\n"),
            "sluice.toml:2: \"shipped\" in [redaction] must be names of shipped patterns (\"keys\" and "
            "\"mail\") with commas between them, \"all\" or \"none\", not \"phones\"");
  EXPECT_EQ(finding("[redaction]\nshipped = []\n"),
            "sluice.toml:2: \"shipped\" in [redaction] must be names of shipped patterns (\"keys\" and "
            "\"mail\") with commas between them, \"all\" or \"none\", not an empty array");
  EXPECT_EQ(
      finding("[redaction.patterns]\nmail = \"x\"\n"),
      "sluice.toml:2: \"mail\" in [redaction.patterns] is the name of a shipped pattern: switch that on "
      "with \"shipped\" in [redaction], or take another name");
  EXPECT_EQ(finding("[redaction.patterns]\n\"A B\" = \"x\"\n"),
            "sluice.toml:2: \"A B\" in [redaction.patterns] must have a name of lower-case letters, digits, "
            "'-' and '_'");
  EXPECT_EQ(finding("[redaction.patterns]\na = 3\n"),
            "sluice.toml:2: \"a\" in [redaction.patterns] must be a string, not 3");
  EXPECT_EQ(finding("[redaction]\npatern = 1\n")
                .find("sluice.toml:2: unknown key \"patern\" in "
                      "[redaction]; did you mean \"patterns\"?"),
            0u);
}

}  // namespace sluice::observations_test
