#pragma once

#include <string>

namespace sluice {

/// How the run ledger names a fixtures' folder or a suite file: absolute, without links and dots, so that it
/// is the same from wherever it is named.
std::string suite_path_of(const std::string& path);

/// Behind a message that no test fits: the command that shows which there are.
std::string how_to_list_tests(const std::string& path);

}  // namespace sluice
