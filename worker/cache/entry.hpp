#pragma once

#include "common/error.hpp"
#include "common/hash.hpp"
#include "common/model/completion.hpp"
#include "common/model/entry_key.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A key as databases and files have it.
inline std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

/// The vector of a text, as an embedding model gave it.
struct Embedding {
  std::vector<float> values;
  std::int64_t created_at_ms = 0;  ///< Unix time.
  friend bool operator==(const Embedding&, const Embedding&) = default;
};

/// The form of a stored value: a byte for its format (1 to 4), SHA-256 over key and payload, and the
/// payload. The hash takes in the key, so that an entry that strayed to another key is refused like a damaged
/// one.
/// - 1, an answer's, outcome's or vote's payload: msgpack (text, finish reason, served model, usage,
/// created_at_ms,
///   non-answer or nil).
/// - 3, an answer's that calls tools: msgpack (such a payload, its calls).
/// - 4, an answer's whose latency a test asks for: msgpack (such a payload, its calls, latency_ms).
/// - 2, an embedding's payload, little endian: created_at_ms (8 bytes), and the values (IEEE 754, 4 bytes
/// each).
namespace cache_entry {

std::string encode(const Digest& key, const Completion& completion);
std::string encode(const Digest& key, const Embedding& embedding);

/// Errors, which name the key: message_malformed for what is damaged, cache_failed for a format that this
/// version does not know.
Result<Completion> decode(const Digest& key, std::string_view bytes);
/// Errors as `decode`.
Result<Embedding> decode_embedding(const Digest& key, std::string_view bytes);

/// What decides which of two entries of one key is kept: the greatest (created_at, digest)
/// (docs/delivery.md).
struct Rank {
  std::int64_t created_at_ms = 0;
  Digest digest{};  ///< answer_digest, or SHA-256 over an embedding's values.
  friend auto operator<=>(const Rank&, const Rank&) = default;
};

/// An entry as it is stored, with what it is worth. Entries that differ in nothing but the words of a refusal
/// are distinguished by their bytes, so that every order of merging ends the same.
struct Version {
  Rank rank;
  std::string bytes;
  friend auto operator<=>(const Version&, const Version&) = default;
};

/// Checks an entry whole, also that it is of this kind. Errors as `decode`.
Result<Rank> rank(EntryKind kind, const Digest& key, std::string_view bytes);

}  // namespace cache_entry
}  // namespace sluice
