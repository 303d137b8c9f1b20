#pragma once

#include <span>
#include <string>
#include <string_view>

namespace sluice {

/// What must not be seen outside the caches: each match of the pattern (RE2) is replaced
/// (docs/observations.md#redaction).
struct RedactionPattern {
  std::string name;  ///< Stands in its place: lower-case letters, digits, '-' and '_'.
  std::string pattern;
  friend bool operator==(const RedactionPattern&, const RedactionPattern&) = default;
};

/// A pattern that sluice brings along, to be switched on by its name.
struct ShippedRedaction {
  std::string_view name;
  std::string_view pattern;
};

/// `keys` (API keys and tokens of common services, private keys) and `mail` (mail addresses).
std::span<const ShippedRedaction> shipped_redactions();
/// Null if there is none of this name.
const ShippedRedaction* find_shipped_redaction(std::string_view name);

}  // namespace sluice
