#pragma once

#include <string>
#include <string_view>

namespace sluice::support {

/// A file of the repository, by its path from the root.
std::string source_path(std::string_view relative);
/// A program of this build, by its name.
std::string program_path(std::string_view name);

}  // namespace sluice::support
