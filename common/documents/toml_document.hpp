#pragma once

#include "common/documents/document.hpp"

#include <string_view>

#include <tl/expected.hpp>

namespace sluice {

using TomlNode = DocumentNode;
using TomlEntry = DocumentEntry;
using TomlDate = DocumentDate;
using TomlError = DocumentError;

/// Parses a TOML 1.0 document; inline tables may span lines and end with a comma. Text that is not UTF-8, and
/// keys of more than 16 parts (which would nest as deep), are errors as well. Never throws; linear in the
/// text's length.
tl::expected<TomlNode, TomlError> parse_toml(std::string_view text);

/// The same by the parser of the whole language alone, which takes longer for what is plain. REQUIRES: valid
/// UTF-8.
tl::expected<TomlNode, TomlError> parse_whole_toml(std::string_view text);

}  // namespace sluice
