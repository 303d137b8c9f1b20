#include "coordinator/import/provider_tools.hpp"

#include "common/checks/json_schema.hpp"
#include "common/documents/canonical_json.hpp"
#include "coordinator/suite/test_files/request_reader.hpp"

#include <cstddef>
#include <string>
#include <utility>
#include <variant>

namespace sluice {
namespace {

bool is_schema(const DocumentNode& node) {
  return std::holds_alternative<DocumentNode::Table>(node.value) && has_only_json_values(node) &&
         JsonSchema::compile_partial(canonical_json(node));
}

/// Nothing if a suite takes no such tool.
std::optional<DocumentNode> import_tool(const DocumentNode& written, std::uint32_t line,
                                        const ImportFile& from) {
  // Tools that a provider runs itself, such as web_search_20250305, are no functions.
  const std::string* type = text_in(written, "type");
  if (type != nullptr && *type != "function" && *type != "custom") return std::nullopt;
  const DocumentEntry* function = find_entry(written, "function");
  const DocumentNode& tool = function != nullptr ? function->value : written;
  const auto* keys = std::get_if<DocumentNode::Table>(&tool.value);
  const std::string* name = text_in(tool, "name");
  if (keys == nullptr || name == nullptr || !is_provider_name(*name)) return std::nullopt;
  DocumentNode::Table made;
  made.push_back({"name", line, text_node(*name, line)});
  if (const std::string* description = text_in(tool, "description"))
    made.push_back({"description", line, text_node(*description, line)});
  for (const DocumentEntry& entry : *keys) {
    if (entry.key == "parameters" || entry.key == "input_schema") {
      if (!is_schema(entry.value)) return std::nullopt;
      made.push_back({"parameters", line, as_written(entry.value)});
    } else if (entry.key != "name" && entry.key != "description" && entry.key != "type") {
      from.change(line, "\"" + entry.key + "\" of the tool " + *name + " has no counterpart: left out");
    }
  }
  return DocumentNode{std::move(made), line, {}};
}

}  // namespace

std::optional<DocumentNode> import_tools(const DocumentEntry& entry, const ImportFile& from) {
  DocumentNode given = entry.value;
  if (const std::string* text = text_in(entry.value); text != nullptr && text->starts_with("file://")) {
    auto document = read_document(referenced_file(*text, from.files), from, entry.line, Loss::change);
    if (!document) return std::nullopt;
    given = std::move(*document);
  }
  const auto* list = std::get_if<DocumentNode::Array>(&given.value);
  DocumentNode::Array tools;
  for (std::size_t i = 0; list != nullptr && i < list->size(); ++i) {
    auto tool = import_tool((*list)[i], entry.line, from);
    if (!tool) break;
    tools.push_back(std::move(*tool));
  }
  if (list == nullptr || list->empty() || tools.size() < list->size()) {
    from.change(entry.line,
                "\"tools\" in config of a provider are none that a suite takes (a test names them as "
                "\"input.tools\"): left out");
    return std::nullopt;
  }
  return DocumentNode{std::move(tools), entry.line, {}};
}

}  // namespace sluice
