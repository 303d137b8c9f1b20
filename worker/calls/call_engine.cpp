#include "worker/calls/call_engine.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "worker/call_failure.hpp"
#include "worker/calls/waiting_calls.hpp"
#include "worker/defaults.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

/// What the call log holds of a call, beside its time.
std::string log_members(const Call& call, const std::optional<TakenPermit>& permit) {
  std::string members = R"("provider":)";
  append_json_string(members, call.provider->settings.name);
  members += ',' + call.request->log_member();
  members += R"(,"attempt":)" + std::to_string(call.spend.calls);
  members += R"(,"permit":)" + (permit ? std::to_string(permit->permit.id) : "null");
  return members;
}

CallEnded failed_with(Error error, bool out_of_time = false) {
  CallEnded ended;
  ended.error = std::move(error);
  ended.out_of_time = out_of_time;
  return ended;
}

}  // namespace

CallEngine::CallEngine(const RunSettings& settings, CallEngineConfig config)
    : settings_(settings),
      log_calls_(config.log_calls),
      random_(config.random_seed),
      redactor_(std::move(config.redactor)),
      entries_(settings, config.has_cache),
      has_cache_(config.has_cache),
      link_(settings.heartbeat_interval),
      demand_(config.concurrency) {
  for (const auto& of_run : settings_.providers) {
    auto& provider = providers_.try_emplace(of_run.name, of_run, settings_.case_timeout).first->second;
    const auto found = config.credentials.find(of_run.name);
    if (found != config.credentials.end()) provider.credentials = std::move(found->second);
  }
}

CalledProvider* CallEngine::provider(const std::string& name) {
  const auto found = providers_.find(name);
  return found == providers_.end() ? nullptr : &found->second;
}

Duration CallEngine::outages(const std::string& provider, TimePoint now) const {
  const auto found = providers_.find(provider);
  return found == providers_.end() ? Duration{} : found->second.budget.out(now);
}

std::uint32_t CallEngine::searched_places() const {
  std::uint32_t most = 0;
  for (const auto& [name, provider] : providers_) most = std::max(most, provider.budget.searched_places());
  return most;
}

std::size_t CallEngine::calls_that_leave_places() const {
  std::size_t calls = 0;
  for (const auto& [name, provider] : providers_) calls += provider.failing.leave_places();
  return calls;
}

bool CallEngine::all_probes_failed() const {
  return sluice::all_probes_failed(providers_, calls_);
}

std::vector<CallEnded> CallEngine::take_ended() {
  return std::exchange(ended_, {});
}

// --- From the request to the call ---

CallId CallEngine::submit(CallRequest& request, const CallContext& context, TimePoint deadline,
                          const Moment& moment, const std::optional<EntryKey>& held) {
  at_ = moment;
  const auto id = next_id_++;
  auto* called = provider(request.provider());
  if (!called) {
    auto ended = failed_with({Reason::internal_error, "unknown provider " + request.provider()});
    ended.context = context;
    ended_.push_back(std::move(ended));
    return id;
  }
  const auto left = std::chrono::floor<std::chrono::milliseconds>(deadline - at_.now);
  const RetryPolicy retry({settings_.max_retries, settings_.backoff_initial, defaults::backoff_max, left},
                          at_.now);
  const OutageClock outages(called->budget.out(at_.now),
                            defaults::failed_probes_per_try * (settings_.max_retries + 1));
  auto& call = calls_.try_emplace(id, request, context, *called, retry, outages, at_.now).first->second;
  if (held && entries_.seeks(held->kind)) {
    call.state = Call::State::seeks_entry;
    entries_.seek(*held, {owner, id});
    alarms_.set(id, retry.deadline());
  } else {
    make_ready(id);
  }
  return id;
}

void CallEngine::make_ready(CallId id) {
  auto& call = calls_.at(id);
  auto& budget = call.provider->budget;
  if (auto error = obstacle(*call.provider)) return end(id, failed_with(std::move(*error)));
  if (call.state == Call::State::backing_off) end_back_off(call, at_.now);
  begin_ready(id, call, at_.now);
  newly_ready_.push_back(id);
  if (!budget.needs_sizes()) return;
  if (auto error = budget.ceiling_problem(call.known_size())) end(id, failed_with(std::move(*error)));
}

