#pragma once

#include "common/documents/document.hpp"

#include <string>

namespace sluice {

/// The document as YAML of a suite's kind: blocks, keys in the order in which they stand, texts of several
/// lines as they are. parse_yaml gives the same values back. REQUIRES: a table, valid UTF-8, numbers that are
/// finite.
std::string suite_yaml(const DocumentNode& document);

}  // namespace sluice
