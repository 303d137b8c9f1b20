#include "worker/calls/model_calls.hpp"

#include "common/defaults.hpp"
#include "common/text.hpp"
#include "common/token_bound.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace sluice {

namespace {

/// What the call log says of a call, beside its time.
std::string log_members(const std::string& provider, Job& job, const std::optional<TakenPermit>& permit) {
  std::string members = R"("provider":)";
  append_json_string(members, provider);
  members += R"(,"unit":)" + (job.batch() ? "null" : std::to_string(job.unit()->unit));
  members += R"(,"attempt":)" + std::to_string(job.spend.calls);
  members += R"(,"permit":)" + (permit ? std::to_string(permit->permit.id) : "null");
  return members;
}

}  // namespace

ModelCalls::ModelCalls(ModelCallsConfig config)
    : config_(std::move(config)),
      random_(config_.random_seed),
      exchange_(config_.settings, !config_.store->id().empty()) {
  for (const auto& settings : config_.settings.providers) {
    auto& provider =
        providers_.try_emplace(settings.name, settings, config_.settings.case_timeout).first->second;
    const auto key = config_.keys.find(settings.name);
    if (key != config_.keys.end()) provider.key = key->second;
  }
  embedder_.emplace(config_.settings, config_.store, exchange_, config_.key_mask);
  embedding_provider_ = provider(embedder_->provider());
  told_slots_ = config_.max_concurrent;
}

std::uint32_t ModelCalls::slots() const {
  auto most = config_.max_concurrent;
  for (const auto& [name, provider] : providers_) most = std::max(most, provider.budget.searched_places());
  return most;
}

CalledProvider* ModelCalls::provider(const std::string& name) {
  const auto found = providers_.find(name);
  return found == providers_.end() ? nullptr : &found->second;
}

// --- What is told ---

void ModelCalls::add(std::vector<SharedUnit> units) {
  for (auto& unit : units) queue_.push_back(std::move(unit));
}

void ModelCalls::take(const BudgetChanged& budget, const Moment& moment) {
  at_ = moment;
  // What was said meanwhile was not heard.
  if (budget.begins_anew || (budget.connected && !connected_)) demand_wanted_ = true;
  connected_ = budget.connected;
  if (!connected_) {
    for (auto& [name, provider] : providers_) provider.budget.suspend();
  }
  if (budget.begins_anew) {
    for (auto& [name, provider] : providers_) provider.budget.forget_permits();
    for (auto& [id, job] : jobs_) job.permit.reset();
    exchange_.ask_again();
  }
  const auto& heard = budget.heard;
  if (heard.now_us > 0) {
    heard_us_ = std::max(heard_us_, heard.now_us);
    const auto echo = heard.echo_us > 0 ? std::optional(boot_time(heard.echo_us)) : std::nullopt;
    // What was in the socket while the process was stopped is as old as what it answers.
    const auto heard_at = std::min(echo.value_or(budget.heard_at), budget.heard_at);
    heard_at_ = std::max(heard_at_, heard_at);
    late_grants_.hear(budget.heard_at - heard_at, longest_silence(), budget.heard_at);
    clock_.hear(boot_time(heard.now_us), echo, budget.heard_at);
  }
  for (const auto& grant : heard.grants) {
    auto* granted = provider(grant.provider);
    if (!granted) continue;
    granted->budget.take(grant, at_.now);
    for (const auto& permit : grant.permits) granted->late_permits.hear(permit, clock_, budget.heard_at);
    if (const auto error = obstacle(*granted)) {
      end_waiting(*granted, *error);
    } else {
      end_oversized(*granted);
    }
  }
}

std::vector<std::uint64_t> ModelCalls::cancel() {
  std::vector<Id> in_flight;
  for (const auto& [id, job] : jobs_) {
    if (job.state == Job::State::in_flight) in_flight.push_back(id);
  }
  queue_.clear();
  jobs_.clear();
  sought_answers_.clear();
  exchange_ = EntryExchange(config_.settings, !config_.store->id().empty());
  alarms_.clear_all();
  for (auto& [name, provider] : providers_) {
    provider.ready.clear();
    provider.backing_off = 0;
  }
  active_units_ = 0;
  embedder_.emplace(config_.settings, config_.store, exchange_, config_.key_mask);
  return in_flight;
}

