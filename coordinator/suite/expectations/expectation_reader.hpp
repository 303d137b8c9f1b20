#pragma once

#include "common/documents/document.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/documents/document_context.hpp"
#include "coordinator/suite/expectations/named_tool.hpp"
#include "coordinator/suite/test_files/test_parser.hpp"
#include "coordinator/suite/test_files/unfilled_variable.hpp"

#include <vector>

namespace sluice {

/// Whether `expected`, as it is written, has a metric that runs a program.
bool names_command(const DocumentNode& expected);

/// Reads `expected` of a test, one metric or a list of them, into the case: its expectations, its kind, and
/// for claims metrics its claims and min_confidence. What is wrong becomes findings. `unfilled` gets what
/// looks like a variable and is none, `tools` what checks of calls name, where patterns and schemas are
/// checked. Returns the rubric for which the test must have an `input.context`; null if there is none.
const KnownRubric* read_expectations(const DocumentEntry& expected, const TestSource& source,
                                     const DocumentContext& context, Case& test,
                                     std::vector<UnfilledVariable>& unfilled, std::vector<NamedTool>& tools);

}  // namespace sluice
