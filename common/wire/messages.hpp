#pragma once

#include "common/error.hpp"
#include "common/result.hpp"
#include "common/run_settings.hpp"
#include "common/trial.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// What crosses between a worker and the coordinator: docs/protocol.md, which these types follow.
namespace sluice::wire {

inline constexpr std::uint8_t protocol_version = 2;

// --- worker -> coordinator
// ----------------------------------------------------------------------------------

/// First message of a worker, and again whenever the coordinator does not know it. Answer: WELCOME or REJECT.
struct Hello {
  std::uint64_t instance = 0;  ///< Random, kept over reconnects: this process, not this socket.
  std::string name;            ///< For people.
  std::string cache_id;        ///< Id stored in the worker's cache directory: affinity goes by it.
  std::string version;         ///< sluice's own version, for messages.
  std::uint32_t max_concurrent = 0;
  friend bool operator==(const Hello&, const Hello&) = default;
};

/// Answers WELCOME: from here on the worker takes work.
struct Ready {
  std::string run_id;
  std::vector<Error> problems;  ///< Per provider that this worker cannot call: key_missing, key_withheld.
  std::uint32_t window = 0;
  std::vector<UnitId> held;  ///< Units of this run that it still holds: their leases go on (a reconnect).
  friend bool operator==(const Ready&, const Ready&) = default;
};

/// What a worker needs of one provider's budget.
struct Demand {
  std::string provider;
  std::uint32_t ready_calls = 0;  ///< Calls that could start now.
  std::uint32_t in_flight = 0;
  std::uint32_t pause_ms = 0;  ///< The provider asked for silence for this long (429, 529); 0: it did not.
  friend bool operator==(const Demand&, const Demand&) = default;
};

/// Sent each heartbeat interval and whenever demand changes. Answer: GRANT.
struct Heartbeat {
  std::string run_id;
  std::uint64_t sent_at_us = 0;  ///< The worker's own clock; echoed in GRANT.
  std::uint32_t window =
      0;  ///< Units this worker wants to hold, done ones that are not yet acknowledged included.
  std::vector<Demand> demands;
  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};

/// Finished units, and units whose trials have begun (only these count a loss). Answer: ACK.
struct Report {
  std::string run_id;
  std::uint32_t window = 0;
  std::vector<UnitId> started;
  std::vector<UnitResult> results;
  friend bool operator==(const Report&, const Report&) = default;
};

/// The worker leaves; its leases are free at once.
struct Goodbye {
  std::string reason;
  friend bool operator==(const Goodbye&, const Goodbye&) = default;
};

// --- coordinator -> worker
// ----------------------------------------------------------------------------------

struct Welcome {
  RunSettings settings;
  friend bool operator==(const Welcome&, const Welcome&) = default;
};

/// A shard: units under one lease. Texts that requests share cross once a message.
struct Work {
  std::string run_id;
  std::vector<WorkUnit> units;
};

/// What became of a result.
enum class Verdict : std::uint8_t {
  committed = 1,  ///< In the ledger.
  duplicate = 2,  ///< Another result came first; `winner` is its answer.
  gone = 3,       ///< Does not belong to this run: drop it.
  retry = 4,      ///< Not taken as final (a cache miss that others may hold): drop it.
};

struct Acknowledged {
  UnitId unit = 0;
  Verdict verdict = Verdict::committed;
  Digest key{};
  Digest winner{};  ///< Digest of the committed answer; zero if it is an error without an answer.
  friend bool operator==(const Acknowledged&, const Acknowledged&) = default;
};

struct Ack {
  std::string run_id;
  std::vector<Acknowledged> items;
  friend bool operator==(const Ack&, const Ack&) = default;
};

/// One provider's share for this worker (budget.md).
struct Grant {
  std::string provider;
  bool unlimited = false;      ///< No limit is set: calls need no permit.
  std::uint32_t pause_ms = 0;  ///< No call may start for this long.
  friend bool operator==(const Grant&, const Grant&) = default;
};

/// Answers HEARTBEAT, and is sent unasked when a pause begins. Also the coordinator's sign of life.
struct Grants {
  std::string run_id;
  std::uint64_t echo_us = 0;  ///< Heartbeat::sent_at_us; 0 when unasked.
  std::uint64_t now_us = 0;   ///< The coordinator's monotonic clock.
  std::vector<Grant> grants;
  friend bool operator==(const Grants&, const Grants&) = default;
};

/// The run is over: finish nothing more, say GOODBYE. A worker process then ends unless it was told to stay.
struct Drain {
  std::string run_id;
  std::string reason;
  friend bool operator==(const Drain&, const Drain&) = default;
};

/// A message was not taken. `protocol_mismatch` ends the worker; `unknown_worker` asks for HELLO.
enum class RejectCode : std::uint8_t {
  malformed = 1,
  protocol_mismatch = 2,
  unknown_worker = 3,
  too_large = 4
};

struct Reject {
  RejectCode code = RejectCode::malformed;
  std::string detail;
  friend bool operator==(const Reject&, const Reject&) = default;
};

/// What the coordinator reads and what a worker reads: a message for the other side is malformed.
using ToCoordinator = std::variant<Hello, Ready, Heartbeat, Report, Goodbye>;
using ToWorker = std::variant<Welcome, Work, Ack, Grants, Drain, Reject>;

}  // namespace sluice::wire