// --- From the unit to the call ---

void ModelCalls::begin_units() {
  auto most = slots();
  if (!queue_.empty() && active_units_ == most && all_probes_failed()) ++most;
  while (!queue_.empty() && active_units_ < most) {
    auto unit = std::move(queue_.front());
    queue_.pop_front();
    begin(std::move(unit));
  }
}

RetryPolicy ModelCalls::retries_until(TimePoint deadline) const {
  const auto& settings = config_.settings;
  const auto left = std::chrono::floor<std::chrono::milliseconds>(deadline - at_.now);
  return {{settings.max_retries, settings.backoff_initial, defaults::backoff_max, left}, at_.now};
}

void ModelCalls::begin(SharedUnit unit) {
  const auto id = next_id_++;
  ++active_units_;
  const auto retry = retries_until(at_.now + config_.settings.case_timeout);
  auto& job = jobs_.try_emplace(id, std::move(unit), retry, at_.now).first->second;
  begun_.push_back(id);
  auto outcome = from_store(job);
  if (!outcome) {
    job.provider = provider(job.unit()->request.provider);
    if (!job.provider) {
      return finish(id, Error{Reason::internal_error, "unknown provider " + job.unit()->request.provider});
    }
    job.outage_mark = job.provider->budget.out(at_.now);
    return exchange_.seeks() && job.unit()->held_elsewhere ? seek_answer(id) : make_ready(id);
  }
  if (auto* error = std::get_if<Error>(&*outcome)) return finish(id, std::move(*error));
  embed(id, std::get<Completion>(std::move(*outcome)));
}

/// Calls for the texts that wait no longer: at the end of a turn, so that what came together goes together.
void ModelCalls::start_batches() {
  if (!embedding_provider_) return;
  extend_embedder();
  while (auto batch = embedder_->next()) {
    const auto id = next_id_++;
    const auto retry = retries_until(batch->deadline);
    auto& job = jobs_.try_emplace(id, std::move(*batch), retry, at_.now).first->second;
    job.provider = embedding_provider_;
    job.outage_mark = job.provider->budget.out(at_.now);
    make_ready(id);
  }
}

/// Why no call to the provider makes sense any more.
std::optional<Error> ModelCalls::obstacle(const CalledProvider& provider) const {
  const auto& name = provider.settings.name;
  if (provider.fatal) return provider.fatal;
  if (provider.budget.given_up()) {
    return Error{Reason::provider_failed,
                 "provider \"" + name +
                     "\" has been down, or refused every call, for longer than outage_timeout_seconds; run "
                     "again when it is back: what was answered is in the cache"};
  }
  // Said in READY already; work that comes all the same must not be called for.
  if (!provider.key) return Error{Reason::key_missing, "this worker has no key for provider " + name};
  return std::nullopt;
}

void ModelCalls::make_ready(Id id) {
  auto& job = jobs_.at(id);
  auto& provider = *job.provider;
  if (auto error = obstacle(provider)) return give_up(id, std::move(*error));
  if (job.state == Job::State::backing_off) end_back_off(job);
  job.state = Job::State::ready;
  job.idle_since = at_.now;
  job.pause_mark = provider.budget.paused(at_.now);
  provider.ready.insert(id);
  newly_ready_.push_back(id);
  if (!provider.budget.needs_sizes()) return;
  if (auto error = provider.budget.ceiling_problem(size_of(job))) give_up(id, std::move(*error));
}

void ModelCalls::end_oversized(CalledProvider& provider) {
  if (!provider.budget.needs_sizes()) return;
  const std::vector<Id> ids(provider.ready.begin(), provider.ready.end());
  for (const auto id : ids) {
    const auto job = jobs_.find(id);
    if (job == jobs_.end()) continue;
    if (auto error = provider.budget.ceiling_problem(size_of(job->second))) give_up(id, std::move(*error));
  }
}

