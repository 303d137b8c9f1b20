#pragma once

#include "coordinator/statistics/mcnemar.hpp"
#include "coordinator/statistics/paired_sample.hpp"
#include "coordinator/statistics/swap_parts.hpp"

#include <cstdint>
#include <functional>
#include <span>

/// Bounds of p-values that random draws cannot reach: with 9,999 draws none is below 1/10,000, however clear
/// the change. They are Chernoff's (1952): P(sum >= s) <= E exp(l sum) / exp(l s) for every l > 0. Pure.
namespace sluice {

/// No less than the share of swaps whose drop (or gain) is at least the observed one. That share itself,
/// 2^-n, where all of n units moved the same way; else up to some ten times as much. REQUIRES:
/// parts.is_exact. Time: O(units).
OneSidedPs swap_tail_bound(const SwapParts& parts);

/// The same for the labels of the answers within each case and the plain drop. Takes the side with fewer
/// answers as drawn with replacement, which is no smaller (Hoeffding 1963, theorem 4). 1 where an answer's
/// denominator differs from another's of the case. Neither the order of cases nor that of answers matters.
/// Time: O(n log n) in answers.
OneSidedPs label_tail_bound(std::span<const CaseRepeats> repeats);

/// The bound where no draw was as extreme, which is p = 1 / (1 + draws); p elsewhere. At levels that draws
/// can reach nothing changes, and below them the bound alone decides: so this p-value is valid, which the
/// smaller of two is not in general.
OneSidedPs beyond_draws(const OneSidedPs& p, std::uint32_t draws, const std::function<OneSidedPs()>& bound);

}  // namespace sluice
