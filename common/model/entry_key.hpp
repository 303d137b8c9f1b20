#pragma once

#include "common/hash.hpp"

#include <array>
#include <compare>
#include <cstdint>

namespace sluice {

/// What a cache keeps, each kind in a column family of its own. The numbers stand in cassettes, which are
/// sorted by them, and cross the wire.
enum class EntryKind : std::uint8_t { answer = 1, outcome = 2, embedding = 3, vote = 4 };

inline constexpr std::array every_entry_kind{EntryKind::answer, EntryKind::outcome, EntryKind::embedding,
                                             EntryKind::vote};

/// Entries of this kind are leased by key: of those who lack one, one pays, reports it (STORED), and the
/// others wait for it. The other kinds belong to units, which are leased themselves.
constexpr bool is_leased(EntryKind kind) {
  return kind == EntryKind::embedding || kind == EntryKind::vote;
}

/// What an entry is found by, in any cache.
struct EntryKey {
  EntryKind kind = EntryKind::answer;
  Digest digest{};  ///< common/model/cache_key.hpp
  friend auto operator<=>(const EntryKey&, const EntryKey&) = default;
};

}  // namespace sluice
