#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// The constants that tune who gets which units.
namespace sluice::defaults {

using namespace std::chrono_literals;

inline constexpr std::uint32_t max_losses = 3;  ///< Then a started unit is provisionally worker_lost.
/// Times that workers cannot read a unit until it is an error: the first had it beside others, the next one
/// alone, and what two cannot read nobody can.
inline constexpr std::size_t max_unread = 2;
inline constexpr auto lease_grace = 30s;  ///< Beyond case_timeout before a live worker's lease ends.
/// Of another worker's queue, by one that has nothing to do: what others have missed is for its owner to
/// answer, who must be asked in any case, so nothing waits longer for being passed over.
inline constexpr std::size_t missed_units_looked_at = 8;
/// Groups of units that are dealt to workers whole: some 16 each for a thousand workers, so that their shares
/// differ little, and few enough to look at all of them when a worker comes or goes.
inline constexpr std::size_t dispatch_cells = 16'384;
/// Keys that are waited for or paid for; beyond it workers pay without a lease, so that memory is bounded.
inline constexpr std::size_t max_open_keys = 65'536;
inline constexpr std::size_t max_known_holders = 131'072;  ///< The oldest are forgotten: they cost a look-up.
/// Of lent entries that go out at once for one message that came in; whoever waits for the rest gets it by
/// the next loan.
inline constexpr std::size_t max_lent_bytes = 64u << 20;

}  // namespace sluice::defaults
