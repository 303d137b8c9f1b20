#include "common/cache_key.hpp"

#include "common/text.hpp"

namespace sluice {

namespace {

/// An absent text is one empty field less than an empty one: the leading flag tells them apart.
void optional_field(FieldHasher& hasher, const SharedText& text) {
  hasher.field(text ? "1" : "0").field(text ? std::string_view(*text) : std::string_view());
}

}  // namespace

Digest cache_key(const ProviderSettings& provider, const ModelRequest& request, std::uint32_t repeat) {
  thread_local FieldHasher hasher;
  hasher.field(cache_key_version).field(to_string(provider.kind)).field(provider.cache_identity);
  hasher.field(request.model);
  optional_field(hasher, request.system);
  hasher.field(request.user);
  optional_field(hasher, request.response_schema);
  hasher.field(shortest(request.temperature)).field(request.max_tokens);
  hasher.field(request.seed ? std::to_string(*request.seed) : std::string());
  hasher.field(repeat);
  return hasher.finish();
}

}  // namespace sluice
