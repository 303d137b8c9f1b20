#include "common/settings/variable_names.hpp"

#include "common/files.hpp"
#include "common/settings/load_settings.hpp"
#include "common/settings/provider_presets.hpp"
#include "common/settings/setting_definitions.hpp"
#include "tests/support/paths.hpp"

#include <functional>
#include <set>
#include <string>
#include <string_view>
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

TEST(VariableNames, ThePlaceInTheSettingsFileLeadsToTheSettingsName) {
  EXPECT_EQ(warnings({"SLUICE_JUDGE_PROVIDER", "SLUICE_EVAL_MODEL", "SLUICE_LEDGER_DURABLE"}),
            (Warnings{"SLUICE_EVAL_MODEL is no setting; did you mean SLUICE_MODEL?",
                      "SLUICE_JUDGE_PROVIDER is no setting; did you mean SLUICE_JUDGE?",
                      "SLUICE_LEDGER_DURABLE is no setting; did you mean SLUICE_DURABLE?"}));
}

TEST(VariableNames, WhatIsASettingOrLooksLikeNoneIsLeftAlone) {
  EXPECT_EQ(warnings({"SLUICE_MAX_CONCURRENT", "SLUICE_HOME", "MAX_CONCURENT", "SLUICE_TEAM", "SLUICE_"}),
            Warnings{});
  EXPECT_EQ(warnings({"SLUICE_IMAGE", "SLUICE_PERTURB_FILES", "SLUICE_PUSH_TOKEN", "SLUICE_SKIP_DEPS"}),
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

TEST(VariableNames, AllStandInTheDocumentation) {
  const auto page = read_file(support::source_path("docs/commands.md"), 1 << 20);
  ASSERT_TRUE(page) << page.error().message;
  const auto mentions = [&](const std::string& text) { return page->find(text) != std::string::npos; };
  for (const SettingDefinition& one : setting_definitions()) {
    const std::string flag = one.flag.empty() ? "" : "`" + std::string(one.flag) + "` ";
    const std::string row =
        "\n| `" + variable_of(one.key) + "` | " + flag + "| " + std::string(one.doc) + " |\n";
    EXPECT_TRUE(mentions(row)) << row;
    const std::string other(one.other_variable);
    EXPECT_TRUE(other.empty() || mentions("`" + other + "`")) << other;
    const std::string off(one.off_flag);
    EXPECT_TRUE(off.empty() || mentions("`" + off + "`")) << off;
  }
  for (const std::string_view name : preset_names()) {
    EXPECT_TRUE(mentions("`" + preset_provider(name)->api_key_env.value + "`")) << name;
  }
  for (const std::string_view name : other_variables()) {
    EXPECT_TRUE(mentions("`" + std::string(name) + "`")) << name;
  }
}

TEST(VariableNames, TheDocumentationNamesNoOthers) {
  const auto page = read_file(support::source_path("docs/commands.md"), 1 << 20);
  ASSERT_TRUE(page) << page.error().message;
  std::set<std::string, std::less<>> known(other_variables().begin(), other_variables().end());
  for (const SettingDefinition& one : setting_definitions()) known.insert(variable_of(one.key));
  const std::string_view row = "\n| `SLUICE_";
  std::size_t rows = 0;
  for (std::size_t at = page->find(row); at != std::string::npos; at = page->find(row, at + 1), ++rows) {
    const std::size_t begin = page->find('`', at) + 1;
    const std::string name = page->substr(begin, page->find('`', begin) - begin);
    EXPECT_TRUE(known.contains(name)) << name;
  }
  EXPECT_GT(rows, setting_definitions().size());
}

}  // namespace
}  // namespace sluice
