#pragma once

#include "common/defaults.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>

/// What one TCP connection may have waiting in the memory of a coordinator, and all together. ZeroMQ bounds
/// the number of messages, and neither their parts nor their bytes.
namespace sluice::defaults {

/// Sent by a peer and not read as a whole message yet: the largest message, with what it takes on the wire.
inline constexpr std::size_t max_unread_bytes_of_one = max_frame_bytes + (1u << 20);
/// For a peer that takes less than `least_taken_bytes` of it a second.
inline constexpr std::size_t max_untaken_bytes_of_one = 64u << 20;
inline constexpr std::size_t least_taken_bytes = 1u << 20;
/// Of all connections, in both directions: a fleet whose results wait for the disk, and the units of a large
/// suite, all at once. The connection that has most of it goes first.
inline constexpr std::size_t max_waiting_bytes = 512u << 20;
/// The process may grow by so much more than by twice the bytes that wait, while all connections together
/// have much unread. Parts of nothing take 32 times their bytes.
inline constexpr std::size_t max_unexplained_bytes = 512u << 20;
inline constexpr std::size_t much_unread_bytes = 4u << 20;
/// Between two looks at them; what a fast network brings meanwhile is beyond the bound.
inline constexpr auto waiting_bytes_interval = 100ms;
/// Of a frame beside its content: its length, and what encryption adds. Rather too much than too little.
inline constexpr std::size_t frame_overhead_bytes = 64;
/// For a connection to end its greeting and the handshake, as ZeroMQ has it: who has not may mean harm.
inline constexpr auto greeting_time = 30s;
/// Of peers' messages: read, and not done with yet. Beyond it nothing more is read.
inline constexpr std::size_t max_bytes_in_hand = 32u << 20;
/// How soon reading goes on once there is room again.
inline constexpr auto in_hand_interval = 5ms;

}  // namespace sluice::defaults
