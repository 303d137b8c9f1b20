#pragma once

#include "common/documents/document.hpp"
#include "common/documents/finding.hpp"
#include "coordinator/import/code_files.hpp"
#include "coordinator/import/foreign_server.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// A program that a suite runs to check answers by code of the configuration: it stands beside the suite.
struct CheckProgram {
  std::string file;
  std::string interpreter;
  std::string_view text;
  std::size_t checks = 0;  ///< That run it.
};

/// A suite that was made of a promptfoo configuration.
struct ImportedSuite {
  DocumentNode suite;                   ///< With its keys in the order of writing.
  std::vector<Finding> notes;           ///< What was left out or changed, by file and line.
  std::vector<ImportedServer> servers;  ///< What the settings file must name.
  Losses losses{};                      ///< What of it makes a test weaker, or the suite smaller.
  std::size_t tests = 0;
  std::size_t prompts = 0;
  std::size_t providers = 0;
  std::string description{};  ///< As the configuration has it; may be empty.
  std::vector<CheckProgram> programs{};
  std::vector<CodeFile> code_files{};  ///< Beside the suite, too.
};

/// Reads a configuration in YAML or JSON, or the JSON output of an evaluation, with the files that it names:
/// these lie below its own folder or an `allowed` one (SuiteFolder). What a suite cannot say is a note; an
/// error is a file that cannot be read at all. The suite is for the folder `target`, from which it names
/// programs; without one for the configuration's own.
tl::expected<ImportedSuite, std::vector<Finding>> import_promptfoo(
    const std::filesystem::path& config, const std::vector<std::string>& allowed,
    const std::optional<std::filesystem::path>& target = {});

}  // namespace sluice
