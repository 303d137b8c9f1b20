#pragma once

#include "common/manual/command_text.hpp"

#include <string>

namespace sluice {

/// The name of a command's manual page: `sluice-cache-export`.
std::string page_name(const CommandText& command);

/// The command's page of section 1, in the macros of man(7). `version` stands in its foot. Pages of commands
/// below it, and `parent`'s (empty: none), are named under SEE ALSO.
std::string man_page(const CommandText& command, const std::string& version, const std::string& parent);

}  // namespace sluice
