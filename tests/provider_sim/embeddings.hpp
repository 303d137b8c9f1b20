#pragma once

#include "tests/provider_sim/chat_request.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::sim {

inline constexpr std::size_t usual_dimensions = 256;  ///< Enough for texts that share words to lie close.

/// A unit vector of hashed character trigrams (the hashing trick): equal texts have equal vectors, similar
/// ones similar vectors. Case and runs of blanks do not count. Pure.
std::vector<float> embed(std::string_view text, std::size_t dimensions);

/// Appends the body of the answer in the provider's format; returns its tokens.
std::uint64_t append_embeddings(Provider provider, const EmbeddingsRequest& request, std::string& out);

}  // namespace sluice::sim
