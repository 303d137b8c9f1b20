#include "tests/provider_sim/content_hash.hpp"

#include <cstring>

namespace sluice::sim {

std::uint64_t content_hash(std::string_view bytes, std::uint64_t seed) {
  constexpr std::uint64_t odd = 0xD6E8FEB86659FD93;
  std::uint64_t hash = mix(seed + bytes.size());
  const char* at = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 8; left -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, 8);
    hash = (hash ^ word) * odd;
    hash ^= hash >> 32;
  }
  std::uint64_t tail = 0;
  if (left > 0) std::memcpy(&tail, at, left);
  return mix((hash ^ tail) * odd);
}

}  // namespace sluice::sim
