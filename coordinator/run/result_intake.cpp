#include "coordinator/run/result_intake.hpp"

#include "common/model/cache_key.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/dispatch/defaults.hpp"
#include "coordinator/run/commit_replies.hpp"
#include "coordinator/run/result_check.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace sluice {

ResultIntake::ResultIntake(const Run& run, std::shared_ptr<const EarlierPart> earlier)
    : run_(run),
      earlier_(std::move(earlier)),
      winners_(run.plan.unit_count()),
      refused_in_row_(run.plan.arm_count()) {
  if (!earlier_) return;
  run_.budget.pay_before(earlier_->tally().facts().paid_by_arm);
  if (run_.budget.limited()) count_unmetered(earlier_->unmetered());
  for (UnitId unit = 0; unit < run_.plan.unit_count(); ++unit) {
    if (earlier_->is_settled(unit)) run_.dispatcher.settle(unit);
  }
}

/// What may be reserved for calls whose usage nobody knows, as far as it is not counted.
void ResultIntake::count_unmetered(const std::vector<UnitSpend>& spends) {
  for (const auto& [unit, spend] : spends) {
    const auto work = run_.plan.render(unit);
    if (!work) continue;  // The suite was read for this run: it has every case.
    const auto most = most_of(*work, run_.settings.judge, run_.settings.grading);
    PaidTokens unknown;
    for (const CallKind kind : unmetered_kinds(spend)) {
      const auto beyond = [](std::uint64_t one, std::uint64_t other) {
        return one > other ? one - other : 0;
      };
      unknown.of(kind) = {beyond(most.of(kind).input_tokens, spend.paid.of(kind).input_tokens),
                          beyond(most.of(kind).output_tokens, spend.paid.of(kind).output_tokens)};
    }
    run_.budget.pay(unit, unknown);
  }
}

/// Where the model refuses the parameters of so many units in a row it refuses those of all.
bool ResultIntake::refuses_parameters(const UnitResult& result) {
  std::uint32_t& refused = refused_in_row_[run_.plan.arm_of(result.unit)];
  if (!is_zero(result.answer)) refused = 0;
  if (!result.error || result.error->reason != Reason::parameter_refused) return false;
  return ++refused > defaults::refused_parameters;
}

std::optional<Error> ResultIntake::take(WorkerId worker, UnitResult result, wire::Ack& refused,
                                        Effects& effects) {
  const auto refuse = [&](wire::AckCode code) {
    refused.items.push_back({result.unit, code, result.key, {}});
    return std::nullopt;
  };
  if (!run_.lease_numbers.is_held(worker, result.unit, result.lease)) return refuse(wire::AckCode::gone);
  result.lease = 0;
  auto step = check_result(result, run_.plan);
  const bool is_new = step == ResultStep::record && !pending_.contains(worker, result.unit);
  if (is_new && refuses_parameters(result)) step = ResultStep::fail;
  switch (step) {
    case ResultStep::refuse:
      return refuse(wire::AckCode::gone);
    case ResultStep::miss:
      run_.budget.settle(worker, result.unit, result.spend.paid);
      run_.dispatcher.missed(worker, result.unit);
      if (!first_miss_ || result.unit <= first_miss_->first)
        first_miss_.emplace(result.unit, std::move(*result.error));
      return refuse(wire::AckCode::retry);
    case ResultStep::fail:
      count_beside({worker, result.unit}, result.spend, effects);
      refuse(wire::AckCode::retry);
      return fatal_error(std::move(result));
    case ResultStep::record:
      break;
  }
  hand_on(worker, std::move(result), effects);
  return std::nullopt;
}

/// A worker knows no more of a model than its name. Where an answer came it is of a vote or an embedding,
/// whose models are others.
Error ResultIntake::fatal_error(UnitResult result) const {
  Error error = std::move(*result.error);
  const std::size_t arm = run_.plan.arm_of(result.unit);
  if (error.reason == Reason::model_unknown && is_zero(result.answer) && arm < run_.models.size())
    error.message += "; the model is " + run_.models[arm];
  return error;
}

void ResultIntake::hand_on(WorkerId worker, UnitResult result, Effects& effects) {
  // Said again before its ACK: that comes to where the worker is then.
  if (!pending_.add(worker, result)) return;
  run_.roster.mark_leased(worker);  // Perhaps by a coordinator before this one.
  const bool is_first = run_.dispatcher.begin_recording(result.unit);
  const auto trials = run_.plan.trials_of(result.unit);
  RecordResult record{worker, {std::move(result), {trials.begin(), trials.end()}, {}, {}}, !is_first};
  record.item.worker = run_.roster.name_of(worker);
  take_baseline(record.item);
  note_error(record.item, effects);
  record.item.cache_id = run_.roster.cache_of(worker);
  effects.to_record.push_back(std::move(record));
}

void ResultIntake::fail_unread(WorkerId worker, const std::string& why, Effects& effects) {
  const std::string message = "the message with this case could not be read " +
                              std::to_string(defaults::max_unread) + " times; the last worker, " +
                              run_.roster.name_of(worker) + ", said: " + why;
  for (const UnitId unit : run_.dispatcher.suspect_unread(worker)) {
    UnitResult failed;
    failed.unit = unit;
    failed.key = run_.plan.key(unit);
    failed.error = Error{Reason::message_malformed, message};
    hand_on(worker, std::move(failed), effects);
  }
}

