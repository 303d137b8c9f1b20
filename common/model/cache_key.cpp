#include "common/model/cache_key.hpp"

#include "common/text/text.hpp"

#include <utility>

namespace sluice {

namespace {

/// An absent text is one empty field less than an empty one: the leading flag distinguishes them.
void optional_field(FieldHasher& hasher, const SharedText& text) {
  hasher.field(text ? "1" : "0").field(text ? std::string_view(*text) : std::string_view());
}

void add_fields(FieldHasher& hasher, const ChatMessage& message) {
  hasher.field(static_cast<std::uint64_t>(message.role)).field(message.parts.size());
  for (const MessagePart& one : message.parts) {
    hasher.field(static_cast<std::uint64_t>(one.kind)).field(one.text).field(one.media_type);
  }
  hasher.field(message.calls.size());
  for (const ToolCall& one : message.calls) hasher.field(one.id).field(one.name).field(one.arguments);
  hasher.field(message.call_id).field(message.call_name);
}

/// Lists begin with their length, so that no two values feed the same fields.
void add_fields(FieldHasher& hasher, const RequestExtras& extras) {
  hasher.field(extras_version).field(extras.params.size());
  for (const RequestParam& one : extras.params) hasher.field(one.name).field(one.json);
  hasher.field(extras.messages.size());
  for (const ChatMessage& one : extras.messages) add_fields(hasher, one);
  hasher.field(extras.tools.size());
  for (const Tool& one : extras.tools) hasher.field(one.name).field(one.description).field(one.parameters);
  hasher.field(extras.tool_choice);
  hasher.field(extras.format.is_json).field(extras.format.name).field(extras.format.is_strict);
}

std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

CacheKeyMaker::CacheKeyMaker(const ProviderSettings& provider, ModelRequest common)
    : common_(std::move(common)), has_extras_(!common_.extras.empty()) {
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
  if (has_extras_) add_fields(hasher_, common_.extras);
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
  // Of those without calls as it was before there were any: ledgers hold it.
  for (const ToolCall& one : answer.calls) hasher.field(one.name).field(one.arguments);
  return hasher.field(answer.usage.input_tokens).field(answer.usage.output_tokens).finish();
}

}  // namespace sluice
