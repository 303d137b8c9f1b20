#pragma once

#include "common/documents/finding.hpp"
#include "coordinator/suite/suite_builder.hpp"
#include "coordinator/suite/test_files/test_parser.hpp"

#include <string_view>
#include <vector>

namespace sluice {

/// Reads a tests file in CSV (docs/suites.md): a header with names of variables, and a test a row. Columns
/// that begin with `__` are about the test: `__expected` (and `__expected1` to `__expected99`) is what
/// promptfoo takes there, `__threshold` the share of them that must pass, `__metric` the name of the scores
/// among them, `__description` the name, `__metadata:KEY` a tag, `__id` the id, `__category` the category.
/// Without `__id` a test is called by the file's name and the row's number. What is wrong becomes findings
/// with the row's line.
void add_csv_tests(std::string_view text, const TestSource& source, SuiteBuilder& builder,
                   std::vector<Finding>& findings);

}  // namespace sluice
