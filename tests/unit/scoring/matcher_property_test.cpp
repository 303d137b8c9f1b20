#include "worker/scoring/matcher.hpp"
#include "worker/scoring/score.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice {
namespace {

/// Values of which many match each other crosswise: that is where matching is hard.
rc::Gen<ClaimValue> any_value() {
  return rc::gen::element<ClaimValue>(true, false, 1.0, 1.0008, 0.0, 2.0, std::string("1"),
                                      std::string("true"), std::string("0"), std::string("1.0"),
                                      std::string("off"), std::string("x"));
}
rc::Gen<std::string> any_subject() {
  return rc::gen::element<std::string>("a/x", "b/a/x", "c/a/x", "a/y", "y");
}

rc::Gen<FinalClaim> any_claim() {
  return rc::gen::map(rc::gen::tuple(any_subject(), rc::gen::element<std::string>("p", "p", "q"), any_value(),
                                     rc::gen::element(0.2, 0.6, 0.9)),
                      [](std::tuple<std::string, std::string, ClaimValue, double> parts) {
                        auto& [subject, predicate, value, confidence] = parts;
                        return FinalClaim{subject, predicate, value, confidence, std::nullopt, true, false};
                      });
}
rc::Gen<ExpectedClaim> any_expectation() {
  return rc::gen::map(
      rc::gen::tuple(any_subject(), rc::gen::element<std::string>("p", "p", "q"), any_value()),
      [](std::tuple<std::string, std::string, ClaimValue> parts) {
        auto& [subject, predicate, value] = parts;
        return ExpectedClaim{subject, predicate, value, std::nullopt};
      });
}

std::vector<FinalClaim> any_claims(std::size_t at_most) {
  return *rc::gen::mapcat(rc::gen::inRange<std::size_t>(0, at_most + 1), [](std::size_t size) {
    return rc::gen::container<std::vector<FinalClaim>>(size, any_claim());
  });
}
std::vector<ExpectedClaim> any_expectations(std::size_t at_most) {
  return *rc::gen::mapcat(rc::gen::inRange<std::size_t>(0, at_most + 1), [](std::size_t size) {
    return rc::gen::container<std::vector<ExpectedClaim>>(size, any_expectation());
  });
}
ScoringTask any_task(std::size_t at_most) {
  return {0, any_expectations(at_most), any_expectations(3), 0.5, true, {}};
}

/// The outcome in terms of claims instead of positions.
struct Meaning {
  std::vector<std::pair<std::uint32_t, std::string>> matched;
  std::vector<std::uint32_t> missing;
  std::multiset<std::string> unexpected;
  std::vector<std::pair<std::uint32_t, std::string>> forbidden;
  friend bool operator==(const Meaning&, const Meaning&) = default;
};

Meaning meaning(const std::vector<FinalClaim>& claims, const ScoringTask& task) {
  const ClaimsScore score = match_claims(claims, task);
  Meaning result;
  for (const ClaimMatch& m : score.matched)
    result.matched.emplace_back(m.expectation, canonical_form(claims[m.claim]));
  result.missing = score.missing;
  for (const std::uint32_t c : score.unexpected) result.unexpected.insert(canonical_form(claims[c]));
  for (const ClaimMatch& m : score.forbidden) {
    result.forbidden.emplace_back(m.expectation, canonical_form(claims[m.claim]));
  }
  return result;
}

/// The size of a maximum matching, by trying everything.
std::size_t best_matching(const std::vector<FinalClaim>& claims, const std::vector<ExpectedClaim>& wanted,
                          std::size_t from, std::set<std::string>& used) {
  if (from == wanted.size()) return 0;
  std::size_t best = best_matching(claims, wanted, from + 1, used);
  for (const FinalClaim& claim : claims) {
    if (claim.confidence < 0.5 || !claim_matches(claim, wanted[from])) continue;
    if (!used.insert(canonical_form(claim)).second) continue;
    best = std::max(best, 1 + best_matching(claims, wanted, from + 1, used));
    used.erase(canonical_form(claim));
  }
  return best;
}

RC_GTEST_PROP(Matching, OrderOfClaimsDoesNotMatter, ()) {
  const ScoringTask task = any_task(8);
  const std::vector<FinalClaim> claims = any_claims(10);
  std::vector<std::size_t> order(claims.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[*rc::gen::inRange<std::size_t>(0, i)]);
  std::vector<FinalClaim> shuffled;
  for (const std::size_t i : order) shuffled.push_back(claims[i]);
  RC_ASSERT(meaning(shuffled, task) == meaning(claims, task));
}

RC_GTEST_PROP(Matching, AddingAClaimNeverLowersRecall, ()) {
  const ScoringTask task = any_task(8);
  std::vector<FinalClaim> claims = any_claims(8);
  const std::size_t before = match_claims(claims, task).matched.size();
  const auto at = *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(claims.size()) + 1);
  claims.insert(claims.begin() + at, *any_claim());
  RC_ASSERT(match_claims(claims, task).matched.size() >= before);
}

