#include "worker/units/judging.hpp"

#include "common/checks/detail.hpp"
#include "common/defaults.hpp"
#include "common/model/cache_key.hpp"
#include "config/embedded_config.hpp"
#include "worker/defaults.hpp"
#include "worker/units/disclosure.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

constexpr std::string_view vote_schema_name = "vote";

/// Names which of the unit's calls it was that failed.
Error of_judge(const Error& error) {
  return Error{error.reason, "the judge's vote did not come: " + error.message};
}

UnitVotes fake_votes(const WorkUnit& work, std::string_view answer) {
  UnitVotes votes;
  for (const ScoringTask& task : work.tasks) {
    auto& of_task = votes.emplace_back();
    for (const JudgeExpectation& expectation : task.judged) {
      const Vote vote = fake_vote(expectation, task.question, answer);
      of_task.push_back({std::vector<Vote>(expectation.samples, vote), JudgeSource::judge});
    }
  }
  return votes;
}

}  // namespace

std::optional<Error> too_long_for_judge(std::string_view text, std::string_view whose) {
  if (text.size() <= defaults::max_judged_bytes) return std::nullopt;
  return Error{Reason::answer_too_long,
               std::string(whose) + " has " + std::to_string(text.size()) + " bytes, and a judge is shown " +
                   std::to_string(defaults::max_judged_bytes) +
                   " at most, since what it does not see it cannot judge: have the model answer shorter "
                   "(--max-output-tokens), or test such answers without a judge"};
}

Result<void> VoteCall::take_entry(std::string_view entry) {
  auto vote = store_.take_vote(keyed_.key, entry);
  if (!vote) return fail(std::move(vote.error()));
  answer_ = std::move(*vote);
  return {};
}

Judging::Judging(const RunSettings& settings, std::shared_ptr<AnswerStore> store, CallEngine& engine,
                 std::uint32_t owner, const KeyMask& keys)
    : Judging(settings, settings.judge, {vote_schema_name, share(std::string(embedded::vote_schema))},
              std::move(store), engine, owner, keys) {}

Judging::Judging(const RunSettings& settings, const JudgeSettings& judge, VoteForm form,
                 std::shared_ptr<AnswerStore> store, CallEngine& engine, std::uint32_t owner,
                 const KeyMask& keys)
    : settings_(settings),
      judge_(judge),
      form_(std::move(form)),
      store_(std::move(store)),
      engine_(engine),
      owner_(owner),
      keys_(keys) {
  const auto found = std::ranges::find(settings.providers, judge_.provider, &ProviderSettings::name);
  if (found != settings.providers.end()) provider_ = &*found;
  for (const Rubric& rubric : judge_.rubrics) systems_.push_back(share(rubric.system));
}

std::optional<std::variant<Evidence, Error>> Judging::begin(std::uint64_t unit, const WorkUnit& work,
                                                            std::string_view answer, TimePoint deadline,
                                                            const Moment& moment) {
  const auto needs_votes = [](const ScoringTask& task) {
    return std::ranges::any_of(task.judged, [](const JudgeExpectation& one) { return !one.recorded; });
  };
  if (std::ranges::none_of(work.tasks, needs_votes)) return Evidence{};
  const auto shows_answer = [](const ScoringTask& task) {
    return std::ranges::any_of(task.judged, [](const JudgeExpectation& one) {
      return !one.recorded && !judges_context(one.metric);
    });
  };
  if (std::ranges::any_of(work.tasks, shows_answer)) {
    if (auto error = too_long_for_judge(answer, "the answer")) return std::move(*error);
  }
  if (settings_.mode == Mode::mock || judge_.judge == Judge::fake)
    return Evidence{{}, fake_votes(work, answer)};
  if (!provider_ || judge_.model.empty()) {
    return Error{Reason::internal_error, "the run has no judge, but answers are to be judged"};
  }
  Waiting waiting;
  waiting.of_run = work.unit;
  waiting.deadline = deadline;
  waiting.outages_before = engine_.outages(judge_.provider, moment.now);
  if (auto error = take_seats(unit, work, answer, waiting)) {
    leave_votes(unit, waiting);
    return std::move(*error);
  }
  if (waiting.open.empty()) return Evidence{{}, std::move(waiting.votes)};
  for (const auto& [key, seats] : waiting.open) {
    const auto vote = votes_.find(key);
    if (vote->second.call_id == 0) submit(vote, deadline, moment);
  }
  waiting_.emplace(unit, std::move(waiting));
  return std::nullopt;
}

