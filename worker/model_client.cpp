#include "worker/model_client.hpp"

#include "common/defaults.hpp"
#include "worker/call_failure.hpp"
#include "worker/embedder.hpp"
#include "worker/http/http_messages.hpp"
#include "worker/messages.hpp"
#include "worker/providers/provider.hpp"
#include "worker/retry_policy.hpp"
#include "worker/scoring/claims_parser.hpp"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <variant>

#include <caf/event_based_actor.hpp>
#include <caf/stateful_actor.hpp>

namespace sluice {

namespace {

/// A unit on its way to an answer, or texts on their way to their embeddings.
struct Job {
  std::variant<SharedUnit, EmbeddingBatch> work;
  RetryPolicy retry;
  TimePoint started;
  TimePoint not_before;  ///< The back-off, or a named delay.
  Spend spend;
  std::optional<Completion> answer;  ///< Of a unit whose embeddings have not come yet.

  const SharedUnit& unit() const { return std::get<SharedUnit>(work); }
  const EmbeddingBatch* batch() const { return std::get_if<EmbeddingBatch>(&work); }
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
  std::optional<Embedder> embedder;
  bool connected = true;
  std::map<std::string, ProviderState> providers;
  std::unordered_map<std::uint64_t, Job> jobs;  ///< By call id.
  std::unordered_set<std::uint64_t> waiting;    ///< Jobs whose next call may not start yet, or that await
                                                ///< embeddings.
  std::optional<TimePoint> next_wake;           ///< When the one timer that counts will fire.
  std::uint64_t next_id = 1;

  // What the message under way has brought about; handed on when it is done with.
  std::vector<HttpCall> calls;
  std::vector<CompletedUnit> completed;
  std::vector<std::size_t> unstored;  ///< Those of `completed` whose answers are new.

