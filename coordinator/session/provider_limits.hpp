#pragma once

#include "common/model/run_settings.hpp"
#include "coordinator/facts/budget_facts.hpp"
#include "coordinator/facts/remembered_limits.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sluice {

/// Names a provider and its key: a hash of its kind, its base URL and the name of the key's variable; the key
/// itself is not read.
std::string key_identity(const ProviderSettings& provider);

/// Names what is remembered of a provider's limits. Sections with one key each have their own: they may be
/// there for models whose limits differ.
std::string limits_identity(const ProviderSettings& provider);

/// For each of the providers what earlier runs learnt of it; empty where none did.
std::vector<LearnedLimits> limits_for(std::span<const ProviderSettings> providers,
                                      std::span<const RememberedLimits> remembered, std::int64_t now_ms);

/// What a run learnt of its providers that the next one should know.
std::vector<RememberedLimits> limits_learned(std::span<const ProviderSettings> providers,
                                             std::span<const BudgetFacts> budgets, const std::string& run_id,
                                             std::int64_t now_ms);

}  // namespace sluice
