#include "coordinator/suite/expectations/schema_reader.hpp"

#include "common/documents/canonical_json.hpp"
#include "coordinator/suite/documents/json_document.hpp"
#include "coordinator/suite/test_files/test_templates.hpp"

namespace sluice {
namespace {

/// What is wrong with it becomes a finding; false if it cannot be written as JSON.
bool check_schema(TableReader& reader, const TestSource& source, const DocumentNode& schema,
                  const std::string& named) {
  if (!has_only_json_values(schema)) {
    reader.add_wrong("schema", named + "holds a number that is not finite");
    return false;
  }
  if (source.checker != nullptr) {
    const std::string place = source.file + ":" + std::to_string(reader.line_of("schema"));
    const std::string& problem = source.checker->problem_with_schema(canonical_json(schema), place);
    if (!problem.empty()) reader.add_wrong("schema", named + "cannot be used: " + problem);
  }
  return true;
}

}  // namespace

std::optional<std::string> read_schema(TableReader& reader, const TestSource& source,
                                       std::string (*to_text)(const DocumentNode&)) {
  const DocumentEntry* entry = reader.entry("schema", Need::required, "a schema, or the name of a JSON file");
  if (entry == nullptr) return std::nullopt;
  const auto* path = std::get_if<std::string>(&entry->value.value);
  const auto accept = [&](const DocumentNode& schema, const std::string& named) {
    return check_schema(reader, source, schema, named) ? std::optional(to_text(schema)) : std::nullopt;
  };
  if (path == nullptr) return accept(entry->value, "");
  const std::string named = names_file(*path);
  const auto text = source.read_file(*path, source.opened);
  if (!text) {
    reader.add_wrong("schema", named + text.error().message);
    return std::nullopt;
  }
  const auto schema = parse_json(*text);
  if (!schema) {
    reader.add_wrong("schema", named + "cannot be used: line " + std::to_string(schema.error().line) + ": " +
                                   schema.error().message);
    return std::nullopt;
  }
  return accept(*schema, named);
}

}  // namespace sluice
