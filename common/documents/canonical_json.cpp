#include "common/documents/canonical_json.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace sluice {

void append_canonical_number(std::string& out, double number) {
  out += number == 0.0 ? "0" : shortest(number);
}

namespace {

enum class KeyOrder : std::uint8_t { as_held, as_written };

void append_json(std::string& out, const DocumentNode& node, KeyOrder order);

void append_entry(std::string& out, const DocumentEntry& entry, KeyOrder order) {
  if (out.back() != '{') out += ',';
  append_json_string(out, entry.key);
  out += ':';
  append_json(out, entry.value, order);
}

void append_table(std::string& out, const DocumentNode::Table& table, KeyOrder order) {
  out += '{';
  if (order == KeyOrder::as_held || std::ranges::is_sorted(table, {}, &DocumentEntry::place)) {
    for (const DocumentEntry& entry : table) append_entry(out, entry, order);
  } else {
    std::vector<const DocumentEntry*> entries;
    entries.reserve(table.size());
    for (const DocumentEntry& entry : table) entries.push_back(&entry);
    std::ranges::stable_sort(entries, {}, &DocumentEntry::place);
    for (const DocumentEntry* entry : entries) append_entry(out, *entry, order);
  }
  out += '}';
}

void append_json(std::string& out, const DocumentNode& node, KeyOrder order) {
  if (const auto* table = std::get_if<DocumentNode::Table>(&node.value)) {
    append_table(out, *table, order);
  } else if (const auto* array = std::get_if<DocumentNode::Array>(&node.value)) {
    out += '[';
    for (const DocumentNode& one : *array) {
      if (&one != array->data()) out += ',';
      append_json(out, one, order);
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

}  // namespace

std::string canonical_json(const DocumentNode& node) {
  std::string text;
  append_json(text, node, KeyOrder::as_held);
  return text;
}

std::string json_as_written(const DocumentNode& node) {
  std::string text;
  append_json(text, node, KeyOrder::as_written);
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
