#pragma once

#include "common/error.hpp"
#include "coordinator/suite/examples/plugin_file.hpp"

#include <string>

namespace sluice {

/// The text of a plugin file in which these floors hold for the triple (those of the file itself where it is
/// empty); everything else, comments too, stays as it is. What comes out is read again before it is handed
/// on: settings_invalid, and nothing has changed, where the file is written in a way in which that fails.
/// REQUIRES: `text` is a plugin file without findings.
Result<std::string> with_floors(const std::string& text, const TaskTriple& triple, const Floors& floors);

}  // namespace sluice
