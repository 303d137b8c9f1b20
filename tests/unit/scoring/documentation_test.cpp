// docs/metrics.md names every metric as it is.
#include "common/model/metrics.hpp"
#include "tests/support/paths.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

namespace sluice {
namespace {

std::string documentation() {
  std::ifstream file(support::source_path("docs/metrics.md"));
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(MetricsDocumentation, EveryMetricHasItsSectionWithKindAndVersion) {
  const auto text = documentation();
  for (const auto& metric : metric_catalogue()) {
    const std::string name(metric.name);
    if (is_negated(metric.id)) {
      EXPECT_EQ(name, "not_" + std::string(info(positive(metric.id)).name));
      EXPECT_NE(text.find("`" + name + "`"), std::string::npos) << name << " is not in docs/metrics.md";
      continue;
    }
    const auto section = text.find("\n### " + name + "\n");
    ASSERT_NE(section, std::string::npos) << name << " has no section in docs/metrics.md";
    const auto body = text.substr(section + name.size() + 6, 60);
    const std::string kind = metric.kind == MetricKind::scored ? "Scored" : "Pass/fail";
    EXPECT_TRUE(body.starts_with(kind + ", version " + std::string(metric.version) + ". "))
        << name << ": " << body;
    const std::string assessed = is_claims_metric(metric.id)  ? "claims"
                                 : judges_context(metric.id)  ? "context, by a judge"
                                 : is_judge_metric(metric.id) ? "text, by a judge"
                                                              : "text";
    const auto row = "| [" + name + "](#" + name + ") | " + (kind == "Scored" ? "scored" : "pass/fail") +
                     " | " + std::string(metric.version) + " | " + assessed + " |";
    EXPECT_NE(text.find(row), std::string::npos) << row;
  }
}

TEST(MetricsDocumentation, HasNoSectionOfAMetricThatIsNone) {
  const auto text = documentation();
  std::size_t sections = 0;
  for (auto at = text.find("\n### "); at != std::string::npos; at = text.find("\n### ", at + 1)) {
    const auto end = text.find('\n', at + 1);
    EXPECT_NE(find_metric(std::string_view(text).substr(at + 5, end - at - 5)), nullptr)
        << text.substr(at, 40);
    ++sections;
  }
  const auto negated = std::ranges::count_if(metric_catalogue(), is_negated, &MetricInfo::id);
  EXPECT_EQ(sections + static_cast<std::size_t>(negated), metric_catalogue().size());
}

}  // namespace
}  // namespace sluice