  const std::string& provider_of(const Job& job) const {
    return job.batch() ? embedder->provider() : job.unit()->request.provider;
  }
  const ProviderSettings* provider(const std::string& name_of) const {
    const auto& all = config->settings.providers;
    const auto found = std::ranges::find(all, name_of, &ProviderSettings::name);
    return found == all.end() ? nullptr : &*found;
  }
};

using ModelClient = caf::stateful_actor<ModelClientState>;

void finish(ModelClient* self, std::uint64_t id, UnitOutcome outcome, EmbeddedTexts embedded = {}) {
  auto node = self->state.jobs.extract(id);
  self->state.waiting.erase(id);
  auto& job = node.mapped();
  job.spend.latency_ms = static_cast<std::uint32_t>(
      std::chrono::duration_cast<std::chrono::milliseconds>(self->clock().now() - job.started).count());
  self->state.completed.push_back({job.unit(), std::move(outcome), job.spend, std::move(embedded)});
}

/// An answer that waits for its embeddings is stored before: it was paid for.
Result<void> store_now(ModelClient* self, const Digest& key, const Completion& answer) {
  const KeyedAnswer keyed{key, &answer};
  return self->state.config->store->store(std::span(&keyed, 1));
}

/// Stores the new answers, in one go. Those of a broken cache are errors: what was not stored is not told.
void store_answers(ModelClient* self) {
  auto& state = self->state;
  if (state.unstored.empty()) return;
  std::vector<KeyedAnswer> answers;
  for (const auto index : state.unstored) {
    const auto& completed = state.completed[index];
    answers.push_back({completed.unit->key, &std::get<Completion>(completed.outcome)});
  }
  const auto stored = state.config->store->store(answers);
  for (const auto index : std::exchange(state.unstored, {})) {
    if (!stored) state.completed[index].outcome = stored.error();
  }
}

/// A stored answer, if the mode wants one; an Error ends the job. Nothing: call the provider.
std::optional<UnitOutcome> from_store(ModelClient* self, Job& job) {
  const auto& settings = self->state.config->settings;
  const auto& store = *self->state.config->store;
  const auto& unit = *job.unit();
  if (settings.mode == Mode::mock) {
    // Nothing is said: no claims, or no text.
    return Completion{unit.request.response_schema ? R"({"claims":[]})" : "", "stop", "mock", {}, 0, {}};
  }
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

/// Hands on what units have waited for.
void take_embeddings(ModelClient* self, std::vector<EmbeddingOutcome> outcomes) {
  for (auto& outcome : outcomes) {
    auto& job = self->state.jobs.at(outcome.waiter);
    add_costs(job.spend, outcome.spend);
    if (auto* error = std::get_if<Error>(&outcome.result)) {
      finish(self, outcome.waiter, std::move(*error));
    } else {
      auto answer = std::move(*job.answer);
      finish(self, outcome.waiter, std::move(answer), std::get<EmbeddedTexts>(std::move(outcome.result)));
    }
  }
}

/// The job's last call has failed.
void give_up(ModelClient* self, std::uint64_t id, Error error, bool out_of_time = false) {
  auto& state = self->state;
  if (!state.jobs.at(id).batch()) return finish(self, id, std::move(error));
  const auto node = state.jobs.extract(id);
  state.waiting.erase(id);
  const auto& job = node.mapped();
  take_embeddings(self, out_of_time ? state.embedder->expired(*job.batch(), error, job.spend)
                                    : state.embedder->failed(*job.batch(), error, job.spend));
}

/// Starts the job's next call, or lets it wait until it may.
void call(ModelClient* self, std::uint64_t id) {
  auto& state = self->state;
  auto& job = state.jobs.at(id);
  const auto& name = state.provider_of(job);
  const auto* provider = state.provider(name);
  if (!provider) return give_up(self, id, Error{Reason::internal_error, "unknown provider " + name});
  const auto key = state.config->keys.find(name);
  if (key == state.config->keys.end()) {
    // Said in READY already; work that comes all the same must not be called for.
    return give_up(self, id, Error{Reason::key_missing, "this worker has no key for provider " + name});
  }
  const auto now = self->clock().now();
  if (now >= job.retry.deadline()) {
    return give_up(self, id, Error{Reason::timed_out, "the time of the case was spent waiting"}, true);
  }
  const auto start = std::max(job.not_before, state.providers[name].paused_until);
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
  http_call.request = job.batch() ? state.embedder->request(*job.batch(), key->second)
                                  : build_request(*provider, key->second, job.unit()->request);
  http_call.connect_timeout = settings.connect_timeout;
  http_call.total_timeout = std::min(settings.request_timeout, left);
  http_call.max_body = defaults::max_answer_bytes;
  if (job.spend.calls++ > 0) ++job.spend.retries;
  state.calls.push_back(std::move(http_call));
}

RetryLimits limits_until(ModelClient* self, TimePoint deadline) {
  const auto& settings = self->state.config->settings;
  const auto left = std::chrono::floor<std::chrono::milliseconds>(deadline - self->clock().now());
  return {settings.max_retries, settings.backoff_initial, defaults::backoff_max, left};
}

/// Calls for the texts that wait no longer: at the end of a turn, so that what came together goes together.
void start_batches(ModelClient* self) {
  auto& state = self->state;
  while (auto batch = state.embedder->next()) {
    const auto now = self->clock().now();
    const RetryPolicy retry(limits_until(self, batch->deadline), now);
    const auto id = state.next_id++;
    state.jobs.try_emplace(id, Job{std::move(*batch), retry, now, now, {}, {}});
    call(self, id);
  }
}

/// The end of every message's turn: one message to each neighbour for all that it came to.
void hand_on(ModelClient* self) {
  auto& state = self->state;
  start_batches(self);
  if (!state.calls.empty()) self->send(state.config->http, HttpCalls{std::exchange(state.calls, {})});
  store_answers(self);
  if (state.completed.empty()) return;
  self->send(state.config->worker,
             UnitsCompleted{state.config->settings.run_id, std::exchange(state.completed, {})});
}

/// The unit waits for its embeddings, but no longer than its time lasts: the call under way may be that of
/// others, who have more. A call that is its own ends with that time too, and knows more: it goes first.
void await_embeddings(ModelClient* self, std::uint64_t id) {
  constexpr std::chrono::milliseconds precedence(100);
  auto& state = self->state;
  auto& job = state.jobs.at(id);
  const auto end = job.retry.deadline() + precedence;
  if (self->clock().now() < end) return wait_until(self, id, end);
  add_costs(job.spend, state.embedder->leave(id));
  finish(self, id,
         Error{Reason::timed_out,
               "the answer's embedding did not come: the time of the case was spent waiting"});
}

/// The unit has its answer, which is stored or will be: ends it, or lets it wait for embeddings.
void embed(ModelClient* self, std::uint64_t id, Completion answer) {
  auto& state = self->state;
  auto& job = state.jobs.at(id);
  if (answer.non_answer) return finish(self, id, std::move(answer));
  auto embedded = state.embedder->embed(id, *job.unit(), answer.text, job.retry.deadline());
  if (!embedded) {
    job.answer = std::move(answer);
    return await_embeddings(self, id);
  }
  if (auto* error = std::get_if<Error>(&*embedded)) return finish(self, id, std::move(*error));
  finish(self, id, std::move(answer), std::get<EmbeddedTexts>(std::move(*embedded)));
}

void wake(ModelClient* self) {
  self->state.next_wake.reset();
  const std::vector<std::uint64_t> ids(self->state.waiting.begin(), self->state.waiting.end());
  for (const auto id : ids) {
    // Another's end may have been its end, too.
    if (!self->state.waiting.contains(id)) continue;
    const bool is_answered = self->state.jobs.at(id).answer.has_value();
    is_answered ? await_embeddings(self, id) : call(self, id);
  }
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
    if (failed.retry_after) pause_provider(self, state.provider_of(job), *failed.retry_after);
  }
  const auto decision = job.retry.decide({failed.retryable, failed.counts_as_rate_limit, failed.retry_after},
                                         now, state.random);
  if (const auto* retry = std::get_if<RetryAfter>(&decision)) {
    job.not_before = now + retry->delay;
    return call(self, id);
  }
  Error error{failed.reason, failed.message};
  if (job.spend.calls > 1) error.message += "; " + std::to_string(job.spend.calls) + " calls were made";
  const bool out_of_time = std::get<GiveUp>(decision).out_of_time;
  if (out_of_time) error.message += "; the time of the case is spent";
  if (unreachable && !state.providers[state.provider_of(job)].answered) {
    error.reason = Reason::provider_unreachable;
    error.message += "; check --base-url and the network";
  }
  give_up(self, id, std::move(error), out_of_time);
}

void on_answer(ModelClient* self, std::uint64_t id, Completion completion) {
  auto& state = self->state;
  auto& job = state.jobs.at(id);
  job.spend.paid.input_tokens += completion.usage.input_tokens;
  job.spend.paid.output_tokens += completion.usage.output_tokens;
  // Checked before it is stored: an answer that cannot be read is no answer, and must not be cached as one.
  if (!completion.non_answer && job.unit()->request.response_schema) {
    const auto claims = parse_claims(completion.text);
    if (!claims) completion.non_answer = claims.error();
  }
  if (state.config->settings.write_cache) {
    const bool may_wait = !completion.non_answer && !texts_to_embed(completion.text, *job.unit()).empty();
    if (!may_wait) {
      state.unstored.push_back(state.completed.size());
    } else if (const auto stored = store_now(self, job.unit()->key, completion); !stored) {
      return finish(self, id, stored.error());
    }
  }
  embed(self, id, std::move(completion));
}

void on_response(ModelClient* self, std::uint64_t id, const HttpResponse& response) {
  auto& state = self->state;
  auto& job = state.jobs.at(id);
  const auto& name = state.provider_of(job);
  const auto now = std::chrono::system_clock::now();
  const auto& key = state.config->keys.at(name);
  if (job.batch()) {
    auto outcome =
        read_embedding_response(*state.provider(name), response, job.batch()->texts.size(), now, key);
    if (const auto* failed = std::get_if<Failed>(&outcome)) return on_failure(self, id, *failed, false);
    auto& embedded = std::get<Embedded>(outcome);
    job.spend.paid = embedded.usage;
    const auto node = state.jobs.extract(id);
    const auto& done = node.mapped();
    return take_embeddings(self, state.embedder->served(*done.batch(), std::move(embedded), done.spend));
  }
  auto outcome = read_response(*state.provider(name), response, now, key);
  if (const auto* failed = std::get_if<Failed>(&outcome)) return on_failure(self, id, *failed, false);
  on_answer(self, id, std::move(std::get<Answered>(outcome).completion));
}

void on_http_done(ModelClient* self, const HttpDone& done) {
  auto& state = self->state;
  const auto found = state.jobs.find(done.id);
  if (found == state.jobs.end()) return;  // Cancelled meanwhile.
  if (done.failure) return on_failure(self, done.id, failed_call(*done.failure), never_connected(done));
  state.providers[state.provider_of(found->second)].answered = true;
  on_response(self, done.id, done.response);
}

void complete(ModelClient* self, SharedUnit unit) {
  auto& state = self->state;
  const auto now = self->clock().now();
  const auto id = state.next_id++;
  const RetryPolicy retry(limits_until(self, now + state.config->settings.case_timeout), now);
  auto& job = state.jobs.try_emplace(id, Job{std::move(unit), retry, now, now, {}, {}}).first->second;
  auto outcome = from_store(self, job);
  if (!outcome) return call(self, id);
  if (auto* error = std::get_if<Error>(&*outcome)) return finish(self, id, std::move(*error));
  embed(self, id, std::get<Completion>(std::move(*outcome)));
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
    const bool in_flight = !state.waiting.contains(id) && !job.answer;
    if (in_flight) self->send(state.config->http, HttpCancel{id});
  }
  state.jobs.clear();
  state.waiting.clear();
  state.embedder.emplace(state.config->settings, state.config->store);
}

caf::behavior model_client_behavior(ModelClient* self, std::shared_ptr<ModelClientConfig> config) {
  self->state.config = std::move(config);
  self->state.random.seed(self->state.config->random_seed);
  self->state.embedder.emplace(self->state.config->settings, self->state.config->store);
  return {
      [self](CompleteUnits& request) {
        for (auto& unit : request.units) complete(self, std::move(unit));
        hand_on(self);
      },
      [self](const HttpCallsDone& ended) {
        for (const auto& done : ended.done) on_http_done(self, done);
        hand_on(self);
      },
      [self](const BudgetChanged& budget) {
        take_budget(self, budget);
        hand_on(self);
      },
      [self](WakeCalls) {
        // A timer that was overtaken by an earlier one has nothing to say.
        const auto& due = self->state.next_wake;
        if (!due || *due > self->clock().now()) return;
        wake(self);
        hand_on(self);
      },
      [self](CancelCalls) { cancel_all(self); },
  };
}

}  // namespace

caf::actor spawn_model_client(caf::actor_system& system, ModelClientConfig config) {
  return system.spawn(model_client_behavior, std::make_shared<ModelClientConfig>(std::move(config)));
}

}  // namespace sluice
