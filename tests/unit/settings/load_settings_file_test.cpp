#include "common/settings/load_settings.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace sluice {
namespace {

TEST(LoadSettings, ReadsTheNamedFileAndNamesOneThatIsNotThere) {
  std::string pattern = (std::filesystem::temp_directory_path() / "sluice_settings_XXXXXX").string();
  ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
  const std::string file = pattern + "/my.toml";
  std::ofstream(file) << "[eval]\nmax_output_tokens = 77\n";

  const auto settings = load_settings(file, {});
  ASSERT_TRUE(settings) << join_findings(settings.error());
  EXPECT_EQ(settings->max_output_tokens.value, 77u);
  EXPECT_EQ(settings->max_output_tokens.where, file + ":2");

  const auto missing = load_settings(pattern + "/other.toml", {});
  ASSERT_FALSE(missing);
  EXPECT_EQ(join_findings(missing.error()),
            pattern + "/other.toml: the settings file cannot be read: No such file or directory");
  const auto folder = load_settings(pattern, {});
  ASSERT_FALSE(folder);
  EXPECT_EQ(join_findings(folder.error()), pattern + ": the settings file cannot be read: Is a directory");
  std::filesystem::remove_all(pattern);
}

}  // namespace
}  // namespace sluice
