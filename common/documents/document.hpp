#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice {

struct DocumentEntry;

/// A TOML date, time or date-time as written.
struct DocumentDate {
  std::string text;
};

/// What YAML and JSON write as `null`; TOML has none.
struct DocumentNull {};

/// A value of a TOML, YAML or JSON document and where it stands. A plain tree, so that readers need not see
/// the parser.
struct DocumentNode {
  using Array = std::vector<DocumentNode>;
  using Table = std::vector<DocumentEntry>;  ///< By key, byte-wise.
  std::variant<Table, Array, bool, std::int64_t, double, std::string, DocumentDate, DocumentNull> value;
  std::uint32_t line = 1;
  /// A number or boolean as YAML or JSON writes it (`007`, `1.10`), where that was kept: for whom it is a
  /// text. Of a text that its variables left blank: the template.
  std::string written{};
};

/// A key with its value.
struct DocumentEntry {
  std::string key;
  std::uint32_t line = 1;  ///< Of the key.
  DocumentNode value;
  std::uint32_t place = 0;  ///< Among the entries of its table as they are written.
};

/// The line of a text, from 1, in which the byte at the offset stands.
std::uint32_t line_of_offset(std::string_view text, std::size_t offset);

/// Something that is wrong with a document's text.
struct DocumentError {
  std::uint32_t line = 0;
  std::string message;
};

/// Brings entries that are as written into the order of Table, and reports each key that stands twice.
void sort_entries(DocumentNode::Table& entries, std::vector<DocumentError>& errors);

/// The entry of a node that is a table; null if it has none, or is no table.
const DocumentEntry* find_entry(const DocumentNode& node, std::string_view key);

/// What a document is written in: messages use its words.
enum class Notation : std::uint8_t { toml, yaml, json };

/// "a string", "a table" (TOML), "a mapping" (YAML), "an object" (JSON) and so on: what the value is.
std::string_view type_name(const DocumentNode& node, Notation notation = Notation::toml);
/// What the notation calls a table, or an array.
std::string_view table_name(Notation notation);
std::string_view array_name(Notation notation);

}  // namespace sluice
