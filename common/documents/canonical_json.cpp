#include "common/documents/canonical_json.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <cmath>

namespace sluice {

void append_canonical_number(std::string& out, double number) {
  out += number == 0.0 ? "0" : shortest(number);
}

void append_canonical_json(std::string& out, const DocumentNode& node) {
  if (const auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
    out += '{';
    for (const DocumentEntry& entry : *table) {
      if (&entry != table->data()) out += ',';
      append_json_string(out, entry.key);
      out += ':';
      append_canonical_json(out, entry.value);
    }
    out += '}';
  } else if (const auto* array = std::get_if<DocumentNode::Array>(&node.value)) {
    out += '[';
    for (const DocumentNode& one : *array) {
      if (&one != array->data()) out += ',';
      append_canonical_json(out, one);
    }
    out += ']';
  } else if (const auto* boolean = std::get_if<bool>(&node.value)) {
    out += *boolean ? "true" : "false";
  } else if (const auto* integer = std::get_if<std::int64_t>(&node.value)) {
    out += std::to_string(*integer);
  } else if (const auto* number = std::get_if<double>(&node.value)) {
    append_canonical_number(out, *number);
  } else if (const auto* text = std::get_if<std::string>(&node.value)) {
    append_json_string(out, *text);
  } else {
    out += "null";
  }
}

std::string canonical_json(const DocumentNode& node) {
  std::string text;
  append_canonical_json(text, node);
  return text;
}

bool has_only_json_values(const DocumentNode& node) {
  if (const auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
    return std::ranges::all_of(*table, [](const auto& entry) { return has_only_json_values(entry.value); });
  }
  if (const auto* array = std::get_if<DocumentNode::Array>(&node.value)) {
    return std::ranges::all_of(*array, has_only_json_values);
  }
  if (const auto* number = std::get_if<double>(&node.value)) return std::isfinite(*number);
  return !std::holds_alternative<DocumentDate>(node.value);
}

}  // namespace sluice
