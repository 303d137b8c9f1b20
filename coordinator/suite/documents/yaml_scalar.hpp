#pragma once

#include "common/documents/document.hpp"

#include <string_view>

namespace sluice {

/// What a plain (unquoted) YAML scalar stands for by the core schema of YAML 1.2: null, a boolean, a number
/// (one beyond the range of a double is infinite) or else the text itself.
decltype(DocumentNode::value) resolve_plain_scalar(std::string_view text);

}  // namespace sluice
