#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// The text with no command that a build server would read in it: `::` where a line begins, blanks before it
/// or not, and `##[` wherever it stands. One of their characters becomes U+FFFD.
std::string without_commands(std::string_view text);

}  // namespace sluice
