#pragma once

#include "common/clock.hpp"
#include "common/model/result.hpp"
#include "worker/budget/call_budget.hpp"
#include "worker/budget/late_permits.hpp"
#include "worker/budget/way_variation.hpp"
#include "worker/calls/call_request.hpp"
#include "worker/calls/failing_calls.hpp"
#include "worker/calls/failure_words.hpp"
#include "worker/calls/outage_clock.hpp"
#include "worker/calls/wait_clock.hpp"
#include "worker/providers/announced_limits.hpp"
#include "worker/retry_policy.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

namespace sluice {

/// Numbers calls in the order in which they were submitted; the retries of one have its number.
using CallId = std::uint64_t;

/// A provider as this run's calls meet it.
struct CalledProvider {
  CalledProvider(const ProviderSettings& from, Duration case_time)
      : settings(from), budget(from.name, case_time) {}

  const ProviderSettings& settings;
  std::optional<Credentials> credentials;  ///< Nothing: this worker has none, and must not call.
  CallBudget budget;
  LatePermits late_permits;
  WayVariation variation;
  ModelLimits limits;
  std::set<CallId> ready;         ///< Calls that may start as far as they go themselves, oldest first.
  std::uint32_t backing_off = 0;  ///< Calls that wait for their time to be tried again.
  bool answered = false;          ///< Any HTTP response came: its address is right.
  bool lost_last = false;         ///< A call was lost since the last response: kept connections may be dead.
  /// Of each model that answered: calls in a row that it refused since.
  std::map<std::string, std::uint32_t, std::less<>> refused_since_answer;
  /// What models took of what all calls may carry, as CallRequest::carried says it.
  std::map<std::string, std::set<std::string>, std::less<>> taken;
  std::uint32_t silent_calls = 0;   ///< That ended by a silent try, and had one that was not cut short.
  std::uint32_t crashed_calls = 0;  ///< That ended since the program failed each time.
  std::uint32_t web_pages = 0;      ///< Tries in a row that a page answered instead of an API, since
  TimePoint web_pages_since{};      ///< then.
  FailingCalls failing;
  FailureWords failure_words;
  std::optional<Error> fatal;  ///< What every other call would meet, too.
};

using CalledProviders = std::map<std::string, CalledProvider>;

/// A request on its way to its answer, with all its tries.
struct Call {
  enum class State : std::uint8_t { seeks_entry, ready, in_flight, backing_off };

  Call(CallRequest& what, const CallContext& whose, CalledProvider& at, const RetryPolicy& policy,
       const OutageClock& outages_before, TimePoint now)
      : request(&what), context(whose), provider(&at), retry(policy), outages(outages_before), waits(now) {}

  CallRequest* request;  ///< Its owner's.
  CallContext context;
  CalledProvider* provider;
  RetryPolicy retry;
  OutageClock outages;
  WaitClock waits;
  Spend spend;
  State state = State::ready;

  // The try under way.
  FailingCalls::Instant began = 0;     ///< When, among tries and answers,
  TimePoint began_at{};                ///< and when by the clock.
  bool cut_short = false;              ///< Less time is left than a request may take.
  std::optional<wire::CallSize> size;  ///< Known once it was needed.
  std::optional<wire::Permit> permit;
  std::optional<TimePoint> refused_at;  ///< Last, by a rate limit.
  std::uint32_t unsent = 0;             ///< Tries in a row that came too late for their permits, since
  TimePoint unsent_since{};             ///< then; nobody was answered meanwhile.
  bool was_forgiven = false;            ///< A kept connection died under it since its last try that counts.
  bool wants_fresh = false;             ///< Its next try goes by a connection of its own.
  std::uint32_t silent_tries = 0;       ///< That waited for an answer as long as a request may take.
  std::optional<Error> failure;         ///< Of its last try that failed.

  bool probes() const { return permit && permit->probe; }
  bool fails_alone() const { return provider->failing.fails_alone(this); }
  const wire::CallSize& known_size() { return size ? *size : size.emplace(request->size()); }
  /// Its deadline, after the outages up to now.
  TimePoint deadline(TimePoint now) {
    retry.extend(outages.extension(provider->budget.out(now)));
    return retry.deadline();
  }
};

using CallTable = std::unordered_map<CallId, Call>;

}  // namespace sluice