/// Fills the seats of votes that the caches hold, and joins those that are on their way; others are new.
std::optional<Error> Judging::take_seats(std::uint64_t unit, const WorkUnit& work, std::string_view answer,
                                         Waiting& waiting) {
  for (std::size_t t = 0; t < work.tasks.size(); ++t) {
    const ScoringTask& task = work.tasks[t];
    auto& of_task = waiting.votes.emplace_back();
    for (std::size_t m = 0; m < task.judged.size(); ++m) {
      const JudgeExpectation& expectation = task.judged[m];
      if (expectation.recorded) {
        of_task.emplace_back();
        continue;
      }
      if (expectation.rubric >= judge_.rubrics.size()) {
        return Error{Reason::internal_error, "a judge metric names a rubric that the run does not have"};
      }
      const Rubric& rubric = judge_.rubrics[expectation.rubric];
      const auto request =
          std::make_shared<const ModelRequest>(request_for(expectation, task.question, answer));
      const auto asked = std::make_shared<const JudgeExpectation>(expectation);
      of_task.push_back({std::vector<Vote>(expectation.samples), JudgeSource::cache});
      for (std::uint32_t index = 0; index < expectation.samples; ++index) {
        // Repeats may be answered alike: each has votes of its own all the same (docs/gate.md).
        const std::uint32_t of_all = work.repeat * expectation.samples + index;
        const Digest key = vote_key(*provider_, *request, rubric, expectation.samples, of_all);
        if (!waiting.open.contains(key)) {
          auto vote = votes_.find(key);
          if (vote == votes_.end()) {
            if (auto found = find(key)) {
              if (auto* error = std::get_if<Error>(&*found)) return std::move(*error);
              of_task[m].votes[index] = std::get<Vote>(std::move(*found));
              continue;
            }
            vote = votes_.try_emplace(key, request, asked, key, *store_).first;
          }
          vote->second.waiters.push_back(unit);
        }
        waiting.open[key].push_back({t, m, index});
      }
    }
  }
  return std::nullopt;
}

ModelRequest Judging::request_for(const JudgeExpectation& expectation, const JudgedQuestion& question,
                                  std::string_view answer) const {
  ModelRequest request;
  request.provider = judge_.provider;
  request.model = judge_.model;
  request.system = systems_[expectation.rubric];
  request.user =
      render_rubric(judge_.rubrics[expectation.rubric], texts_for_judge(expectation, question, answer));
  request.response_schema = form_.schema;
  request.schema_name = form_.schema_name;
  request.temperature = judge_.temperature;
  request.max_tokens = judge_.max_tokens;
  request.seed = judge_.seed;
  return request;
}

/// Which of a test's scores it is, which a worker does not know by name: `rubric v1 "It is kind.": `. Empty
/// where nothing is to be named.
std::string Judging::score_in_words(const JudgeExpectation& expectation) const {
  if (!form_.names_scores) return "";
  const Rubric& rubric = judge_.rubrics[expectation.rubric];
  std::string words = score_with_rubric(std::string(info(expectation.metric).name), expectation.metric,
                                        rubric.id, rubric.version);
  for (const std::string* text : {&expectation.criteria, &expectation.reference}) {
    if (!text->empty()) words += ' ' + quoted(*text);
  }
  return words + ": ";
}

/// Its beginning, clean before it is cut: half of a secret fits no pattern.
std::string Judging::quoted(std::string text) const {
  keys_.apply(text);
  engine_.redactor().apply(text);
  return quoted_for_detail(text);
}

/// The vote that this process's caches hold. An error: there will be none. Nothing: it is to be called for.
Judging::Found Judging::find(const Digest& key) const {
  const bool from_cache_alone = settings_.mode == Mode::cached || judge_.judge == Judge::none;
  if (!from_cache_alone && renews() && !renewed_.contains(key)) return std::nullopt;
  const auto stored = store_->find_vote(key);
  if (!stored && (from_cache_alone || !is_damaged_entry(stored.error()))) return stored.error();
  if (stored && *stored) {
    // Only what could be read was stored: anything else is another version's, or damage.
    if (auto vote = form_.read((*stored)->text)) return std::move(*vote);
  }
  if (!from_cache_alone) return std::nullopt;
  return store_->missing("the cache does not hold a vote of the judge " + judge_.model + " (" +
                         judge_.provider + ") about this answer");
}

void Judging::submit(Votes::iterator vote, TimePoint deadline, const Moment& moment) {
  const auto number = next_number_++;
  by_number_.emplace(number, vote->first);
  auto& under_way = vote->second;
  under_way.deadline = deadline;
  const bool seeks = !std::exchange(under_way.was_sought, true);
  under_way.call_id = engine_.submit(under_way.call, {owner_, number}, deadline, moment,
                                     seeks ? std::optional(under_way.call.entry_key()) : std::nullopt);
}

