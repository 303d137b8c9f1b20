#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// Foreign text for a message of one line: control characters escaped as JSON does, invalid UTF-8 replaced,
/// cut when it is long.
std::string escaped_excerpt(std::string_view text);
/// Ditto, in backquotes.
std::string quoted(std::string_view text);

}  // namespace sluice
