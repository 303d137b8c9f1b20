#include "worker/key_ring.hpp"

#include "common/model/metrics.hpp"
#include "common/settings/base_url.hpp"
#include "common/settings/request_body.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

/// True for a provider that is there for nothing but embeddings: the first one of a run answers.
bool only_embeds(const RunSettings& run, const ProviderSettings& provider) {
  return provider.name == run.embedding.provider && provider.name != run.providers.front().name;
}

/// Who never named the provider wonders what it is for.
Error embedder_problem(const Error& problem) {
  const std::string metric(info(MetricId::semantic_similarity_to).name);
  return {problem.reason,
          "the embeddings for " + metric + " cannot be had: " + problem.message +
              "; \"embedding_model: " + std::string(lexical_embedding_model) +
              "\" in the suite's settings (--embedding-model) needs neither provider nor key"};
}

}  // namespace

KeyRing::KeyRing(Environment environment, Settings own_settings, CoordinatorPlace coordinator)
    : environment_(std::move(environment)),
      own_settings_(std::move(own_settings)),
      coordinator_(coordinator) {}

bool KeyRing::may_call(const ProviderSettings& provider) const {
  // A program of its own settings (format_of) is called nowhere.
  if (provider.kind == ProviderKind::exec) return true;
  return may_receive_key(provider.base_url, trusted_key_hosts(own_settings_, provider),
                         coordinator_ != CoordinatorPlace::elsewhere);
}

Result<std::string> KeyRing::key_for(const ProviderSettings& provider) const {
  if (provider.api_key_env.empty()) {
    if (coordinator_ == CoordinatorPlace::this_process || may_call(provider)) return std::string();
    return fail(Reason::key_withheld,
                "the run's provider " + provider.name + " is at " + provider.base_url +
                    ", which this worker's own settings do not name: add base_url under [providers." +
                    provider.name + "] in the worker's sluice.toml");
  }
  // What comes over the wire must not choose which of this machine's variables is sent away.
  const auto names_it = [&](const ProviderConfig& own) {
    return own.kind.value == provider.kind && own.api_key_env.value == provider.api_key_env;
  };
  if (std::ranges::none_of(own_settings_.providers, names_it)) {
    return fail(Reason::key_withheld,
                "the run asks for the key in " + provider.api_key_env +
                    ", which this worker's own settings do not name for a provider of kind " +
                    std::string(to_string(provider.kind)) + "; add api_key_env under [providers." +
                    provider.name + "] in the worker's sluice.toml");
  }
  const auto key = environment_(provider.api_key_env);
  const auto table = "[providers." + provider.name + "]";
  if (!key || usable_key(*key).empty()) {
    return fail(Reason::key_missing,
                "provider " + provider.name + " needs an API key and " + provider.api_key_env +
                    " is not set; set it where the worker runs, or api_key_env = \"\" under " + table +
                    " to call without a key");
  }
  if (!may_call(provider)) return fail(withheld("the key in " + provider.api_key_env, provider));
  return *key;
}

Error KeyRing::withheld(const std::string& what, const ProviderSettings& provider) const {
  return sluice::withheld(what, provider, coordinator_);
}

Result<std::string> KeyRing::secret_of(const ProviderSettings& provider, const ProviderHeader& header) const {
  const std::string table = "[providers." + provider.name + ".headers]";
  // As for keys: the wire names no variable that this machine's settings do not name for the same header.
  const auto names_it = [&](const ProviderConfig& own) {
    return own.kind.value == provider.kind &&
           std::ranges::any_of(own.headers.value, [&](const ProviderHeader& one) {
             return one.name == header.name && one.variable == header.variable;
           });
  };
  if (std::ranges::none_of(own_settings_.providers, names_it)) {
    return fail(Reason::key_withheld,
                "the run asks for what " + header.variable + " holds, for the header " + header.name +
                    ", which this worker's own settings do not name; add " + header.name + " = { env = \"" +
                    header.variable + "\" } under " + table + " in the worker's sluice.toml");
  }
  auto secret = environment_(header.variable);
  if (!secret || usable_key(*secret).empty()) {
    return fail(Reason::key_missing, "the header " + header.name + " of provider " + provider.name +
                                         " needs " + header.variable +
                                         ", which is not set; set it where the worker runs");
  }
  if (!may_call(provider)) return fail(withheld("what " + header.variable + " holds", provider));
  return usable_key(*secret);
}

