#include "common/defaults.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/defaults.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::vector<Finding> findings_of(const std::string& file, std::uint32_t count) {
  std::vector<Finding> findings;
  for (std::uint32_t line = 1; line <= count; ++line) findings.push_back({file, line, "is wrong"});
  return findings;
}

TEST(ShownFindings, FewAreAllShown) {
  const auto findings = findings_of("a", defaults::max_file_findings);
  EXPECT_EQ(shown_findings(findings), findings);
}

// 300,002 lines were printed about one file.
TEST(ShownFindings, OfEachFileTheFirstAndHowManyMore) {
  auto findings = findings_of("a", 300'002);
  const auto others = findings_of("b", defaults::max_file_findings + 1);
  findings.insert(findings.end(), others.begin(), others.end());
  const auto shown = shown_findings(findings);
  ASSERT_EQ(shown.size(), 2 * (defaults::max_file_findings + 1));
  EXPECT_EQ(shown[defaults::max_file_findings], (Finding{"a", 0, "and 299902 more findings"}));
  EXPECT_EQ(shown.back(), (Finding{"b", 0, "and 1 more finding"}));
}

TEST(ShownFindings, ManyFilesHaveABoundTogether) {
  std::vector<Finding> findings;
  for (int file = 0; file < 100'000; ++file) findings.push_back({std::to_string(file), 1, "is wrong"});
  const auto shown = shown_findings(findings);
  ASSERT_EQ(shown.size(), defaults::max_shown_findings + 1);
  EXPECT_EQ(shown.back(), (Finding{"all files", 0, "and 99000 more findings"}));
}

}  // namespace
}  // namespace sluice
