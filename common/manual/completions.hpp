#pragma once

#include "common/manual/command_text.hpp"

#include <string>

namespace sluice {

/// What a shell is to source, so that it completes the program's commands, flags, the values that the help
/// names, and paths. `program`: with all its commands.
std::string bash_completion(const CommandText& program);
std::string zsh_completion(const CommandText& program);
std::string fish_completion(const CommandText& program);

}  // namespace sluice
