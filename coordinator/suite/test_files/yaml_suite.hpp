#pragma once

#include "common/documents/finding.hpp"
#include "common/settings/load_settings.hpp"
#include "coordinator/suite/suite.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// A suite, and the settings that its file brings along: a layer between environment and settings file.
struct LoadedSuite {
  Suite suite;
  std::vector<SuiteSetting> settings;
};

/// Reads a YAML suite (docs/suites.md) with the files and fixtures' folders that it names, which lie below
/// its own folder or an `allowed` one (SuiteFolder). Either the suite, cases by id, or everything that is
/// wrong, its settings' values included, in the order of files and lines. `copy`, if there is one, stands for
/// the disk.
tl::expected<LoadedSuite, std::vector<Finding>> load_yaml_suite(
    const std::filesystem::path& path, const std::vector<std::string>& allowed = {},
    std::shared_ptr<const SuiteCopy> copy = nullptr);

}  // namespace sluice
