#pragma once

#include "common/documents/document.hpp"

#include <cstdint>
#include <string_view>

#include <tl/expected.hpp>

namespace sluice {

/// Parses a JSON text. Keys that stand twice, numbers beyond the range of a double, text that is not UTF-8
/// and nesting beyond defaults::max_document_depth are errors. Whole numbers beyond 64 bits become real ones.
/// All lines count from `first_line`; values carry that line, whichever they stand in. Never throws.
tl::expected<DocumentNode, DocumentError> parse_json(std::string_view text, std::uint32_t first_line = 1);

}  // namespace sluice
