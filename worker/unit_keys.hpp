#pragma once

#include "common/model/cache_key.hpp"
#include "common/model/run_settings.hpp"
#include "common/model/trial.hpp"

#include <list>
#include <utility>
#include <vector>

namespace sluice {

/// Whether units have the keys that belong to their requests. A key is what an answer is stored and found by:
/// one that the coordinator merely claims could put an answer under the key of another question
/// (docs/security.md). Requests that differ in their user message alone are hashed from there on. Pure; not
/// thread-safe.
class UnitKeys {
 public:
  explicit UnitKeys(std::vector<ProviderSettings> providers = {}) : providers_(std::move(providers)) {}

  /// Recorded answers are stored under no key: theirs is not checked.
  bool fits(const WorkUnit& unit);

 private:
  struct Known {
    Known(const ProviderSettings& provider, const ModelRequest& of) : request(of), maker(provider, of) {}
    ModelRequest request;
    CacheKeyMaker maker;
  };
  Known* known(const ModelRequest& request);

  std::vector<ProviderSettings> providers_;
  std::list<Known> known_;  ///< The latest first.
};

}  // namespace sluice
