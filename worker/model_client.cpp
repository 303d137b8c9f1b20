#include "worker/model_client.hpp"

#include "common/defaults.hpp"
#include "worker/http/http_messages.hpp"
#include "worker/messages.hpp"
#include "worker/providers/provider.hpp"
#include "worker/retry_policy.hpp"
#include "worker/scoring/claims_parser.hpp"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

namespace sluice {

namespace {

/// A unit on its way to an answer.
struct Job {
  SharedUnit unit;
  caf::actor runner;
  RetryPolicy retry;
  TimePoint started;
  TimePoint not_before;  ///< The back-off, or a named delay.
  Spend spend;
};

/// What a provider has shown of itself in this run.
struct ProviderState {
  TimePoint paused_until;
  bool answered = false;  ///< Any HTTP response came: its address is right.
};

struct ModelClientState {
  ModelClientState() = default;
  static inline const char* name = "model_client";

  std::shared_ptr<ModelClientConfig> config;
  Random random;
  bool connected = true;
  std::map<std::string, ProviderState> providers;
  std::unordered_map<std::uint64_t, Job> jobs;  ///< By call id.
  std::unordered_set<std::uint64_t> waiting;    ///< Jobs whose next call may not start yet.
  std::optional<TimePoint> next_wake;           ///< When the one timer that counts will fire.
  std::uint64_t next_id = 1;

