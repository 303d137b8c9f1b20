#pragma once

#include "common/hash.hpp"
#include "common/model/claim.hpp"

#include <vector>

namespace sluice {

/// Of the claims as a set: equal for the same claims in any order, however often each.
Digest identity_of(const std::vector<FinalClaim>& claims);

}  // namespace sluice
