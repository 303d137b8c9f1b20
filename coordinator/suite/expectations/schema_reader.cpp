#include "coordinator/suite/expectations/schema_reader.hpp"

#include "common/documents/canonical_json.hpp"
#include "coordinator/suite/documents/json_document.hpp"
#include "coordinator/suite/test_files/test_templates.hpp"

#include <utility>

namespace sluice {
namespace {

std::optional<std::string> accept(TableReader& reader, const TestSource& source, const DocumentNode& schema,
                                  const std::string& named) {
  if (!has_only_json_values(schema)) {
    reader.add_wrong("schema", named + "holds a number that is not finite");
    return std::nullopt;
  }
  std::string canonical = canonical_json(schema);
  if (source.checker != nullptr) {
    const std::string place = source.file + ":" + std::to_string(reader.line_of("schema"));
    const std::string& problem = source.checker->problem_with_schema(canonical, place);
    if (!problem.empty()) reader.add_wrong("schema", named + "cannot be used: " + problem);
  }
  return canonical;
}

}  // namespace

std::optional<std::string> read_schema(TableReader& reader, const TestSource& source) {
  const DocumentEntry* entry = reader.entry("schema", Need::required, "a schema, or the name of a JSON file");
  if (entry == nullptr) return std::nullopt;
  const auto* path = std::get_if<std::string>(&entry->value.value);
  if (path == nullptr) return accept(reader, source, entry->value, "");
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
  return accept(reader, source, *schema, named);
}

}  // namespace sluice