/// Ends all that waits for the provider.
void ModelCalls::end_waiting(CalledProvider& provider, const Error& error) {
  std::vector<Id> ids;
  for (const auto& [id, job] : jobs_) {
    const bool waits = job.state == Job::State::ready || job.state == Job::State::backing_off;
    if (waits && job.provider == &provider) ids.push_back(id);
  }
  std::ranges::sort(ids);
  for (const auto id : ids) {
    if (jobs_.contains(id)) give_up(id, error);
  }
}

const wire::CallSize& ModelCalls::size_of(Job& job) {
  if (job.size) return *job.size;
  if (const auto* batch = job.batch()) {
    std::uint64_t tokens = 0;
    for (const auto& text : batch->texts) tokens += token_bound(text) + 1;
    return job.size.emplace(wire::CallSize{narrow(tokens), 0});
  }
  const auto& request = job.unit()->request;
  return job.size.emplace(
      wire::CallSize{narrow(input_token_bound(request)), narrow(output_token_bound(request))});
}

std::vector<wire::CallSize> ModelCalls::sizes_of_ready(CalledProvider& provider) {
  std::vector<wire::CallSize> sizes;
  sizes.reserve(std::min(provider.ready.size(), wire::max_demand_sizes));
  const auto add = [&](const auto& ids) {
    for (const auto id : ids) {
      if (sizes.size() == wire::max_demand_sizes) break;
      sizes.push_back(size_of(jobs_.at(id)));
    }
  };
  provider.budget.in_outage() ? add(probe_order(provider)) : add(provider.ready);
  return sizes;
}

void ModelCalls::start_ready(CalledProvider& provider) {
  if (!provider.budget.may_start(at_)) return;
  if (provider.budget.in_outage()) {
    for (const auto id : probe_order(provider)) try_start(provider, id);
    return;
  }
  for (auto next = provider.ready.begin(); next != provider.ready.end() && provider.budget.may_start(at_);) {
    const auto id = *next;
    ++next;  // Before the job leaves the set.
    try_start(provider, id);
  }
}

/// A ready job waits no longer: what it waited for is summed up.
void ModelCalls::end_wait(Job& job) const {
  const auto paused = job.provider->budget.paused(at_.now) - job.pause_mark;
  job.waited_pause += paused;
  job.waited_permit += at_.now - job.idle_since - paused;
}

void ModelCalls::end_back_off(Job& job) const {
  job.waited_retry += at_.now - job.idle_since;
  --job.provider->backing_off;
}

void ModelCalls::try_start(CalledProvider& provider, Id id) {
  auto& job = jobs_.at(id);
  extend_deadline(job);
  if (at_.now >= job.retry.deadline()) return;  // Its alarm is due.
  const auto size = provider.budget.needs_sizes() ? size_of(job) : wire::CallSize{};
  const auto start = provider.budget.start(size, clock_, at_);
  if (!start) return;
  end_wait(job);
  provider.ready.erase(id);
  alarms_.clear(id);
  job.state = Job::State::in_flight;
  job.permit.reset();
  if (start->permit) job.permit = start->permit->permit;
  if (job.spend.calls++ > 0) ++job.spend.retries;
  calls_.push_back(http_call(id, job, start->permit));
}

HttpCall ModelCalls::http_call(Id id, Job& job, const std::optional<TakenPermit>& permit) {
  const auto& settings = config_.settings;
  const auto& provider = *job.provider;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(job.retry.deadline() - at_.now);
  HttpCall call;
  call.id = id;
  call.request = job.batch() ? embedder_->request(*job.batch(), *provider.key)
                             : build_request(provider.settings, *provider.key, job.unit()->request);
  call.connect_timeout = settings.connect_timeout;
  job.cut_short = left < settings.request_timeout;
  call.total_timeout = job.cut_short ? left : settings.request_timeout;
  call.max_body = defaults::max_answer_bytes;
  if (permit) call.window = StartWindow{permit->own_window.from, permit->own_window.to};
  if (config_.log_calls) call.log_members = log_members(provider.settings.name, job, permit);
  return call;
}

}  // namespace sluice
