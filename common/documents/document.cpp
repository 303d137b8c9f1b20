#include "common/documents/document.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <cstddef>

namespace sluice {

std::uint32_t line_of_offset(std::string_view text, std::size_t offset) {
  return 1 + static_cast<std::uint32_t>(std::ranges::count(text.substr(0, offset), '\n'));
}

void sort_entries(DocumentNode::Table& entries, std::vector<DocumentError>& errors) {
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i].place = static_cast<std::uint32_t>(i);
  if (entries.size() > defaults::few_keys) {
    std::ranges::stable_sort(entries, {}, &DocumentEntry::key);
  } else {
    for (auto end = entries.begin(); end != entries.end(); ++end) {
      const auto place = std::upper_bound(entries.begin(), end, end->key,
                                          [](const auto& key, const auto& entry) { return key < entry.key; });
      std::rotate(place, end, end + 1);
    }
  }
  for (std::size_t i = 1; i < entries.size(); ++i) {
    const DocumentEntry& first = entries[i - 1];
    const DocumentEntry& second = entries[i];
    if (first.key != second.key) continue;
    const bool elsewhere = first.line != second.line;
    errors.push_back({second.line, "the key \"" + excerpt(second.key, 80) + "\" stands twice" +
                                       (elsewhere ? " (first in line " + std::to_string(first.line) + ")"
                                                  : std::string())});
  }
}

std::string_view table_name(Notation notation) {
  static constexpr std::string_view names[] = {"a table", "a mapping", "an object"};
  return names[static_cast<std::size_t>(notation)];
}

std::string_view array_name(Notation notation) {
  static constexpr std::string_view names[] = {"an array", "a list", "an array"};
  return names[static_cast<std::size_t>(notation)];
}

std::string_view type_name(const DocumentNode& node, Notation notation) {
  if (std::holds_alternative<DocumentNode::Table>(node.value)) return table_name(notation);
  if (std::holds_alternative<DocumentNode::Array>(node.value)) return array_name(notation);
  static constexpr std::string_view names[] = {"",         "",         "a boolean", "a whole number",
                                               "a number", "a string", "a date",    "null"};
  return names[node.value.index()];
}

const DocumentEntry* find_entry(const DocumentNode& node, std::string_view key) {
  const auto* table = std::get_if<DocumentNode::Table>(&node.value);
  if (table == nullptr) return nullptr;
  const auto found = std::ranges::find(*table, key, &DocumentEntry::key);
  return found != table->end() ? &*found : nullptr;
}

}  // namespace sluice
