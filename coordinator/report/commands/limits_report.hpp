#pragma once

#include "coordinator/facts/remembered_limits.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

/// What runs learnt of providers, for people: a table of at most `columns` columns.
std::string limits_text(const std::vector<RememberedLimits>& limits, std::size_t columns);
/// The same as a JSON array, which ends with a line feed.
std::string limits_json(const std::vector<RememberedLimits>& limits);

}  // namespace sluice
