#include "common/model/cache_key.hpp"

#include "common/text/text.hpp"

#include <utility>

namespace sluice {

namespace {

/// An absent text is one empty field less than an empty one: the leading flag distinguishes them.
void optional_field(FieldHasher& hasher, const SharedText& text) {
  hasher.field(text ? "1" : "0").field(text ? std::string_view(*text) : std::string_view());
}

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

CacheKeyMaker::CacheKeyMaker(const ProviderSettings& provider, ModelRequest common)
    : common_(std::move(common)) {
  before_user_.field(cache_key_version).field(to_string(provider.kind)).field(provider.cache_identity);
  before_user_.field(common_.model);
  optional_field(before_user_, common_.system);
}

Digest CacheKeyMaker::key(std::string_view user, std::uint32_t repeat) {
  hasher_.resume(before_user_).field(user);
  optional_field(hasher_, common_.response_schema);
  hasher_.field(common_.temperature ? shortest(*common_.temperature) : std::string())
      .field(common_.max_tokens);
  hasher_.field(common_.seed ? std::to_string(*common_.seed) : std::string());
  hasher_.field(repeat);
  return hasher_.finish();
}

Digest cache_key(const ProviderSettings& provider, const ModelRequest& request, std::uint32_t repeat) {
  return CacheKeyMaker(provider, request).key(request.user, repeat);
}

Digest embedding_key(const ProviderSettings& provider, std::string_view model, std::string_view text) {
  FieldHasher hasher;
  hasher.field("embedding").field(embedding_key_version);
  hasher.field(to_string(provider.kind)).field(provider.cache_identity).field(model).field(text);
  return hasher.finish();
}

Digest vote_key(const ProviderSettings& provider, const ModelRequest& request, const Rubric& rubric,
                std::uint32_t samples, std::uint32_t index) {
  FieldHasher hasher;
  hasher.field("vote").field(vote_key_version).field(bytes_of(cache_key(provider, request, 0)));
  hasher.field(rubric.id).field(rubric.version).field(bytes_of(rubric_hash(rubric)));
  return hasher.field(samples).field(index).finish();
}

Digest recorded_answer_key(std::string_view test, const RecordedAnswer& answer) {
  FieldHasher hasher;
  hasher.field("recorded").field(test).field(answer.text).field(answer.model);
  return hasher.field(answer.usage.input_tokens).field(answer.usage.output_tokens).finish();
}

}  // namespace sluice
