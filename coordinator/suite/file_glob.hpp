#pragma once

#include "common/error.hpp"
#include "coordinator/suite/suite_folder.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Whether a name stands for several files: it holds `*` or `?`.
bool is_file_glob(std::string_view name);

/// Whether the name of a file or folder fits one part of a glob, between two `/`: `*` stands for any text and
/// `?` for one byte. A name that begins with a dot fits only a part that does so too.
bool fits_glob_part(std::string_view name, std::string_view part);

/// The names of the files that the glob fits, sorted, as they stand for SuiteFolder::open_file; a part `**`
/// stands for any folders, or none. Links to folders are not followed. file_unreadable if there is none, or
/// more than defaults::max_globbed_files; the message begins after the glob ("fits no file").
Result<std::vector<std::string>> find_files(const SuiteFolder& folder, const std::string& glob);

}  // namespace sluice
