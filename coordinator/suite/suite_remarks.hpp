#pragma once

#include "coordinator/suite/suite.hpp"

#include <string>
#include <vector>

namespace sluice {

/// What the suite says and has no effect: weights without claims, limits on scores without a score, and
/// formats of schemas that nothing checks. A sentence without a full stop for each kind, with what to do.
std::vector<std::string> suite_remarks(const Suite& suite);

}  // namespace sluice
