#pragma once

#include "common/error.hpp"
#include "common/model/run_settings.hpp"
#include "common/settings/key_trust.hpp"
#include "common/settings/load_settings.hpp"
#include "common/settings/settings.hpp"
#include "worker/providers/credentials.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace sluice {

/// A worker's API keys, and whom it calls: the provider's standard host, servers on loopback unless the
/// coordinator is elsewhere, and the hosts that the worker's own settings name. What the coordinator names is
/// not enough, be it for a call without a key: it could have the worker send anything to any address of its
/// network (docs/security.md). Keys leave this class only for a request. Not thread-safe.
class KeyRing {
 public:
  KeyRing(Environment environment, Settings own_settings, CoordinatorPlace coordinator);

  /// The key for the provider's calls; empty if it is called without one. Errors: key_missing, key_withheld.
  Result<std::string> key_for(const ProviderSettings& provider) const;
  /// The key, what the variables of its headers hold, and of kinds `http` and `exec` what these settings say
  /// of its format, which must be what the run has it for. Errors: as for key_for.
  Result<Credentials> credentials_for(const ProviderSettings& provider) const;
  /// Those of a run by provider; providers that cannot be called from here are missing, with the reason among
  /// the problems. Only live runs need any.
  std::map<std::string, Credentials> credentials_of(const RunSettings& run,
                                                    std::vector<Error>& problems) const;
  /// Every key that this worker's environment holds for a provider of its own settings, whether the run uses
  /// it or not: what must not leave with an answer. A secret is one whatever the run calls; KeyMask passes
  /// over the words that servers without keys are given.
  std::vector<std::string> all_keys() const;

 private:
  bool may_call(const ProviderSettings& provider) const;
  Result<std::shared_ptr<const OwnFormat>> format_of(const ProviderSettings& provider) const;
  Result<std::string> secret_of(const ProviderSettings& provider, const ProviderHeader& header) const;
  /// That a secret, by what it is called, is not sent to a host that no settings of this worker name.
  Error withheld(const std::string& what, const ProviderSettings& provider) const;

  Environment environment_;
  Settings own_settings_;
  CoordinatorPlace coordinator_;
};

}  // namespace sluice
