#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A header or a `key = value` of a TOML document, and where it stands.
struct TomlStatement {
  bool is_header = false;
  std::vector<std::string> key;  ///< `[a.b]` or `a.b = ...` as a and b, quotes removed.
  std::uint32_t line = 1;        ///< Of its first line.
  std::size_t begin = 0;         ///< Of its first line.
  std::size_t end = 0;           ///< After its last line's end.
  std::size_t key_begin = 0;     ///< Of the key as written, without brackets.
  std::size_t key_end = 0;
  std::size_t value_begin = 0;  ///< Of the value as written, without white space and comments around it.
  std::size_t value_end = 0;
};

/// The statements of a text in their order. REQUIRES: valid TOML (parse_toml). Escapes in quoted keys stay as
/// written. Pure.
std::vector<TomlStatement> toml_statements(std::string_view toml);

}  // namespace sluice
