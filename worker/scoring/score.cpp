#include "worker/scoring/score.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "worker/scoring/claims_parser.hpp"
#include "worker/scoring/matcher.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

namespace sluice {
namespace {

/// Nothing for 0/0: undefined is not zero.
std::optional<double> ratio(std::size_t part, std::size_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

MetricOutcome scored(MetricId id, std::optional<double> score) {
  return {id, score, std::nullopt, ""};
}
MetricOutcome assessed(MetricId id, bool passed) {
  return {id, std::nullopt, passed, ""};
}

void assess_claims(const std::vector<FinalClaim>& claims, const ScoringTask& task, TrialScore& score) {
  score.claims = match_claims(claims, task);
  const std::size_t true_positives = score.claims.matched.size();
  const std::size_t false_positives = score.claims.unexpected.size();
  const std::size_t false_negatives = score.claims.missing.size();
  score.metrics = {
      scored(MetricId::claims_precision, ratio(true_positives, true_positives + false_positives)),
      scored(MetricId::claims_recall, ratio(true_positives, true_positives + false_negatives)),
      scored(MetricId::claims_f1,
             ratio(2 * true_positives, 2 * true_positives + false_positives + false_negatives)),
      assessed(MetricId::claims_required, score.claims.missing.empty()),
      assessed(MetricId::claims_forbidden, score.claims.forbidden.empty()),
  };
  if (task.must_contain.empty()) {
    score.metrics.push_back(assessed(MetricId::claims_absent, score.claims.unexpected.empty()));
  }
}

/// Reads the answer's claims into the result; false if they are unparsable, with the error set.
bool read_claims(const Completion& completion, const Ontology& ontology,
                 std::optional<std::vector<ParsedClaim>> read, UnitResult& out) {
  Result<std::vector<ParsedClaim>> parsed = read ? std::move(*read) : parse_claims(completion.text);
  if (!parsed) {
    out.error = std::move(parsed.error());
    return false;
  }
  out.parsed = std::move(*parsed);
  out.claims.reserve(out.parsed.size());
  for (const ParsedClaim& claim : out.parsed) out.claims.push_back(ontology.resolve(claim));
  return true;
}

Result<void> add_judged(std::span<const GivenVotes> votes, const ScoringTask& task, TrialScore& score) {
  for (std::size_t i = 0; i < task.judged.size(); ++i) {
    const JudgeExpectation& expectation = task.judged[i];
    JudgeScore judged;
    if (expectation.recorded) {
      judged = *expectation.recorded;
    } else if (i < votes.size() && !votes[i].votes.empty()) {
      judged = count_votes(expectation.metric, votes[i].votes, expectation.min_score, votes[i].source);
    } else {
      return fail(Reason::internal_error, "the votes of a judge metric are missing");
    }
    score.metrics.push_back({expectation.metric, judged.score(), judged.passed(), detail_of(judged)});
    score.judged.push_back(std::move(judged));
  }
  return {};
}

Error too_many_unmatched(std::size_t claims, std::size_t tests) {
  return {Reason::answer_too_large, "the answer's " + std::to_string(claims) +
                                        " claims are more than a result "
                                        "of " +
                                        std::to_string(tests) +
                                        " tests with the same request can hold; "
                                        "spread these tests over several suites"};
}

/// Takes the scores back: a unit has all of them or an error.
void clear_scores(UnitResult& out) {
  out.parsed.clear();
  out.claims.clear();
  out.shown_text.clear();
  out.scores.clear();
}

TakenNonAnswers taken_by(const ScoringTask& task) {
  return {std::ranges::any_of(task.texts, checks_refusal), std::ranges::any_of(task.texts, expects_empty)};
}

/// Where the answer itself is the error its beginning is shown, or nobody could see why.
void show_rejected_text(const Completion& completion, UnitResult& out) {
  out.shown_text = shown_beginning(completion.text, true);
}

}  // namespace

bool takes(const ScoringTask& task, const Completion& non_answer) {
  return taken_by(task).has(non_answer);
}

TakenNonAnswers taken_by_all(const WorkUnit& unit) {
  if (unit.tasks.empty()) return {};
  TakenNonAnswers taken{true, true};
  for (const ScoringTask& task : unit.tasks) {
    const TakenNonAnswers one = taken_by(task);
    taken = {taken.refusals && one.refusals, taken.empty_answers && one.empty_answers};
  }
  return taken;
}

std::string detail_of(const JudgeScore& judged) {
  if (judged.passed()) return {};
  return std::string(beginning(one_line(to_valid_utf8(judged.rationale)), defaults::max_detail_bytes));
}

std::string shown_beginning(std::string_view text, bool is_error) {
  if (!is_error) return std::string(beginning(text, defaults::max_shown_bytes));
  // What is looked at is bounded too: white space shrinks.
  const std::string_view begin = beginning(text, 4 * defaults::max_shown_bytes);
  return std::string(beginning(one_line(to_valid_utf8(begin)), defaults::max_shown_bytes));
}

Result<TrialScore> score_trial(const AssessedAnswer& answer, const ScoringTask& task,
                               const TextChecker& assess) {
  TrialScore score;
  score.trial = task.trial;
  if (task.assesses_claims) assess_claims(answer.claims, task, score);
  for (const TextExpectation& expectation : task.texts) {
    auto outcome = expectation.metric == MetricId::semantic_similarity_to
                       ? assess_similarity(answer.checked.text, expectation, answer.embedded)
                       : assess.assess(answer.checked, expectation);
    if (!outcome) return fail(std::move(outcome.error()));
    score.metrics.push_back(std::move(*outcome));
  }
  if (auto done = add_judged(answer.votes, task, score); !done) return fail(std::move(done.error()));
  return score;
}

void score_answer(const Completion& completion, const Checks& checks, const WorkUnit& unit,
                  const Evidence& evidence, UnitResult& out, std::optional<std::vector<ParsedClaim>> read) {
  out.usage = completion.usage;
  out.error = completion.non_answer;
  clear_scores(out);
  if (out.error) {
    show_rejected_text(completion, out);
  } else if (std::ranges::any_of(unit.tasks, &ScoringTask::assesses_claims) &&
             !read_claims(completion, checks.ontology, std::move(read), out)) {
    return show_rejected_text(completion, out);
  }
  const auto shows_text = [](const ScoringTask& task) { return !task.texts.empty() || !task.judged.empty(); };
  if (!out.error && std::ranges::any_of(unit.tasks, shows_text))
    out.shown_text = shown_beginning(completion.text, false);
  CheckedAnswer checked(completion.text);
  checked.is_refusal = is_native_refusal(completion);
  checked.calls = completion.calls;
  checked.tools = unit.request.extras.tools;
  checked.usage = completion.usage;
  checked.latency_ms = completion.latency_ms;
  checked.is_recorded = unit.recorded.has_value();
  out.scores.reserve(unit.tasks.size());
  std::size_t unmatched = 0;
  for (std::size_t i = 0; i < unit.tasks.size(); ++i) {
    if (completion.non_answer && !takes(unit.tasks[i], completion)) continue;
    const auto votes = i < evidence.votes.size() ? std::span<const GivenVotes>(evidence.votes[i])
                                                 : std::span<const GivenVotes>();
    auto score =
        score_trial({checked, out.claims, evidence.embedded, votes}, unit.tasks[i], checks.text_checker);
    if (score) unmatched += score->claims.unexpected.size();
    if (unmatched > checks.max_unmatched_claims)
      score = fail(too_many_unmatched(out.claims.size(), unit.tasks.size()));
    if (!score) {
      clear_scores(out);
      out.error = std::move(score.error());
      return;
    }
    out.scores.push_back(std::move(*score));
  }
}

}  // namespace sluice
