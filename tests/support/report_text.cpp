#include "tests/support/report_text.hpp"

#include "tests/support/paths.hpp"
#include "tests/support/temporary_folder.hpp"

#include <array>
#include <sstream>
#include <string_view>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace sluice::support {

std::string comparable_part(const std::string& report) {
  constexpr std::array<std::string_view, 4> volatile_lines{
      "  \"run_id\": ", "  \"timestamp\": ", "  \"started_at\": ", "  \"completed_at\": "};
  std::string kept;
  std::size_t left_out = 0;
  bool in_run = false;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    bool is_volatile = false;
    for (const auto start : volatile_lines) is_volatile = is_volatile || line.starts_with(start);
    if (line == "  \"run\": {") in_run = true;
    left_out += is_volatile || line == "  \"run\": {" ? 1 : 0;
    if (!is_volatile && !in_run) kept += line + "\n";
    if (in_run && line == "  }") in_run = false;
  }
  return left_out == volatile_lines.size() + 1 && !in_run ? kept : "";
}

nlohmann::json parse_report(const std::string& report) {
  return nlohmann::json::parse(report, nullptr, false);
}

std::string schema_findings(const nlohmann::json& report) {
  const auto document =
      nlohmann::json::parse(read_text(support::source_path("config/schemas/report.schema.json")));
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(document), schema);
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(report), &results)) return "";
  std::string text = "invalid";
  for (valijson::ValidationResults::Error error; results.popError(error);) {
    for (const auto& part : error.context) text += part;
    text += ": " + error.description + "\n";
  }
  return text;
}

}  // namespace sluice::support
