#pragma once

#include "common/clock.hpp"
#include "common/model/result.hpp"
#include "common/model/run_settings.hpp"
#include "common/transport/local_workers.hpp"
#include "common/transport/messages.hpp"
#include "worker/calls/call_values.hpp"
#include "worker/held_units.hpp"
#include "worker/units/completed_unit.hpp"

#include <optional>
#include <string>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>

/// The in-process vocabulary of a worker's actors. Who sends what to whom:
///
///   dealer       -> worker        FromCoordinator
///   worker       -> dealer        ToCoordinatorNow, CloseSocket
///   worker       -> model client  CompleteUnits, WithdrawUnits, WindDown, BudgetChanged, ReportDemand,
///                                 EntriesFound, CancelCalls
///   model client -> worker        DemandChanged, EntryMessages, WorkerUnfit, UnitsScored (what has begun),
///                                 UnitsReturned
///   model client -> scorer        UnitsCompleted, WoundDown
///   scorer       -> worker        UnitsScored, WoundDown
///   model client -> http          HttpCalls, HttpCancel      (worker/http/http_messages.hpp)
///   http         -> model client  HttpCallsDone
///   model client -> store syncer  SyncStore
///   store syncer -> model client  StoreSynced
///   worker       -> whoever started it   WorkerEnded
namespace sluice {

/// Get the answers of these units' requests, as many at a time as the concurrency allows.
struct CompleteUnits {
  std::vector<SharedUnit> units;
};

/// What has begun and what has come to an end since the last one, in this run. A unit that ends in the turn
/// in which it begins is not reported as begun; each unit ends once.
struct UnitsCompleted {
  std::string run_id;
  std::vector<UnitId> started;
  std::vector<CompletedUnit> units;
};

/// The same with the answers scored.
struct UnitsScored {
  std::string run_id;
  std::vector<UnitId> started;
  std::vector<UnitResult> results;
};

/// Drop those of these units that have no call under way, and no answer that waits for its enrichers; the
/// others as soon as their call fails.
struct WithdrawUnits {
  std::vector<UnitId> units;
};

/// The worker leaves: drop all such units, and from now on any that would have to be called for (again).
/// `finish_by`: the run is over, and units whose answers still wait for enrichers by then are dropped too.
/// Nothing: it goes on. `at_once`: nobody waits for calls under way; WoundDown follows what is dropped and
/// what is completed.
struct WindDown {
  std::optional<TimePoint> finish_by;
  bool at_once = false;
};
struct WoundDown {
  std::string run_id;
};

/// Units that were dropped: they are not worked on any more. `spent`: what they took, or what calls took that
/// ended after their unit's result.
struct UnitsReturned {
  std::string run_id;
  std::vector<UnitId> units;
  std::vector<UnitSpend> spent{};
};

/// Send a DemandChanged with what the budget is needed for, for the next HEARTBEAT.
struct ReportDemand {};

/// Of what the model client sought in other workers' caches (FOUND).
struct EntriesFound {
  std::vector<wire::LentEntry> entries;
};

/// Messages of entries for the coordinator (SEEK, STORED).
struct EntryMessages {
  std::string run_id;
  std::vector<wire::ToCoordinator> messages;
};

/// This worker cannot work for the run: it is to leave.
struct WorkerUnfit {
  std::string run_id;
  Error why;
};

/// Have all that is stored now written to the disk, and say what came of it.
struct SyncStore {};
struct StoreSynced {
  Result<void> result;
};

/// The run is over: end all calls; nothing is answered any more.
struct CancelCalls {};

/// Timers, and messages of an actor to itself.
struct WorkerTick {};
struct FlushReports {
  bool timed = false;  ///< From a timer; else it stood in the mailbox.
};
struct WakeCalls {};
struct ScoreMore {};

}  // namespace sluice

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::CompleteUnits)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::UnitsCompleted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::UnitsScored)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::WithdrawUnits)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::WindDown)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::WoundDown)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::UnitsReturned)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::BudgetChanged)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::ReportDemand)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::DemandChanged)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::EntriesFound)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::EntryMessages)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::WorkerUnfit)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::SyncStore)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::StoreSynced)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::CancelCalls)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::WorkerTick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::FlushReports)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::WakeCalls)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::ScoreMore)
