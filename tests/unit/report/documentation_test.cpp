#include "common/error.hpp"
#include "config/embedded_config.hpp"
#include "coordinator/gate/status.hpp"
#include "tests/support/paths.hpp"

#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

class ReportDocument : public ::testing::Test {
 protected:
  ReportDocument() {
    std::ifstream file(support::source_path("docs/report.md"), std::ios::binary);
    text.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  // As `name`, or `name[]` for a list.
  bool names(std::string_view word) const {
    return text.find('`' + std::string(word) + '`') != std::string::npos ||
           text.find('`' + std::string(word) + "[]`") != std::string::npos;
  }

  std::string text;
};

TEST_F(ReportDocument, NamesEveryReasonCode) {
  int reasons = 0;
  for (std::uint16_t number = 0; number < 1000; ++number) {
    const auto reason = reason_from_number(number);
    if (!reason) continue;
    ++reasons;
    EXPECT_TRUE(names(to_string(*reason))) << to_string(*reason);
  }
  EXPECT_GT(reasons, 30);
}

TEST_F(ReportDocument, NamesEveryStatusAndVerdict) {
  for (const auto status :
       {CaseStatus::pass, CaseStatus::warn, CaseStatus::flaky, CaseStatus::fail, CaseStatus::error}) {
    EXPECT_TRUE(names(to_string(status))) << to_string(status);
  }
  for (const auto verdict :
       {RunVerdict::pass, RunVerdict::review, RunVerdict::regression, RunVerdict::fail, RunVerdict::error}) {
    EXPECT_TRUE(names(to_string(verdict))) << to_string(verdict);
  }
}

void collect_properties(const nlohmann::json& node, std::vector<std::string>& names) {
  if (node.is_object() && node.contains("properties")) {
    for (const auto& [name, property] : node["properties"].items()) names.push_back(name);
  }
  if (!node.is_structured()) return;
  for (const auto& child : node) collect_properties(child, names);
}

TEST_F(ReportDocument, NamesEveryFieldOfTheSchema) {
  std::vector<std::string> fields;
  collect_properties(nlohmann::json::parse(embedded::report_schema), fields);
  EXPECT_GT(fields.size(), 80u);
  for (const auto& field : fields) EXPECT_TRUE(names(field)) << field;
}

}  // namespace
}  // namespace sluice
