#include "worker/calls/failed_tries.hpp"

#include "worker/call_failure.hpp"
#include "worker/defaults.hpp"

#include <optional>
#include <string>
#include <utility>

namespace sluice {

namespace {

/// `; 3 calls were made`
std::string calls_made(const Call& call) {
  return call.spend.calls > 1 ? "; " + std::to_string(call.spend.calls) + " calls were made" : "";
}

/// The key was taken, and the model was there and took the parameter, as this call has it: only where many
/// calls in a row are refused is that no more so. Which parameters are the test's own the coordinator knows.
bool take_as_its_own(Call& call, const Failed& failed) {
  if (!failed.may_be_its_own) return false;
  const auto& model = call.request->model();
  const auto refused = call.provider->refused_since_answer.find(model);
  if (refused == call.provider->refused_since_answer.end()) return false;
  const bool is_parameter = failed.reason == Reason::parameter_refused;
  if (is_parameter) {
    const auto taken = call.provider->taken.find(model);
    if (taken == call.provider->taken.end() ||
        !taken->second.contains(call.request->carried(failed.parameter)))
      return false;
  }
  return ++refused->second <= defaults::refused_alone;
}

/// No try is left.
NextStep last_failure(Call& call, const Failed& failed, bool out_of_time, bool unreachable) {
  auto& provider = *call.provider;
  Error error{failed.reason, failed.message};
  if (take_as_its_own(call, failed)) {
    error.reason = Reason::request_refused;
    error.message += failed.parameter.empty()
                         ? "; other calls of this model are answered"
                         : "; the model takes it of other calls: it does not go with what this test asks";
    return {NextStep::Kind::end, {}, std::move(error), out_of_time};
  }
  // The provider's sentence goes on.
  if (!failed.advice.empty() && error.message.ends_with('.')) error.message.pop_back();
  error.message += failed.advice;
  // A refused parameter may be the test's own, which the coordinator knows (check_result).
  const bool may_be_its_own = failed.reason == Reason::parameter_refused;
  if (!failed.retryable && stops_run(failed.reason) && !may_be_its_own) provider.fatal = error;
  error.message += calls_made(call);
  if (out_of_time) error.message += "; the time of the case is spent";
  const bool silent = failed.reason == Reason::timed_out && call.silent_tries > 0;
  if (silent) ++provider.silent_calls;
  const bool never_in_time = silent && provider.silent_calls >= defaults::enough_silent_calls;
  // One input may be too much for a program, and others take long; of several none is left.
  const bool is_crash =
      failed.reason == Reason::provider_failed && provider.settings.kind == ProviderKind::exec;
  if (is_crash) ++provider.crashed_calls;
  const bool never_runs = is_crash && provider.crashed_calls >= defaults::enough_crashed_calls;
  if ((unreachable || never_in_time || never_runs) && !provider.answered) {
    error.reason = Reason::provider_unreachable;
    const std::string more_time = never_in_time ? ", --request-timeout" : "";
    error.message += "; provider \"" + provider.settings.name + "\" has never answered: check " +
                     (provider.settings.kind == ProviderKind::exec
                          ? "\"command\" in [providers." + provider.settings.name + "]" + more_time
                          : "its base URL (--base-url)" + more_time + " and the network");
  }
  return {NextStep::Kind::end, {}, std::move(error), out_of_time};
}

/// A site that answers every path with its page is no provider in an outage: its address is wrong. A gateway
/// may have a page for the time in which it starts.
std::optional<Error> not_an_api(const CalledProvider& provider, const Failed& failed, TimePoint now) {
  if (!failed.is_web_page || provider.failure_words.ever_answered()) return std::nullopt;
  const bool go_on = now - provider.web_pages_since >= defaults::web_pages_patience;
  if (provider.web_pages < defaults::enough_web_pages || !go_on) return std::nullopt;
  return Error{Reason::provider_unreachable,
               failed.message + "; provider \"" + provider.settings.name +
                   "\" has answered with web pages alone: check its base URL (--base-url)"};
}

/// Since the call was refused before, nothing was answered: that is not its own doing.
bool all_are_refused(Call& call, const Failed& failed, TimePoint now) {
  if (!failed.counts_as_rate_limit) return false;
  const auto before = std::exchange(call.refused_at, now);
  return before && call.provider->budget.last_answer() <= before && !call.outages.is_own_fault();
}

/// It may be an outage, or this case alone: then it fails while others are answered.
void note_outage_like(Call& call, TimePoint now) {
  auto& budget = call.provider->budget;
  // Within an outage nothing shows what fails alone.
  if (budget.in_outage() || call.probes() || call.provider->failing.failed(&call, call.began, now))
    budget.failed();
}

/// A program has an outage when it says so, by a status. Otherwise, once it has answered others, it fails for
/// what it was given.
bool fails_for_its_input(const Call& call) {
  const auto& provider = *call.provider;
  return provider.settings.kind == ProviderKind::exec && provider.budget.last_answer() &&
         !provider.budget.in_outage() && !call.probes();
}

/// The try was not made.
void take_back(Call& call) {
  settle_uncharged(call);
  if (--call.spend.calls > 0) --call.spend.retries;
}

/// To others, until its next try.
void leave_place(Call& call, TimePoint now) {
  static_cast<void>(call.provider->failing.failed(&call, call.began, now));
}

/// The provider is well.
void note_declined(Call& call, TimePoint now) {
  call.provider->budget.was_declined(now);
  call.provider->failing.answered(call.began, now);
}

}  // namespace

std::optional<Error> obstacle(const CalledProvider& provider) {
  const auto& name = provider.settings.name;
  if (provider.fatal) return provider.fatal;
  if (provider.budget.given_up()) {
    const auto& words = provider.failure_words.newest();
    return Error{Reason::provider_failed,
                 "provider \"" + name +
                     "\" has been down, or refused every call, for longer than outage_timeout_seconds" +
                     (words.empty() ? "" : " (" + words + ")") +
                     "; run again when it is back: what was answered is in the cache"};
  }
  // READY named it already; work that comes all the same must not be called for.
  if (!provider.credentials) return Error{Reason::key_missing, "this worker has no key for provider " + name};
  return std::nullopt;
}

void settle(Call& call, const Usage& usage) {
  if (!call.permit || usage == Usage{}) return;
  call.provider->budget.settle(call.permit->id, call_size(usage.input_tokens, usage.output_tokens));
}

void settle_uncharged(Call& call) {
  if (call.permit) call.provider->budget.settle(call.permit->id, {});
}

void note_taken(const Call& call) {
  auto& provider = *call.provider;
  const auto& model = call.request->model();
  provider.refused_since_answer.insert_or_assign(model, 0);
  auto& taken = provider.taken[model];
  for (const char* parameter : {"temperature", "seed", "max_tokens"}) {
    auto carried = call.request->carried(parameter);
    if (!carried.empty()) taken.insert(std::move(carried));  // Of most answers it is there.
  }
}

void note_failure(Call& call, const Failed& failed, int status, TimePoint now) {
  auto& budget = call.provider->budget;
  auto& pages = call.provider->web_pages;
  pages = failed.is_web_page ? pages + 1 : 0;
  if (pages == 1) call.provider->web_pages_since = now;
  const bool refused = status >= 400 && status < 500;
  if (failed.usage != Usage{}) {
    settle(call, failed.usage);
  } else if (refused || failed.counts_as_rate_limit || failed.reason == Reason::request_refused) {
    settle_uncharged(call);
  }
  if (failed.counts_as_rate_limit) {
    failed.retry_after ? budget.pause(*failed.retry_after, now) : budget.was_rate_limited();
  } else if (refused || (!failed.retryable && status < 500)) {
    note_declined(call, now);
  } else if (failed.is_server_error || !fails_for_its_input(call)) {
    note_outage_like(call, now);
  } else {
    leave_place(call, now);
  }
}

void redact(Failed& failed, Call& call, const HttpResponse& response,
            std::chrono::system_clock::time_point arrived, const Redactor& redactor) {
  if (auto clean = redactor.redacted(response.body)) {
    HttpResponse shown = response;
    shown.body = std::move(*clean);
    auto& provider = *call.provider;
    auto again = call.request->read(provider.settings, shown, arrived, *provider.credentials);
    if (auto* words = std::get_if<Failed>(&again)) failed.message = std::move(words->message);
  }
  redactor.apply(failed.message);
  redactor.apply(failed.advice);
}

Failed read_lost(const Call& call, const HttpFailure& failure, const Redactor& redactor) {
  using Kind = HttpFailure::Kind;
  const auto& provider = *call.provider;
  const KeyMask keys = provider.credentials ? provider.credentials->mask(KeyMask::Keys::all) : KeyMask();
  Failed failed = failed_call(failure, keys, redactor);
  // A wrong URL: no other try finds another server there.
  if (failure.kind == Kind::no_tls) failed.retryable = provider.answered;
  if (failure.kind == Kind::unasked_encoding && !provider.answered)
    failed.reason = Reason::provider_unreachable;
  return failed;
}

void note_lost(Call& call, const HttpDone& done, const Failed& failed, TimePoint now) {
  if (!done.started && failed.reason == Reason::provider_changed) return take_back(call);
  call.provider->lost_last = true;
  if (failed.reason == Reason::timed_out) call.provider->budget.timed_out();
  if (never_connected(done) && !done.started) settle_uncharged(call);
  if (!failed.retryable) return note_declined(call, now);
  never_connected(done) || !fails_for_its_input(call) ? note_outage_like(call, now) : leave_place(call, now);
}

Error spent_waiting(const Call& call) {
  const std::string spent = "the time of the case was spent waiting";
  if (!call.failure) return {Reason::timed_out, spent};
  // One that is only ever told to wait comes to no other end.
  const bool is_refused = call.failure->reason == Reason::rate_limited;
  return {is_refused ? Reason::rate_limited : Reason::timed_out,
          call.failure->message + calls_made(call) + "; " + spent};
}

bool forgive_stale(Call& call, const HttpDone& done) {
  const bool is_stale = done.failure && done.failure->kind == HttpFailure::Kind::went_stale;
  if (!is_stale || call.probes() || call.was_forgiven) {
    call.was_forgiven = false;
    return false;
  }
  call.was_forgiven = true;
  call.wants_fresh = true;
  return true;
}

NextStep after_unsent(Call& call, const HttpDone& done, TimePoint now) {
  if (!done.started) take_back(call);
  if (call.probes()) {
    call.provider->budget.failed();    // It has found out nothing good.
    call.provider->lost_last = false;  // The connection that it waited for is there for the next one.
    return {};
  }
  // While others are answered it is a busy machine, and chance which of its calls come in time.
  if (call.unsent > 0 && call.provider->budget.last_answer() > call.unsent_since) call.unsent = 0;
  if (++call.unsent == 1) call.unsent_since = now;
  if (call.unsent <= defaults::max_unsent) return {};
  auto message = done.failure->message + " " + std::to_string(call.unsent) + " times in a row";
  if (!done.started) {
    message += "; raise burst_seconds if the provider allows more, or use a worker that is nearer to it";
  }
  return {NextStep::Kind::end, {}, Error{Reason::connection_lost, std::move(message)}};
}

NextStep after_failure(Call& call, const Failed& failed, bool unreachable, TimePoint now, Random& random) {
  if (failed.counts_as_rate_limit) ++call.spend.rate_limited;
  call.failure = Error{failed.reason, failed.message};
  if (failed.reason == Reason::timed_out && !call.cut_short) ++call.silent_tries;
  const bool beside_others = failed.counts_as_rate_limit && call.provider->budget.has_in_flight();
  if (failed.retryable) call.provider->failure_words.failed(failed.message, !beside_others);
  if (auto error = not_an_api(*call.provider, failed, now)) {
    call.provider->fatal = error;
    return {NextStep::Kind::end, {}, std::move(*error)};
  }
  const auto& budget = call.provider->budget;
  const bool probed = call.probes();
  const bool names_delay = failed.counts_as_rate_limit && failed.retry_after;
  if (probed && !unreachable && !names_delay) call.outages.probe_failed();
  call.deadline(now);
  const bool in_outage = (probed || budget.in_outage()) && !names_delay;
  const bool by_outage = in_outage && !call.outages.is_own_fault();
  // It waits for the end, and has lost nothing.
  if (failed.retryable && (by_outage || (names_delay && budget.in_long_pause(now)))) return {};
  const FailedCall try_of{failed.retryable, failed.counts_as_rate_limit, failed.retry_after,
                          failed.consumes_quota, all_are_refused(call, failed, now)};
  const auto decision = call.retry.decide(try_of, now, random);
  if (const auto* retry = std::get_if<RetryAfter>(&decision)) {
    // The provider pauses for the named delay of a rate limit; the call itself has nothing to wait for.
    if (names_delay) return {};
    return {NextStep::Kind::back_off, retry->delay};
  }
  return last_failure(call, failed, std::get<GiveUp>(decision).out_of_time, unreachable);
}

}  // namespace sluice
