#include "common/settings/load_settings.hpp"

#include <optional>
#include <string>

#include <gtest/gtest.h>

namespace sluice::durable_test {

tl::expected<Settings, std::vector<Finding>> merged(const std::string& file,
                                                    const std::string& variable = "") {
  SettingSources sources;
  sources.file_name = "sluice.toml";
  sources.file_text = file;
  sources.environment = [&](std::string_view name) {
    return name == "SLUICE_DURABLE" && !variable.empty() ? std::optional(variable) : std::nullopt;
  };
  return merge_settings(sources);
}

TEST(Durable, IsOffUnlessFileOrEnvironmentSaySo) {
  EXPECT_FALSE(merged("")->durable.value);
  const auto of_file = merged("[ledger]\ndurable = true\n");
  ASSERT_TRUE(of_file) << join_findings(of_file.error());
  EXPECT_TRUE(of_file->durable.value);
  EXPECT_EQ(of_file->durable.where, "sluice.toml:2");
  EXPECT_TRUE(merged("", "true")->durable.value);
  EXPECT_FALSE(merged("[ledger]\ndurable = true\n", "false")->durable.value);
}

TEST(Durable, StandsUnderLedgerAlone) {
  const auto misplaced = merged("[eval]\ndurable = true\n");
  ASSERT_FALSE(misplaced);
  EXPECT_NE(join_findings(misplaced.error()).find("it belongs in [ledger] as \"durable\""), std::string::npos)
      << join_findings(misplaced.error());
  const auto unknown = merged("[ledger]\ndurabel = true\n");
  ASSERT_FALSE(unknown);
  EXPECT_NE(join_findings(unknown.error()).find("durable"), std::string::npos)
      << join_findings(unknown.error());
}

}  // namespace sluice::durable_test
