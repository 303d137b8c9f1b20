#pragma once

#include "common/documents/document.hpp"
#include "coordinator/import/code_files.hpp"
#include "coordinator/import/import_source.hpp"
#include "coordinator/import/kept_checks.hpp"
#include "coordinator/import/promptfoo_prompts.hpp"
#include "coordinator/import/promptfoo_tests.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// The tests of a suite, and what they need of its settings.
struct AssembledTests {
  DocumentNode default_test;  ///< A table that may be empty.
  DocumentNode tests;
  CheckNeeds needs{};
  std::vector<CodeFile> code_files{};  ///< That the checks name.
};

/// What every test asks, and how every answer is judged.
struct CommonParts {
  DocumentNode input;  ///< What stands in `input` beside a prompt; a table that may be empty.
  std::optional<DocumentNode> transform{};  ///< Of the providers, before that of a test.
  std::string judge{};                      ///< As identity_of has it; empty: none is named for all.
};

/// Tests that load: with values for all variables of the prompts and checks, and for no others, and with a
/// check each. A test with a value whose template cannot be rendered is left out. What is left out
/// is a note, and what stands in for something that is missing.
AssembledTests assemble_tests(ImportedTest default_test, std::vector<ImportedTest> tests,
                              const std::vector<ImportedPrompt>& prompts, const CommonParts& common,
                              const ImportFile& from);

}  // namespace sluice