void CallEngine::start(const Moment& moment) {
  at_ = moment;
  if (!link_.is_fresh(at_.boot)) return;
  for (auto& [name, provider] : providers_) start_ready(provider);
}

void CallEngine::start_ready(CalledProvider& provider) {
  if (!provider.budget.may_start(at_)) return;
  if (provider.budget.in_outage()) {
    for (const auto id : probe_order(provider, calls_)) try_start(id);
    return;
  }
  for (auto next = provider.ready.begin(); next != provider.ready.end() && provider.budget.may_start(at_);) {
    const auto id = *next;
    ++next;  // Before the call leaves the set.
    try_start(id);
  }
}

void CallEngine::try_start(CallId id) {
  auto& call = calls_.at(id);
  auto& budget = call.provider->budget;
  if (at_.now >= call.deadline(at_.now)) return;  // Its alarm is due.
  const auto size = budget.needs_sizes() ? call.known_size() : wire::CallSize{};
  const auto start = budget.start(size, link_.clock(), at_);
  if (!start) return;
  end_ready(id, call, at_.now);
  alarms_.clear(id);
  call.state = Call::State::in_flight;
  call.began = call.provider->failing.begin();
  call.began_at = at_.now;
  call.permit.reset();
  if (start->permit) call.permit = start->permit->permit;
  if (call.spend.calls++ > 0) ++call.spend.retries;
  to_make_.push_back(http_call(id, call, start->permit));
}

HttpCall CallEngine::http_call(CallId id, Call& call, const std::optional<TakenPermit>& permit) const {
  const auto& provider = *call.provider;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(call.retry.deadline() - at_.now);
  HttpCall http;
  http.id = id;
  http.request = call.request->build(provider.settings, *provider.credentials);
  http.connect_timeout = settings_.connect_timeout;
  call.cut_short = left < settings_.request_timeout;
  http.total_timeout = call.cut_short ? left : settings_.request_timeout;
  http.case_time_left = left;
  http.max_body = defaults::max_answer_bytes;
  // A probe is to find out whether the provider is back, not whether a connection outlived the outage.
  http.fresh_connection = std::exchange(call.wants_fresh, false) || (call.probes() && provider.lost_last);
  if (permit) http.window = StartWindow{permit->own_window.from, permit->own_window.to};
  if (log_calls_) http.log_members = log_members(call, permit);
  return http;
}

// --- What happens ---

void CallEngine::on_budget(const BudgetChanged& budget, const Moment& moment) {
  at_ = moment;
  if (link_.on_budget(budget)) demand_.want();
  if (!link_.connected()) {
    for (auto& [name, provider] : providers_) provider.budget.suspend();
  }
  if (budget.begins_anew) {
    for (auto& [name, provider] : providers_) provider.budget.forget_permits();
    for (auto& [id, call] : calls_) call.permit.reset();
    entries_.ask_again();
  }
  for (const auto& grant : budget.grants.grants) {
    auto* granted = provider(grant.provider);
    if (!granted) continue;
    const bool was_out = granted->budget.in_outage();
    granted->budget.take(grant, at_.now);
    if (!was_out && granted->budget.in_outage()) granted->failing.outage_began();
    for (const auto& permit : grant.permits)
      granted->late_permits.on_permit(permit, link_.clock(), budget.received_at);
    if (const auto error = obstacle(*granted)) {
      end_waiting(*granted, *error);
    } else {
      if (was_out && !granted->budget.in_outage()) end_back_offs(*granted);
      end_oversized(*granted);
    }
  }
}

/// The outage is over, and what they waited for with it.
void CallEngine::end_back_offs(CalledProvider& provider) {
  for (const auto id : waiting_calls(provider, calls_)) {
    const auto& call = calls_.at(id);
    if (call.state == Call::State::backing_off && !call.fails_alone()) make_ready(id);
  }
}

void CallEngine::end_oversized(CalledProvider& provider) {
  if (!provider.budget.needs_sizes()) return;
  const std::vector<CallId> ids(provider.ready.begin(), provider.ready.end());
  for (const auto id : ids) {
    auto error = provider.budget.ceiling_problem(calls_.at(id).known_size());
    if (error) end(id, failed_with(std::move(*error)));
  }
}

void CallEngine::end_waiting(CalledProvider& provider, const Error& error) {
  for (const auto id : waiting_calls(provider, calls_)) end(id, failed_with(error));
}

