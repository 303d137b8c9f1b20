#pragma once

#include "common/documents/table_reader.hpp"
#include "coordinator/suite/test_files/test_parser.hpp"

#include <optional>
#include <string>

namespace sluice {

/// Reads the required key `schema`, a JSON Schema or the name of a JSON file with one, as `to_text` writes
/// it: canonical for a check, as written for a request. It is compiled by the code that checks answers. What
/// is wrong becomes findings.
std::optional<std::string> read_schema(TableReader& reader, const TestSource& source,
                                       std::string (*to_text)(const DocumentNode&));

}  // namespace sluice
