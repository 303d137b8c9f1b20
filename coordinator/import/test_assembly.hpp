#pragma once

#include "common/documents/document.hpp"
#include "coordinator/import/code_files.hpp"
#include "coordinator/import/import_source.hpp"
#include "coordinator/import/kept_checks.hpp"
#include "coordinator/import/promptfoo_prompts.hpp"
#include "coordinator/import/promptfoo_tests.hpp"

#include <vector>

namespace sluice {

/// The tests of a suite, and what they need of its settings.
struct AssembledTests {
  DocumentNode default_test;  ///< A table that may be empty.
  DocumentNode tests;
  CheckNeeds needs{};
  std::vector<CodeFile> code_files{};  ///< That the checks name.
};

/// Tests that load: with values for all variables of the prompts and checks, and for no others, and with a
/// check each. A test with a value whose template cannot be rendered is left out. `input` is what they all
/// ask beside a prompt; a table that may be empty. What is left out is a note, and what stands in for
/// something that is missing.
AssembledTests assemble_tests(ImportedTest default_test, std::vector<ImportedTest> tests,
                              const std::vector<ImportedPrompt>& prompts, const DocumentNode& input,
                              const ImportFile& from);

}  // namespace sluice
