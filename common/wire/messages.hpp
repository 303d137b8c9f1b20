#pragma once

#include "common/error.hpp"
#include "common/model/entry_key.hpp"
#include "common/model/result.hpp"
#include "common/model/run_settings.hpp"
#include "common/model/trial.hpp"
#include "common/wire/versions.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

/// What crosses between a worker and the coordinator: docs/protocol.md, which these types follow.
namespace sluice::wire {

// --- worker -> coordinator
// ----------------------------------------------------------------------------------

/// First message of a worker, and again whenever the coordinator does not know it. Answer: WELCOME or REJECT.
struct Hello {
  std::uint64_t instance = 0;         ///< Random, kept over reconnects: this process, not this socket.
  std::string name;                   ///< For people.
  std::string cache_id;               ///< Id stored in the worker's cache directory: affinity goes by it.
  std::string version;                ///< sluice's own version, for messages.
  std::uint32_t max_concurrent = 0;   ///< Calls that it makes at a time.
  bool max_concurrent_named = false;  ///< Somebody set it: no search goes beyond it.
  std::uint8_t protocol = protocol_version;  ///< As its header has it, which alone holds it.
  bool from_this_process = false;            ///< Of whoever received it, who alone knows: it crosses nowhere.
  friend bool operator==(const Hello&, const Hello&) = default;
};

/// A unit that a worker holds, with the number of its lease.
struct HeldUnit {
  UnitId unit = 0;
  std::uint64_t lease = 0;
  friend auto operator<=>(const HeldUnit&, const HeldUnit&) = default;
};

/// Answers WELCOME: from here on the worker takes work.
struct Ready {
  std::string run_id;
  std::vector<Error> problems;  ///< Per provider that this worker cannot call: key_missing, key_withheld.
  std::uint32_t window = 0;
  std::vector<HeldUnit> held;  ///< Units of this run that it still holds: their leases go on (a reconnect).
  friend bool operator==(const Ready&, const Ready&) = default;
};

/// Tokens of a call: an upper bound where it is reserved, the real usage where it is settled.
struct CallSize {
  std::uint32_t input_tokens = 0;
  std::uint32_t output_tokens = 0;
  friend bool operator==(const CallSize&, const CallSize&) = default;
};

/// A permit that the worker has done with.
struct SpentPermit {
  std::uint64_t id = 0;
  bool used = false;  ///< A call started on it; else it was given back, or its window has passed.
  friend bool operator==(const SpentPermit&, const SpentPermit&) = default;
};

/// What the call of a used permit came to; zeros for one that the provider did not charge.
struct SettledCall {
  std::uint64_t permit = 0;
  CallSize used;
  friend bool operator==(const SettledCall&, const SettledCall&) = default;
};

/// What calls came to since the last HEARTBEAT: how the governor sees outages and unknown limits.
struct CallOutcomes {
  std::uint32_t answered = 0;
  std::uint32_t declined = 0;        ///< Answered with an error of this request alone: the provider is well.
  std::uint32_t rate_limited = 0;    ///< 429 and 529 without a named delay.
  std::uint32_t named_delays = 0;    ///< Those with one.
  std::uint32_t failed = 0;          ///< 5xx, time-outs, connections refused or broken.
  std::uint64_t latency_sum_us = 0;  ///< Of `answered`.
  std::uint32_t timed_out = 0;       ///< Sent, and not answered in time: some of `failed`, and those that
                                     ///< failed while others were answered.
  std::optional<std::uint64_t> latency_deviation_us;  ///< The standard deviation of those of `answered`.
  friend bool operator==(const CallOutcomes&, const CallOutcomes&) = default;
};

/// The limits that a provider's response headers name; 0: not named.
struct AnnouncedLimits {
  std::uint64_t requests_per_minute = 0;
  std::uint64_t tokens_per_minute = 0;
  std::uint64_t input_tokens_per_minute = 0;
  std::uint64_t output_tokens_per_minute = 0;
  friend bool operator==(const AnnouncedLimits&, const AnnouncedLimits&) = default;
};

/// The most sizes in one demand: more calls than that are not granted at a time either.
inline constexpr std::size_t max_demand_sizes = 256;

/// What a worker needs of one provider's budget, and what became of what it was granted (docs/budgets.md).
struct Demand {
  std::string provider;
  std::uint32_t ready_calls =
      0;  ///< Calls that could start now, those for which an unspent permit is held included.
  std::uint32_t in_flight = 0;
  std::uint32_t backing_off = 0;  ///< Calls that wait for their time to be tried again.
  bool reached = false;           ///< Some HTTP response has come from it, be it a 5xx: it is there.
  std::uint32_t pause_ms = 0;     ///< The provider asked for silence for this long (429, 529); 0: it did not.
  std::vector<CallSize> sizes;  ///< Of the first ready calls, oldest first; empty while no permit is needed.
  std::vector<SpentPermit> spent;
  std::vector<SettledCall> settled;
  CallOutcomes outcomes;
  AnnouncedLimits announced;
  AnnouncedLimits doubted{};  ///< Named by response headers as well, and not believed.
  /// How much the way to the provider varies, as the connections measure it; 0: not measured.
  std::uint32_t variation_us = 0;
  /// How exactly this worker knows the coordinator's clock: a permit that lasts no longer is of no use to it;
  /// 0: not known yet.
  std::uint32_t uncertainty_us = 0;
  std::uint32_t oldest_ms = 0;  ///< For how long the oldest call in flight has been out; 0: there is none.
  friend bool operator==(const Demand&, const Demand&) = default;
};

/// Sent each heartbeat interval and at once when a demand changes. Answer: GRANTS.
struct Heartbeat {
  std::string run_id;
  std::uint64_t sent_at_us = 0;  ///< The worker's boot clock (clock.hpp); echoed in GRANTS.
  std::uint32_t window =
      0;  ///< Units this worker wants to hold, done ones that are not yet acknowledged included.
  std::vector<Demand> demands;
  std::uint64_t received_us = 0;  ///< Grants::now_us of the newest GRANTS taken in; 0: none yet. Places that
                                  ///< were taken from this worker are free for others only then.
  friend bool operator==(const Heartbeat&, const Heartbeat&) = default;
};

/// Finished units, and units whose trials have begun (only these count a loss). Answer: ACK.
struct Report {
  std::string run_id;
  std::uint32_t window = 0;
  std::vector<UnitId> started;
  std::vector<UnitResult> results;
  std::vector<UnitId> returned = {};  ///< Units that it holds no more.
  std::vector<UnitSpend> spent = {};  ///< Of units that are returned, or have their results.
  friend bool operator==(const Report&, const Report&) = default;
};

/// The most keys or entries in one message.
inline constexpr std::size_t max_entries = 1024;

/// Entries that this worker's cache lacks and that are about to be paid for: answers of units with
/// `held_elsewhere`, embeddings of any text, and votes. Answer: FOUND, once for each key, whenever it is
/// known.
struct Seek {
  std::string run_id;
  std::vector<EntryKey> keys;
  friend bool operator==(const Seek&, const Seek&) = default;
};

/// An entry on its way from one cache to another, as it is stored.
struct LentEntry {
  EntryKey key;
  std::string bytes;  ///< Empty in LENT: it is not here; in FOUND: pay for it yourself.
  friend bool operator==(const LentEntry&, const LentEntry&) = default;
};

/// Answers LEND: each of its keys once.
struct Lent {
  std::string run_id;
  std::vector<LentEntry> entries;
  friend bool operator==(const Lent&, const Lent&) = default;
};

/// What became of leased entries (is_leased) that FOUND left to this worker to pay for.
struct Stored {
  std::string run_id;
  std::vector<EntryKey> stored;    ///< In its cache: others may have them from there.
  std::vector<EntryKey> given_up;  ///< It will not have them: the next one who waits may pay.
  friend bool operator==(const Stored&, const Stored&) = default;
};

/// The worker leaves; its leases are free at once.
struct Goodbye {
  std::string reason;
  /// Of the error with which it ends, if any. message_malformed: it could not read a WORK, and some of the
  /// units that it has not begun are those of it; it may come back with HELLO.
  std::optional<Reason> error{};
  friend bool operator==(const Goodbye&, const Goodbye&) = default;
};

// --- coordinator -> worker
// ----------------------------------------------------------------------------------

struct Welcome {
  RunSettings settings;
  std::string version{};                     ///< sluice's own, for messages.
  std::uint8_t protocol = protocol_version;  ///< As its header has it, which alone holds it.
  friend bool operator==(const Welcome&, const Welcome&) = default;
};

/// A shard: units under one lease. Texts that requests share cross once a message.
struct Work {
  std::string run_id;
  std::vector<WorkUnit> units;
};

/// What became of a result.
enum class AckCode : std::uint8_t {
  committed = 1,  ///< In the ledger.
  duplicate = 2,  ///< Another result came first; `winner` is its answer.
  gone = 3,       ///< Does not belong to this run: drop it.
  retry = 4,      ///< Not taken as final (a cache miss that others may hold): drop it.
};

struct Acknowledged {
  UnitId unit = 0;
  AckCode code = AckCode::committed;
  Digest key{};
  Digest winner{};  ///< Digest of the committed answer; zero if it is an error without an answer.
  friend bool operator==(const Acknowledged&, const Acknowledged&) = default;
};

struct Ack {
  std::string run_id;
  std::vector<Acknowledged> items;
  friend bool operator==(const Ack&, const Ack&) = default;
};

/// The right to start one call while the coordinator's clock is in [opens_us, closes_us] (docs/budgets.md).
struct Permit {
  std::uint64_t id = 0;  ///< Ascends for each worker.
  std::uint64_t opens_us = 0;
  std::uint64_t closes_us = 0;
  CallSize size;       ///< What is reserved: the call must not be larger.
  bool probe = false;  ///< Finds out whether an outage is over.
  friend bool operator==(const Permit&, const Permit&) = default;
};

/// Why no call to a provider may start for a while.
enum class HoldReason : std::uint8_t {
  none = 0,
  named_delay = 1,  ///< A 429 or 529 named it.
  outage = 2,       ///< Calls failed in a row; it is being probed.
  given_up = 3,     ///< The outage lasted too long: what waits is to end.
};

/// The most tokens that one call may have; 0: no bound. A larger one can never start.
struct CallCeiling {
  std::uint64_t total_tokens = 0;
  std::uint64_t input_tokens = 0;
  std::uint64_t output_tokens = 0;
  friend bool operator==(const CallCeiling&, const CallCeiling&) = default;
};

inline constexpr std::uint32_t unlimited_places = 0xffffffff;

/// One provider's share for this worker (docs/budgets.md).
struct Grant {
  std::string provider;
  bool unlimited = false;  ///< Calls need no permit; places and pauses hold all the same.
  std::uint32_t places =
      unlimited_places;  ///< Calls that may be in flight here; while there are more, none starts.
  bool searched =
      false;  ///< `places` is what the search found, and may go beyond a default of max_concurrent.
  std::uint32_t pause_ms = 0;  ///< No call may start for this long, but on a probe's permit.
  HoldReason hold = HoldReason::none;
  CallCeiling ceiling;
  std::vector<Permit> permits;  ///< New ones; those granted before stay.
  friend bool operator==(const Grant&, const Grant&) = default;
};

/// Answers HEARTBEAT, and is sent unasked when there is something to grant, or when a pause begins or ends
/// early. Also the coordinator's sign of life.
struct Grants {
  std::string run_id;
  std::uint64_t echo_us =
      0;  ///< Heartbeat::sent_at_us of the newest one received from this worker; 0: none yet.
  std::uint64_t now_us = 0;  ///< The coordinator's boot clock (clock.hpp).
  std::vector<Grant> grants;
  friend bool operator==(const Grants&, const Grants&) = default;
};

/// Another worker is about to pay for what this one's cache holds. Answer: LENT.
struct Lend {
  std::string run_id;
  std::vector<EntryKey> keys;
  friend bool operator==(const Lend&, const Lend&) = default;
};

/// What became of keys of SEEK.
struct Found {
  std::string run_id;
  std::vector<LentEntry> entries;
  friend bool operator==(const Found&, const Found&) = default;
};

/// These units have their results, from others: what has not been called for is not needed any more. Answer:
/// REPORT, with those that were dropped as `returned`.
struct Withdraw {
  std::string run_id;
  std::vector<UnitId> units;
  friend bool operator==(const Withdraw&, const Withdraw&) = default;
};

/// The run is over: begin nothing more, send GOODBYE. A worker process then ends unless it was set to stay,
/// or another run follows.
struct Drain {
  std::string run_id;
  std::string reason;
  /// How long the calls under way may take to end, with their results reported and acknowledged; 0: they are
  /// given up.
  std::uint32_t finish_ms = 0;
  bool another_follows = false;  ///< The coordinator begins another run at once.
  friend bool operator==(const Drain&, const Drain&) = default;
};

/// A message was not taken. `protocol_mismatch` and `not_taken` end the worker; `unknown_worker` asks for
/// HELLO.
enum class RejectCode : std::uint8_t {
  malformed = 1,
  protocol_mismatch = 2,
  unknown_worker = 3,
  too_large = 4,
  not_taken = 5,
};

struct Reject {
  RejectCode code = RejectCode::malformed;
  std::string detail;
  friend bool operator==(const Reject&, const Reject&) = default;
};

/// What the coordinator reads and what a worker reads: a message for the other side is malformed.
using ToCoordinator = std::variant<Hello, Ready, Heartbeat, Report, Goodbye, Seek, Lent, Stored>;
using ToWorker = std::variant<Welcome, Work, Ack, Grants, Drain, Reject, Lend, Found, Withdraw>;

}  // namespace sluice::wire
