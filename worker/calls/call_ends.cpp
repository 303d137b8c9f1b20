#include "worker/call_failure.hpp"
#include "worker/calls/model_calls.hpp"
#include "worker/scoring/claims_parser.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

/// ModelCalls: what the end of a call means.
namespace sluice {

namespace {

/// Calls in a row that came too late for their permits, though the connection was warmed up after the first:
/// the way to the provider takes longer than a permit lasts.
constexpr std::uint32_t max_unsent = 8;
/// One case may be slow, and with one place nobody else had a chance.
constexpr std::uint32_t enough_silent_jobs = 2;

std::uint32_t in_ms(Duration time) {
  return static_cast<std::uint32_t>(std::chrono::duration_cast<std::chrono::milliseconds>(time).count());
}

}  // namespace

void ModelCalls::done(const HttpDone& done, const Moment& moment) {
  at_ = moment;
  const auto found = jobs_.find(done.id);
  if (found == jobs_.end() || found->second.state != Job::State::in_flight) return;  // Cancelled meanwhile.
  auto& job = found->second;
  auto& provider = *job.provider;
  provider.budget.ended();
  job.idle_since = at_.now;
  if (done.failure && done.failure->kind == HttpFailure::Kind::permit_expired)
    return on_unsent(done.id, done);
  job.unsent = 0;
  if (!done.failure) {
    provider.answered = true;
    return on_response(done.id, done);
  }
  const auto failed = failed_call(*done.failure);
  const bool unreachable = never_connected(done);
  if (unreachable && !done.started) settle_uncharged(job);
  if (failed.retryable) {
    provider.budget.failed();
  } else {
    provider.budget.was_declined(at_.now);
  }
  on_failure(done.id, failed, unreachable);
}

/// Too late for the permit: a new one is needed, and no attempt is spent.
void ModelCalls::on_unsent(Id id, const HttpDone& done) {
  auto& job = jobs_.at(id);
  if (!done.started) {
    settle_uncharged(job);
    if (--job.spend.calls > 0) --job.spend.retries;
  }
  const bool probe = job.permit && job.permit->probe;
  if (probe) job.provider->budget.failed();  // It has found out nothing good.
  if (probe || ++job.unsent <= max_unsent) return make_ready(id);
  auto message = done.failure->message + " " + std::to_string(job.unsent) + " times in a row";
  if (!done.started) {
    message += "; raise burst_seconds if the provider allows more, or use a worker that is nearer to it";
  }
  give_up(id, Error{Reason::connection_lost, std::move(message)});
}

void ModelCalls::on_response(Id id, const HttpDone& done) {
  auto& job = jobs_.at(id);
  auto& provider = *job.provider;
  const auto& response = done.response;
  const auto& model = job.batch() ? config_.settings.embedding.model : job.unit()->request.model;
  if (provider.limits.read(model, response.headers)) {
    provider.budget.announced(provider.limits.smallest(), provider.limits.doubted());
  }
  const auto now = std::chrono::system_clock::now();
  if (const auto* batch = job.batch()) {
    auto outcome =
        read_embedding_response(provider.settings, response, batch->texts.size(), now, *provider.key);
    if (const auto* failed = std::get_if<Failed>(&outcome)) {
      note_failure(job, *failed, response.status);
      return on_failure(id, *failed, false);
    }
    auto& embedded = std::get<Embedded>(outcome);
    provider.budget.answered(done.elapsed, at_.now);
    settle(job, embedded.usage);
    job.spend.paid.embedding_tokens = embedded.usage.input_tokens;
    auto ended = extract(id);
    return take_embeddings(embedder_->served(*ended.batch(), std::move(embedded), ended.spend));
  }
  auto outcome = read_response(provider.settings, response, now, *provider.key);
  if (const auto* failed = std::get_if<Failed>(&outcome)) {
    note_failure(job, *failed, response.status);
    return on_failure(id, *failed, false);
  }
  provider.budget.answered(done.elapsed, at_.now);
  on_answer(id, std::move(std::get<Answered>(outcome).completion));
}

/// What the governor has to know of it. A request that is wrong by itself says nothing of the provider, and
/// one that was refused is not charged; a gateway may say either in the body of a 200.
void ModelCalls::note_failure(Job& job, const Failed& failed, int status) {
  auto& budget = job.provider->budget;
  const bool refused = status >= 400 && status < 500;
  if (refused || failed.counts_as_rate_limit || failed.reason == Reason::request_refused)
    settle_uncharged(job);
  if (failed.counts_as_rate_limit) {
    failed.retry_after ? budget.pause(*failed.retry_after, at_.now) : budget.was_rate_limited();
  } else if (refused || (!failed.retryable && status < 500)) {
    budget.was_declined(at_.now);
  } else {
    budget.failed();
  }
}

/// What the call used of what was reserved for it; a server that does not say leaves the reservation as it
/// is.
void ModelCalls::settle(Job& job, const Usage& usage) {
  if (!job.permit || usage == Usage{}) return;
  job.provider->budget.settle(job.permit->id, {narrow(usage.input_tokens), narrow(usage.output_tokens)});
  job.permit.reset();
}

void ModelCalls::settle_uncharged(Job& job) {
  if (!job.permit) return;
  job.provider->budget.settle(job.permit->id, {});
}

/// Since the job was refused before, nothing was answered: that is not its own doing.
bool ModelCalls::all_are_refused(Job& job, const Failed& failed) const {
  if (!failed.counts_as_rate_limit) return false;
  const auto before = std::exchange(job.refused_at, at_.now);
  return before && job.provider->budget.last_answer() <= before && !is_own_fault(job);
}

void ModelCalls::on_failure(Id id, const Failed& failed, bool unreachable) {
  auto& job = jobs_.at(id);
  auto& provider = *job.provider;
  if (failed.counts_as_rate_limit) ++job.spend.rate_limited;
  const bool probed = job.permit && job.permit->probe;
  const bool names_delay = failed.counts_as_rate_limit && failed.retry_after;
  if (probed && !unreachable && !names_delay) ++job.failed_probes;
  extend_deadline(job);
  const bool in_outage = (probed || provider.budget.in_outage()) && !names_delay;
  const bool by_outage = in_outage && !is_own_fault(job);
  // It waits for the end, and has lost nothing.
  if (failed.retryable && (by_outage || (names_delay && provider.budget.in_long_pause(at_.now)))) {
    return make_ready(id);
  }
  const FailedCall call{failed.retryable, failed.counts_as_rate_limit, failed.retry_after,
                        failed.consumes_quota, all_are_refused(job, failed)};
  const auto decision = job.retry.decide(call, at_.now, random_);
  if (const auto* retry = std::get_if<RetryAfter>(&decision)) {
    // The provider pauses for the named delay of a rate limit; the job itself has nothing to wait for.
    if (names_delay) return make_ready(id);
    job.state = Job::State::backing_off;
    ++provider.backing_off;
    alarms_.set(id, at_.now + retry->delay);
    return;
  }
  end_failed(id, failed, std::get<GiveUp>(decision).out_of_time, unreachable);
}

/// No call is left for it.
void ModelCalls::end_failed(Id id, const Failed& failed, bool out_of_time, bool unreachable) {
  const auto& job = jobs_.at(id);
  auto& provider = *job.provider;
  Error error{failed.reason, failed.message};
  if (!failed.retryable && stops_run(failed.reason)) provider.fatal = error;
  if (job.spend.calls > 1) error.message += "; " + std::to_string(job.spend.calls) + " calls were made";
  if (out_of_time) error.message += "; the time of the case is spent";
  const bool silent = failed.reason == Reason::timed_out && !out_of_time && !job.cut_short;
  if (silent) ++provider.silent_jobs;
  const bool never_in_time = silent && provider.silent_jobs >= enough_silent_jobs;
  if ((unreachable || never_in_time) && !provider.answered) {
    error.reason = Reason::provider_unreachable;
    error.message += "; provider \"" + provider.settings.name + "\" has never answered: check its base URL " +
                     "(--base-url)" + (unreachable ? "" : ", --request-timeout") + " and the network";
  }
  give_up(id, std::move(error), out_of_time);
  if (provider.fatal) end_waiting(provider, *provider.fatal);
}

void ModelCalls::on_answer(Id id, Completion completion) {
  auto& job = jobs_.at(id);
  settle(job, completion.usage);
  job.spend.paid += completion.usage;
  // Read before it is stored: an answer that cannot be read is no answer, and must not be cached as one.
  if (!completion.non_answer && job.unit()->request.response_schema) {
    auto claims = parse_claims(completion.text);
    if (claims) {
      job.claims = std::move(*claims);
    } else {
      completion.non_answer = claims.error();
    }
  }
  if (config_.settings.write_cache) {
    const bool may_wait = !completion.non_answer && !texts_to_embed(completion.text, *job.unit()).empty();
    if (!may_wait) {
      unstored_.push_back(completed_.size());
    } else {
      // Stored before it waits for its embeddings: it was paid for.
      const KeyedAnswer keyed{job.unit()->key, &completion};
      const auto stored = config_.store->store(std::span(&keyed, 1));
      if (!stored) return finish(id, stored.error());
    }
  }
  embed(id, std::move(completion));
}

/// Stores the new answers, in one go. Those of a broken cache are errors: what was not stored is not told.
void ModelCalls::store_answers() {
  if (unstored_.empty()) return;
  std::vector<KeyedAnswer> answers;
  for (const auto index : unstored_) {
    const auto& completed = completed_[index];
    answers.push_back({completed.unit->key, &std::get<Completion>(completed.outcome)});
  }
  const auto stored = config_.store->store(answers);
  for (const auto index : std::exchange(unstored_, {})) {
    if (!stored) completed_[index].outcome = stored.error();
  }
}

// --- Embeddings ---

/// Outages of their provider are not counted in anybody's time.
void ModelCalls::extend_embedder() {
  if (!embedding_provider_) return;
  const auto out = embedding_provider_->budget.out(at_.now);
  const auto more = out - std::exchange(embedder_extended_, out);
  if (more > Duration::zero()) embedder_->extend(more);
}

/// The unit has its answer, which is stored or will be: ends it, or lets it wait for embeddings.
void ModelCalls::embed(Id id, Completion answer) {
  auto& job = jobs_.at(id);
  if (answer.non_answer) return finish(id, std::move(answer));
  extend_deadline(job);
  extend_embedder();
  auto embedded = embedder_->embed(id, *job.unit(), answer.text, job.retry.deadline());
  if (!embedded) {
    job.answer = std::move(answer);
    job.state = Job::State::awaits_embeddings;
    job.provider = embedding_provider_;
    job.outage_mark = job.provider->budget.out(at_.now);
    return await_embeddings(id);
  }
  if (auto* error = std::get_if<Error>(&*embedded)) return finish(id, std::move(*error));
  finish(id, std::move(answer), std::get<EmbeddedTexts>(std::move(*embedded)));
}

/// The unit waits for its embeddings, but no longer than its time lasts: the call under way may be that of
/// others, who have more. A call that is its own ends with that time too, and knows more: it goes first.
void ModelCalls::await_embeddings(Id id) {
  constexpr std::chrono::milliseconds precedence(100);
  auto& job = jobs_.at(id);
  extend_deadline(job);
  const auto end = job.retry.deadline() + precedence;
  if (at_.now < end) return alarms_.set(id, end);
  add_costs(job.spend, embedder_->leave(id));
  finish(id, Error{Reason::timed_out,
                   "the answer's embedding did not come: the time of the case was spent waiting"});
}

/// Hands on what units have waited for.
void ModelCalls::take_embeddings(std::vector<EmbeddingOutcome> outcomes) {
  for (auto& outcome : outcomes) {
    auto& job = jobs_.at(outcome.waiter);
    add_costs(job.spend, outcome.spend);
    if (auto* error = std::get_if<Error>(&outcome.result)) {
      finish(outcome.waiter, std::move(*error));
    } else {
      auto answer = std::move(*job.answer);
      finish(outcome.waiter, std::move(answer), std::get<EmbeddedTexts>(std::move(outcome.result)));
    }
  }
}

// --- Ends ---

/// The job's last call has failed, or it will make none.
void ModelCalls::give_up(Id id, Error error, bool out_of_time) {
  if (!jobs_.at(id).batch()) return finish(id, std::move(error));
  auto job = extract(id);
  auto& batch = *job.batch();
  batch.deadline += job.extended;
  take_embeddings(out_of_time ? embedder_->expired(batch, error, job.spend)
                              : embedder_->failed(batch, error, job.spend));
}

/// Takes the job out of everything, with its waits in its spend.
Job ModelCalls::extract(Id id) {
  auto node = jobs_.extract(id);
  auto& job = node.mapped();
  alarms_.clear(id);
  if (job.provider) {
    if (job.provider->ready.erase(id) > 0) end_wait(job);
  }
  if (job.state == Job::State::seeks_answer) sought_answers_.erase(job.unit()->key);
  if (job.state == Job::State::backing_off) end_back_off(job);
  job.spend.waited_permit_ms += in_ms(job.waited_permit);
  job.spend.waited_pause_ms += in_ms(job.waited_pause);
  job.spend.waited_retry_ms += in_ms(job.waited_retry);
  ++ended_jobs_;
  return std::move(job);
}

void ModelCalls::finish(Id id, UnitOutcome outcome, EmbeddedTexts embedded) {
  auto job = extract(id);
  --active_units_;
  job.spend.latency_ms = in_ms(at_.now - job.started);
  completed_.push_back(
      {job.unit(), std::move(outcome), job.spend, std::move(embedded), std::move(job.claims)});
}

}  // namespace sluice
