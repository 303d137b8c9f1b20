#pragma once

#include "common/hash.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace sluice {

/// The votes that a run has renewed, by 8 bytes of their keys each, in slots of which at most three of four
/// are taken: a run may have millions. That two keys begin alike does no harm: the cached vote of the second
/// would be taken without being renewed, if there is one, else it is called for; and of three million votes
/// two begin alike once in four million runs.
class RenewedVotes {
 public:
  void insert(const Digest& key) {
    if (4 * (size_ + 1) > 3 * slots_.size()) grow();
    put(begin_of(key));
  }
  bool contains(const Digest& key) const {
    return !slots_.empty() && slots_[place_of(begin_of(key))] != free_slot;
  }
  std::size_t size() const { return size_; }
  std::size_t bytes() const { return slots_.size() * sizeof(std::uint64_t); }

 private:
  static constexpr std::uint64_t free_slot = 0;
  static constexpr std::size_t least_slots = 64;

  static std::uint64_t begin_of(const Digest& key) {
    std::uint64_t begin = 0;
    std::memcpy(&begin, key.data(), sizeof begin);
    return std::max<std::uint64_t>(begin, 1);  // Free slots are 0.
  }
  /// Where it is, or would be. REQUIRES: a free slot.
  std::size_t place_of(std::uint64_t begin) const {
    std::size_t at = begin & (slots_.size() - 1);
    while (slots_[at] != free_slot && slots_[at] != begin) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void put(std::uint64_t begin) {
    auto& slot = slots_[place_of(begin)];
    if (slot == free_slot) ++size_;
    slot = begin;
  }
  void grow() {
    const auto before =
        std::exchange(slots_, std::vector(std::max(least_slots, 2 * slots_.size()), free_slot));
    size_ = 0;
    for (const std::uint64_t begin : before) {
      if (begin != free_slot) put(begin);
    }
  }

  std::vector<std::uint64_t> slots_;  ///< A power of two of them.
  std::size_t size_ = 0;
};

}  // namespace sluice
