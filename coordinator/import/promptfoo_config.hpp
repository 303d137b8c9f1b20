#pragma once

#include "common/documents/document.hpp"
#include "common/documents/finding.hpp"
#include "coordinator/import/promptfoo_providers.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// A suite that was made of a promptfoo configuration.
struct ImportedSuite {
  DocumentNode suite;                   ///< With its keys in the order of writing.
  std::vector<Finding> notes;           ///< What was left out or changed, by file and line.
  std::vector<ImportedServer> servers;  ///< What the settings file must name.
  std::size_t tests = 0;
  std::size_t prompts = 0;
  std::size_t providers = 0;
  std::string description{};  ///< As the configuration has it; may be empty.
};

/// Reads a configuration in YAML or JSON, or the JSON output of an evaluation, with the files that it names:
/// these lie below its own folder or an `allowed` one (SuiteFolder). What a suite cannot say is a note; an
/// error is a file that cannot be read at all.
tl::expected<ImportedSuite, std::vector<Finding>> import_promptfoo(const std::filesystem::path& config,
                                                                   const std::vector<std::string>& allowed);

}  // namespace sluice