/// A baseline's answer that the worker has stored is pinned with the result, as the candidate's is, be it a
/// grade or an error: it may have replaced the pinned one of its request.
void ResultIntake::take_baseline(ResultToCommit& item) const {
  const Digest stored = std::exchange(item.result.stored_baseline, Digest{});
  const auto& grading = run_.settings.grading;
  if (is_zero(stored) || !grading) return;
  const auto& providers = run_.settings.providers;
  const auto provider = std::ranges::find(providers, grading->provider, &ProviderSettings::name);
  const auto work = run_.plan.render(item.result.unit);
  if (!work || provider == providers.end()) return;
  item.baseline = {cache_key(*provider, baseline_request(*grading, work->request), work->repeat), stored};
}

/// What an answer failed for, in sentences of the log: reports have it too, at the end.
void ResultIntake::note_error(const ResultToCommit& item, Effects& effects) const {
  const auto& error = item.result.error;
  if (!error) return;
  const auto failed = std::ranges::find_if(
      item.trials, [&](TrialId trial) { return item.result.score_of(trial) == nullptr; });
  if (failed == item.trials.end()) return;
  const std::string case_id(run_.plan.case_id(*failed));
  effects.details.push_back(
      {"case " + case_id + " ends with an error: " + error->message,
       {.worker = item.worker, .case_id = case_id, .provider = run_.plan.provider_of(item.result.unit)}});
}

void ResultIntake::take_back(WorkerId worker, const wire::Report& report, Effects& effects) {
  const std::unordered_set<UnitId> returned(report.returned.begin(), report.returned.end());
  std::unordered_set<UnitId> paid;
  // Before the units are: what is known of their costs takes the place of what was reserved.
  for (const UnitSpend& one : report.spent) {
    paid.insert(one.unit);
    if (one.unit < run_.plan.unit_count() && run_.roster.may_note(worker))
      count_apart(worker, one, returned.contains(one.unit), effects);
  }
  for (const auto unit : report.returned) {
    // What was paid for has begun.
    paid.contains(unit) ? run_.dispatcher.release(worker, unit) : run_.dispatcher.give_back(worker, unit);
    run_.budget.give_back(worker, unit);
  }
}

void ResultIntake::count(WorkerId worker, UnitId unit, const Spend& spend) {
  run_.budget.settle(worker, unit, spend.paid, unmetered_kinds(spend));
  run_.tally.on_spend(spend, run_.plan.arm_of(unit));
}

/// A result's that is not committed, once. A worker that comes back may have been leased its unit anew.
void ResultIntake::count_beside(const WorkersUnit& whose, const Spend& spend, Effects& effects) {
  const auto [worker, unit] = whose;
  if (!counted_.insert(whose).second) return run_.budget.give_back(worker, unit);
  count(worker, unit, spend);
  if (run_.roster.may_note(worker)) effects.spent.push_back({unit, spend});
}

void ResultIntake::count_apart(WorkerId worker, const UnitSpend& spent, bool is_returned, Effects& effects) {
  effects.spent.push_back(spent);
  if (is_returned) return count(worker, spent.unit, spent.spend);
  // Its result, which may be on its way into the ledger, settles what is reserved for it.
  run_.budget.pay(spent.unit, spent.spend.paid);
  if (run_.budget.limited()) count_unmetered({spent});
  run_.tally.on_spend(spent.spend, run_.plan.arm_of(spent.unit));
}

/// A worker whose ACK was lost says the same again, be it the ACK of an earlier part's coordinator.
bool ResultIntake::is_resent(WorkerId worker, UnitId unit) const {
  if (winners_[unit] == worker || counted_.contains({worker, unit})) return true;
  return earlier_ && earlier_->is_settled(unit) && earlier_->worker_of(unit) == run_.roster.name_of(worker);
}

void ResultIntake::on_recorded(const ResultsRecorded& recorded, bool withdraws, Effects& effects) {
  CommitReplies replies;
  for (const auto& item : recorded.items) {
    pending_.remove(item.worker, item.unit);
    const auto holder = run_.dispatcher.holder_of(item.unit);
    if (holder && *holder != item.worker && withdraws) replies.withdraw(*holder, item.unit);
    run_.dispatcher.settle(item.unit);
    const bool resent = !item.outcome.first && is_resent(item.worker, item.unit);
    if (item.outcome.first) {
      winners_[item.unit] = item.worker;
      run_.lending.settled(item.key);
      run_.tally.on_settled(run_.plan, item);
      run_.roster.count_unit(item.worker);
    } else {
      run_.tally.on_duplicate();
    }
    if (item.outcome.first) {
      count(item.worker, item.unit, item.spend);
    } else if (!resent) {
      count_beside({item.worker, item.unit}, item.spend, effects);
    }
    run_.dispatcher.release(item.worker, item.unit);
    replies.acknowledge(item);
  }
  replies.send(run_.settings.run_id, run_.roster, effects.to_workers);
}

void ResultIntake::on_dropped(const ResultsDropped& dropped, Effects& effects) {
  CommitReplies replies;
  for (const auto& item : dropped.items) {
    pending_.remove(item.worker, item.unit);
    if (!is_resent(item.worker, item.unit)) count_beside({item.worker, item.unit}, item.spend, effects);
    run_.dispatcher.release(item.worker, item.unit);
    replies.refuse(item);
  }
  replies.send(run_.settings.run_id, run_.roster, effects.to_workers);
}

bool ResultIntake::checks_lag(std::size_t most) const {
  const std::size_t leased = run_.dispatcher.leased_count();
  return most > 0 && pending_.are_too_many(most, leased - std::min(leased, pending_.size()));
}

Error ResultIntake::missing_for(UnitId unit) const {
  return first_miss_ && first_miss_->first == unit ? first_miss_->second : Error{Reason::cache_miss, ""};
}

}  // namespace sluice
