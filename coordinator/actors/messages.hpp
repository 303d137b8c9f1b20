#pragma once

#include "common/error.hpp"
#include "common/transport/messages.hpp"
#include "coordinator/report/progress.hpp"
#include "coordinator/run/recording.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>

/// The in-process vocabulary of the coordinator's actors. Who sends what to whom:
///
///   main        -> coordinator  StopRun                   (a signal, a failed set-up)
///   router      -> coordinator  FromWorkers, SocketDrained
///   coordinator -> router       ToPeer, DrainSocket, CloseSocket
///   coordinator -> governor     DemandHeard, PeersChanged
///   governor    -> router       ToPeer (GRANT)
///   coordinator -> recorder     RecordResult
///   recorder    -> coordinator  ResultsRecorded, RecordingFailed
///   coordinator -> progress     ShowProgress
///   coordinator -> main         RunEnded
namespace sluice {

/// End the run now with what it has.
struct StopRun {
  Error why;
};

/// A worker's HEARTBEAT: to be answered with GRANT.
struct DemandHeard {
  Peer peer;
  wire::Heartbeat heartbeat;
};

/// The workers that a new pause is told to.
struct PeersChanged {
  std::string run_id;
  std::vector<Peer> peers;
};

struct RecordingFailed {
  Error why;
};

struct ShowProgress {
  ProgressState state;
};

/// The run is over and its committed results are in the ledger.
struct RunEnded {
  RunFacts facts;
  std::vector<UnitId> lost_units;  ///< Provisionally lost, and never made good.
};

/// Timers of the coordinator actor. An epoch tells a live timer from one that was overtaken.
struct HeartbeatTick {};
struct ProgressTick {};
struct GoodbyeTimeout {};
struct CommitNow {};

}  // namespace sluice

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::StopRun)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::DemandHeard)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::PeersChanged)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::RecordResult)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::ResultsRecorded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::RecordingFailed)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::ShowProgress)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::RunEnded)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::HeartbeatTick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::ProgressTick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::GoodbyeTimeout)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::CommitNow)
