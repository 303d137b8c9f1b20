#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

struct TomlEntry;

/// A TOML date, time or date-time as written.
struct TomlDate {
  std::string text;
};

/// A value of a TOML document and where it stands. A plain tree, so that readers need not see the parser.
struct TomlNode {
  using Array = std::vector<TomlNode>;
  using Table = std::vector<TomlEntry>;  ///< By key, byte-wise.
  std::variant<Table, Array, bool, std::int64_t, double, std::string, TomlDate> value;
  std::uint32_t line = 1;
};

/// A key with its value.
struct TomlEntry {
  std::string key;
  std::uint32_t line = 1;  ///< Of the key.
  TomlNode value;
};

/// Why a text is not TOML.
struct TomlError {
  std::uint32_t line = 0;
  std::string message;
};

/// Parses a TOML 1.0 document; inline tables may span lines and end with a comma. Text that is not UTF-8, and
/// keys of more than 16 parts (which would nest as deep), are errors as well. Never throws; linear in the
/// text's length.
tl::expected<TomlNode, TomlError> parse_toml(std::string_view text);

/// "a string", "a table" and so on: what the value is, for messages.
std::string_view type_name(const TomlNode& node);

}  // namespace sluice
