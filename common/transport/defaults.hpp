#pragma once

#include "common/defaults.hpp"

#include <chrono>
#include <cstddef>

/// The constants that tune sockets, with their reasons. They bound what peers can make a coordinator take.
namespace sluice::defaults {

using namespace std::chrono_literals;

// --- Sockets
/// Messages taken from one side at a time: one system call serves many, and a flood on one side leaves the
/// other side its turn within about a millisecond.
inline constexpr int socket_batch = 256;
/// Of one drain: a fleet of a thousand workers that send something five times a second is read whole, and a
/// flood keeps the other side waiting for a fraction of a second.
inline constexpr int max_batches_per_drain = 64;
/// A process that ends gives its last messages (GOODBYE, ACK) a moment, and never hangs on them.
inline constexpr auto socket_linger = 500ms;
inline constexpr int max_waiting_frames = 10'000;  ///< Received and not read; the rest waits in the network.
inline constexpr auto socket_heartbeat_interval = 2s;  ///< ZeroMQ's own, which finds machines that vanished:
inline constexpr auto socket_heartbeat_timeout = 10s;  ///< slower than `liveness`, which is no socket's.
inline constexpr auto reconnect_interval = 100ms;      ///< At first; it grows up to the next.
/// Workers that were there before their coordinator come within a second of each other: those whose caches
/// hold answers are waited for no longer than holder_wait, those of an earlier part than return_wait.
inline constexpr auto max_reconnect_interval = 1s;
/// Connections that ended without a reason before a worker logs what that may mean. One that was made and
/// ended is made again within 200 ms: so two seconds, in which the exact reason mostly comes, and before the
/// coordinator is called silent.
inline constexpr int hang_ups_in_a_row = 12;

// --- What peers may ask for (docs/protocol.md)
inline constexpr double max_rejects_to_one = 512;       ///< REJECTs at once to one peer, which needs one ...
inline constexpr double rejects_to_one_per_second = 1;  ///< ... and then: some 300 bytes a second for one
                                                        ///< that never reads.
inline constexpr double max_rejects = 8192;        ///< The same to all: a large fleet of another version ...
inline constexpr double rejects_per_second = 100;  ///< ... that comes back again and again.
/// HELLOs of one peer that are answered by WELCOME: a worker says it once, and again each heartbeat while
/// none answers.
inline constexpr double max_hellos_of_one = 8;
inline constexpr double hellos_of_one_per_second = 2;
inline constexpr double max_hellos = 4096;  ///< The same of all: a large fleet that comes at once.
inline constexpr double hellos_per_second = 2048;
/// Refused keys of an address that the log names: somebody may try one after the other.
inline constexpr double refusals_logged = 5;
inline constexpr double refusals_logged_per_second = 1.0 / 60;
/// Of one reason why workers cannot join, or of one refused key: who reads what to do needs it once, and
/// another worker may come later.
inline constexpr double misfits_logged_per_second = 1.0 / 600;
/// Messages that wait for a peer that does not read; beyond it the peer is let go. A worker gets some hundred
/// a second at most, and is lost after three heartbeats of silence.
inline constexpr int max_unread_messages = 1024;
/// Peers whose messages of a kind are counted: who is forgotten beyond it begins anew, within what all may
/// have.
inline constexpr std::size_t max_counted_peers = 10'000;
/// Peers that came in by a key and are remembered, so that they leave at once when it is taken off the list;
/// who is forgotten beyond it is heard no more all the same.
inline constexpr std::size_t max_admitted_peers = 65'536;
/// One that speaks an earlier version of the protocol and was not heard for so long is gone.
inline constexpr std::chrono::minutes older_peer_silence{1};

// --- What one TCP connection may have waiting in the memory of a coordinator, and all together. ZeroMQ
// bounds the number of messages, and neither their parts nor their bytes.
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
