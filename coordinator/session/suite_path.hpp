#pragma once

#include <string>

namespace sluice {

/// How the run ledger names a fixtures' folder or a suite file: absolute, without links and dots, so that it
/// is the same from wherever it is named.
std::string suite_path_of(const std::string& path);

}  // namespace sluice
