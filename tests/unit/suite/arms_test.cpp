#include "coordinator/suite/prompts/arms.hpp"

#include "coordinator/defaults.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace sluice {
namespace {

Arm arm(const std::string& name, std::optional<std::uint32_t> prompt = {}) {
  Arm one;
  one.name = name;
  one.model = "m";
  one.prompt = prompt;
  return one;
}

/// `NAME:PROMPT`, with `-` for no prompt.
std::string shown(const std::vector<Arm>& arms) {
  std::string text;
  for (const Arm& one : arms) {
    if (!text.empty()) text += ' ';
    text += one.name + ":" + (one.prompt ? std::to_string(*one.prompt) : "-");
  }
  return text;
}

const std::vector<PromptVariant> none;
const std::vector<PromptVariant> one_prompt{{"p", "", "P"}};
const std::vector<PromptVariant> two_prompts{{"p", "", "P"}, {"q", "", "Q"}};

TEST(Arms, AreCrossedWithPromptsThatTheyDoNotName) {
  EXPECT_EQ(shown(arms_of(none, {})), "");
  EXPECT_EQ(shown(arms_of(none, {arm("a"), arm("b")})), "a:- b:-");
  EXPECT_EQ(shown(arms_of(one_prompt, {})), "");
  EXPECT_EQ(shown(arms_of(one_prompt, {arm("a"), arm("b", 0)})), "a:0 b:0");
  EXPECT_EQ(shown(arms_of(two_prompts, {})), "p:0 q:1");
  EXPECT_EQ(shown(arms_of(two_prompts, {arm("a"), arm("b", 1)})), "a/p:0 a/q:1 b:1");
  const auto crossed = arms_of(two_prompts, {arm("a")});
  EXPECT_EQ(crossed[1].model, "m");
  EXPECT_EQ(arms_of(two_prompts, {})[0].model, "");
}

TEST(Arms, OfFlagsReplaceThoseOfTheSuite) {
  EXPECT_EQ(shown(arms_of(none, {arm("a")}, {arm("f")})), "f:-");
  EXPECT_EQ(shown(arms_of(two_prompts, {arm("a", 0)}, {arm("f")})), "f/p:0 f/q:1");
}

TEST(Arms, AreReadFromAFlag) {
  const auto read = parse_arm("mini=openai:gpt-5-mini");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->name, "mini");
  EXPECT_EQ(read->provider, "openai");
  EXPECT_EQ(read->model, "gpt-5-mini");
  const auto tagged = parse_arm("a=ollama:library/llama3:8b=q4");
  ASSERT_TRUE(tagged);
  EXPECT_EQ(tagged->provider, "ollama");
  EXPECT_EQ(tagged->model, "library/llama3:8b=q4");
  for (const std::string text :
       {"", "a", "a=", "=openai:m", "a=openai", "a=openai:", "a=:m", "openai:m", "a=open ai:m", "a=o:m\n"}) {
    const auto refused = parse_arm(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().reason, Reason::usage_invalid);
    EXPECT_TRUE(refused.error().message.starts_with(
        "must be NAME=PROVIDER:MODEL, such as mini=openai:gpt-5-mini, not \""))
        << refused.error().message;
  }
  const auto name = parse_arm("a/b=openai:m");
  ASSERT_FALSE(name);
  EXPECT_EQ(
      name.error().message,
      "begins with the arm's name, which must be of letters, digits, \".\", \"_\" and \"-\", at most 64 of "
      "them, not \"a/b\"");
}

TEST(Arms, HaveNamesOfTheirOwn) {
  EXPECT_TRUE(check_arms({}));
  EXPECT_TRUE(check_arms(arms_of(two_prompts, {arm("a"), arm("b")})));
  Arm first = arm("a");
  first.where = "suite.yaml:3";
  Arm second = arm("a");
  second.where = "--arm";
  const auto same = check_arms({first, second});
  ASSERT_FALSE(same);
  EXPECT_EQ(same.error().message,
            "two arms are called \"a\" (suite.yaml:3, --arm): give one of them another name");
}

TEST(Arms, AreNoMoreThanARunMayHave) {
  std::vector<Arm> many;
  for (std::size_t i = 0; i < defaults::max_arms; ++i) many.push_back(arm(std::to_string(i)));
  EXPECT_TRUE(check_arms(many));
  many.push_back(arm("x"));
  const auto too_many = check_arms(many);
  ASSERT_FALSE(too_many);
  EXPECT_EQ(too_many.error().message,
            "there are 33 arms, each named one with each prompt; 32 are the most of a run");
}

TEST(Arms, AreCalledByPlainNames) {
  EXPECT_TRUE(is_arm_name("gpt-5_mini.v1"));
  EXPECT_TRUE(is_arm_name(std::string(64, 'a')));
  for (const std::string name : {"", "a/b", "a b", "a@b", "\xc3\xa9", "a\n"})
    EXPECT_FALSE(is_arm_name(name)) << name;
  EXPECT_FALSE(is_arm_name(std::string(65, 'a')));
}

}  // namespace
}  // namespace sluice
