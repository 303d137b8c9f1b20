#include "coordinator/suite/canonical_case.hpp"
#include "tests/unit/suite/suite_files.hpp"

#include <string>

namespace sluice {
namespace {

class StatisticalThresholding : public SuiteFiles {
 protected:
  static std::string suite(const std::string& thresholding, const std::string& of_test = "{}") {
    return "suite: s\nsettings:\n  thresholding: " + thresholding +
           "\ntests:\n  - id: t\n    input: {prompt: p}\n    expected:\n      type: claims_f1\n"
           "      thresholding: " +
           of_test + "\n";
  }
};

TEST_F(StatisticalThresholding, IsReadWithAllItsKeys) {
  const auto loaded = load(
      suite("{mode: statistical, confidence: 0.9, min_effect: 0.02, cluster: category, min_floor: 0.5}"));
  const Thresholding& given = loaded.suite.thresholding;
  EXPECT_EQ(given.mode, ThresholdMode::statistical);
  EXPECT_EQ(given.confidence, 0.9);
  EXPECT_EQ(given.min_effect, 0.02);
  EXPECT_TRUE(given.cluster_by_category);
  EXPECT_EQ(given.min_floor, 0.5);
  EXPECT_EQ(
      canonical_thresholding(given),
      R"({"cluster":"category","confidence":0.9,"min_effect":0.02,"min_floor":0.5,"mode":"statistical"})");
}

TEST_F(StatisticalThresholding, IsOfTheSuiteAlone) {
  EXPECT_EQ(findings(suite("{}", "{mode: statistical}")),
            "suite.yaml:9: \"mode\" in thresholding cannot be \"statistical\" here: that judges all tests "
            "together, and stands in settings.thresholding\n");
  EXPECT_EQ(findings(suite("{mode: statistical}", "{confidence: 0.9}")),
            "suite.yaml:9: \"confidence\" in thresholding is of all tests together, and stands in "
            "settings.thresholding\n");
  EXPECT_EQ(findings(suite("{mode: statistical}", "{mode: relative, max_drop: 0.1}")), "(none)\n")
      << "a test may be judged alone";
}

TEST_F(StatisticalThresholding, KeysWithoutEffectAreNamed) {
  EXPECT_EQ(
      findings(suite("{mode: statistical, max_drop: 0.1}")),
      "suite.yaml:3: \"max_drop\" in settings.thresholding has no effect with the mode \"statistical\", "
      "which takes \"confidence\", \"min_effect\", \"cluster\" and \"min_floor\"\n");
  EXPECT_EQ(findings(suite("{mode: relative, confidence: 0.9}")),
            "suite.yaml:3: \"confidence\" in settings.thresholding has no effect with the mode \"relative\", "
            "which takes \"max_drop\" and \"min_floor\"\n");
  EXPECT_EQ(findings(suite("{min_effect: 0.1}")),
            "suite.yaml:3: \"min_effect\" in settings.thresholding has an effect with the mode "
            "\"statistical\" alone\n");
}

TEST_F(StatisticalThresholding, AMinEffectOfNothingOrAllIsNamed) {
  for (const std::string number : {"0", "1", "-0.1", "1.5"}) {
    EXPECT_EQ(findings(suite("{mode: statistical, min_effect: " + number + "}")),
              "suite.yaml:3: \"min_effect\" in settings.thresholding must be above 0 and below 1, not " +
                  number + "\n");
  }
  EXPECT_EQ(findings(suite("{mode: statistical, min_effect: 0.001}")), "(none)\n");
  EXPECT_EQ(findings(suite("{mode: statistical, min_effect: 0.99}")), "(none)\n");
}

TEST_F(StatisticalThresholding, ValuesOutOfRangeAreNamed) {
  EXPECT_EQ(findings(suite("{mode: statistical, confidence: 1}")),
            "suite.yaml:3: \"confidence\" in settings.thresholding must be between 0.5 and 1, like 0.95\n");
  EXPECT_EQ(findings(suite("{mode: statistical, cluster: language}")),
            "suite.yaml:3: \"cluster\" in settings.thresholding must be \"category\", not \"language\"\n");
  EXPECT_EQ(findings(suite("{mode: statistic}")),
            "suite.yaml:3: \"mode\" in settings.thresholding must be \"relative\", \"absolute\" or "
            "\"statistical\", not \"statistic\"; did you mean \"statistical\"?\n");
}

}  // namespace
}  // namespace sluice
