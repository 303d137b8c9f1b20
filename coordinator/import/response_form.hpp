#pragma once

#include "common/documents/document.hpp"
#include "coordinator/import/import_source.hpp"

#include <optional>

namespace sluice {

/// `response_format` of a provider or a prompt, as `input.response_format` of a test has it:
/// `{type: json_object}`, or `{type: json_schema, json_schema: {name, strict, schema}}`, also in a file.
/// Nothing for plain text, and for what a suite refuses, which is a note.
std::optional<DocumentNode> import_response_format(const DocumentEntry& entry, const ImportFile& from);

}  // namespace sluice
