#pragma once

#include "common/model/request.hpp"

#include <cstdint>
#include <string_view>

namespace sluice {

/// More tokens than a model's tokenizer makes of a text: no count, for tokenizers differ. All of them take
/// words apart from digits and signs, many each digit from the next, and words at the capitals inside them; a
/// token is at least one byte, and pairs of letters are in the vocabularies of today. So two letters of a
/// word, with the blank before it, count as one token, and every other byte as one. Pure and thread-safe.
std::uint64_t token_bound(std::string_view text);

/// The same for the whole input of a request: its texts, the schema, and what chat templates put around them.
std::uint64_t input_token_bound(const ModelRequest& request);

/// What a provider may answer with at most, in tokens; where the request leaves it to the provider,
/// defaults::max_output_tokens.
std::uint64_t output_token_bound(const ModelRequest& request);

}  // namespace sluice
