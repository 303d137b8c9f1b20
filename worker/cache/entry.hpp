#pragma once

#include "common/completion.hpp"
#include "common/error.hpp"
#include "common/hash.hpp"

#include <string>
#include <string_view>

/// The form of a stored value: a version byte, SHA-256 over key and payload, and the payload (msgpack: text,
/// finish reason, served model, usage, created_at_ms, non-answer or nil). The hash takes in the key, so that
/// an entry that strayed to another key is refused like a damaged one.
namespace sluice::cache_entry {

std::string encode(const Digest& key, const Completion& completion);

/// Error: cache_failed, naming the key.
Result<Completion> decode(const Digest& key, std::string_view bytes);

}  // namespace sluice::cache_entry
