#include "common/settings/load_settings.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace sluice::perturbation_settings_test {

using Names = std::vector<std::string>;

tl::expected<Settings, std::vector<Finding>> merged(const std::string& file,
                                                    std::vector<FlagValue> flags = {}) {
  SettingSources sources;
  sources.file_name = "sluice.toml";
  sources.file_text = file;
  sources.flags = std::move(flags);
  return merge_settings(sources);
}

Names wanted(const std::string& file, std::vector<FlagValue> flags = {}) {
  const auto settings = merged(file, std::move(flags));
  EXPECT_TRUE(settings);
  const auto names = perturbations_wanted(*settings);
  EXPECT_TRUE(names);
  return names.value_or(Names{"failed"});
}

TEST(PerturbationSettings, NothingIsPerturbedUnlessItIsSet) {
  EXPECT_EQ(wanted(""), Names{});
  EXPECT_EQ(wanted("[eval]\nmode = \"live\"\n"), Names{});
}

TEST(PerturbationSettings, RobustIsLiveWithAllOfThem) {
  const auto settings = merged("[eval]\nmode = \"robust\"\n");
  ASSERT_TRUE(settings);
  EXPECT_EQ(settings->mode.value, Mode::live);
  EXPECT_EQ(mode_name(*settings), "robust");
  EXPECT_EQ(mode_name(*merged("[eval]\nmode = \"robust\"\n", {{"mode", "--mode", "cached"}})), "cached");
  EXPECT_EQ(wanted("[eval]\nmode = \"robust\"\n"), Names{"all"});
  EXPECT_EQ(wanted("[eval]\nmode = \"robust\"\nperturb = [\"crlf\", \"tabs\"]\n"), (Names{"crlf", "tabs"}));
}

TEST(PerturbationSettings, AnotherModeOverRobustIsNotRobust) {
  EXPECT_EQ(wanted("[eval]\nmode = \"robust\"\n", {{"mode", "--mode", "cached"}}), Names{});
}

TEST(PerturbationSettings, NamesComeInAListOrWithCommas) {
  EXPECT_EQ(wanted("", {{"perturb", "--perturb", "crlf,blank-lines"}}), (Names{"crlf", "blank-lines"}));
  EXPECT_EQ(wanted("", {{"perturb", "--perturb", "crlf, blank-lines"}}), (Names{"crlf", "blank-lines"}));
  EXPECT_EQ(wanted("[eval]\nperturb = \"all\"\n"), Names{"all"});
  EXPECT_EQ(wanted("[eval]\nperturb = \"all\"\n", {{"perturb", "--perturb", "none"}}), Names{});
}

TEST(PerturbationSettings, RobustWithoutPerturbationsIsRefused) {
  const auto settings = merged("[eval]\nperturb = \"none\"\n", {{"mode", "--mode", "robust"}});
  ASSERT_TRUE(settings);
  const auto names = perturbations_wanted(*settings);
  ASSERT_FALSE(names);
  EXPECT_EQ(names.error().reason, Reason::settings_invalid);
  EXPECT_EQ(
      names.error().message,
      "the mode \"robust\" (flag --mode) is live with perturbations, and \"perturb\" (sluice.toml:2) wants "
      "none: use --mode live, or name perturbations with --perturb");
}

TEST(PerturbationSettings, WrongNamesAndNumbersAreNamed) {
  const std::vector<std::pair<std::string, std::string>> wrong{
      {"perturb = \"a,,b\"",
       "\"perturb\" in [eval] must be names of perturbations with commas between them, "
       "\"all\" or \"none\", not \"a,,b\""},
      {"perturb = [\"a\", 1]",
       "\"perturb\" in [eval] must be names of perturbations with commas between them, "
       "\"all\" or \"none\", not an array"},
      {"perturb = [\"typos\", \"CRLF\"]",
       "\"perturb\" in [eval] must be names of perturbations with commas between them, "
       "\"all\" or \"none\", not \"CRLF\""},
      {"perturb = \"a,all\"", "\"perturb\" in [eval] must not name \"all\" beside others"},
      {"perturb = \"a,b,a\"", "\"perturb\" in [eval] must not name \"a\" twice"},
      {"repeat = 0", "\"repeat\" in [eval] must be a whole number from 1 to 100, not 0"},
      {"repeat = 101", "\"repeat\" in [eval] must be a whole number from 1 to 100, not 101"},
      {"perturb_max_bytes = 16777217",
       "\"perturb_max_bytes\" in [eval] must be a whole number from 1 to 16777216, not 16777217"},
      {"min_pass_rate = 2", "\"min_pass_rate\" in [eval] must be a number from 0 to 1, not 2"},
      {"min_stability = 1.5", "\"min_stability\" in [eval] must be a number from 0 to 1, not 1.5"}};
  for (const auto& [line, message] : wrong) {
    const auto settings = merged("[eval]\n" + line + "\n");
    ASSERT_FALSE(settings) << line;
    EXPECT_EQ(join_findings(settings.error()), "sluice.toml:2: " + message);
  }
}

}  // namespace sluice::perturbation_settings_test
