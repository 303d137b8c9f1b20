#include "common/settings/load_settings.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

using Warnings = std::vector<std::string>;

/// What settings from this environment warn of; every variable has the value.
Warnings warnings(const std::vector<std::string>& variables, const std::string& value = "3",
                  const std::string& file = "") {
  SettingSources sources;
  sources.file_name = "sluice.toml";
  sources.file_text = file;
  sources.variables = variables;
  sources.environment = [&](std::string_view name) -> std::optional<std::string> {
    for (const std::string& variable : variables) {
      if (variable == name) return value;
    }
    return std::nullopt;
  };
  const auto settings = merge_settings(sources);
  EXPECT_TRUE(settings) << join_findings(settings.error());
  return settings ? settings->warnings : Warnings{};
}

TEST(VariableNames, ASlipOfTheHandIsWarnedOf) {
  EXPECT_EQ(warnings({"SLUICE_MODELL", "SLUICE_MAX_CONCURENT"}),
            (Warnings{"SLUICE_MAX_CONCURENT is no setting; did you mean SLUICE_MAX_CONCURRENT?",
                      "SLUICE_MODELL is no setting; did you mean SLUICE_MODEL?"}));
}

TEST(VariableNames, TheNameOfAFlagLeadsToTheSettingsName) {
  EXPECT_EQ(warnings({"SLUICE_MAX_COST"}),
            Warnings{"SLUICE_MAX_COST is no setting; did you mean SLUICE_MAX_RUN_COST?"});
  EXPECT_EQ(warnings({"SLUICE_DEADLINE"}),
            Warnings{"SLUICE_DEADLINE is no setting; did you mean SLUICE_RUN_DEADLINE_SECONDS?"});
}

TEST(VariableNames, WhatIsASettingOrLooksLikeNoneIsLeftAlone) {
  EXPECT_EQ(warnings({"SLUICE_MAX_CONCURRENT", "SLUICE_HOME", "MAX_CONCURENT", "SLUICE_TEAM", "SLUICE_"}),
            Warnings{});
  EXPECT_EQ(warnings({"SLUICE_FUZZ_SECONDS", "SLUICE_IMAGE", "SLUICE_PERTURB_FILES", "SLUICE_PUSH_TOKEN",
                      "SLUICE_SKIP_DEPS"}),
            Warnings{});
}

TEST(VariableNames, AnEmptyVariableCountsAsNotSet) {
  EXPECT_EQ(warnings({"SLUICE_MAX_CONCURENT"}, ""), Warnings{});
}

TEST(VariableNames, AProvidersKeyMayBeCalledAnything) {
  const std::string file = "[providers.openai]\napi_key_env = \"SLUICE_MODELS\"\n";
  EXPECT_EQ(warnings({"SLUICE_MODELS"}, "sk", file), Warnings{});
  EXPECT_EQ(warnings({"SLUICE_MODELS"}, "sk"),
            (Warnings{"SLUICE_MODELS is no setting; did you mean SLUICE_MODEL?"}));
}

}  // namespace
}  // namespace sluice
