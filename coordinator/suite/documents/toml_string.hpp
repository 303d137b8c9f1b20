#pragma once

#include "common/documents/document.hpp"

#include <string>
#include <string_view>

namespace sluice {

/// The text as a basic string. Not JSON's form: TOML has DEL escaped too. REQUIRES: valid UTF-8.
std::string toml_string(std::string_view text);

/// The text over as many lines as it has, as it stands where it can be (`'''`), else with escapes; ends with
/// the closing quotes. A reader gets the same text back. REQUIRES: valid UTF-8.
std::string toml_long_string(std::string_view text);

/// A whole number of more than 64 bits would be no TOML: it has a point. REQUIRES: a finite number.
std::string toml_number(double number);

/// A value in one line, tables and lists inline. REQUIRES: no null, finite numbers alone.
std::string toml_inline(const DocumentNode& node);

}  // namespace sluice
