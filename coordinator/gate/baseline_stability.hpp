#pragma once

#include "coordinator/gate/baseline.hpp"

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace sluice {

/// Reads the `stability` object of a baseline file, given as JSON. The error goes on after its name: "has no
/// `score`, ...". Keys that it does not know are left to later versions.
tl::expected<BaselineStability, std::string> parse_baseline_stability(std::string_view json);

}  // namespace sluice