std::vector<CallContext> CallEngine::on_entry(const wire::LentEntry& entry, const Moment& moment) {
  at_ = moment;
  auto seekers = entries_.on_found(entry.key, !entry.bytes.empty());
  const auto own = std::ranges::find(seekers, owner, &CallContext::owner);
  if (own == seekers.end()) return seekers;
  on_sought(own->id, entry);
  seekers.erase(own);
  return seekers;
}

/// What came of the entry that the call was submitted with.
void CallEngine::on_sought(CallId id, const wire::LentEntry& entry) {
  const auto found = calls_.find(id);
  if (found == calls_.end() || found->second.state != Call::State::seeks_entry)
    return entries_.given_up(entry.key);
  if (!entry.bytes.empty()) {
    const auto taken = found->second.request->take_entry(entry.bytes);
    if (taken) {
      CallEnded ended;
      ended.lent = true;
      return end(id, std::move(ended));
    }
    report_unusable_entry(taken.error());
  }
  make_ready(id);
}

void CallEngine::on_done(const HttpDone& done, const Moment& moment,
                         std::chrono::system_clock::time_point arrived) {
  at_ = moment;
  const auto found = calls_.find(done.id);
  if (found == calls_.end() || found->second.state != Call::State::in_flight) return;  // Cancelled meanwhile.
  auto& call = found->second;
  call.provider->budget.ended();
  call.waits.begin(at_.now);
  if (done.failure && done.failure->kind == HttpFailure::Kind::permit_expired)
    return follow(done.id, after_unsent(call, done, at_.now));
  call.unsent = 0;
  if (forgive_stale(call, done)) return make_ready(done.id);
  if (done.failure) {
    const auto failed = read_lost(call, *done.failure, redactor_);
    note_lost(call, done, failed, at_.now);
    return follow(done.id, after_failure(call, failed, never_connected(done), at_.now, random_));
  }
  call.provider->answered = true;
  call.provider->lost_last = false;
  call.provider->variation.note(done.variation, at_.now);
  if (const auto failed = read(call, done, arrived))
    follow(done.id, after_failure(call, *failed, false, at_.now, random_));
}

/// Ends the call if its response is an answer; else returns what it is.
std::optional<Failed> CallEngine::read(Call& call, const HttpDone& done,
                                       std::chrono::system_clock::time_point arrived) {
  auto& provider = *call.provider;
  const auto& response = done.response;
  bool is_news = provider.limits.read(call.request->model(), response.headers);
  auto outcome = call.request->read(provider.settings, response, arrived, *provider.credentials);
  auto* const failed = std::get_if<Failed>(&outcome);
  if (failed != nullptr && failed->limit)
    is_news = provider.limits.take(call.request->model(), *failed->limit) || is_news;
  if (is_news) provider.budget.announced(provider.limits.smallest(), provider.limits.doubted());
  if (failed != nullptr) {
    call.spend.paid.of(call.request->kind()) += failed->usage;
    note_failure(call, *failed, response.status, at_.now);
    redact(*failed, call, response, arrived, redactor_);
    return std::move(*failed);
  }
  provider.budget.answered(done.elapsed, at_.now);
  provider.failing.answered(call.began, at_.now);
  provider.failure_words.answered();
  note_taken(call);
  CallEnded ended;
  const auto& used = std::get<CallUsage>(outcome);
  ended.usage = used.usage;
  ended.latency_ms = latency_ms(done.elapsed);
  ended.took_nothing = used.took_nothing;
  ended.took_nothing ? settle_uncharged(call) : settle(call, ended.usage);
  end(done.id, std::move(ended));
  return std::nullopt;
}

void CallEngine::follow(CallId id, NextStep next) {
  auto& call = calls_.at(id);
  auto& provider = *call.provider;
  switch (next.kind) {
    case NextStep::Kind::ready:
      return make_ready(id);
    case NextStep::Kind::back_off:
      begin_back_off(call);
      return alarms_.set(id, at_.now + next.delay);
    case NextStep::Kind::end:
      end(id, failed_with(std::move(next.error), next.out_of_time));
      if (provider.fatal) end_waiting(provider, *provider.fatal);
  }
}

