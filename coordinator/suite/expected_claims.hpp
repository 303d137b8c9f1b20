#pragma once

#include "common/documents/table_reader.hpp"
#include "common/model/claim.hpp"
#include "coordinator/suite/document_context.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace sluice {

/// An expected claim with the line of its table.
struct PlacedClaim {
  ExpectedClaim claim;
  std::uint32_t line = 0;
};

/// The claims under a key of `expected` (must_contain, must_not_contain); empty if it is not there. What is
/// wrong becomes findings.
std::vector<PlacedClaim> read_claims(TableReader& expected, std::string_view key,
                                     const DocumentContext& context);

/// Reports claims that are listed twice, which could never be found twice (identical claims count once), and
/// those that are both required and forbidden, which can never be right.
void check_contradictions(const std::vector<PlacedClaim>& required, const std::vector<PlacedClaim>& forbidden,
                          const DocumentContext& context);

/// The claims without their places.
std::vector<ExpectedClaim> without_places(std::vector<PlacedClaim> claims);

}  // namespace sluice