RC_GTEST_PROP(Matching, DuplicatesChangeNothing, ()) {
  const ScoringTask task = any_task(6);
  std::vector<FinalClaim> claims = any_claims(8);
  RC_PRE(!claims.empty());
  const Meaning before = meaning(claims, task);
  FinalClaim copy = claims[*rc::gen::inRange<std::size_t>(0, claims.size())];
  copy.line = 99;
  copy.confidence = std::min(copy.confidence, *rc::gen::element(0.1, 0.9));
  const auto at = *rc::gen::inRange<std::ptrdiff_t>(0, static_cast<std::ptrdiff_t>(claims.size()) + 1);
  claims.insert(claims.begin() + at, copy);
  RC_ASSERT(meaning(claims, task) == before);
}

RC_GTEST_PROP(Matching, IsMaximum, ()) {
  const ScoringTask task = any_task(5);
  const std::vector<FinalClaim> claims = any_claims(6);
  std::set<std::string> used;
  RC_ASSERT(match_claims(claims, task).matched.size() == best_matching(claims, task.must_contain, 0, used));
}

RC_GTEST_PROP(Matching, AccountsForEveryClaimAndExpectationOnce, ()) {
  const ScoringTask task = any_task(8);
  const std::vector<FinalClaim> claims = any_claims(10);
  const ClaimsScore score = match_claims(claims, task);
  std::set<std::uint32_t> expectations(score.missing.begin(), score.missing.end());
  std::set<std::string> seen;
  for (const ClaimMatch& m : score.matched) {
    RC_ASSERT(claim_matches(claims[m.claim], task.must_contain[m.expectation]));
    RC_ASSERT(expectations.insert(m.expectation).second);
    RC_ASSERT(seen.insert(canonical_form(claims[m.claim])).second);
  }
  for (const std::uint32_t c : score.unexpected) RC_ASSERT(seen.insert(canonical_form(claims[c])).second);
  std::set<std::string> countable;
  for (const FinalClaim& claim : claims) {
    if (claim.confidence >= task.min_confidence) countable.insert(canonical_form(claim));
  }
  RC_ASSERT(expectations.size() == task.must_contain.size());
  RC_ASSERT(seen == countable);
  RC_ASSERT(std::is_sorted(score.unexpected.begin(), score.unexpected.end()));
  RC_ASSERT(std::is_sorted(score.missing.begin(), score.missing.end()));
}

RC_GTEST_PROP(Scores, StayBetweenZeroAndOne, ()) {
  const auto claims = any_claims(6);
  const TrialScore score = score_trial({"", claims, {}}, any_task(6), TextChecker()).value();
  for (const MetricOutcome& metric : score.metrics) {
    RC_ASSERT(!metric.score || (*metric.score >= 0.0 && *metric.score <= 1.0));
    RC_ASSERT(!(metric.score && metric.passed));
  }
}

}  // namespace
}  // namespace sluice
