#include "worker/unit_keys.hpp"

#include "worker/defaults.hpp"

#include <algorithm>

namespace sluice {
namespace {

bool same_text(const SharedText& one, const SharedText& other) {
  return one == other || (one && other && *one == *other);
}

bool differ_in_user_alone(const ModelRequest& one, const ModelRequest& other) {
  return one.provider == other.provider && one.model == other.model && same_text(one.system, other.system) &&
         same_text(one.response_schema, other.response_schema) && one.temperature == other.temperature &&
         one.max_tokens == other.max_tokens && one.seed == other.seed && one.extras == other.extras;
}

}  // namespace

UnitKeys::Known* UnitKeys::known(const ModelRequest& request) {
  const auto found = std::ranges::find_if(
      known_, [&](const Known& one) { return differ_in_user_alone(one.request, request); });
  if (found != known_.end()) {
    known_.splice(known_.begin(), known_, found);
    return &known_.front();
  }
  const auto provider = std::ranges::find(providers_, request.provider, &ProviderSettings::name);
  if (provider == providers_.end()) return nullptr;
  if (known_.size() >= defaults::max_key_makers) known_.pop_back();
  return &known_.emplace_front(*provider, request);
}

bool UnitKeys::fits(const WorkUnit& unit) {
  if (unit.recorded) return true;
  Known* const one = known(unit.request);
  return one != nullptr && one->maker.key(unit.request.user, unit.repeat) == unit.key;
}

}  // namespace sluice
