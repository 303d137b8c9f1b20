#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// The text as XML 1.0 can hold it, between tags or in a quoted attribute: markup escaped, line ends and tabs
/// kept, invalid UTF-8, characters that XML 1.0 forbids and those that turn the writing direction replaced by
/// U+FFFD.
std::string xml_escaped(std::string_view text);

}  // namespace sluice
