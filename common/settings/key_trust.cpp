#include "common/settings/key_trust.hpp"

#include "common/settings/base_url.hpp"
#include "common/settings/provider_presets.hpp"

#include <algorithm>

namespace sluice {
namespace {

void add_trusted(std::vector<std::string>& hosts, const std::string& base_url) {
  if (const auto url = parse_base_url(base_url)) hosts.push_back(host_entry(*url));
}

}  // namespace

std::vector<std::string> trusted_key_hosts(const Settings& settings, const ProviderSettings& provider) {
  std::vector<std::string> hosts;
  if (const auto preset = preset_provider(to_string(provider.kind))) {
    const auto url = parse_base_url(preset->base_url.value);
    if (url) hosts.push_back(url->host);  // Without a port: over TLS alone.
  }
  if (const ProviderConfig* config = settings.find_provider(provider.name)) {
    hosts.insert(hosts.end(), config->key_hosts.value.begin(), config->key_hosts.value.end());
    if (config->base_url.origin != Origin::default_value) add_trusted(hosts, config->base_url.value);
  }
  const bool is_named_here = !settings.base_url.value.empty() && settings.base_url.origin != Origin::suite;
  if (is_named_here && settings.provider.value == provider.name) {
    add_trusted(hosts, settings.base_url.value);
  }
  return hosts;
}

Error withheld(const std::string& what, const ProviderSettings& provider, CoordinatorPlace coordinator) {
  const bool is_own_run = coordinator == CoordinatorPlace::this_process;
  const std::string add_it =
      "add its host to key_hosts under [providers." + provider.name + "] in " +
      (is_own_run ? "sluice.toml, or say --base-url " + provider.base_url : "the worker's sluice.toml");
  return {Reason::key_withheld,
          what + " is not sent to " + provider.base_url + ", which " +
              (is_own_run ? "the suite alone names; " : "this worker's own settings do not name; ") + add_it};
}

std::optional<Error> withheld_of_suite(const Settings& settings) {
  const ProviderConfig* config = settings.find_provider(settings.provider.value);
  // A program is called nowhere.
  if (config == nullptr || config->kind.value == ProviderKind::exec) return std::nullopt;
  const ProviderSettings provider = provider_settings(settings, *config);
  if (may_receive_key(provider.base_url, trusted_key_hosts(settings, provider))) return std::nullopt;
  if (!provider.api_key_env.empty())
    return withheld("the key in " + provider.api_key_env, provider, CoordinatorPlace::this_process);
  const auto secret =
      std::ranges::find_if(provider.headers, [](const auto& one) { return !one.variable.empty(); });
  if (secret == provider.headers.end()) return std::nullopt;
  return withheld("what " + secret->variable + " holds", provider, CoordinatorPlace::this_process);
}

}  // namespace sluice
