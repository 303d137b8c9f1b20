#include "coordinator/merge/case_result.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>

namespace sluice {
namespace {

// Positions come from a worker: each is checked before it is used, and each expectation must be either
// matched or missing, or the counts would not be those of this case.
bool fits(const Case& fixture, const UnitResult& unit, const ClaimsScore& score) {
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
  return std::ranges::all_of(score.matched,
                             [&](const ClaimMatch& match) {
                               return in_range(match, seen.size()) && first_time(match.expectation);
                             }) &&
         std::ranges::all_of(score.missing, first_time) &&
         score.matched.size() + score.missing.size() == seen.size() &&
         std::ranges::all_of(score.unexpected, [&](std::uint32_t claim) { return claim < claims; }) &&
         std::ranges::all_of(score.forbidden, [&](const ClaimMatch& match) {
           return in_range(match, fixture.must_not_contain.size());
         });
}

bool is_word_of(const MetricOutcome& outcome) {
  if (info(outcome.id).kind == MetricKind::pass_fail) return outcome.passed.has_value();
  // Of claims alone there may be 0 of 0.
  if (!outcome.score) return is_claims_metric(outcome.id);
  return *outcome.score >= 0.0 && *outcome.score <= 1.0;
}

// A metric that nobody answered would judge nothing, and the case pass for want of a judge.
bool answers_all(const Case& fixture, std::span<const MetricOutcome> outcomes) {
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
    next = std::find_if(next, outcomes.end(), [id](const MetricOutcome& one) { return one.id == id; });
    return next != outcomes.end() && (++next, true);
  });
}

Counts counts_of(const ClaimsScore& score) {
  return {.true_positives = score.matched.size(),
          .false_positives = score.unexpected.size(),
          .false_negatives = score.missing.size()};
}

// Hands out each trial of the plan, with the committed result or with the reason why there is none.
class PlanOrder {
 public:
  PlanOrder(const RunResults& results, const std::function<void(const CaseResult&)>& visit)
      : results_(results), visit_(visit) {}

  void committed(const CommittedTrial& trial) {
    if (broken_) return;
    if (trial.trial < next_ || trial.trial >= results_.trials) {
      broken_ = Error{Reason::internal_error,
                      "the committed results name trial " + std::to_string(trial.trial) +
                          ", which is not of this run's plan or came before; please report this as a defect"};
      return;
    }
    skip_to(trial.trial);
    if (const auto one = next_case()) hand_out(*one, trial);
  }

  Result<void> finish() {
    skip_to(results_.trials);
    if (broken_) return fail(*broken_);
    return {};
  }

 private:
  /// The case of the next trial, which it moves on from; null if its file cannot be read any more.
  CaseRef next_case() {
    auto one = results_.suite.cases.read(results_.case_of(static_cast<TrialId>(next_)));
    if (!one) {
      if (!broken_) broken_ = std::move(one.error());
      return nullptr;
    }
    ++next_;
    return *one;
  }

  void skip_to(std::size_t trial) {
    while (!broken_ && next_ < trial) {
      const auto number = static_cast<TrialId>(next_);
      const auto one = next_case();
      if (!one) return;
      const Error error = results_.unfinished(number);
      visit_({.fixture = *one, .trial = number, .error = &error, .counts = {}});
    }
  }

  void hand_out(const Case& fixture, const CommittedTrial& trial) {
    CaseResult result{.fixture = fixture, .trial = trial.trial, .unit = &trial.unit, .counts = {}};
    if (trial.unit.error) {
      result.error = &*trial.unit.error;
      return visit_(result);
    }
    const bool scored =
        trial.unit.scores.size() == 1 && answers_all(fixture, trial.unit.scores.front().metrics);
    if (!scored || !fits(fixture, trial.unit, trial.unit.scores.front().claims)) {
      const Error error{Reason::internal_error, "the result of case \"" + fixture.id +
                                                    "\" does not fit the case; are the worker and the "
                                                    "coordinator of the same version?"};
      result.error = &error;
      return visit_(result);
    }
    result.score = &trial.unit.scores.front();
    result.judgement = results_.gate.judge(fixture, result.score->metrics);
    result.status = result.judgement.status;
    if (fixture.kind == CaseKind::claims) result.counts = counts_of(result.score->claims);
    visit_(result);
  }

  const RunResults& results_;
  const std::function<void(const CaseResult&)>& visit_;
  std::size_t next_ = 0;
  std::optional<Error> broken_;
};

// The last two segments: what the matcher compares of a subject.
std::string_view tail(std::string_view subject) {
  const auto last = subject.rfind('/');
  if (last == std::string_view::npos || last == 0) return subject;
  const auto before = subject.rfind('/', last - 1);
  return before == std::string_view::npos ? subject : subject.substr(before + 1);
}

const FinalClaim* nearest_claim(const ExpectedClaim& expected, const CaseResult& result) {
  const auto is_taken = [&](std::size_t claim) {
    return std::ranges::any_of(result.score->claims.matched,
                               [&](const ClaimMatch& match) { return match.claim == claim; });
  };
  const auto nearness = [&](const FinalClaim& claim) {
    const bool same_predicate = claim.predicate == expected.predicate;
    return std::tuple(same_predicate, same_predicate && to_text(claim.value) == to_text(expected.value),
                      claim.confidence);
  };
  const FinalClaim* best = nullptr;
  const auto& claims = result.unit->claims;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (tail(claims[i].concept_path) != tail(expected.subject) || is_taken(i)) continue;
    if (best == nullptr || nearness(claims[i]) > nearness(*best)) best = &claims[i];
  }
  return best;
}

}  // namespace

Result<void> visit_cases(const RunResults& results, const std::function<void(const CaseResult&)>& visit) {
  PlanOrder plan_order(results, visit);
  const auto visited =
      results.source.visit([&](const CommittedTrial& trial) { plan_order.committed(trial); });
  if (!visited) return fail(visited.error());
  return plan_order.finish();
}

void explain(const CaseResult& result, CaseDetails& details) {
  details.missing.clear();
  details.unexpected.clear();
  details.forbidden.clear();
  if (result.score == nullptr) return;
  const ClaimsScore& score = result.score->claims;
  const auto& claims = result.unit->claims;
  for (const auto index : score.missing) {
    const ExpectedClaim& expected = result.fixture.must_contain[index];
    const FinalClaim* got = nearest_claim(expected, result);
    const bool unsure = got != nullptr && got->confidence < result.fixture.min_confidence;
    details.missing.push_back({.expected = &expected, .got = got, .below_min_confidence = unsure});
  }
  for (const auto& match : score.forbidden) {
    details.forbidden.push_back(
        {.forbidden = &result.fixture.must_not_contain[match.expectation], .got = &claims[match.claim]});
  }
  for (const auto index : score.unexpected) {
    const bool is_forbidden =
        std::ranges::any_of(score.forbidden, [&](const ClaimMatch& match) { return match.claim == index; });
    if (!is_forbidden) details.unexpected.push_back(&claims[index]);
  }
}

}  // namespace sluice
