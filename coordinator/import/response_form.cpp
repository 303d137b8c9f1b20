#include "coordinator/import/response_form.hpp"

#include "common/checks/json_schema.hpp"
#include "common/documents/canonical_json.hpp"
#include "common/settings/setting_values.hpp"
#include "coordinator/suite/test_files/request_reader.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

std::string problem_with_schema(const DocumentNode& schema) {
  if (!has_only_json_values(schema)) return "it holds a number that is not finite";
  const auto compiled = JsonSchema::compile(canonical_json(schema));
  return compiled ? "" : compiled.error().message;
}

bool can_be_part(std::string_view key, const DocumentNode& value) {
  const std::string* name = text_in(value);
  if (key == "name") return name != nullptr && is_provider_name(*name);
  return key != "strict" || std::holds_alternative<bool>(value.value);
}

}  // namespace

std::optional<DocumentNode> import_response_format(const DocumentEntry& entry, const ImportFile& from) {
  const auto refuse = [&](const std::string& why) {
    from.change(entry.line, why);
    return std::nullopt;
  };
  DocumentNode form = entry.value;
  if (const std::string* text = text_in(entry.value); text != nullptr && text->starts_with("file://")) {
    auto document = read_document(referenced_file(*text, from.files), from, entry.line, Loss::change);
    if (!document) return std::nullopt;
    form = std::move(*document);
  }
  const std::string* type = text_in(form, "type");
  if (type != nullptr && *type == "text") return std::nullopt;
  if (type != nullptr && *type == "json_object") return DocumentNode{std::string("json"), entry.line, {}};
  const DocumentEntry* inner = find_entry(form, "json_schema");
  const DocumentNode& parts = inner != nullptr ? inner->value : form;
  const DocumentEntry* schema = find_entry(parts, "schema");
  const bool is_schema = type != nullptr && *type == "json_schema" && schema != nullptr &&
                         std::holds_alternative<DocumentNode::Table>(schema->value.value);
  if (!is_schema) return refuse("\"response_format\" is of a kind without counterpart: left out");
  if (const std::string problem = problem_with_schema(schema->value); !problem.empty())
    return refuse("the schema of \"response_format\" cannot be used: " + problem + ": the form is left out");
  DocumentNode::Table table;
  for (const std::string_view key : {"name", "strict", "schema"}) {
    const DocumentEntry* part = find_entry(parts, key);
    if (part == nullptr) continue;
    if (can_be_part(key, part->value)) {
      table.push_back({std::string(key), entry.line, as_written(part->value)});
    } else {
      from.change(entry.line,
                  "\"" + std::string(key) + "\" of \"response_format\" is none that a suite takes: left out");
    }
  }
  return DocumentNode{std::move(table), entry.line, {}};
}

}  // namespace sluice