/// Asks again for votes that could not be read, and for those whose first waiter's time is over while others
/// have more.
void Judging::start_calls(const Moment& moment) {
  for (const auto& key : std::exchange(again_, {})) {
    const auto vote = votes_.find(key);
    if (vote == votes_.end() || vote->second.call_id != 0) continue;
    TimePoint latest{};
    for (const auto unit : vote->second.waiters)
      latest = std::max(latest, deadline_of(waiting_.at(unit), moment.now));
    // Those whose time is over are told so by their own deadlines.
    if (latest > moment.now) submit(vote, latest, moment);
  }
}

Result<Vote> Judging::read(UnderWay& under_way, bool lent) {
  const Completion answer = under_way.call.take_answer();
  if (answer.non_answer) {
    const bool is_cut_off = answer.non_answer->reason == Reason::truncated;
    return fail(Reason::judge_refused,
                score_in_words(*under_way.asked) + "the judge gave no vote: " +
                    (is_cut_off ? "it was cut off at its token limit; raise --judge-max-tokens"
                                : disclosed_reason(answer, keys_, engine_.redactor())));
  }
  auto vote = form_.read(answer.text);
  if (!vote) {
    vote.error().message =
        score_in_words(*under_way.asked) + vote.error().message + "; it says " + quoted(answer.text);
    return fail(std::move(vote.error()));
  }
  if (!settings_.write_cache) return std::move(*vote);
  const auto key = under_way.call.entry_key();
  // One that was lent is in the cache already, renewed by another worker of this run. Any other is stored
  // before it is used: it was paid for.
  if (!lent) {
    if (const auto stored = store_->store_vote(key.digest, answer); !stored) return fail(stored.error());
    engine_.entries().stored(key);
  }
  if (renews()) renewed_.insert(key.digest);
  return std::move(*vote);
}

void Judging::on_call_ended(const CallEnded& ended, const Moment& /*moment*/,
                            std::vector<Enriched>& outcomes) {
  const auto number = by_number_.extract(ended.context.id);
  if (number.empty()) return;
  const auto vote = votes_.find(number.mapped());
  if (vote == votes_.end()) return;
  auto& under_way = vote->second;
  under_way.call_id = 0;
  Spend spend = ended.spend;
  count_repeats(under_way, spend);
  add_answer(spend, CallKind::judge, ended);
  if (!under_way.waiters.empty()) {
    add_costs(waiting_.at(under_way.waiters.front()).spend, spend);
  } else if (spend.calls > 0) {
    late_.push_back({under_way.left_by, spend});
  }
  if (ended.error && ended.out_of_time) return expire(vote, of_judge(*ended.error), outcomes);
  if (ended.error) return fail_waiters(vote, {of_judge(*ended.error), ended.given_up}, outcomes);
  const auto given = read(under_way, ended.lent);
  if (given) return hand_out(vote, *given, ended.lent, outcomes);
  const bool may_ask_again =
      given.error().reason == form_.unreadable && ++under_way.unreadable < defaults::max_unreadable_votes;
  if (may_ask_again) return ask_again(vote, outcomes);
  fail_waiters(vote, {given.error()}, outcomes);
}

/// The engine knows no votes: to it each call for one is the first.
void Judging::count_repeats(UnderWay& vote, Spend& spend) {
  if (spend.calls > 0 && std::exchange(vote.was_called, true)) ++spend.retries;
}

/// For those who can still have a score.
void Judging::ask_again(Votes::iterator vote, std::vector<Enriched>& outcomes) {
  std::erase_if(vote->second.waiters, [&](std::uint64_t unit) {
    const auto found = waiting_.find(unit);
    if (!found->second.failed) return false;
    found->second.open.erase(vote->first);
    finish(found, outcomes);
    return true;
  });
  if (vote->second.waiters.empty()) return drop(vote);
  again_.push_back(vote->first);
}

/// Others may pay for it.
void Judging::drop(Votes::iterator vote) {
  engine_.entries().given_up(vote->second.call.entry_key());
  votes_.erase(vote);
}

/// Fills the seats of everybody who waits for it.
void Judging::hand_out(Votes::iterator vote, const Vote& given, bool lent, std::vector<Enriched>& outcomes) {
  const auto node = votes_.extract(vote);
  for (const auto unit : node.mapped().waiters) {
    const auto found = waiting_.find(unit);
    auto& waiting = found->second;
    for (const Seat& seat : waiting.open.at(node.key())) {
      auto& votes = waiting.votes[seat.task][seat.metric];
      votes.votes[seat.index] = given;
      if (!lent) votes.source = JudgeSource::judge;
    }
    waiting.open.erase(node.key());
    finish(found, outcomes);
  }
}

