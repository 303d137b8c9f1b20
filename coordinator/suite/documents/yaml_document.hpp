#pragma once

#include "common/documents/document.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace sluice {

/// What a YAML text came to.
struct ParsedYaml {
  /// Nothing if the text cannot be read; a null for an empty one. Holds no floating point number that JSON
  /// could not (`.inf`, `.nan`) unless the text does.
  std::optional<DocumentNode> root;
  /// Why there is no root, or the keys that stand twice.
  std::vector<DocumentError> errors;
  /// Texts that stand without quotes and that other readers take for numbers (is_older_number).
  std::vector<DocumentError> older_numbers{};
};

/// Parses one YAML 1.2 document: the core schema's types (so `yes` is a text), aliases, merge keys, no tags
/// but `!!str`, keys that are single words or texts. Nesting, the number of values and the bytes that aliases
/// repeat are bounded (defaults::max_document_*). CR LF counts as LF. Never throws.
ParsedYaml parse_yaml(std::string_view text);

}  // namespace sluice
