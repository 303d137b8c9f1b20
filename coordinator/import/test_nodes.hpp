#pragma once

#include "common/documents/document.hpp"
#include "coordinator/import/promptfoo_tests.hpp"

#include <string>

namespace sluice {

/// A test as an entry of `tests`, beside the default test `shared`. `input` is what all tests ask beside a
/// prompt; `has_templates` says that prompts show variables.
DocumentNode test_node(const ImportedTest& test, const std::string& id, const ImportedTest& shared,
                       const DocumentNode& input, bool has_templates);

/// The default test as `default_test`; a table that may be empty.
DocumentNode default_test_node(const ImportedTest& shared);

}  // namespace sluice
