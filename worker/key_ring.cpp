#include "worker/key_ring.hpp"

#include <utility>

#include "common/settings/base_url.hpp"

namespace sluice {

KeyRing::KeyRing(Environment environment, Settings own_settings)
    : environment_(std::move(environment)), own_settings_(std::move(own_settings)) {}

Result<std::string> KeyRing::key_for(const ProviderSettings& provider) const {
  if (provider.api_key_env.empty()) return std::string();
  const auto key = environment_(provider.api_key_env);
  const auto table = "[providers." + provider.name + "]";
  if (!key || key->empty()) {
    return fail(Reason::key_missing, "provider " + provider.name + " needs an API key and " + provider.api_key_env +
                                         " is not set; set it where the worker runs, or api_key_env = \"\" under " +
                                         table + " to call without a key");
  }
  if (!may_receive_key(provider.base_url, trusted_key_hosts(own_settings_, provider))) {
    return fail(Reason::key_withheld, "the key in " + provider.api_key_env + " is not sent to " + provider.base_url +
                                          ", which this worker's own settings do not name; add its host to key_hosts "
                                          "under " +
                                          table + " in the worker's sluice.toml");
  }
  return *key;
}

}  // namespace sluice
