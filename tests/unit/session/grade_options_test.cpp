#include "coordinator/session/grade_options.hpp"

#include "common/settings/load_settings.hpp"
#include "coordinator/session/arm_options.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::grade_options_test {

Settings settings_of(const std::string& file) {
  SettingSources sources;
  sources.environment = [](std::string_view) { return std::optional<std::string>(); };
  sources.file_name = "sluice.toml";
  sources.file_text = file;
  auto settings = merge_settings(sources);
  EXPECT_TRUE(settings) << join_findings(settings.error());
  return settings ? *settings : Settings{};
}

Result<RunOptions> options_of(const Settings& settings, const std::vector<std::string>& arms,
                              GradeFlags grade = {"old", "new", "exact", {}}) {
  RunFlags flags;
  flags.arms = arms;
  const auto named = run_arms(flags, Suite());
  EXPECT_TRUE(named) << named.error().message;
  return make_grade_options(flags, grade, settings, named ? *named : std::vector<Arm>());
}

Result<RunOptions> options_of(const std::string& file, const std::vector<std::string>& arms) {
  return options_of(settings_of(file), arms);
}

std::string refusal(const Result<RunOptions>& options) {
  EXPECT_FALSE(options);
  if (options) return "";
  EXPECT_EQ(options.error().reason, Reason::usage_invalid);
  return options.error().message;
}

TEST(GradeOptions, AreTheCandidatesRunBesideTheBaseline) {
  const auto options = options_of("", {"old=openai:m", "new=openai:n"});
  ASSERT_TRUE(options) << options.error().message;
  ASSERT_EQ(options->arms.size(), 1u);
  EXPECT_EQ(options->arms[0].arm.name, "new");
  ASSERT_TRUE(options->grading);
  EXPECT_EQ(options->grading->baseline.provider.model, "m");
}

// Both had the same keys: the candidate's answer was the baseline's, out of the cache, and every score 1.
TEST(GradeOptions, OneModelUnderTwoProvidersIsNotComparedWithItself) {
  const std::string mirror = "[providers.mirror]\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\n";
  const std::string identity = "cache_identity = \"one\"\n";
  const std::string file = mirror + identity + "[providers.openai]\n" + identity;
  const std::string message = refusal(options_of(file, {"old=openai:m", "new=mirror:m"}));
  EXPECT_NE(message.find("are the same model"), std::string::npos) << message;
  EXPECT_NE(message.find("cache_identity"), std::string::npos) << message;
  EXPECT_TRUE(options_of(file, {"old=openai:m", "new=mirror:n"}));
  EXPECT_TRUE(options_of(mirror, {"old=openai:m", "new=mirror:m"}));
  EXPECT_EQ(refusal(options_of("", {"old=openai:m", "new=openai:m"})).find("cache_identity"),
            std::string::npos);
}

// Prompts and key went to the provider's own host, where the user had named another.
TEST(GradeOptions, ABaseUrlIsThatOfTheOneProviderThatBothArmsAsk) {
  Settings settings = settings_of("");
  settings.base_url = {"http://127.0.0.1:1/v1", Origin::suite, "g.yaml:2"};
  const auto options = options_of(settings, {"old=openai:m", "new=openai:n", "other=anthropic:o"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->grading->baseline.provider.provider.base_url, "http://127.0.0.1:1/v1");
  EXPECT_EQ(options->arms[0].provider.provider.base_url, "http://127.0.0.1:1/v1");
  const std::string message = refusal(options_of(settings, {"old=openai:m", "new=anthropic:n"}));
  EXPECT_TRUE(message.starts_with("g.yaml:2: the arms ask \"openai\" and \"anthropic\"")) << message;
}

}  // namespace sluice::grade_options_test