void CallEngine::on_time(const Moment& moment) {
  at_ = moment;
  while (const auto id = alarms_.take_due(at_.now)) {
    auto& call = calls_.at(*id);
    if (call.state == Call::State::backing_off) {
      make_ready(*id);
    } else if (call.state != Call::State::in_flight) {
      const auto deadline = call.deadline(at_.now);
      if (deadline > at_.now) {
        alarms_.set(*id, deadline);
      } else {
        end(*id, failed_with(spent_waiting(call), true));
      }
    }
  }
}

/// Takes the call out of everything, with its waits in its spend.
Call CallEngine::extract(CallId id) {
  auto node = calls_.extract(id);
  auto& call = node.mapped();
  call.provider->failing.ended(&call);
  alarms_.clear(id);
  end_ready(id, call, at_.now);
  if (call.state == Call::State::backing_off) end_back_off(call, at_.now);
  call.waits.add_to(call.spend);
  return std::move(call);
}

std::optional<Spend> CallEngine::withdraw(CallId id) {
  const auto found = calls_.find(id);
  if (found == calls_.end() || found->second.state == Call::State::in_flight) return std::nullopt;
  return extract(id).spend;
}

void CallEngine::end_retries() {
  std::vector<CallId> ids;
  for (const auto& [id, call] : calls_) {
    if (call.failure && call.state != Call::State::in_flight) ids.push_back(id);
  }
  std::ranges::sort(ids);
  for (const auto id : ids) {
    auto error = *calls_.at(id).failure;
    error.message += "; it was not tried again, for the run was about to end";
    auto ended = failed_with(std::move(error));
    ended.given_up = true;
    end(id, std::move(ended));
  }
}

void CallEngine::end(CallId id, CallEnded ended) {
  const auto call = extract(id);
  ended.context = call.context;
  ended.extended = call.outages.extended();
  ended.spend = call.spend;
  ended_.push_back(std::move(ended));
}

std::vector<CallId> CallEngine::cancel() {
  std::vector<CallId> in_flight;
  for (const auto& [id, call] : calls_) {
    if (call.state == Call::State::in_flight) in_flight.push_back(id);
  }
  calls_.clear();
  alarms_.clear_all();
  ended_.clear();
  entries_ = EntryExchange(settings_, has_cache_);
  for (auto& [name, provider] : providers_) {
    provider.ready.clear();
    provider.backing_off = 0;
    provider.failing = {};
  }
  return in_flight;
}

// --- What follows ---

EngineTurn CallEngine::turn(const Moment& moment, const Backlog& backlog) {
  at_ = moment;
  for (const auto id : std::exchange(newly_ready_, {})) {
    const auto call = calls_.find(id);
    if (call == calls_.end() || call->second.state != Call::State::ready) continue;
    alarms_.set(id, call->second.deadline(at_.now));
  }
  EngineTurn turn;
  turn.calls = std::exchange(to_make_, {});
  turn.entries = entries_.take_messages();
  for (auto& [name, provider] : providers_) {
    if (const auto words = provider.failure_words.take_due(provider.budget.in_outage()))
      problems_.push_back({"calls to provider \"" + name + "\" fail: " + *words, name});
    if (!turn.unfit && !provider.ready.empty()) turn.unfit = link_.problem();
    if (!turn.unfit) turn.unfit = provider.late_permits.problem(name);
  }
  turn.problems = std::exchange(problems_, {});
  turn.wake = next_wake();
  report_demand(turn, backlog);
  return turn;
}

void CallEngine::report_demand(EngineTurn& turn, const Backlog& backlog) {
  turn.demand = demand_.take(providers_, calls_, backlog, link_, at_);
  if (turn.demand) {
    turn.demand->run_id = settings_.run_id;
  } else if (link_.connected()) {
    const auto next = DemandReports::next(providers_, backlog, at_.now);
    if (next && (!turn.wake || *next < *turn.wake)) turn.wake = next;
  }
}

std::optional<TimePoint> CallEngine::next_wake() const {
  auto next = alarms_.next();
  if (!link_.is_fresh(at_.boot)) return next;
  for (const auto& [name, provider] : providers_) {
    if (provider.ready.empty()) continue;
    const auto chance = provider.budget.next_chance(link_.clock(), at_);
    if (chance && (!next || *chance < *next)) next = chance;
  }
  return next;
}

}  // namespace sluice
