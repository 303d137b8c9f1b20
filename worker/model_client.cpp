#include "worker/model_client.hpp"

#include "common/process/supervision.hpp"

#include <memory>
#include <utility>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>
#include <spdlog/spdlog.h>

namespace sluice {

namespace {

struct ModelClientState {
  ModelClientState() = default;
  static inline const char* name = "model_client";

  std::shared_ptr<ModelClientConfig> config;
  std::optional<ModelCalls> calls;
  std::optional<TimePoint> next_wake;  ///< When the one timer that counts will fire.
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

/// The end of every message's turn: one message to each neighbour for all that it came to.
void hand_on(ModelClient* self, const Moment& at) {
  auto& state = self->state;
  auto turn = state.calls->turn(at);
  if (!turn.calls.empty()) self->send(state.config->http, HttpCalls{std::move(turn.calls)});
  const auto& run_id = state.config->calls.settings.run_id;
  if (!turn.completed.empty()) {
    self->send(state.config->scorer,
               UnitsCompleted{run_id, std::move(turn.started), std::move(turn.completed)});
  } else if (!turn.started.empty()) {
    self->send(state.config->worker, UnitsScored{run_id, std::move(turn.started), {}});
  }
  if (!turn.returned.empty())
    self->send(state.config->worker, UnitsReturned{run_id, std::move(turn.returned)});
  for (const auto& problem : turn.problems) spdlog::warn("{}; it is paid for instead", problem);
  if (!turn.entries.empty()) self->send(state.config->worker, EntriesSaid{run_id, std::move(turn.entries)});
  if (turn.demand) self->send(state.config->worker, std::move(*turn.demand));
  if (turn.unfit) self->send(state.config->worker, WorkerUnfit{run_id, std::move(*turn.unfit)});
  if (turn.wake) wake_at(self, at.now, *turn.wake);
}

caf::behavior model_client_behavior(ModelClient* self, std::shared_ptr<ModelClientConfig> config) {
  self->state.config = std::move(config);
  self->state.calls.emplace(self->state.config->calls);
  end_on_exception(self);
  return {
      [self](CompleteUnits& request) {
        self->state.calls->add(std::move(request.units));
        hand_on(self, moment(self));
      },
      [self](const WithdrawUnits& wanted) {
        const auto at = moment(self);
        self->state.calls->withdraw(wanted.units, at);
        hand_on(self, at);
      },
      [self](WindDown) {
        self->state.calls->wind_down();
        hand_on(self, moment(self));
      },
      [self](const HttpCallsDone& ended) {
        const auto at = moment(self);
        for (const auto& done : ended.done) self->state.calls->done(done, at);
        hand_on(self, at);
      },
      [self](const BudgetChanged& budget) {
        const auto at = moment(self);
        self->state.calls->take(budget, at);
        hand_on(self, at);
      },
      [self](const EntriesFound& found) {
        const auto at = moment(self);
        self->state.calls->take(found, at);
        hand_on(self, at);
      },
      [self](TellDemand) {
        self->state.calls->want_demand();
        hand_on(self, moment(self));
      },
      [self](WakeCalls) {
        // A timer that was overtaken by an earlier one has nothing to say.
        const auto at = moment(self);
        auto& due = self->state.next_wake;
        if (!due || *due > at.now) return;
        due.reset();
        hand_on(self, at);
      },
      [self](CancelCalls) {
        for (const auto id : self->state.calls->cancel())
          self->send(self->state.config->http, HttpCancel{id});
      },
  };
}

}  // namespace

caf::actor spawn_model_client(caf::actor_system& system, ModelClientConfig config) {
  return system.spawn(model_client_behavior, std::make_shared<ModelClientConfig>(std::move(config)));
}

}  // namespace sluice
