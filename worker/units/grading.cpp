#include "worker/units/grading.hpp"

#include "common/model/cache_key.hpp"
#include "common/model/comparison.hpp"
#include "common/model/request_text.hpp"
#include "common/model/sampling.hpp"
#include "config/embedded_config.hpp"
#include "worker/scoring/grading.hpp"
#include "worker/scoring/score.hpp"
#include "worker/units/answer_schema.hpp"
#include "worker/units/disclosure.hpp"
#include "worker/units/embeddings.hpp"
#include "worker/units/judging.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice {

namespace {

constexpr std::string_view comparison_schema_name = "comparison";
/// Numbers of calls for baselines' answers have this bit; the comparer's own do not.
constexpr std::uint64_t of_baseline = 1ull << 63;

/// Names which of the unit's calls it was that failed.
Error baseline_error(const Error& error) {
  return Error{error.reason, "the baseline's answer did not come: " + error.message};
}

/// What the comparer is to get for a pair, in the words of its own metrics.
WorkUnit comparison_of(const ModelRequest& request, std::string_view baseline, GradeJudge judge) {
  ScoringTask task;
  task.assesses_claims = false;
  if (judge == GradeJudge::embedding) {
    task.texts = {{MetricId::semantic_similarity_to, {std::string(baseline)}}};
  } else {
    const std::string instructions = request.system ? *request.system : std::string();
    for (std::uint32_t order = 0; order < 2; ++order) {
      task.judged.push_back({MetricId::rubric, order, 1, 0.5, std::string(baseline), instructions});
    }
    task.question.prompt = transcript(request.extras.messages, request.user);
  }
  WorkUnit work;
  work.tasks = {std::move(task)};
  return work;
}

}  // namespace

Grading::Grading(const RunSettings& settings, std::shared_ptr<AnswerStore> store, CallEngine& engine,
                 std::uint32_t owner, const KeyMask& keys)
    : settings_(settings), store_(std::move(store)), engine_(engine), owner_(owner), keys_(keys) {
  if (!settings.grading) return;
  grading_ = &*settings.grading;
  const auto found = std::ranges::find(settings.providers, grading_->provider, &ProviderSettings::name);
  if (found != settings.providers.end()) provider_ = &*found;
  if (grading_->judge == GradeJudge::embedding) {
    comparer_ = std::make_unique<Embeddings>(settings, store_, engine, owner);
  } else if (grading_->judge == GradeJudge::llm) {
    llm_ = grading_->llm;
    llm_.temperature = steadiest_temperature(llm_.model);
    llm_.rubrics = comparison_rubrics();
    const VoteForm form{comparison_schema_name, share(std::string(embedded::comparison_schema)),
                        read_comparison, Reason::grade_unparsable, false};
    comparer_ = std::make_unique<Judging>(settings, llm_, form, store_, engine, owner, keys);
  }
}

std::optional<std::variant<Evidence, Error>> Grading::begin(std::uint64_t unit, const WorkUnit& work,
                                                            std::string_view answer, TimePoint deadline,
                                                            const Moment& moment) {
  if (!grading_) return Evidence{};
  if (!provider_) return Error{Reason::internal_error, "the run has no provider for the baseline's answers"};
  ModelRequest request = baseline_request(*grading_, work.request);
  const Digest key = cache_key(*provider_, request, work.repeat);
  const auto at = pairs_.try_emplace(unit, std::move(request), key, taken_by_all(work), *store_).first;
  Pair& pair = at->second;
  pair.of_run = work.unit;
  pair.candidate.text = answer;
  pair.deadline = deadline;
  pair.outages_before = engine_.outages(grading_->provider, moment.now);
  Outcome outcome;
  if (settings_.mode == Mode::mock) {
    outcome =
        on_baseline(unit, pair, {mock_answer(pair.request.schema_name), "stop", "mock", {}, 0, {}}, moment);
  } else if (auto found = pair.call.find(settings_); !found) {
    pair.call_id = engine_.submit(pair.call, {owner_, of_baseline | unit}, deadline, moment);
  } else if (const auto* error = std::get_if<Error>(&*found)) {
    outcome = baseline_error(*error);
  } else {
    pair.baseline.cache_hit = true;
    outcome = on_baseline(unit, pair, std::get<Completion>(std::move(*found)), moment);
  }
  if (outcome) pairs_.erase(at);
  return outcome;
}

