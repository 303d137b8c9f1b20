#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// The text as a basic string. Not JSON's form: TOML has DEL escaped too. REQUIRES: valid UTF-8.
std::string toml_string(std::string_view text);

/// The text over as many lines as it has, as it stands where it can be (`'''`), else with escapes; ends with
/// the closing quotes. A reader gets the same text back. REQUIRES: valid UTF-8.
std::string toml_long_string(std::string_view text);

}  // namespace sluice
