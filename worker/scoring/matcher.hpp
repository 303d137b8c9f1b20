#pragma once

#include "common/model/claim.hpp"
#include "common/model/result.hpp"
#include "common/model/trial.hpp"

#include <string_view>
#include <vector>

/// Whether claims are what is expected, values of different types compared by their meaning
/// (docs/metrics.md). Pure and thread-safe.
namespace sluice {

/// True if the two values mean the same: equal booleans or texts, numbers less than 0.001 apart; a text that
/// is a boolean word (true/yes/on/enabled/1, false/no/off/disabled/0 in any case) or wholly a decimal number
/// equals that boolean or number. A number and a boolean never match. Symmetric.
bool values_match(const ClaimValue& a, const ClaimValue& b);

/// True if the last two path segments agree (all of them where there are fewer).
bool subjects_match(std::string_view a, std::string_view b);

/// True if the claim states what is expected (or forbidden): subject, predicate and value. Confidence does
/// not count.
bool claim_matches(const FinalClaim& claim, const ExpectedClaim& expectation);

/// Compares an answer's claims with a task. Claims below `min_confidence` do not count at all; identical ones
/// (canonical_form) count once, with the highest confidence, at the first one's position. `matched` is a
/// maximum one-to-one matching. The outcome depends on the set of claims alone: their order changes positions
/// only.
ClaimsScore match_claims(const std::vector<FinalClaim>& claims, const ScoringTask& task);

}  // namespace sluice
