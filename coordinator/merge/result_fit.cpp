#include "coordinator/merge/result_fit.hpp"

#include "coordinator/gate/billionths.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {
namespace {

/// Positions come from a worker: each is checked before it is used, and each expectation must be either
/// matched or missing, and each claim is counted once, or the counts would not be those of this case.
bool claims_fit(const Case& fixture, const UnitResult& unit, const ClaimsScore& score) {
  const std::size_t claims = unit.claims.size();
  const auto in_range = [&](const ClaimMatch& match, std::size_t expectations) {
    return match.expectation < expectations && match.claim < claims;
  };
  std::vector<bool> seen(fixture.must_contain.size());
  const auto first_time = [&](std::uint32_t expectation) {
    if (expectation >= seen.size() || seen[expectation]) return false;
    seen[expectation] = true;
    return true;
  };
  std::vector<bool> counted(claims);
  const auto counts_once = [&](std::uint32_t claim) {
    if (claim >= claims || counted[claim]) return false;
    counted[claim] = true;
    return true;
  };
  return std::ranges::all_of(score.matched,
                             [&](const ClaimMatch& match) {
                               return in_range(match, seen.size()) && first_time(match.expectation) &&
                                      counts_once(match.claim);
                             }) &&
         std::ranges::all_of(score.missing, first_time) &&
         score.matched.size() + score.missing.size() == seen.size() &&
         std::ranges::all_of(score.unexpected, counts_once) &&
         std::ranges::all_of(score.forbidden, [&](const ClaimMatch& match) {
           return in_range(match, fixture.must_not_contain.size());
         });
}

bool is_word_of(const MetricOutcome& outcome) {
  if (outcome.is_undecided()) return true;
  if (info(outcome.id).kind == MetricKind::pass_fail) return outcome.passed.has_value();
  // Of claims alone there may be 0 of 0.
  if (!outcome.score) return is_claims_metric(outcome.id);
  return *outcome.score >= 0.0 && *outcome.score <= 1.0;
}

/// What a judge metric's outcome says is what its votes come to.
bool is_made_of(const MetricOutcome& outcome, const JudgeScore& judged) {
  return judged.metric == outcome.id && !judged.votes.empty() && outcome.passed == judged.passed() &&
         outcome.score && billionths(*outcome.score) == billionths(judged.score());
}

/// Each judge metric that the case asks for, and no other, with its votes, in the order of the expectations.
bool judges_all(const Case& fixture, const TrialScore& score) {
  auto judged = score.judged.begin();
  auto outcome = score.metrics.begin();
  for (const Expectation& expectation : fixture.expectations) {
    const MetricId id = expectation.what.metric;
    if (!is_judge_metric(id)) continue;
    outcome =
        std::find_if(outcome, score.metrics.end(), [id](const MetricOutcome& one) { return one.id == id; });
    if (outcome == score.metrics.end() || judged == score.judged.end()) return false;
    if (!is_made_of(*outcome++, *judged++)) return false;
  }
  return judged == score.judged.end();
}

/// A label is one of the suite's, and the expected one passes alone.
bool has_its_label(const TextExpectation& what, const MetricOutcome& outcome, const SuiteLabels& labels) {
  if (what.metric != MetricId::label || outcome.is_undecided()) return true;
  const auto all = labels.find(what.texts[1]);
  const bool is_known = all != labels.end() && std::ranges::count(all->second, outcome.label) > 0;
  return (outcome.label.empty() || is_known) && outcome.passed == (outcome.label == what.texts.front());
}

/// A metric that nobody answered would assess nothing, and the case pass for want of an answer.
bool answers_all(const Case& fixture, std::span<const MetricOutcome> outcomes, const SuiteLabels& labels) {
  if (!std::ranges::all_of(outcomes, is_word_of)) return false;
  const auto has = [&](MetricId id) {
    return std::ranges::find(outcomes, id, &MetricOutcome::id) != outcomes.end();
  };
  if (fixture.expectations.empty()) {
    using enum MetricId;
    const bool has_absent = !fixture.must_contain.empty() || has(claims_absent);
    return has_absent && has(claims_precision) && has(claims_recall) && has(claims_f1) &&
           has(claims_required) && has(claims_forbidden);
  }
  // Those of texts come in the order of the expectations.
  auto next = outcomes.begin();
  return std::ranges::all_of(fixture.expectations, [&](const Expectation& expectation) {
    const MetricId id = expectation.what.metric;
    if (is_claims_metric(id)) return has(id);
    if (is_judge_metric(id)) return true;  // judges_all
    next = std::find_if(next, outcomes.end(), [id](const MetricOutcome& one) { return one.id == id; });
    return next != outcomes.end() && has_its_label(expectation.what, *next++, labels);
  });
}

}  // namespace

bool fits_case(const Case& test_case, const UnitResult& unit, const SuiteLabels& labels) {
  if (unit.scores.size() != 1) return false;
  const TrialScore& score = unit.scores.front();
  return answers_all(test_case, score.metrics, labels) && judges_all(test_case, score) &&
         claims_fit(test_case, unit, score.claims);
}

}  // namespace sluice