  const ProviderSettings* provider(const std::string& name_of) const {
    const auto& all = config->settings.providers;
    const auto found = std::ranges::find(all, name_of, &ProviderSettings::name);
    return found == all.end() ? nullptr : &*found;
  }
};

using ModelClient = caf::stateful_actor<ModelClientState>;

void finish(ModelClient* self, std::uint64_t id, std::variant<Completion, Error> outcome) {
  auto node = self->state.jobs.extract(id);
  self->state.waiting.erase(id);
  auto& job = node.mapped();
  job.spend.latency_ms = static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(self->clock().now() - job.started).count());
  self->send(job.runner, UnitCompleted{std::move(outcome), job.spend});
}

/// A stored answer, if the mode wants one; an Error ends the job. Nothing: call the provider.
std::optional<std::variant<Completion, Error>> from_store(ModelClient* self, Job& job) {
  const auto& settings = self->state.config->settings;
  const auto& store = *self->state.config->store;
  const auto& unit = *job.unit;
  if (settings.mode == Mode::mock) return Completion{R"({"claims":[]})", "stop", "mock", {}, 0, {}};
  const bool replay = settings.mode == Mode::cached;
  if (!replay && !settings.read_cache) return std::nullopt;
  auto found = replay ? store.find_replay(unit.key, unit.pinned_answer) : store.find_answer(unit.key);
  if (!found) return found.error();
  if (*found) {
    job.spend.cache_hit = true;
    return std::move(**found);
  }
  if (replay) return Error{Reason::cache_miss, "the cache does not hold this answer"};
  return std::nullopt;
}

void wait_until(ModelClient* self, std::uint64_t id, TimePoint when) {
  auto& state = self->state;
  state.waiting.insert(id);
  // One timer for all that wait, set again only for an earlier time: with one each, every timer that fires
  // would set new ones for all the others.
  if (state.next_wake && *state.next_wake <= when) return;
  state.next_wake = when;
  const auto delay = when - self->clock().now();
  // Rounded up: a timer that fires early would only be set again.
  self->delayed_send(self, std::chrono::ceil<std::chrono::milliseconds>(delay), WakeCalls{});
}

/// Starts the job's next call, or lets it wait until it may.
void call(ModelClient* self, std::uint64_t id) {
  auto& state = self->state;
  auto& job = state.jobs.at(id);
  const auto& request = job.unit->request;
  const auto* provider = state.provider(request.provider);
  if (!provider)
    return finish(self, id, Error{Reason::internal_error, "unknown provider " + request.provider});
  const auto key = state.config->keys.find(provider->name);
  if (key == state.config->keys.end()) {
    // Said in READY already; work that comes all the same must not be called for.
    return finish(self, id,
                  Error{Reason::key_missing, "this worker has no key for provider " + provider->name});
  }
  const auto now = self->clock().now();
  if (now >= job.retry.deadline()) {
    return finish(self, id, Error{Reason::timed_out, "the time of the case was spent waiting"});
  }
  const auto start = std::max(job.not_before, state.providers[request.provider].paused_until);
  if (!state.connected) {
    state.waiting.insert(id);  // Woken by BudgetChanged.
    return;
  }
  if (start > now) return wait_until(self, id, std::min(start, job.retry.deadline()));
  state.waiting.erase(id);
  const auto& settings = state.config->settings;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(job.retry.deadline() - now);
  HttpCall http_call;
  http_call.id = id;
  http_call.request = build_request(*provider, key->second, request);
  http_call.connect_timeout = settings.connect_timeout;
  http_call.total_timeout = std::min(settings.request_timeout, left);
  http_call.max_body = defaults::max_answer_bytes;
  ++job.spend.calls;
  job.spend.retries = job.spend.calls - 1;
  self->send(state.config->http, std::move(http_call));
}

void wake(ModelClient* self) {
  self->state.next_wake.reset();
  const std::vector<std::uint64_t> ids(self->state.waiting.begin(), self->state.waiting.end());
  for (const auto id : ids) call(self, id);
}

Failed failed_call(const HttpFailure& failure) {
  Failed failed;
  failed.message = failure.message;
  failed.retryable = true;
  switch (failure.kind) {
    case HttpFailure::Kind::timed_out:
      failed.reason = Reason::timed_out;
      break;
    case HttpFailure::Kind::too_large:
      failed.reason = Reason::answer_too_large;
      failed.retryable = false;
      break;
    default:
      failed.reason = Reason::connection_lost;
  }
  return failed;
}

bool never_connected(const HttpDone& done) {
  return done.failure && (done.failure->kind == HttpFailure::Kind::could_not_connect ||
                          done.failure->kind == HttpFailure::Kind::could_not_resolve ||
                          done.failure->kind == HttpFailure::Kind::other);
}

/// The provider asked for silence: for this worker at once, and through the governor for all.
void pause_provider(ModelClient* self, const std::string& provider, std::chrono::milliseconds pause) {
  auto& until = self->state.providers[provider].paused_until;
  until = std::max(until, self->clock().now() + pause);
  self->send(self->state.config->worker, PauseAsked{provider, pause});
}

void on_failure(ModelClient* self, std::uint64_t id, const Failed& failed, bool unreachable) {
  auto& state = self->state;
  auto& job = state.jobs.at(id);
  const auto now = self->clock().now();
  if (failed.counts_as_rate_limit) {
    ++job.spend.rate_limited;
    if (failed.retry_after) pause_provider(self, job.unit->request.provider, *failed.retry_after);
  }
  const auto decision = job.retry.decide({failed.retryable, failed.counts_as_rate_limit, failed.retry_after},
                                         now, state.random);
  if (const auto* retry = std::get_if<RetryAfter>(&decision)) {
    job.not_before = now + retry->delay;
    return call(self, id);
  }
  Error error{failed.reason, failed.message};
  if (job.spend.calls > 1) error.message += "; " + std::to_string(job.spend.calls) + " calls were made";
  if (std::get<GiveUp>(decision).out_of_time) error.message += "; the time of the case is spent";
  if (unreachable && !state.providers[job.unit->request.provider].answered) {
    error.reason = Reason::provider_unreachable;
    error.message += "; check --base-url and the network";
  }
  finish(self, id, std::move(error));
}

void on_answer(ModelClient* self, std::uint64_t id, Completion completion) {
  auto& state = self->state;
  auto& job = state.jobs.at(id);
  job.spend.paid.input_tokens += completion.usage.input_tokens;
  job.spend.paid.output_tokens += completion.usage.output_tokens;
  // Checked before it is stored: an answer that cannot be read is no answer, and must not be cached as one.
  if (!completion.non_answer && job.unit->request.response_schema) {
    const auto claims = parse_claims(completion.text);
    if (!claims) completion.non_answer = claims.error();
  }
  if (state.config->settings.write_cache) {
    if (const auto stored = state.config->store->store(job.unit->key, completion); !stored) {
      return finish(self, id, stored.error());
    }
  }
  finish(self, id, std::move(completion));
}

void on_http_done(ModelClient* self, const HttpDone& done) {
  auto& state = self->state;
  const auto found = state.jobs.find(done.id);
  if (found == state.jobs.end()) return;  // Cancelled meanwhile.
  const auto& name = found->second.unit->request.provider;
  if (done.failure) return on_failure(self, done.id, failed_call(*done.failure), never_connected(done));
  state.providers[name].answered = true;
  auto outcome = read_response(*state.provider(name), done.response, std::chrono::system_clock::now(),
                               state.config->keys.at(name));
  if (auto* answered = std::get_if<Answered>(&outcome)) {
    return on_answer(self, done.id, std::move(answered->completion));
  }
  on_failure(self, done.id, std::get<Failed>(outcome), false);
}

void complete(ModelClient* self, SharedUnit unit) {
  auto& state = self->state;
  const auto& settings = state.config->settings;
  const auto now = self->clock().now();
  const RetryLimits limits{settings.max_retries, settings.backoff_initial, defaults::backoff_max,
                           settings.case_timeout};
  const auto id = state.next_id++;
  auto runner = caf::actor_cast<caf::actor>(self->current_sender());
  auto& job = state.jobs.try_emplace(id, Job{std::move(unit), runner, RetryPolicy(limits, now), now, now, {}})
                  .first->second;
  if (auto outcome = from_store(self, job)) return finish(self, id, std::move(*outcome));
  call(self, id);
}

void take_budget(ModelClient* self, const BudgetChanged& budget) {
  auto& state = self->state;
  state.connected = budget.connected;
  const auto now = self->clock().now();
  for (const auto& grant : budget.grants) {
    auto& until = state.providers[grant.provider].paused_until;
    if (grant.pause_ms > 0) until = std::max(until, now + std::chrono::milliseconds(grant.pause_ms));
  }
  if (state.connected) wake(self);
}

void cancel_all(ModelClient* self) {
  auto& state = self->state;
  for (const auto& [id, job] : state.jobs) {
    if (!state.waiting.contains(id)) self->send(state.config->http, HttpCancel{id});
  }
  state.jobs.clear();
  state.waiting.clear();
}

caf::behavior model_client_behavior(ModelClient* self, std::shared_ptr<ModelClientConfig> config) {
  self->state.config = std::move(config);
  self->state.random.seed(self->state.config->random_seed);
  return {
      [self](CompleteUnit& request) { complete(self, std::move(request.unit)); },
      [self](const HttpDone& done) { on_http_done(self, done); },
      [self](const BudgetChanged& budget) { take_budget(self, budget); },
      [self](WakeCalls) {
        // A timer that was overtaken by an earlier one has nothing to say.
        const auto& due = self->state.next_wake;
        if (due && *due <= self->clock().now()) wake(self);
      },
      [self](CancelCalls) { cancel_all(self); },
  };
}

}  // namespace

caf::actor spawn_model_client(caf::actor_system& system, ModelClientConfig config) {
  return system.spawn(model_client_behavior, std::make_shared<ModelClientConfig>(std::move(config)));
}

}  // namespace sluice
