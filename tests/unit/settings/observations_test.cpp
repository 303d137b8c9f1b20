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

TEST(Observations, TheSpecsOwnSettingsLoad) {
  const auto settings = merged(spec_block);
  ASSERT_TRUE(settings) << join_findings(settings.error());
  EXPECT_EQ(settings->max_concurrent.where, "sluice.toml:11");
  EXPECT_EQ(settings->warnings,
            (Warnings{"sluice.toml:5: \"database_path\" in [eval] has no effect: observations are not kept",
                      "sluice.toml:13: \"retention_days\" in [eval] has no effect: observations are not kept",
                      "sluice.toml:15: \"retention_max_count\" in [eval] has no effect: observations are not "
                      "kept"}));
}

TEST(Observations, AreNotKeptWhateverIsSet) {
  EXPECT_EQ(finding("[eval]\nsave_observations = true\n"),
            "sluice.toml:2: \"save_observations\" in [eval] is not supported yet by this version of sluice: "
            "observations are not kept; say false, or leave it out");
  EXPECT_EQ(finding("[eval]\nsave_observations = 0\n"),
            "sluice.toml:2: \"save_observations\" in [eval] must be false, since observations are not kept, "
            "not 0");
  EXPECT_EQ(finding("", "SLUICE_SAVE_OBSERVATIONS", "true"),
            "SLUICE_SAVE_OBSERVATIONS: is not supported yet by this version of sluice: observations are not "
            "kept; say false, or leave it out");
}

TEST(Observations, TheEnvironmentMayNameThemToo) {
  const auto settings = merged("", "SLUICE_SAVE_OBSERVATIONS", "false");
  ASSERT_TRUE(settings) << join_findings(settings.error());
  EXPECT_EQ(settings->warnings, Warnings{});
  EXPECT_EQ(merged("", "SLUICE_DATABASE_PATH", "x")->warnings,
            (Warnings{"SLUICE_DATABASE_PATH has no effect: observations are not kept"}));
}

}  // namespace sluice::observations_test
