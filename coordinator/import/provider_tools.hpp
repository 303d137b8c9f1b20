#pragma once

#include "common/documents/document.hpp"
#include "coordinator/import/import_source.hpp"

#include <optional>

namespace sluice {

/// `tools` of a provider, as `input.tools` of a test has them: functions as OpenAI or Anthropic writes them,
/// also in a file. Nothing where a suite refuses one of them, which is a note: calls of it would be of no
/// tool.
std::optional<DocumentNode> import_tools(const DocumentEntry& entry, const ImportFile& from);

}  // namespace sluice
