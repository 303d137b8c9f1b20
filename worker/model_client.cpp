#include "worker/model_client.hpp"

#include "common/process/supervision.hpp"
#include "common/text/stderr_line.hpp"
#include "worker/http/http_messages.hpp"
#include "worker/messages.hpp"
#include "worker/program_actor.hpp"
#include "worker/store_syncer.hpp"
#include "worker/sync_groups.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/system_messages.hpp>
#include <spdlog/spdlog.h>

namespace sluice {

namespace {

struct ModelClientState {
  ModelClientState() = default;
  static inline const char* name = "model_client";

  std::shared_ptr<ModelClientConfig> config;
  std::optional<UnitFlow> flow;
  caf::actor programs;  ///< Makes the calls to providers of kind `exec`; null before the first.
  Children children;
  std::optional<TimePoint> next_wake;  ///< When the one timer that counts will fire.
  SyncGroups groups;
  bool winds_down_at_once = false;  ///< WoundDown is due when nothing waits for a sync.
  caf::actor syncer;                ///< Null in a run that is not durable.
};

using ModelClient = caf::stateful_actor<ModelClientState>;

Moment moment(ModelClient* self) {
  return {self->clock().now(), self->state.config->boot_clock()};
}

/// One timer for all that wait, set again only for an earlier time.
void wake_at(ModelClient* self, TimePoint now, TimePoint when) {
  auto& next = self->state.next_wake;
  if (next && *next <= when) return;
  next = when;
  self->delayed_send(self, when - now, WakeCalls{});
}

/// Those that programs answer go to an actor of the run's own: its programs are killed with it.
void make(ModelClient* self, std::vector<HttpCall> calls) {
  auto& state = self->state;
  const auto of_programs = std::stable_partition(
      calls.begin(), calls.end(), [](const HttpCall& call) { return call.request.program == nullptr; });
  HttpCalls programs{{std::make_move_iterator(of_programs), std::make_move_iterator(calls.end())}};
  calls.erase(of_programs, calls.end());
  if (!calls.empty()) self->send(state.config->http, HttpCalls{std::move(calls)});
  if (programs.calls.empty()) return;
  if (!state.programs) {
    state.programs = spawn_programs(self->system(), state.config->call_log);
    state.children.add(self, "the programs", state.programs);
  }
  self->send(state.programs, std::move(programs));
}

/// The end of every message's turn: one message to each neighbour for all that it came to.
void hand_on(ModelClient* self, const Moment& at) {
  auto& config = *self->state.config;
  auto [engine, started, completed, returned, spent] = self->state.flow->turn(at);
  if (!engine.calls.empty()) make(self, std::move(engine.calls));
  auto& groups = self->state.groups;
  const bool unsynced = self->state.syncer && config.flow.store->has_unsynced();
  groups.add({std::move(completed), std::move(returned), std::move(spent), std::move(engine.entries)},
             unsynced, at.now);
  if (groups.begin_sync(at.now)) self->send(self->state.syncer, SyncStore{});
  auto news = groups.take();
  const auto& run_id = config.flow.settings.run_id;
  if (!news.completed.empty()) {
    self->send(config.scorer, UnitsCompleted{run_id, std::move(started), std::move(news.completed)});
  } else if (!started.empty()) {
    self->send(config.worker, UnitsScored{run_id, std::move(started), {}});
  }
  if (!news.returned.empty() || !news.spent.empty())
    self->send(config.worker, UnitsReturned{run_id, std::move(news.returned), std::move(news.spent)});
  for (const auto& problem : engine.problems) {
    const LogScope scope({.provider = problem.provider});
    spdlog::warn("{}", problem.message);
  }
  if (!news.entries.empty()) self->send(config.worker, EntryMessages{run_id, std::move(news.entries)});
  if (engine.demand) self->send(config.worker, std::move(*engine.demand));
  if (engine.unfit) self->send(config.worker, WorkerUnfit{run_id, std::move(*engine.unfit)});
  if (engine.wake) wake_at(self, at.now, *engine.wake);
  if (const auto closes = groups.wake()) wake_at(self, at.now, *closes);
  if (self->state.winds_down_at_once && groups.empty()) {
    self->state.winds_down_at_once = false;
    self->send(config.scorer, WoundDown{run_id});  // Behind what is completed: it is paid for.
  }
}

caf::behavior model_client_behavior(ModelClient* self, std::shared_ptr<ModelClientConfig> config) {
  self->state.config = std::move(config);
  self->state.flow.emplace(self->state.config->flow);
  end_on_exception(self);
  self->state.children.end_with(self);
  self->set_down_handler([self](const caf::down_msg& down) { self->quit(down.reason); });
  if (const auto& flow = self->state.config->flow; flow.settings.durable) {
    self->state.syncer = spawn_store_syncer(self->system(), flow.store);
    self->link_to(self->state.syncer);  // Each ends with the other.
    flow.store->outlive_power_loss();
  }
  return {
      [self](CompleteUnits& request) {
        self->state.flow->add(std::move(request.units));
        hand_on(self, moment(self));
      },
      [self](const WithdrawUnits& wanted) {
        const auto at = moment(self);
        self->state.flow->withdraw(wanted.units, at);
        hand_on(self, at);
      },
      [self](const WindDown& end) {
        self->state.flow->wind_down(end.finish_by);
        self->state.winds_down_at_once = end.at_once;
        hand_on(self, moment(self));
      },
      [self](const HttpCallsDone& ended) {
        const auto at = moment(self);
        const auto arrived = std::chrono::system_clock::now();
        for (const auto& done : ended.done) self->state.flow->on_done(done, at, arrived);
        hand_on(self, at);
      },
      [self](const BudgetChanged& budget) {
        const auto at = moment(self);
        self->state.flow->on_budget(budget, at);
        hand_on(self, at);
      },
      [self](const EntriesFound& found) {
        const auto at = moment(self);
        self->state.flow->on_entries(found.entries, at);
        hand_on(self, at);
      },
      [self](ReportDemand) {
        self->state.flow->want_demand();
        hand_on(self, moment(self));
      },
      [self](WakeCalls) {
        // An earlier timer has overtaken it.
        const auto at = moment(self);
        auto& due = self->state.next_wake;
        if (!due || *due > at.now) return;
        due.reset();
        hand_on(self, at);
      },
      [self](const StoreSynced& synced) {
        self->state.groups.on_synced(synced.result);
        hand_on(self, moment(self));
      },
      [self](CancelCalls) {
        for (const auto id : self->state.flow->cancel()) {
          self->send(self->state.config->http, HttpCancel{id});
          if (self->state.programs) self->send(self->state.programs, HttpCancel{id});
        }
        self->state.groups.clear();
      },
  };
}

}  // namespace

caf::actor spawn_model_client(caf::actor_system& system, ModelClientConfig config) {
  return system.spawn(model_client_behavior, std::make_shared<ModelClientConfig>(std::move(config)));
}

}  // namespace sluice
