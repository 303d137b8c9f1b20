#pragma once

#include "common/result.hpp"
#include "common/run_settings.hpp"
#include "common/transport/local_workers.hpp"
#include "common/transport/messages.hpp"
#include "worker/held_units.hpp"
#include "worker/unit_result.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>

/// The in-process vocabulary of a worker's actors. Who sends what to whom:
///
///   dealer       -> worker        FromCoordinator
///   worker       -> dealer        ToCoordinatorNow, CloseSocket
///   worker       -> model client  CompleteUnits, BudgetChanged, CancelCalls
///   model client -> worker        UnitsCompleted, PauseAsked
///   model client -> http          HttpCalls, HttpCancel      (worker/http/http_messages.hpp)
///   http         -> model client  HttpCallsDone
///   worker       -> whoever started it   WorkerEnded
namespace sluice {

/// Get the answers of these units' requests.
struct CompleteUnits {
  std::vector<SharedUnit> units;
};

/// A unit with what became of its request.
struct CompletedUnit {
  SharedUnit unit;
  UnitOutcome outcome;
  Spend spend;
  EmbeddedTexts embedded = {};  ///< Those that the answer is to be compared by.
};

/// What has come to an end since the last one, in this run. Each unit comes once.
struct UnitsCompleted {
  std::string run_id;
  std::vector<CompletedUnit> units;
};

/// What the coordinator allows now: whether it is there at all, and how long each provider is to be left in
/// peace.
struct BudgetChanged {
  bool connected = false;  ///< A worker that is cut off starts no call (design, "Shared budgets").
  std::vector<wire::Grant> grants;
};

/// A provider asked for silence.
struct PauseAsked {
  std::string provider;
  std::chrono::milliseconds pause{};
};

/// The run is over: end all calls; nothing is answered any more.
struct CancelCalls {};

/// Timers, and messages of an actor to itself.
struct WorkerTick {};
struct FlushReports {
  bool delayed = false;  ///< Its time was up; else it stood in the mailbox.
};
struct WakeCalls {};

}  // namespace sluice

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::CompleteUnits)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::UnitsCompleted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::BudgetChanged)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::PauseAsked)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::CancelCalls)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::WorkerTick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::FlushReports)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::WakeCalls)
