#pragma once

#include "common/completion.hpp"
#include "common/error.hpp"
#include "common/result.hpp"
#include "common/run_settings.hpp"
#include "common/transport/local_workers.hpp"
#include "common/transport/messages.hpp"
#include "worker/held_units.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>

/// The in-process vocabulary of a worker's actors. Who sends what to whom:
///
///   dealer       -> worker        FromCoordinator
///   worker       -> dealer        ToCoordinatorNow, CloseSocket
///   worker       -> trial runner  (spawned with its unit)
///   trial runner -> model client  CompleteUnit
///   model client -> trial runner  UnitCompleted
///   trial runner -> worker        UnitFinished
///   worker       -> model client  BudgetChanged, CancelCalls
///   model client -> worker        PauseAsked
///   model client -> http          HttpCall, HttpCancel      (worker/http/http_messages.hpp)
///   http         -> model client  HttpDone
///   worker       -> whoever started it   WorkerEnded
namespace sluice {

/// Get the answer of the unit's request.
struct CompleteUnit {
  SharedUnit unit;
};

/// The answer (which may be a final non-answer), or why there is none.
struct UnitCompleted {
  std::variant<Completion, Error> outcome;
  Spend spend;
};

/// A unit of this run has its result.
struct UnitFinished {
  std::string run_id;
  UnitResult result;
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

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::CompleteUnit)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::UnitCompleted)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::UnitFinished)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::BudgetChanged)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::PauseAsked)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::CancelCalls)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::WorkerTick)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::FlushReports)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(sluice::WakeCalls)
