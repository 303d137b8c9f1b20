#pragma once

#include "common/documents/document.hpp"
#include "coordinator/import/import_source.hpp"

#include <string>

namespace sluice {

/// The tests of a table in CSV, as `tests` has them: columns are variables, but for those that begin with
/// `__`. Lines are those of the table, which `from` names.
DocumentNode tests_of_table(const std::string& text, const ImportFile& from);

}  // namespace sluice
