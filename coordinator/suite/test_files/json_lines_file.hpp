#pragma once

#include "common/documents/finding.hpp"
#include "common/files.hpp"
#include "coordinator/suite/suite_builder.hpp"
#include "coordinator/suite/test_files/test_parser.hpp"

#include <vector>

namespace sluice {

/// Reads an open file of JSON objects, one a line, each a test: checks every line completely and adds its
/// case to the builder, which keeps only where it stands. Blank lines are skipped; a byte order mark and CR
/// LF are fine. What is wrong becomes findings (max_file_findings of them, and how many more there are).
/// Takes memory for a block and a line. The file must stay as it is while the suite is in use: CaseList::read
/// notices if it did not. `source.file` names the file in findings; `source.checker` must be set and live as
/// long as this call.
void index_json_lines(FileDescriptor file, const TestSource& source, SuiteBuilder& builder,
                      std::vector<Finding>& findings);

}  // namespace sluice