/// Nothing more is to come: the unit has its votes, or its error.
void Judging::finish(std::map<std::uint64_t, Waiting>::iterator unit, std::vector<Enriched>& outcomes) {
  Waiting& waiting = unit->second;
  if (!waiting.open.empty()) return;
  auto& outcome = outcomes.emplace_back();
  outcome.unit = unit->first;
  outcome.spend = waiting.spend;
  if (waiting.failed) {
    outcome.result = std::move(*waiting.failed);
    outcome.given_up = waiting.given_up;
  } else {
    outcome.result = Evidence{{}, std::move(waiting.votes)};
  }
  waiting_.erase(unit);
}

/// Those who had no more time than the call are done; others ask again.
void Judging::expire(Votes::iterator vote, const Error& error, std::vector<Enriched>& outcomes) {
  std::vector<std::uint64_t> late;
  std::erase_if(vote->second.waiters, [&](std::uint64_t unit) {
    // An outage that went on meanwhile gave the call no more time than the unit.
    const bool is_late = waiting_.at(unit).deadline <= vote->second.deadline;
    if (is_late) late.push_back(unit);
    return is_late;
  });
  fail_units(vote->first, late, {error}, outcomes);
  ask_again(vote, outcomes);
}

void Judging::fail_waiters(Votes::iterator vote, const NoVote& why, std::vector<Enriched>& outcomes) {
  const Digest failed = vote->first;
  const auto units = vote->second.waiters;
  drop(vote);
  fail_units(failed, units, why, outcomes);
}

/// Ends the units that waited for the vote, each once its other calls under way have ended: what they cost is
/// the unit's. What stops the run is reported at once.
void Judging::fail_units(const Digest& vote, const std::vector<std::uint64_t>& units, const NoVote& why,
                         std::vector<Enriched>& outcomes) {
  for (const auto unit : units) {
    const auto found = waiting_.find(unit);
    Waiting& waiting = found->second;
    if (!waiting.failed) {
      waiting.failed = why.error;
      waiting.given_up = why.given_up;
    }
    waiting.open.erase(vote);
    if (stops_run(why.error.reason)) {
      leave_votes(unit, waiting);
      waiting.open.clear();
    }
    std::erase_if(waiting.open,
                  [&](const auto& open) { return stop_waiting(unit, waiting, votes_.find(open.first)); });
    finish(found, outcomes);
  }
}

/// Takes back the call for the vote, if there is one that is not under way. What it has cost is the unit's.
bool Judging::withdraw(UnderWay& vote, Waiting& waiting) {
  if (vote.call_id == 0) return true;
  auto spend = engine_.withdraw(vote.call_id);
  if (!spend) return false;
  count_repeats(vote, *spend);
  add_costs(waiting.spend, *spend);
  return true;
}

/// The unit waits no longer for the vote, unless its call is under way for nobody else.
bool Judging::stop_waiting(std::uint64_t unit, Waiting& waiting, Votes::iterator vote) {
  auto& under_way = vote->second;
  const bool is_alone = under_way.waiters.size() == 1;
  if (is_alone && !withdraw(under_way, waiting)) return false;
  std::erase(under_way.waiters, unit);
  if (is_alone) drop(vote);
  return true;
}

/// The unit waits for none of its votes any more. What nobody waits for is not called for, unless its call is
/// under way: then its answer is stored.
void Judging::leave_votes(std::uint64_t unit, Waiting& waiting) {
  for (const auto& [key, seats] : waiting.open) {
    const auto vote = votes_.find(key);
    if (vote == votes_.end()) continue;
    auto& under_way = vote->second;
    std::erase(under_way.waiters, unit);
    if (!under_way.waiters.empty()) continue;
    under_way.left_by = waiting.of_run;
    if (!withdraw(under_way, waiting)) continue;
    drop(vote);
  }
}

TimePoint Judging::deadline_of(const Waiting& waiting, TimePoint now) const {
  return waiting.deadline + (engine_.outages(judge_.provider, now) - waiting.outages_before);
}

TimePoint Judging::deadline(std::uint64_t unit, TimePoint now) {
  return deadline_of(waiting_.at(unit), now);
}

Spend Judging::leave(std::uint64_t unit) {
  auto node = waiting_.extract(unit);
  if (node.empty()) return {};
  leave_votes(unit, node.mapped());
  return node.mapped().spend;
}

Error Judging::late() const {
  return {Reason::timed_out, "the judge's votes did not come: the time of the case was spent waiting"};
}

void Judging::cancel() {
  waiting_.clear();
  votes_.clear();
  by_number_.clear();
  late_.clear();
  again_.clear();
}

}  // namespace sluice
