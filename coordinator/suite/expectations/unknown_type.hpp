#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// Of a `type` that names no metric: what is wrong with it and what to write, as TableReader::add_wrong has
/// it. No hint asks for the opposite of what the name says.
std::string problem_with_type(std::string_view name);

}  // namespace sluice
