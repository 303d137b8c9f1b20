#pragma once

#include "common/settings/settings.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// SLUICE_ variables of the project's scripts and examples (scripts/, deploy/), which are no settings.
std::span<const std::string_view> other_variables();

/// A warning for each variable whose name looks like a slip of the hand for that of a setting:
/// `SLUICE_MODELL is no setting; did you mean SLUICE_MODEL?`, by name. Variables that the project uses
/// otherwise and those that hold a provider's key are none. Pure.
std::vector<std::string> misspelt_variables(std::span<const std::string> names, const Settings& settings);

}  // namespace sluice
