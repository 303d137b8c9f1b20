#pragma once

#include <cstdint>

namespace sluice {

/// Random numbers of which every platform and standard library gives the same: SplitMix64 (Steele, Lea and
/// Flood 2014), a hash of a counter. Streams of one seed are independent of each other for all that a
/// permutation test can notice. A value type; not for secrets.
class RandomStream {
 public:
  explicit RandomStream(std::uint64_t seed, std::uint64_t stream = 0) : state_(seed + mixed(stream)) {}

  /// 64 random bits.
  std::uint64_t next() {
    state_ += increment;
    return mixed(state_);
  }

  /// 0 .. bound - 1, each equally likely. REQUIRES: bound > 0.
  std::uint32_t below(std::uint32_t bound) {
    // The high half of a product is uniform once the few low halves that occur too often are drawn again.
    const std::uint32_t rejected = (0u - bound) % bound;
    for (;;) {
      const std::uint64_t product = (next() >> 32) * bound;
      if (static_cast<std::uint32_t>(product) >= rejected) return static_cast<std::uint32_t>(product >> 32);
    }
  }

  /// 0 <= value < 1, in steps of 2^-53.
  double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  static constexpr std::uint64_t increment = 0x9e3779b97f4a7c15u;

  static std::uint64_t mixed(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
  }

  std::uint64_t state_;
};

}  // namespace sluice
