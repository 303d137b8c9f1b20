#pragma once

#include "coordinator/suite/suite.hpp"

#include <string>
#include <vector>

namespace sluice {

/// What the suite says and probably does not mean. What has no effect: weights without claims, limits on
/// scores without a score, formats of schemas that nothing checks, and what default_test asks where a test's
/// score replaces it. And scores whose names differ by little. A sentence without a full stop for each, with
/// what to do.
std::vector<std::string> suite_remarks(const Suite& suite);

}  // namespace sluice
