#pragma once

#include "common/documents/finding.hpp"
#include "coordinator/suite/suite.hpp"
#include "coordinator/suite/test_files/yaml_suite.hpp"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// Reads every `*.toml` below the folder as a fixture, and `manifest.toml` in it as the manifest. Hidden
/// files and folders are skipped, links to folders are not followed, and links to files only below the folder
/// or an `allowed` one (SuiteFolder). Either the suite (cases by id, sources
/// relative to the folder) or everything that is wrong, in the order of files and lines; the result does not
/// depend on the order in which the files are read. Reads with a second thread when there are many. `copy`,
/// if there is one, stands for the disk.
tl::expected<Suite, std::vector<Finding>> load_suite(const std::filesystem::path& folder,
                                                     const std::vector<std::string>& allowed = {},
                                                     std::shared_ptr<const SuiteCopy> copy = nullptr);

/// The nearest folder with a `.git` at or above a folder, without links; empty where there is none.
std::filesystem::path checkout_of(const std::filesystem::path& folder);
/// A folder's path below its checkout (checkout_of), which is `.` for that folder itself; empty where
/// there is none.
std::string path_in_checkout(const std::filesystem::path& folder);

/// A suite from anywhere: a folder of fixtures (load_suite), or a file `*.yaml` or `*.yml` (load_yaml_suite).
/// Anything else is a finding that says what is accepted.
tl::expected<LoadedSuite, std::vector<Finding>> load_any_suite(
    const std::filesystem::path& path, const std::vector<std::string>& allowed = {},
    std::shared_ptr<const SuiteCopy> copy = nullptr);

/// The categories of a suite with their number of cases, by name.
struct CategoryCount {
  std::string category;
  std::size_t cases = 0;
};
std::vector<CategoryCount> count_categories(const Suite& suite);

}  // namespace sluice
