#pragma once

#include "common/hash.hpp"

#include <cstddef>
#include <cstring>

namespace sluice {

/// SHA-256 values are as good as random already.
struct DigestHash {
  std::size_t operator()(const Digest& digest) const {
    std::size_t hash = 0;
    std::memcpy(&hash, digest.data(), sizeof hash);
    return hash;
  }
};

}  // namespace sluice
