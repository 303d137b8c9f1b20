#pragma once

#include <cstdint>
#include <string_view>

namespace sluice::sim {

/// Finalizer that spreads every input bit over all output bits (splitmix64's).
constexpr std::uint64_t mix(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

/// A 64-bit hash that reads eight bytes at a time: the same on every run and machine of one byte order. Not
/// cryptographic: it distinguishes fixtures, not adversaries.
std::uint64_t content_hash(std::string_view bytes, std::uint64_t seed = 0);

/// A number in [0, 1) from a hash.
constexpr double to_unit(std::uint64_t hash) {
  return static_cast<double>(hash >> 11) * 0x1.0p-53;
}

}  // namespace sluice::sim
