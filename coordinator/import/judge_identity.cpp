#include "coordinator/import/judge_identity.hpp"

#include "common/documents/canonical_json.hpp"
#include "common/text/text.hpp"

#include <algorithm>
#include <optional>

namespace sluice {

std::string identity_of(const ImportedProvider& provider, const std::vector<ImportedServer>& servers) {
  const ForeignSampling usual = provider.usual.value_or(ForeignSampling());
  const auto number = [](const std::optional<double>& own, const std::optional<double>& other) {
    return "\n" + (own || other ? shortest(own ? *own : *other) : std::string());
  };
  const auto server = std::ranges::find(servers, provider.provider, &ImportedServer::name);
  return (server != servers.end() ? settings_of({*server}) : provider.provider) + "\n" + provider.model +
         number(provider.temperature, usual.temperature) +
         number(provider.max_output_tokens, usual.max_output_tokens) + number(provider.seed, {}) +
         canonical_json({provider.params, 1, {}});
}

namespace {

std::string identity_of_read(const DocumentNode& provider, const ImportFile& from,
                             ImportedProviders (*read_providers)(const DocumentNode&, const ImportFile&)) {
  ImportNotes unsaid;
  const ImportFile apart{from.files,       unsaid,     from.name,   from.folder,
                         from.environment, from.depth, from.within, from.followed};
  const ImportedProviders read = read_providers(provider, apart);
  return read.providers.empty() ? canonical_json(provider)
                                : identity_of(read.providers.front(), read.servers);
}

}  // namespace

std::string identity_of(const DocumentNode& provider, const ImportFile& from) {
  return identity_of_read(provider, from, import_providers);
}

std::string identity_of_embedder(const DocumentNode& provider, const ImportFile& from) {
  return identity_of_read(provider, from, import_embedder);
}

}  // namespace sluice
