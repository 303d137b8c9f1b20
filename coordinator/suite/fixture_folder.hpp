#pragma once

#include "common/documents/finding.hpp"
#include "coordinator/suite/suite_builder.hpp"
#include "coordinator/suite/suite_folder.hpp"

#include <filesystem>
#include <optional>
#include <vector>

namespace sluice {

/// No suite reads what is.
bool is_hidden(const std::filesystem::path& path);

/// Adds every `*.toml` below the folder as a fixture, with its source relative to the suite's, and reads
/// `manifest.toml` in it. Hidden files and folders are skipped, links to folders are not followed. What is
/// wrong becomes findings, whose order does not depend on the order in which the files are read. Reads with a
/// second thread when there are many.
std::optional<Manifest> add_fixture_folder(const std::filesystem::path& folder, const SuiteFolder& files,
                                           SuiteBuilder& builder, std::vector<Finding>& findings);

}  // namespace sluice
