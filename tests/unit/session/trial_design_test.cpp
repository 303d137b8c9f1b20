#include "coordinator/session/trial_design.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::vector<std::string> names(const TrialDesign& design) {
  std::vector<std::string> all;
  for (const RunPerturbation& one : design.perturbations) all.push_back(one.name);
  return all;
}

TEST(TrialDesign, NothingIsPerturbedByDefault) {
  const auto design = make_trial_design({});
  ASSERT_TRUE(design);
  EXPECT_TRUE(design->perturbations.empty());
  EXPECT_EQ(design->repeats, 1u);
}

TEST(TrialDesign, ComeInTheCataloguesOrderAndCommandsLast) {
  RunOptions options;
  options.perturbations = {"final-newline", "crlf"};
  options.perturb_commands = {{"shout", "tr a-z A-Z"}};
  options.settings.repeat.value = 3;
  const auto design = make_trial_design(options);
  ASSERT_TRUE(design);
  EXPECT_EQ(names(*design), (std::vector<std::string>{"crlf", "final-newline", "shout"}));
  EXPECT_EQ(design->repeats, 3u);
  EXPECT_EQ(design->perturbations[0].version, "1");
  EXPECT_FALSE(design->perturbations[0].apply_once);
  EXPECT_TRUE(design->perturbations[2].apply_once);
}

TEST(TrialDesign, DoWhatTheirNamesSay) {
  RunOptions options;
  options.perturbations = {"crlf", "comments-removed"};
  options.perturb_commands = {
      {"shout", "tr a-z A-Z"}, {"broken", "exit 3"}, {"binary", "printf '\\377'"}, {"empty", "true"}};
  const auto design = make_trial_design(options);
  ASSERT_TRUE(design);
  const auto apply = [&](std::size_t n, std::string_view text, std::string_view language) {
    return design->perturbations.at(n).apply(text, language);
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

TEST(TrialDesign, WhatACommandSaysOfATextIsRedacted) {
  RunOptions options;
  options.perturb_commands = {{"quoting", "cat >&2; exit 3"}};
  const std::vector<RedactionPattern> patterns{{"secret", "secret-[A-Z]+"}};
  const auto design = make_trial_design(options, *Redactor::make(patterns));
  for (std::size_t length = 470; length < 520; ++length) {
    const auto reason = design->perturbations[0].apply("secret-AAA " + std::string(length, 'x'), "").reason;
    EXPECT_EQ(reason.find("AAA"), std::string::npos) << reason;
  }
}

TEST(TrialDesign, CommandsSeeNoKeyOfAProvider) {
  RunOptions options;
  ProviderConfig provider;
  provider.api_key_env.value = "SLUICE_TEST_SECRET_TOKEN";
  options.settings.providers = {provider};
  options.perturb_commands = {{"env", "env"}};
  ::setenv("SLUICE_TEST_SECRET_TOKEN", "sk-secret", 1);
  const auto seen = make_trial_design(options)->perturbations[0].apply("abc", "").text;
  ::unsetenv("SLUICE_TEST_SECRET_TOKEN");
  EXPECT_FALSE(seen.empty());
  EXPECT_EQ(seen.find("sk-secret"), std::string::npos);
}

TEST(TrialDesign, AnotherCommandIsAnotherVersion) {
  RunOptions options;
  options.perturb_commands = {{"word", "cat; echo a"}};
  const auto version = make_trial_design(options)->perturbations[0].version;
  EXPECT_EQ(version.size(), 12u);
  options.perturb_commands[0].command += "b";
  EXPECT_NE(make_trial_design(options)->perturbations[0].version, version);
}

TEST(TrialDesign, UnknownNamesAndTakenOnesAreRefused) {
  RunOptions options;
  options.perturbations = {"tabs"};
  options.settings.perturb.where = "suite.yaml:4";
  const auto unknown = make_trial_design(options);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().reason, Reason::usage_invalid);
  EXPECT_TRUE(unknown.error().message.starts_with("suite.yaml:4: there is no perturbation \"tabs\""));
  options.perturbations.clear();
  options.perturb_commands = {{"crlf", "cat"}};
  EXPECT_EQ(make_trial_design(options).error().reason, Reason::usage_invalid);
}

TEST(TrialDesign, MoreThanATrialTableHoldsAreRefused) {
  RunOptions options;
  for (std::uint32_t i = 0; i <= TrialTable::max_perturbations; ++i) {
    options.perturb_commands.push_back({"c" + std::to_string(i), "cat"});
  }
  EXPECT_EQ(make_trial_design(options).error().reason, Reason::usage_invalid);
  options.perturb_commands.pop_back();
  EXPECT_TRUE(make_trial_design(options));
}

}  // namespace
}  // namespace sluice