Grading::Outcome Grading::on_baseline(std::uint64_t unit, Pair& pair, Completion answer,
                                      const Moment& moment) {
  if (answer.non_answer && !pair.taken.has(answer)) {
    return Error{Reason::baseline_unanswered, "the baseline gave no answer to compare with (" +
                                                  std::string(to_string(answer.non_answer->reason)) + "): " +
                                                  disclosed_reason(answer, keys_, engine_.redactor())};
  }
  // As the candidate's: a provider may have said, or a cache may hold, another one's key.
  keys_.apply(answer.text);
  pair.baseline.text = std::move(answer.text);
  pair.baseline.served_model = std::move(answer.served_model);
  pair.baseline.usage = answer.usage;
  return compare(unit, pair, moment);
}

Grading::Outcome Grading::compare(std::uint64_t unit, Pair& pair, const Moment& moment) {
  if (!comparer_) return graded(pair, {});
  if (grading_->judge == GradeJudge::llm) {
    if (settings_.mode == Mode::mock) return graded(pair, {});
    if (auto error = too_long_for_judge(pair.baseline.text, "the baseline's answer"))
      return std::move(*error);
  }
  const WorkUnit work = comparison_of(pair.request, pair.baseline.text, grading_->judge);
  auto done = comparer_->begin(unit, work, pair.candidate.text, deadline(unit, moment.now), moment);
  if (!done) {
    pair.is_compared = true;
    return std::nullopt;
  }
  if (auto* error = std::get_if<Error>(&*done)) return std::move(*error);
  return graded(pair, std::get<Evidence>(*done));
}

Result<Grade> Grading::grade(const Pair& pair, const Evidence& evidence) const {
  const std::string& baseline = pair.baseline.text;
  const std::string& candidate = pair.candidate.text;
  switch (grading_->judge) {
    case GradeJudge::exact:
      return grade_exact(baseline, candidate);
    case GradeJudge::embedding:
      return grade_embedded(baseline, candidate, evidence.embedded, settings_.embedding.model);
    case GradeJudge::llm:
      break;
  }
  // Nobody compares mock answers: a tie, without orders that a bias could be read from.
  if (settings_.mode == Mode::mock) return Grade{0.5, "a mock run: nobody compared the answers", "llm:mock"};
  const auto& votes = evidence.votes.at(0);
  return grade_comparisons({votes.at(0).votes.at(0), votes.at(1).votes.at(0)}, llm_.model);
}

std::variant<Evidence, Error> Grading::graded(const Pair& pair, const Evidence& evidence) const {
  auto given = grade(pair, evidence);
  if (!given) return std::move(given.error());
  auto result = grading_result(std::move(*given), pair.baseline, pair.candidate);
  if (!result) return std::move(result.error());
  Evidence graded;
  graded.grade = std::move(*result);
  return graded;
}

void Grading::start_calls(const Moment& moment) {
  if (comparer_) comparer_->start_calls(moment);
}

void Grading::on_call_ended(const CallEnded& ended, const Moment& moment, std::vector<Enriched>& outcomes) {
  if ((ended.context.id & of_baseline) != 0) return on_baseline_call(ended, moment, outcomes);
  comparer_->on_call_ended(ended, moment, compared_);
  take_compared(outcomes);
}

/// Reads it before it is stored, as a run's own answers are: what cannot be read is no answer. What it would
/// replace may be pinned, and stays until the unit has a result.
Result<Grading::NewAnswer> Grading::take_new(Pair& pair, bool lent) {
  NewAnswer taken{pair.call.take_answer()};
  Completion& answer = taken.answer;
  if (!answer.non_answer) {
    if (auto read = read_answer(pair.request.schema_name, answer.text); !read)
      answer.non_answer = std::move(read.error());
  }
  if (lent || !settings_.write_cache) return taken;
  const auto stored = pair.call.store_if_none(answer);
  if (!stored) return fail(stored.error());
  // A refusal is no answer to pin in the place of one.
  if (answer.non_answer && !pair.taken.has(answer)) return taken;
  taken.paid = PaidBaseline{pair.call.entry_key().digest, answer_digest(answer)};
  if (!*stored) taken.paid->unstored = answer;
  return taken;
}

