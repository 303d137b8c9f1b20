#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A long string that was taken out of the text before parsing.
struct TomlLongString {
  std::uint32_t line = 0;    ///< Of its first quote, from 1.
  std::uint32_t column = 0;  ///< In characters of the shortened text, from 1.
  std::string_view body;     ///< The string's value, a view of the original text.
};

/// What a look over a TOML text finds before it is parsed.
struct TomlPrescan {
  /// The text with the bodies of long strings replaced by their line breaks, so that lines stay what they
  /// are; empty if there was none to replace.
  std::string shortened;
  std::vector<TomlLongString> long_strings;  ///< In the order of the text.
  /// What the parser must not see: where it stands and why.
  std::optional<std::uint32_t> refused_line;
  std::string refused_because;

  /// The value that stands at a position, if it was taken out.
  const TomlLongString* find(std::uint32_t line, std::uint32_t column) const;
};

/// Looks over valid UTF-8 once, in linear time. The parser decodes and copies character by character, which
/// for fixtures (mostly one long string each) is most of a suite's loading time: multi-line strings that hold
/// nothing to interpret go round it. Refused are keys of more than 16 parts (the parser recurses over the
/// tables that they make, and limits any depth but theirs), and errors on which the parser breaks
/// preconditions of its own: characters beyond ASCII outside of quotes and comments, and quotes in the middle
/// of a bare value, behind which such characters would be missed. Exact up to the first syntax error, where
/// the parser stops anyway.
TomlPrescan prescan_toml(std::string_view text);

}  // namespace sluice
