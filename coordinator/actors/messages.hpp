#pragma once

#include "common/clock.hpp"
#include "common/command/bounded_command.hpp"
#include "common/error.hpp"
#include "common/model/result.hpp"
#include "common/transport/messages.hpp"
#include "coordinator/facts/budget_facts.hpp"
#include "coordinator/facts/cache_holders.hpp"
#include "coordinator/facts/run_facts.hpp"
#include "coordinator/progress/progress.hpp"
#include "coordinator/run/effects.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>

/// The in-process vocabulary of the coordinator's actors. Who sends what to whom:
///
///   main        -> coordinator  StopRun                   (a signal, a failed set-up)
///   router      -> coordinator  FromWorkers, SocketDrained
///   coordinator -> router       ToPeer, DrainSocket, CloseSocket
///   coordinator -> governor     HeartbeatReceived, PeersChanged, BudgetRequest
///   governor    -> router       ToPeer (GRANTS)
///   governor    -> coordinator  BudgetReport
///   coordinator -> recorder     RecordResults, NoteHolders, LookUpHolders, NoteProgress
///   coordinator -> checker      RecordResults (of a run whose answers commands check), DropChecks
///   checker     -> recorder     RecordResults
///   checker     -> coordinator  ChecksUnderWay, ResultsDropped, RecordingFailed
///   recorder    -> coordinator  ResultsRecorded, HoldersLookedUp, RecordingFailed, ResultsDropped
///   recorder    -> observer     ObserveUnits
///   main        -> observer     FinishObserving
///   coordinator -> progress     ShowProgress
///   main        -> coordinator  LocalWorkerFailed
///   coordinator -> main         RunEnded
namespace sluice {

/// End the run now with what it has.
struct StopRun {
  Error why;
};

/// A worker of this process has ended with an error.
struct LocalWorkerFailed {
  Error error;
};

/// A worker's HEARTBEAT: to be answered with GRANTS.
struct HeartbeatReceived {
  Peer peer;
  wire::Heartbeat heartbeat;
  InHand in_hand{};
  bool run_is_over = false;
};

/// Who left or began anew, and who of those came or changed is there since; all others are as they were.
struct PeersChanged {
  std::string run_id;
  std::vector<GovernedPeer> peers;
  std::vector<GoneWorker> gone;
};

/// To be answered with BudgetReport.
struct BudgetRequest {};

/// The use of the providers' budgets so far.
struct BudgetReport {
  std::vector<BudgetFacts> budgets;
};

/// Put these into the ledger.
struct NoteHolders {
  std::vector<EntryHolder> holders;
  InHand in_hand{};
};

/// Put what whoever goes on with the run must know into the ledger.
struct NoteProgress {
  std::vector<UnitSpend> spent;
  std::vector<NotedLease> leased;
  InHand in_hand{};
};

/// Who holds the entries of these keys? To be answered with HoldersLookedUp.
struct LookUpHolders {
  std::vector<EntryKey> keys;
  InHand in_hand{};
};

/// One for each key that was looked up; an empty id where no holder is known.
struct HoldersLookedUp {
  std::vector<EntryHolder> holders;
};

/// The run cannot go on. Nobody records the results that are named.
struct RecordingFailed {
  Error why;
  ResultsDropped dropped;
};

/// The run ends now: kill the commands that check answers, and drop the results that wait for them.
struct DropChecks {};

/// So many results wait for commands now.
struct ChecksUnderWay {
  std::size_t results = 0;
};

/// One that checks an answer, by the checker's own number.
struct CommandEnded {
  std::uint64_t id = 0;
  CommandEnd end;
};

/// Save what these committed results show. Their bytes are counted as unsaved until then.
struct ObserveUnits {
  std::vector<UnitResult> results;
  std::size_t bytes = 0;
};

/// Nothing more is to be saved.
struct FinishObserving {};

struct ShowProgress {
  ProgressState state;
};

/// The run is over and its committed results are in the ledger.
struct RunEnded {
  RunFacts facts;
  std::vector<UnitId> lost_units;   ///< Provisionally lost, and never made good.
  std::vector<UnitId> begun_units;  ///< Without a result, though a worker has begun with them; ascending.
};

/// Timer of the observer.
struct SaveObservations {};

/// Timers of the coordinator actor. An epoch distinguishes a live timer from one that was overtaken.
struct HeartbeatTick {};
struct ProgressTick {};
struct DeadlineTick {};
struct GoodbyeTimeout {};
struct CommitNow {};

/// Of the governor actor: one turn for all messages that wait together, and one when there will be something
/// to grant.
struct GovernorTurn {};
struct GovernorWake {
  BootTime time{};
};

}  // namespace sluice

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::StopRun)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::LocalWorkerFailed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::HeartbeatReceived)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::PeersChanged)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::BudgetRequest)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::BudgetReport)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::RecordResults)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::ResultsRecorded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::NoteHolders)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::NoteProgress)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::LookUpHolders)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::HoldersLookedUp)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::RecordingFailed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::DropChecks)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::ChecksUnderWay)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::ResultsDropped)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::CommandEnded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::ObserveUnits)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::FinishObserving)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::SaveObservations)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::ShowProgress)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::RunEnded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::HeartbeatTick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::ProgressTick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::DeadlineTick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::GoodbyeTimeout)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::CommitNow)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::GovernorTurn)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::GovernorWake)
