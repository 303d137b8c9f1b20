#include "coordinator/session/variations.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::vector<std::string> names(const Variations& variations) {
  std::vector<std::string> all;
  for (const Variation& one : variations.perturbations) all.push_back(one.name);
  return all;
}

TEST(Variations, NothingIsVariedUnlessItIsSaid) {
  const auto variations = make_variations({});
  ASSERT_TRUE(variations);
  EXPECT_TRUE(variations->perturbations.empty());
  EXPECT_EQ(variations->repeats, 1u);
}

TEST(Variations, ComeInTheCataloguesOrderAndCommandsLast) {
  RunOptions options;
  options.perturbations = {"final-newline", "crlf"};
  options.perturb_commands = {{"shout", "tr a-z A-Z"}};
  options.settings.repeat.value = 3;
  const auto variations = make_variations(options);
  ASSERT_TRUE(variations);
  EXPECT_EQ(names(*variations), (std::vector<std::string>{"crlf", "final-newline", "shout"}));
  EXPECT_EQ(variations->repeats, 3u);
  EXPECT_EQ(variations->perturbations[0].version, "1");
  EXPECT_FALSE(variations->perturbations[0].ask_once);
  EXPECT_TRUE(variations->perturbations[2].ask_once);
}

TEST(Variations, DoWhatTheirNamesSay) {
  RunOptions options;
  options.perturbations = {"crlf", "comments-removed"};
  options.perturb_commands = {
      {"shout", "tr a-z A-Z"}, {"broken", "exit 3"}, {"binary", "printf '\\377'"}, {"empty", "true"}};
  const auto variations = make_variations(options);
  ASSERT_TRUE(variations);
  const auto apply = [&](std::size_t n, std::string_view text, std::string_view language) {
    return variations->perturbations.at(n).apply(text, language);
  };
  using Kind = PerturbedText::Kind;
  EXPECT_EQ(apply(0, "x = 1\n", "python").kind, Kind::unchanged) << "no comment";
  EXPECT_EQ(apply(1, "x = 1\n", "python").text, "x = 1\r\n");
  EXPECT_EQ(apply(1, "x\n", "").kind, Kind::skipped);
  EXPECT_FALSE(apply(1, "x\n", "").reason.empty());
  EXPECT_EQ(apply(2, "abc", "").text, "ABC");
  EXPECT_EQ(apply(3, "abc", "").kind, Kind::failed);
  EXPECT_EQ(apply(3, "abc", "").reason, "the perturbation command \"exit 3\" ended with exit code 3");
  EXPECT_EQ(apply(4, "abc", "").reason,
            "what the perturbation command \"printf '\\377'\" wrote is not valid UTF-8");
  EXPECT_EQ(apply(5, "abc", "").kind, Kind::failed);
}

TEST(Variations, CommandsSeeNoKeyOfAProvider) {
  RunOptions options;
  ProviderConfig provider;
  provider.api_key_env.value = "SLUICE_TEST_SECRET_TOKEN";
  options.settings.providers = {provider};
  options.perturb_commands = {{"env", "env"}};
  ::setenv("SLUICE_TEST_SECRET_TOKEN", "sk-secret", 1);
  const auto seen = make_variations(options)->perturbations[0].apply("abc", "").text;
  ::unsetenv("SLUICE_TEST_SECRET_TOKEN");
  EXPECT_FALSE(seen.empty());
  EXPECT_EQ(seen.find("sk-secret"), std::string::npos);
}

TEST(Variations, AnotherCommandIsAnotherVersion) {
  RunOptions options;
  options.perturb_commands = {{"word", "cat; echo a"}};
  const auto version = make_variations(options)->perturbations[0].version;
  EXPECT_EQ(version.size(), 12u);
  options.perturb_commands[0].command += "b";
  EXPECT_NE(make_variations(options)->perturbations[0].version, version);
}

TEST(Variations, UnknownNamesAndTakenOnesAreRefused) {
  RunOptions options;
  options.perturbations = {"tabs"};
  options.settings.perturb.where = "suite.yaml:4";
  const auto unknown = make_variations(options);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().reason, Reason::usage_invalid);
  EXPECT_TRUE(unknown.error().message.starts_with("suite.yaml:4: there is no perturbation \"tabs\""));
  options.perturbations.clear();
  options.perturb_commands = {{"crlf", "cat"}};
  EXPECT_EQ(make_variations(options).error().reason, Reason::usage_invalid);
}

TEST(Variations, MoreThanATrialTableHoldsAreRefused) {
  RunOptions options;
  for (std::uint32_t i = 0; i <= TrialTable::max_perturbations; ++i) {
    options.perturb_commands.push_back({"c" + std::to_string(i), "cat"});
  }
  EXPECT_EQ(make_variations(options).error().reason, Reason::usage_invalid);
  options.perturb_commands.pop_back();
  EXPECT_TRUE(make_variations(options));
}

}  // namespace
}  // namespace sluice
