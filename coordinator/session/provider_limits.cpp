#include "coordinator/session/provider_limits.hpp"

#include "common/hash.hpp"

#include <algorithm>
#include <chrono>

namespace sluice {

std::string key_identity(const ProviderSettings& provider) {
  FieldHasher hasher;
  hasher.field(to_string(provider.kind)).field(provider.base_url).field(provider.api_key_env);
  for (const ProviderHeader& one : provider.headers) {
    if (!one.variable.empty()) hasher.field(one.variable);
  }
  return to_hex(hasher.finish()).substr(0, 32);
}

std::string limits_identity(const ProviderSettings& provider) {
  const auto key = key_identity(provider);
  FieldHasher hasher;
  hasher.field(key).field(provider.name);
  return to_hex(hasher.finish()).substr(0, key.size());
}

std::vector<LearnedLimits> limits_for(std::span<const ProviderSettings> providers,
                                      std::span<const RememberedLimits> remembered, std::int64_t now_ms) {
  std::vector<LearnedLimits> all;
  for (const ProviderSettings& provider : providers) {
    LearnedLimits& limits = all.emplace_back();
    const auto known = std::ranges::find(remembered, limits_identity(provider), &RememberedLimits::key);
    if (known == remembered.end()) continue;
    limits = known->limits;
    // A clock that was set back makes nothing older than it is.
    limits.age = std::chrono::milliseconds(std::max<std::int64_t>(0, now_ms - known->learned_at_ms));
  }
  return all;
}

std::vector<RememberedLimits> limits_learned(std::span<const ProviderSettings> providers,
                                             std::span<const BudgetFacts> budgets, const std::string& run_id,
                                             std::int64_t now_ms) {
  std::vector<RememberedLimits> learned;
  for (const BudgetFacts& budget : budgets) {
    const auto provider = std::ranges::find(providers, budget.provider, &ProviderSettings::name);
    if (!budget.has_learned() || provider == providers.end()) continue;
    const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(budget.learned.age).count();
    RememberedLimits& one = learned.emplace_back(RememberedLimits{limits_identity(*provider), provider->name,
                                                                  normalised_base_url(provider->base_url),
                                                                  budget.learned, now_ms - age, run_id});
    one.limits.age = {};
  }
  return learned;
}

}  // namespace sluice
