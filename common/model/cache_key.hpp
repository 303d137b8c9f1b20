#pragma once

#include "common/hash.hpp"
#include "common/model/judge.hpp"
#include "common/model/recorded_answer.hpp"
#include "common/model/request.hpp"
#include "common/model/run_settings.hpp"

#include <cstdint>
#include <string_view>

namespace sluice {

/// Version of the key's specification: the first field of every key. Any change to what is hashed, or how,
/// takes a new version and new golden values (tests/unit/common/cache_key_test.cpp): a wrong key silently
/// hands out someone else's answer.
inline constexpr std::uint64_t cache_key_version = 1;

/// Version of what follows in the key of a request that has RequestExtras, and only of such a one. Rules as
/// above.
inline constexpr std::uint64_t extras_version = 1;

/// The key of a request: SHA-256 over the length-prefixed fields (hash.hpp) key version, provider kind, cache
/// identity, model, system prompt, user message, response schema, temperature (shortest decimal form, "" if
/// none is sent), max tokens, seed ("" if none is sent) and repeat index. An absent text and an empty one
/// differ. If there are any extras, these follow: extras_version, and each field in the order of the type,
/// lists behind their lengths.
Digest cache_key(const ProviderSettings& provider, const ModelRequest& request, std::uint32_t repeat);

/// Makes the keys of requests that differ in user message and repeat index alone, as those of a plan do: what
/// stands before the user message is hashed once, and it is most of the text. Not thread-safe.
class CacheKeyMaker {
 public:
  /// `common` is any one of the requests; its user message makes no difference.
  CacheKeyMaker(const ProviderSettings& provider, ModelRequest common);
  /// The same as cache_key of the whole request.
  Digest key(std::string_view user, std::uint32_t repeat);

 private:
  ModelRequest common_;
  bool has_extras_;
  FieldHasher before_user_;
  FieldHasher hasher_;
};

/// Version of the specification of embeddings' keys, which are apart from those of answers. Rules as above.
inline constexpr std::uint64_t embedding_key_version = 1;

/// The key of a text's embedding: SHA-256 over the length-prefixed fields "embedding", key version, provider
/// kind, cache identity, model and text.
Digest embedding_key(const ProviderSettings& provider, std::string_view model, std::string_view text);

/// Version of the specification of votes' keys. Rules as above.
inline constexpr std::uint64_t vote_key_version = 1;

/// The key of a judge's vote: SHA-256 over the length-prefixed fields "vote", key version, cache_key of the
/// judge's request (repeat index 0; the request holds the rendered rubric and so prompt, answer and context),
/// rubric id, rubric version, rubric_hash, the number of votes that are asked for (`samples`), and the index
/// of this one among those of all repeats: repeat x samples + its own, from 0.
Digest vote_key(const ProviderSettings& provider, const ModelRequest& request, const Rubric& rubric,
                std::uint32_t samples, std::uint32_t index);

/// What a recorded answer of a test is known by where others have the key of their request: no cache has it.
Digest recorded_answer_key(std::string_view test, const RecordedAnswer& answer);

}  // namespace sluice
