// The least pass rates that a suite asks for.
#include "tests/unit/suite/suite_files.hpp"

#include <string>

namespace sluice {
namespace {

class PassRateSuite : public SuiteFiles {
 protected:
  static std::string suite(const std::string& rate) {
    return "suite: s\nsettings: {min_pass_rate: " + rate +
           "}\ntests:\n"
           "  - {id: a, category: safety, input: {prompt: p}, expected: {type: must_contain, text: x}}\n"
           "  - {id: b, input: {prompt: p}, expected: {type: must_contain, text: x}}\n";
  }
};

TEST_F(PassRateSuite, MayBeByCategory) {
  const auto loaded = load(suite("{default: 0.9, safety: 1}"));
  ASSERT_EQ(loaded.settings.size(), 1u);
  EXPECT_EQ(loaded.settings[0].key, "min_pass_rate");
  EXPECT_EQ(std::get<double>(loaded.settings[0].value.value), 0.9);
  EXPECT_EQ(loaded.suite.min_pass_rates, (std::map<std::string, double, std::less<>>{{"safety", 1.0}}));
  const auto without_default = load(suite("{safety: 0.5, tests: 0.25}"));
  EXPECT_TRUE(without_default.settings.empty());
  EXPECT_EQ(without_default.suite.min_pass_rates.size(), 2u);
  EXPECT_TRUE(load(suite("0.9")).suite.min_pass_rates.empty());
}

TEST_F(PassRateSuite, NamesACategoryThatNoTestHas) {
  EXPECT_EQ(findings(suite("{default: 0.9, safty: 1}")),
            "suite.yaml:2: \"safty\" in settings.min_pass_rate is no category of the suite's tests; "
            "they have \"safety\" and \"tests\", and \"default\" stands for all without a rate of "
            "their own; did you mean \"safety\"?\n");
}

TEST_F(PassRateSuite, NamesWhatIsNoRate) {
  const std::string above = findings(suite("{default: 0.9, safety: 2}"));
  EXPECT_NE(above.find("suite.yaml:2: \"safety\" in settings.min_pass_rate must be"), std::string::npos)
      << above;
  const std::string word = findings(suite("{default: most}"));
  EXPECT_NE(word.find("\"default\" in settings.min_pass_rate must be"), std::string::npos) << word;
  EXPECT_NE(findings(suite("{}")).find("\"min_pass_rate\" in settings must be a number, or"),
            std::string::npos);
  EXPECT_NE(findings(suite("[1]")).find("\"min_pass_rate\" in settings must be"), std::string::npos);
}

}  // namespace
}  // namespace sluice