void Grading::charge(const CallEnded& ended, Spend& spend) {
  add_costs(spend, ended.spend);
  add_answer(spend, CallKind::baseline, ended);
}

void Grading::on_baseline_call(const CallEnded& ended, const Moment& moment,
                               std::vector<Enriched>& outcomes) {
  const std::uint64_t unit = ended.context.id & ~of_baseline;
  if (const auto gone = left_.find(unit); gone != left_.end()) {
    UnitSpend& late = late_.emplace_back(UnitSpend{gone->second.of_run, {}});
    charge(ended, late.spend);
    if (!ended.error) {
      if (const auto kept = take_new(gone->second, ended.lent); !kept)
        engine_.report_unusable_entry(kept.error());
    }
    left_.erase(gone);
    return;
  }
  const auto at = pairs_.find(unit);
  if (at == pairs_.end()) return;
  Pair& pair = at->second;
  pair.call_id = 0;
  charge(ended, pair.spend);
  if (ended.error) return finish(at, baseline_error(*ended.error), outcomes);
  pair.baseline.latency_ms = ended.latency_ms;
  auto taken = take_new(pair, ended.lent);
  if (!taken) return finish(at, std::move(taken.error()), outcomes);
  if (taken->paid) baselines_.push_back({unit, std::move(*taken->paid)});
  if (auto outcome = on_baseline(unit, pair, std::move(taken->answer), moment))
    finish(at, std::move(*outcome), outcomes);
}

void Grading::finish(Pairs::iterator pair, std::variant<Evidence, Error> result,
                     std::vector<Enriched>& outcomes) {
  outcomes.push_back({pair->first, std::move(result), pair->second.spend});
  pairs_.erase(pair);
}

void Grading::take_compared(std::vector<Enriched>& outcomes) {
  for (auto& compared : std::exchange(compared_, {})) {
    const auto at = pairs_.find(compared.unit);
    if (at == pairs_.end()) continue;
    add_costs(at->second.spend, compared.spend);
    if (auto* error = std::get_if<Error>(&compared.result)) {
      finish(at, std::move(*error), outcomes);
      outcomes.back().given_up = compared.given_up;
    } else {
      finish(at, graded(at->second, std::get<Evidence>(compared.result)), outcomes);
    }
  }
}

void Grading::on_entry(const EntryKey& key, std::string_view entry, std::vector<Enriched>& outcomes) {
  if (!comparer_) return;
  comparer_->on_entry(key, entry, compared_);
  take_compared(outcomes);
}

TimePoint Grading::deadline(std::uint64_t unit, TimePoint now) {
  const Pair& pair = pairs_.at(unit);
  if (pair.is_compared) return comparer_->deadline(unit, now);
  return pair.deadline + (engine_.outages(grading_->provider, now) - pair.outages_before);
}

Spend Grading::leave(std::uint64_t unit) {
  auto node = pairs_.extract(unit);
  if (node.empty()) return {};
  Pair& pair = node.mapped();
  Spend spend = pair.spend;
  if (pair.is_compared) add_costs(spend, comparer_->leave(unit));
  if (pair.call_id == 0) return spend;
  if (const auto withdrawn = engine_.withdraw(pair.call_id)) {
    add_costs(spend, *withdrawn);
  } else {
    left_.insert(std::move(node));
  }
  return spend;
}

std::vector<UnitSpend> Grading::take_late() {
  auto late = std::exchange(late_, {});
  if (comparer_) std::ranges::move(comparer_->take_late(), std::back_inserter(late));
  return late;
}

Error Grading::late() const {
  return {Reason::timed_out,
          "the answer was not compared with the baseline's: the time of the case was spent waiting"};
}

void Grading::cancel() {
  if (comparer_) comparer_->cancel();
  pairs_.clear();
  left_.clear();
  baselines_.clear();
  late_.clear();
  compared_.clear();
}

}  // namespace sluice
