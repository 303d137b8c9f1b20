#pragma once

#include "common/error.hpp"
#include "common/model/run_settings.hpp"
#include "common/settings/load_settings.hpp"
#include "common/settings/settings.hpp"

#include <map>
#include <string>
#include <vector>

namespace sluice {

/// A worker's API keys and whom they may be shown to: the provider's standard
/// host, loopback, and the hosts that the worker's own settings name. What the coordinator names is not
/// enough. Keys leave this class only for a request. Not thread-safe.
class KeyRing {
 public:
  KeyRing(Environment environment, Settings own_settings);

  /// The key for the provider's calls; empty if it is called without one. Errors: key_missing, key_withheld.
  Result<std::string> key_for(const ProviderSettings& provider) const;
  /// The keys of a run by provider; those that cannot be called from here are missing, with the reason among
  /// the problems. Only live runs need any.
  std::map<std::string, std::string> keys_for(const RunSettings& run, std::vector<Error>& problems) const;
  /// Every key that this worker's environment holds for a provider of its own settings, whether the run uses
  /// it or not: what must not leave with an answer. A secret is one whatever the run calls; KeyMask passes
  /// over the words that servers without keys are given.
  std::vector<std::string> all_keys() const;

 private:
  Environment environment_;
  Settings own_settings_;
};

}  // namespace sluice
