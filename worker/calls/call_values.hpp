#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/model/result.hpp"
#include "common/wire/messages.hpp"
#include "worker/calls/call_request.hpp"
#include "worker/http/http_call.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What goes into the call engine and what comes out of it, beside requests and responses.
namespace sluice {

/// What the coordinator allows now.
struct BudgetChanged {
  bool connected = false;    ///< A worker that is cut off starts no call (docs/budgets.md).
  bool begins_anew = false;  ///< HELLO was sent again: the coordinator forgot what permits it had granted.
  wire::Grants grants;       ///< Its `now_us` is 0 if none came.
  BootTime received_at{};    ///< When the socket's owner handed it over.
};

/// What this worker's calls need, and how many units it works on at a time: sent on request, and when the
/// coordinator should know of a change at once.
struct DemandChanged {
  std::string run_id;
  std::vector<wire::Demand> demands;
  std::uint64_t received_us = 0;  ///< `now_us` of the newest GRANTS that are taken in.
  std::uint32_t concurrency = 0;
};

/// A call that has ended for good, or will not be made.
struct CallEnded {
  CallContext context;
  std::optional<Error> error;    ///< Nothing: the request holds its answer.
  bool out_of_time = false;      ///< Of an error: the deadline is over.
  bool given_up = false;         ///< Of an error: it would have been tried again (CallEngine::end_retries).
  bool lent = false;             ///< The answer came from another worker's cache.
  Duration extended{};           ///< By how much outages have moved the deadline.
  Usage usage;                   ///< Of the answer; zeros if it was lent.
  bool took_nothing = false;     ///< The provider declined before it did anything.
  std::uint32_t latency_ms = 0;  ///< Of the try that was answered, rounded up; 0 if none was.
  Spend spend;  ///< Calls, retries, waits, and what failed tries took; what the answer took the owner adds.
};

/// What waits outside the engine.
struct Backlog {
  std::uint32_t concurrency = 0;  ///< How many units the worker works on at a time.
  std::size_t waiting = 0;        ///< Units that have not begun,
  std::string_view provider;      ///< whose next call is to this provider. Empty if none waits.
};

/// What is wrong, as a sentence for the log.
struct CallProblem {
  std::string message;
  std::string provider{};  ///< That it is about; may be empty.
};

/// What the engine's owner is to do now.
struct EngineTurn {
  std::vector<HttpCall> calls;
  std::optional<DemandChanged> demand;
  std::vector<wire::ToCoordinator> entries;  ///< SEEK and STORED.
  std::vector<CallProblem> problems;
  std::optional<Error> unfit;     ///< This worker cannot work here, and should leave.
  std::optional<TimePoint> wake;  ///< When the next turn is due, if nothing happens before.
};

inline std::uint32_t in_ms(Duration time) {
  return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

/// Adds what the answer took, if the call brought one that was paid for.
inline void add_answer(Spend& to, CallKind kind, const CallEnded& ended) {
  if (!ended.error && !ended.lent && !ended.took_nothing) to.add_answer(kind, ended.usage);
}

/// Adds calls, tokens and waits; whether the cache was hit, and how long it took, stay as they are.
inline void add_costs(Spend& to, const Spend& from) {
  to.calls += from.calls;
  to.retries += from.retries;
  to.rate_limited += from.rate_limited;
  to.paid += from.paid;
  to.waited_permit_ms += from.waited_permit_ms;
  to.waited_pause_ms += from.waited_pause_ms;
  to.waited_retry_ms += from.waited_retry_ms;
  to.unmetered |= from.unmetered;
}

/// Never 0, which is that of no call.
inline std::uint32_t latency_ms(std::chrono::microseconds elapsed) {
  return std::max<std::uint32_t>(1, in_ms(elapsed + std::chrono::microseconds(999)));
}

}  // namespace sluice
