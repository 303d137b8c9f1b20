#pragma once

#include "common/completion.hpp"
#include "common/result.hpp"
#include "common/wire/messages.hpp"
#include "worker/budget/call_budget.hpp"
#include "worker/budget/late_permits.hpp"
#include "worker/embedding_queue.hpp"
#include "worker/held_units.hpp"
#include "worker/providers/announced_limits.hpp"
#include "worker/retry_policy.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sluice {

/// A number of tokens as messages hold it: what is beyond 32 bits is as large as can be said.
inline std::uint32_t narrow(std::uint64_t tokens) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(tokens, std::numeric_limits<std::uint32_t>::max()));
}

/// A provider as this run's calls meet it.
struct CalledProvider {
  CalledProvider(const ProviderSettings& from, Duration case_time)
      : settings(from), budget(from.name, case_time) {}

  const ProviderSettings& settings;
  std::optional<std::string> key;  ///< Nothing: this worker has none, and must not call.
  CallBudget budget;
  LatePermits late_permits;
  ModelLimits limits;
  std::set<std::uint64_t>
      ready;  ///< Jobs whose next call may start as far as they go themselves, oldest first.
  std::uint32_t backing_off = 0;  ///< Jobs that wait for their time to be tried again.
  bool answered = false;          ///< Any HTTP response came: its address is right.
  std::uint32_t silent_jobs = 0;  ///< Whose last call waited for it as long as a request may take.
  std::optional<Error> fatal;     ///< What every other call would meet, too.
};

/// A unit on its way to an answer, or texts on their way to their embeddings.
struct Job {
  enum class State : std::uint8_t { ready, in_flight, backing_off, awaits_embeddings, seeks_answer };

  Job(std::variant<SharedUnit, EmbeddingBatch> what, RetryPolicy policy, TimePoint now)
      : work(std::move(what)), retry(policy), started(now), idle_since(now) {}

  const SharedUnit& unit() const { return std::get<SharedUnit>(work); }
  EmbeddingBatch* batch() { return std::get_if<EmbeddingBatch>(&work); }

  std::variant<SharedUnit, EmbeddingBatch> work;
  RetryPolicy retry;
  TimePoint started;
  State state = State::ready;
  CalledProvider* provider = nullptr;  ///< The one that it waits for.
  Spend spend;
  std::optional<Completion> answer;                ///< Of a unit whose embeddings have not come yet,
  std::optional<std::vector<ParsedClaim>> claims;  ///< with its claims if they were read.

  // Waits: since when, and what the provider's clocks of pauses and outages said then.
  TimePoint idle_since;
  Duration pause_mark{};
  Duration outage_mark{};
  Duration extended{};  ///< By outages: of the deadline.
  Duration waited_permit{};
  Duration waited_pause{};
  Duration waited_retry{};

  // The call under way.
  bool cut_short = false;              ///< The case has less time left than a request may take.
  std::optional<wire::CallSize> size;  ///< Known once it was needed.
  std::optional<wire::Permit> permit;
  std::optional<TimePoint> refused_at;  ///< Last, by a rate limit.
  std::uint32_t unsent = 0;             ///< Calls of this job that came too late for their permit.
  std::uint32_t failed_probes = 0;      ///< Those that reached the provider.
};

}  // namespace sluice
