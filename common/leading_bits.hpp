#pragma once

#include "common/hash.hpp"

#include <cstddef>
#include <cstdint>

namespace sluice {

/// The first 64 bits of a hash, the same on every machine.
inline std::uint64_t leading_bits(const Digest& digest) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < sizeof bits; ++i) bits = bits << 8 | digest[i];
  return bits;
}

}  // namespace sluice
