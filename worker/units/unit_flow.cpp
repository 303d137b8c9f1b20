#include "worker/units/unit_flow.hpp"

#include "worker/defaults.hpp"
#include "worker/scoring/score.hpp"
#include "worker/units/embeddings.hpp"
#include "worker/units/grading.hpp"
#include "worker/units/judging.hpp"
#include "worker/units/unit_result.hpp"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

namespace sluice {

namespace {

template <class Kind>
std::unique_ptr<Enricher> make(const RunSettings& settings, std::shared_ptr<AnswerStore> store,
                               CallEngine& engine, std::uint32_t owner, const KeyMask& keys) {
  if constexpr (!std::is_same_v<Kind, Embeddings>) {
    return std::make_unique<Kind>(settings, std::move(store), engine, owner, keys);
  } else {
    return std::make_unique<Kind>(settings, std::move(store), engine, owner);
  }
}

/// Whether one of the tests checks how long the answer took.
bool asks_for_latency(const WorkUnit& unit) {
  const auto is_latency = [](const TextExpectation& one) {
    return positive(one.metric) == MetricId::latency;
  };
  return std::ranges::any_of(unit.tasks, [&](const ScoringTask& task) {
    return std::ranges::any_of(task.texts,
                               [&](const TextExpectation& text) { return is_or_holds(text, is_latency); });
  });
}

}  // namespace

std::vector<MakeEnricher> every_enricher() {
  return {make<Embeddings>, make<Judging>, make<Grading>};
}

AnswerCall::AnswerCall(const WorkUnit& unit, AnswerStore& store)
    : ModelCall({&unit.request, unit.key, {unit.pinned_answer, unit.held_elsewhere, taken_by_all(unit)}},
                store),
      unit_(unit.unit) {}

UnitFlow::UnitFlow(UnitFlowConfig config, const std::vector<MakeEnricher>& kinds)
    : config_(std::move(config)),
      engine_(config_.settings,
              {std::move(config_.credentials), config_.random_seed, config_.log_calls,
               !config_.store->id().empty(), config_.max_concurrent, std::move(config_.redactor)}) {
  for (const auto make_one : kinds) {
    const auto owner = first_enricher + static_cast<std::uint32_t>(enrichers_.size());
    enrichers_.push_back(make_one(config_.settings, config_.store, engine_, owner, config_.key_mask));
  }
}

std::uint32_t UnitFlow::concurrency() const {
  return std::max(config_.max_concurrent, engine_.searched_places());
}

void UnitFlow::add(std::vector<SharedUnit> units) {
  for (auto& unit : units) queue_.push_back(std::move(unit));
}

void UnitFlow::on_entries(const std::vector<wire::LentEntry>& entries, const Moment& moment) {
  at_ = moment;
  for (const auto& entry : entries) {
    for (const auto& seeker : engine_.on_entry(entry, moment)) {
      if (seeker.owner < first_enricher) continue;
      const auto enricher = seeker.owner - first_enricher;
      enrichers_.at(enricher)->on_entry(entry.key, entry.bytes, enriched_);
      take_enriched(enricher);
    }
  }
}

FlowTurn UnitFlow::turn(const Moment& moment) {
  at_ = moment;
  engine_.on_time(moment);
  take_ended();
  store_answers();  // What came is paid for: nothing else goes before it.
  while (const auto id = alarms_.take_due(at_.now)) await_enrichers(*id);
  if (winding_down_) {
    drop_uncalled([](UnitId) { return true; });
    engine_.end_retries();  // Of enrichers: calls for answers that would be tried again are dropped.
    take_ended();
    end_waiting();
  } else if (!withdrawn_.empty()) {
    drop_uncalled([this](UnitId unit) { return withdrawn_.contains(unit); });
  }
  std::uint64_t before = 0;
  do {  // What ends makes room for others.
    before = ends_;
    begin_units();
    for (const auto& enricher : enrichers_) enricher->start_calls(moment);
    engine_.start(moment);
    take_ended();
  } while (ends_ != before);
  FlowTurn turn;
  for (const auto id : std::exchange(begun_, {})) {
    if (const auto unit = units_.find(id); unit != units_.end())
      turn.started.push_back(unit->second.unit->unit);
  }
  store_answers();
  turn.completed = std::exchange(completed_, {});
  turn.returned = std::exchange(returned_, {});
  turn.spent = std::exchange(spent_, {});
  for (const auto& enricher : enrichers_)
    std::ranges::move(enricher->take_late(), std::back_inserter(turn.spent));
  const bool waits = !queue_.empty();
  turn.engine = engine_.turn(moment, {concurrency(), queue_.size(),
                                      waits ? std::string_view(queue_.front()->request.provider) : ""});
  if (const auto next = alarms_.next(); next && (!turn.engine.wake || *next < *turn.engine.wake))
    turn.engine.wake = next;
  if (finish_by_ && waiting_ > 0 && (!turn.engine.wake || *finish_by_ < *turn.engine.wake))
    turn.engine.wake = finish_by_;
  return turn;
}

std::vector<CallId> UnitFlow::cancel() {
  queue_.clear();
  units_.clear();
  waiting_ = 0;
  alarms_.clear_all();
  enriched_.clear();
  withdrawn_.clear();
  for (const auto& enricher : enrichers_) enricher->cancel();
  return engine_.cancel();
}

// --- From the unit to its answer ---

/// Calls that fail mostly wait, and leave their places to others, which show how their provider is.
/// With as many units under way as may be, all with calls that probe an outage in vain, one more unit may try
/// each time; but none while others are past their answer, and will make room.
std::uint32_t UnitFlow::most_units() const {
  // They wait for calls of many texts, and make none of their own.
  if (config_.settings.returns_embeddings) return concurrency() * defaults::max_embedded_texts;
  const auto most = concurrency() + static_cast<std::uint32_t>(engine_.calls_that_leave_places());
  const bool may_exceed = units_.size() >= most && waiting_ == 0 && engine_.all_probes_failed();
  return may_exceed ? static_cast<std::uint32_t>(units_.size()) + 1 : most;
}

void UnitFlow::begin_units() {
  if (queue_.empty()) return;
  const auto most = most_units();
  while (!queue_.empty() && units_.size() < most) {
    auto unit = std::move(queue_.front());
    queue_.pop_front();
    begin(std::move(unit));
  }
}

void UnitFlow::begin(SharedUnit of_run) {
  const auto id = next_id_++;
  const auto deadline = at_.now + config_.settings.case_timeout;
  auto& unit = units_.try_emplace(id, std::move(of_run), *config_.store, deadline).first->second;
  begun_.push_back(id);
  if (config_.settings.mode == Mode::mock) {
    Completion answer{mock_answer(unit.unit->request.schema_name), "stop", "mock", {}, 0, {}};
    answer.latency_ms = 0;  // Nobody is waited for.
    return on_answer(id, std::move(answer), false);
  }
  if (unit.unit->recorded) {
    const RecordedAnswer& recorded = *unit.unit->recorded;
    Completion answer{recorded.text, recorded_finish, recorded.model, recorded.usage, 0, {}, recorded.calls};
    read(unit, answer);
    return on_answer(id, std::move(answer), false);
  }
  auto found = unit.call.find(config_.settings);
  if (!found) {
    const auto held = unit.unit->held_elsewhere ? std::optional(unit.call.entry_key()) : std::nullopt;
    unit.call_id = engine_.submit(unit.call, {answers, id}, deadline, at_, held);
    return;
  }
  if (auto* error = std::get_if<Error>(&*found)) return finish(id, std::move(*error));
  unit.spend.cache_hit = true;
  on_answer(id, std::get<Completion>(std::move(*found)), false);
}

/// Hands on what has ended.
void UnitFlow::take_ended() {
  for (auto ended = engine_.take_ended(); !ended.empty(); ended = engine_.take_ended()) {
    for (auto& call : ended) {
      ++ends_;
      if (call.context.owner == answers) {
        on_answer_call(call);
      } else {
        const auto enricher = call.context.owner - first_enricher;
        enrichers_.at(enricher)->on_call_ended(call, at_, enriched_);
        for (auto& [id, baseline] : enrichers_.at(enricher)->take_baselines())
          units_.at(id).evidence.baseline = std::move(baseline);
        for (Enriched& outcome : enriched_) outcome.given_up = outcome.given_up || call.given_up;
        take_enriched(enricher);
      }
    }
  }
}

void UnitFlow::on_answer_call(CallEnded& ended) {
  const auto id = ended.context.id;
  auto& unit = units_.at(id);
  add_costs(unit.spend, ended.spend);
  unit.deadline += ended.extended;
  if (ended.error) return finish(id, std::move(*ended.error));
  if (!ended.lent) {
    unit.spend.latency_ms = ended.latency_ms;
    add_answer(unit.spend, CallKind::answer, ended);
    Completion answer = unit.call.take_answer();
    if (asks_for_latency(*unit.unit)) answer.latency_ms = ended.latency_ms;
    read(unit, answer);
    return on_answer(id, std::move(answer), config_.settings.write_cache);
  }
  unit.spend.cache_hit = true;
  on_answer(id, unit.call.take_answer(), false);
}

/// Before it is stored: an answer that cannot be read is no answer, and must not be cached as one.
void UnitFlow::read(UnderWay& unit, Completion& answer) {
  if (answer.non_answer) return;
  auto read = read_answer(unit.unit->request.schema_name, answer.text);
  if (read) {
    unit.read = std::move(*read);
  } else {
    answer.non_answer = std::move(read.error());
  }
}

// --- From the answer to the end ---

/// `is_new`: the answer is to be stored.
void UnitFlow::on_answer(Id id, Completion answer, bool is_new) {
  auto& unit = units_.at(id);
  std::optional<Error> error;
  if (auto assessed = part_that_assesses(answer, unit.unit)) {
    unit.assessed = std::move(assessed);
    error = enrich(id, unit, answer);
  }
  if (!error && unit.waits_for == 0) {
    if (is_new) unstored_.push_back(completed_.size());
    return finish(id, std::move(answer));
  }
  if (is_new) {
    // Stored before it waits, or fails for something else than itself: it was paid for. But what it would
    // replace (`--refresh`) may be what the ledger pins, and stays until the unit has a result: a run that is
    // stopped before must not break those that replay it. Without --refresh that is a refusal, or the answer
    // of another worker of this process that had the unit as well.
    const auto stored = unit.call.store_if_none(answer);
    if (!stored) error = stored.error();
    unit.replaces = stored && !*stored;
  }
  unit.answer = std::move(answer);
  ++waiting_;
  if (error) {
    stop_waiting(id, unit);
    return finish(id, std::move(*error));
  }
  await_enrichers(id);
}

/// Begins with every enricher. An error of one is the unit's.
std::optional<Error> UnitFlow::enrich(Id id, UnderWay& unit, const Completion& answer) {
  const auto masked = config_.key_mask.masked(answer.text);
  const std::string_view text = masked ? *masked : answer.text;
  for (std::size_t i = 0; i < enrichers_.size(); ++i) {
    auto done = enrichers_[i]->begin(id, *unit.assessed, text, unit.deadline, at_);
    if (!done) {
      unit.waits_for |= 1u << i;
    } else if (auto* error = std::get_if<Error>(&*done)) {
      return std::move(*error);
    } else {
      unit.evidence.merge(std::get<Evidence>(std::move(*done)));
    }
  }
  return std::nullopt;
}

/// Hands on what units have waited for at this enricher.
void UnitFlow::take_enriched(std::size_t enricher) {
  for (auto& outcome : enriched_) {
    auto& unit = units_.at(outcome.unit);
    unit.waits_for &= ~(1u << enricher);
    add_costs(unit.spend, outcome.spend);
    if (auto* error = std::get_if<Error>(&outcome.result)) {
      stop_waiting(outcome.unit, unit);
      if (outcome.given_up) {
        give_back(outcome.unit);
      } else {
        finish(outcome.unit, std::move(*error));
      }
      continue;
    }
    unit.evidence.merge(std::get<Evidence>(std::move(outcome.result)));
    if (unit.waits_for == 0) finish(outcome.unit, std::move(*unit.answer));
  }
  enriched_.clear();
}

/// Leaves every enricher that has not come back.
void UnitFlow::stop_waiting(Id id, UnderWay& unit) {
  for (std::size_t i = 0; i < enrichers_.size(); ++i) {
    if ((unit.waits_for & (1u << i)) != 0) add_costs(unit.spend, enrichers_[i]->leave(id));
  }
  unit.waits_for = 0;
}

/// The unit waits for its enrichers, but no longer than its time lasts: the call under way may be that of
/// others, who have more.
void UnitFlow::await_enrichers(Id id) {
  auto& unit = units_.at(id);
  std::optional<TimePoint> end;
  std::optional<Error> late;
  for (std::size_t i = 0; i < enrichers_.size(); ++i) {
    if ((unit.waits_for & (1u << i)) == 0) continue;
    const auto deadline = enrichers_[i]->deadline(id, at_.now) + defaults::precedence_of_calls;
    if (end && *end >= deadline) continue;
    end = deadline;
    late = enrichers_[i]->late();
  }
  if (!end) return;
  if (at_.now < *end) return alarms_.set(id, *end);
  stop_waiting(id, unit);
  finish(id, std::move(*late));
}

// --- Ends ---

void UnitFlow::finish(Id id, UnitOutcome outcome) {
  auto node = units_.extract(id);
  auto& unit = node.mapped();
  alarms_.clear(id);
  if (unit.answer) --waiting_;
  withdrawn_.erase(unit.unit->unit);
  ++ends_;
  // An error pins its answers, too, unless it ends the run: then the unit has no result.
  const auto* error = std::get_if<Error>(&outcome);
  const bool has_result = error == nullptr || !(stops_run(error->reason) || is_miss(error->reason));
  if (!has_result) unit.evidence.baseline.reset();
  if (unit.evidence.baseline && unit.evidence.baseline->unstored)
    unstored_baselines_.push_back(completed_.size());
  if (unit.replaces && unit.answer && has_result) unstored_.push_back(completed_.size());
  if (error == nullptr) unit.answer.reset();
  completed_.push_back({std::move(unit.assessed), std::move(outcome), unit.spend, std::move(unit.evidence),
                        std::move(unit.read), std::move(unit.answer)});
}

/// Others may have it.
void UnitFlow::give_back(Id id) {
  const auto node = units_.extract(id);
  const auto& unit = node.mapped();
  alarms_.clear(id);
  if (unit.answer) --waiting_;
  withdrawn_.erase(unit.unit->unit);
  ++ends_;
  returned_.push_back(unit.unit->unit);
  if (unit.spend.calls == 0) return;
  // Whether the cache is hit is for whoever completes it.
  UnitSpend& spent = spent_.emplace_back(UnitSpend{unit.unit->unit, unit.spend});
  spent.spend.cache_hit = false;
}

template <class Wanted>
void UnitFlow::drop_uncalled(Wanted wanted) {
  std::erase_if(queue_, [&](const SharedUnit& unit) {
    if (!wanted(unit->unit)) return false;
    returned_.push_back(unit->unit);
    return true;
  });
  std::vector<Id> ids;
  for (auto& [id, unit] : units_) {
    if (!wanted(unit.unit->unit)) continue;
    const auto spend = engine_.withdraw(unit.call_id);
    if (!spend) continue;
    add_costs(unit.spend, *spend);
    ids.push_back(id);
  }
  std::ranges::sort(ids);
  for (const auto id : ids) give_back(id);
}

/// At the end of the run's time, what waits for enrichers is given back with what was paid for it: the answer
/// is stored, and whoever goes on with the run asks for the rest.
void UnitFlow::end_waiting() {
  if (!finish_by_ || at_.now < *finish_by_) return;
  std::vector<Id> ids;
  for (const auto& [id, unit] : units_) {
    if (unit.waits_for != 0) ids.push_back(id);
  }
  std::ranges::sort(ids);
  for (const auto id : ids) {
    stop_waiting(id, units_.at(id));
    give_back(id);
  }
}

void UnitFlow::withdraw(const std::vector<UnitId>& units, const Moment& moment) {
  at_ = moment;
  const std::set<UnitId> wanted(units.begin(), units.end());
  drop_uncalled([&](UnitId unit) { return wanted.contains(unit); });
  for (const auto& [id, unit] : units_) {
    if (wanted.contains(unit.unit->unit)) withdrawn_.insert(unit.unit->unit);
  }
}

void UnitFlow::wind_down(std::optional<TimePoint> finish_by) {
  winding_down_ = true;
  if (finish_by) finish_by_ = std::min(finish_by_.value_or(*finish_by), *finish_by);
}

/// Stores the new answers, in one go. Those of a broken cache are errors: what was not stored is not
/// reported.
void UnitFlow::store_answers() {
  if (unstored_.empty() && unstored_baselines_.empty()) return;
  std::vector<KeyedAnswer> new_answers;
  for (const auto index : unstored_) {
    const auto& completed = completed_[index];
    const auto* outcome = std::get_if<Completion>(&completed.outcome);
    new_answers.push_back({completed.unit->key, outcome != nullptr ? outcome : &*completed.answer});
  }
  for (const auto index : unstored_baselines_) {
    const PaidBaseline& baseline = *completed_[index].evidence.baseline;
    new_answers.push_back({baseline.key, &*baseline.unstored});
  }
  const auto stored = config_.store->store(new_answers);
  std::ranges::move(std::exchange(unstored_baselines_, {}), std::back_inserter(unstored_));
  for (const auto index : std::exchange(unstored_, {})) {
    if (stored) continue;
    completed_[index].outcome = stored.error();
    completed_[index].answer.reset();
    completed_[index].evidence.baseline.reset();
  }
}

}  // namespace sluice
