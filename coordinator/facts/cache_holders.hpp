#pragma once

#include "common/hash.hpp"

#include <string>

namespace sluice {

/// The committed answer of a key, and whose cache holds it.
struct Pin {
  Digest answer{};
  std::string holder;  ///< Id of the cache directory.
};

/// Whose cache holds the embedding of this key (common/model/cache_key.hpp).
struct EmbeddingHolder {
  Digest key{};
  std::string holder;  ///< Id of the cache directory.
  friend bool operator==(const EmbeddingHolder&, const EmbeddingHolder&) = default;
};

}  // namespace sluice
