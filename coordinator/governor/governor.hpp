#pragma once

#include "common/wire/messages.hpp"
#include "coordinator/governor/provider_budget.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// The budgets of a run's providers.
struct GovernorConfig {
  std::vector<std::pair<std::string, ProviderLimits>> providers;
  BudgetTimes times;
  /// What an earlier run learnt of the provider of the same place in `providers`; may be shorter.
  std::vector<LearnedLimits> learned{};
};

/// Decides when calls may start, for all workers and providers of a run (docs/budgets.md). Takes in who is
/// there and what they report; `turn` then returns what each worker is to be sent now. Times are of the
/// coordinator's boot clock and never go back. Pure; not thread-safe.
class Governor {
 public:
  /// GRANTS for one worker.
  struct Answer {
    WorkerId worker = 0;
    wire::Grants grants;  ///< Without run_id.
  };

  Governor(const GovernorConfig& config, BootTime now);

  /// A worker that sent HELLO (again): what it was granted before is void.
  void join(WorkerId worker, WorkerConcurrency concurrency, BootTime now);
  /// It sent GOODBYE, or was `lost`: then its calls may still be under way.
  void leave(WorkerId worker, bool lost, BootTime now);
  /// Before it leaves, since it was sent away: limits that nobody else reads are none.
  void distrust(WorkerId worker, BootTime now);
  /// Its HEARTBEAT, which the next turn answers. From an unknown worker: ignored.
  void on_heartbeat(WorkerId worker, const wire::Heartbeat& heartbeat, BootTime now);

  /// What is to be sent now: an answer to each HEARTBEAT, and to each other one that has news.
  /// One for each worker, which names all its providers.
  std::vector<Answer> turn(BootTime now);
  /// When to call `turn` though no message came.
  std::optional<BootTime> next_wake(BootTime now) const;

  // --- Other runs that use a provider's key ---

  /// They are to be told what this run does with it, whose number among them is `run`. `uses` is what they
  /// did before this run, whole or only the newest (`is_cut`); to be counted like any other. Nothing for a
  /// provider that there is not.
  void share(std::string_view provider, std::uint64_t run, std::span<const ForeignUse> uses, bool is_cut);
  /// What they did since the last turn, in their order, and the places that they have; before `turn`.
  void count(std::string_view provider, std::span<const ForeignUse> uses, const OtherPlaces& others,
             BootTime now);
  /// They are not told any more.
  void stop_sharing(std::string_view provider, BootTime now);
  /// What this run did since the last call, and the places that it has; after `turn`.
  std::vector<KeyUse> take_use(std::string_view provider, BootTime now);
  KeyPlaces places(std::string_view provider, BootTime now) const;

  /// What has happened since the last call.
  std::vector<BudgetNotice> take_notices();
  /// In the order of the configuration.
  std::vector<BudgetFacts> facts(BootTime now) const;

 private:
  struct Connection {
    std::uint64_t newest_sent_us = 0;
    bool answer_due = false;
  };

  ProviderBudget* find(std::string_view provider);

  std::vector<ProviderBudget> budgets_;
  std::map<WorkerId, Connection> connections_;
  std::uint64_t next_permit_ = 1;
};

}  // namespace sluice