/// What is sent where, and which program runs, no coordinator says.
Result<std::shared_ptr<const OwnFormat>> KeyRing::format_of(const ProviderSettings& provider) const {
  const std::string kind(to_string(provider.kind));
  const std::string table = "[providers." + provider.name + "]";
  const ProviderConfig* own = own_settings_.find_provider(provider.name);
  if (own == nullptr || own->kind.value != provider.kind) {
    return fail(Reason::key_withheld, "the run's provider " + provider.name + " is of kind " + kind +
                                          ", and this worker's own settings have no such provider: add " +
                                          table + " to the worker's sluice.toml as the run has it");
  }
  const std::string state_before = state_of_command(own->command.value);
  if (provider_settings(own_settings_, *own).cache_identity != provider.cache_identity) {
    return fail(Reason::key_withheld,
                "the run's provider " + provider.name + " of kind " + kind + " is another one than " + table +
                    " in this worker's own settings: make the two alike (" +
                    (provider.kind == ProviderKind::exec
                         ? "\"command\", and the files that it names, and \"max_tokens_field\")"
                         : "\"base_url\", \"query\", \"headers\", \"body\" and \"answer\")"));
  }
  auto format = std::make_shared<OwnFormat>();
  format->body = own->body.value;
  format->answer = own->answer.value;
  format->command = own->command.value;
  if (provider.kind == ProviderKind::exec && own->cache_identity.value.empty()) {
    // That of the command alone, which has no blank.
    format->command_identity = provider.cache_identity.substr(0, provider.cache_identity.find(' '));
    format->command_state = state_before;
  }
  format->key_variable = own->api_key_env.value;
  format->hidden_variables = secret_variables(own_settings_);
  return format;
}

Result<Credentials> KeyRing::credentials_for(const ProviderSettings& provider) const {
  std::shared_ptr<const OwnFormat> own;
  if (provider.kind == ProviderKind::http || provider.kind == ProviderKind::exec) {
    auto format = format_of(provider);
    if (!format) return fail(std::move(format.error()));
    own = std::move(*format);
  }
  auto key = key_for(provider);
  if (!key) return fail(std::move(key.error()));
  Credentials credentials(std::move(*key));
  credentials.own = std::move(own);
  for (const ProviderHeader& header : provider.headers) {
    if (header.variable.empty()) continue;
    auto secret = secret_of(provider, header);
    if (!secret) return fail(std::move(secret.error()));
    credentials.headers.push_back({header.name, header.value, std::move(*secret)});
  }
  return credentials;
}

std::map<std::string, Credentials> KeyRing::credentials_of(const RunSettings& run,
                                                           std::vector<Error>& problems) const {
  std::map<std::string, Credentials> all;
  for (const auto& provider : run.providers) {
    if (run.mode != Mode::live) {
      all[provider.name];
      continue;
    }
    if (auto credentials = credentials_for(provider)) {
      all[provider.name] = std::move(*credentials);
    } else {
      problems.push_back(only_embeds(run, provider) ? embedder_problem(credentials.error())
                                                    : credentials.error());
    }
  }
  return all;
}

std::vector<std::string> KeyRing::all_keys() const {
  std::vector<std::string> keys;
  for (const std::string& name : secret_variables(own_settings_)) {
    auto key = environment_(name);
    if (key && std::ranges::find(keys, *key) == keys.end()) keys.push_back(std::move(*key));
  }
  return keys;
}

}  // namespace sluice
