#include "worker/scoring/matcher.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace sluice {
namespace {

constexpr double number_tolerance = 0.001;
constexpr std::size_t none = ~std::size_t{0};

bool numbers_match(double a, double b) {
  // Decimals lose a little as binary numbers, so that 0.501 - 0.5 is above 0.001 and 1.001 - 1 below it.
  // Where that little is more than a tolerance, numbers that differ are whole ones apart.
  const double noise = 2 * std::numeric_limits<double>::epsilon() * std::max(std::abs(a), std::abs(b));
  return std::abs(a - b) <= number_tolerance + std::min(noise, number_tolerance / 2);
}

bool text_matches(const std::string& text, const ClaimValue& other) {
  if (const auto* words = std::get_if<std::string>(&other)) return text == *words;
  if (const auto* boolean = std::get_if<bool>(&other)) return boolean_word(text) == *boolean;
  const auto number = number_word(text);
  return number && numbers_match(*number, std::get<double>(other));
}

std::string_view tail(std::string_view path) {
  const std::size_t last = path.rfind('/');
  if (last == std::string_view::npos || last == 0) return path;
  const std::size_t before = path.rfind('/', last - 1);
  return before == std::string_view::npos ? path : path.substr(before + 1);
}

/// A claim as it counts: identical ones in one.
struct Candidate {
  std::string form;            ///< canonical_form
  std::uint32_t position = 0;  ///< Of the first of them.
  double confidence = 0.0;     ///< The highest of them.
};

/// What counts of the claims, by canonical form, so that nothing depends on the order of the claims.
std::vector<Candidate> countable(const std::vector<FinalClaim>& claims, double min_confidence) {
  std::vector<Candidate> candidates;
  candidates.reserve(claims.size());
  for (std::size_t i = 0; i < claims.size(); ++i) {
    candidates.push_back({canonical_form(claims[i]), static_cast<std::uint32_t>(i), claims[i].confidence});
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    const int order = a.form.compare(b.form);
    return order != 0 ? order < 0 : a.position < b.position;
  });
  std::vector<Candidate> distinct;
  for (Candidate& candidate : candidates) {
    if (!distinct.empty() && distinct.back().form == candidate.form) {
      distinct.back().confidence = std::max(distinct.back().confidence, candidate.confidence);
    } else {
      distinct.push_back(std::move(candidate));
    }
  }
  std::erase_if(distinct, [&](const Candidate& c) { return c.confidence < min_confidence; });
  return distinct;
}

/// For each expectation the candidates that match it: the identical one first, then by canonical form.
std::vector<std::vector<std::size_t>> find_matches(const std::vector<ExpectedClaim>& expectations,
                                                   const std::vector<FinalClaim>& claims,
                                                   const std::vector<Candidate>& candidates) {
  std::vector<std::vector<std::size_t>> matches(expectations.size());
  for (std::size_t e = 0; e < expectations.size(); ++e) {
    const ExpectedClaim& expectation = expectations[e];
    std::string form;
    for (std::size_t c = 0; c < candidates.size(); ++c) {
      if (!claim_matches(claims[candidates[c].position], expectation)) continue;
      if (form.empty()) form = canonical_form(expectation.subject, expectation.predicate, expectation.value);
      matches[e].push_back(c);
      if (candidates[c].form == form) std::rotate(matches[e].begin(), matches[e].end() - 1, matches[e].end());
    }
  }
  return matches;
}

/// Maximum bipartite matching by shortest augmenting paths, searched breadth first: no recursion, whatever
/// the size.
class Matching {
 public:
  Matching(const std::vector<std::vector<std::size_t>>& edges, std::size_t candidates)
      : edges_(edges),
        candidate_of_(edges.size(), none),
        expectation_of_(candidates, none),
        reached_from_(candidates) {
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      if (!edges_[e].empty() && expectation_of_[edges_[e].front()] == none) join(e, edges_[e].front());
    }
    for (std::size_t e = 0; e < edges_.size(); ++e) {
      if (candidate_of_[e] == none && !edges_[e].empty()) augment(e);
    }
  }

  std::size_t candidate_of(std::size_t expectation) const { return candidate_of_[expectation]; }
  bool takes(std::size_t candidate) const { return expectation_of_[candidate] != none; }

 private:
  void join(std::size_t expectation, std::size_t candidate) {
    candidate_of_[expectation] = candidate;
    expectation_of_[candidate] = expectation;
  }

  void augment(std::size_t start) {
    std::fill(reached_from_.begin(), reached_from_.end(), none);
    queue_.assign(1, start);
    for (std::size_t i = 0; i < queue_.size(); ++i) {
      const std::size_t expectation = queue_[i];
      for (const std::size_t candidate : edges_[expectation]) {
        if (reached_from_[candidate] != none) continue;
        reached_from_[candidate] = expectation;
        if (expectation_of_[candidate] == none) return flip(candidate);
        queue_.push_back(expectation_of_[candidate]);
      }
    }
  }

  /// Follows the path back to its start, and turns unmatched edges into matched ones.
  void flip(std::size_t candidate) {
    while (candidate != none) {
      const std::size_t expectation = reached_from_[candidate];
      const std::size_t previous = candidate_of_[expectation];
      join(expectation, candidate);
      candidate = previous;
    }
  }

  const std::vector<std::vector<std::size_t>>& edges_;
  std::vector<std::size_t> candidate_of_;
  std::vector<std::size_t> expectation_of_;
  std::vector<std::size_t> reached_from_;
  std::vector<std::size_t> queue_;
};

}  // namespace

bool values_match(const ClaimValue& a, const ClaimValue& b) {
  if (const auto* text = std::get_if<std::string>(&a)) return text_matches(*text, b);
  if (const auto* text = std::get_if<std::string>(&b)) return text_matches(*text, a);
  if (a.index() != b.index()) return false;
  if (const auto* number = std::get_if<double>(&a)) return numbers_match(*number, std::get<double>(b));
  return a == b;
}

bool subjects_match(std::string_view a, std::string_view b) {
  return tail(a) == tail(b);
}

bool claim_matches(const FinalClaim& claim, const ExpectedClaim& expectation) {
  return claim.predicate == expectation.predicate &&
         subjects_match(claim.concept_path, expectation.subject) &&
         values_match(claim.value, expectation.value);
}

ClaimsScore match_claims(const std::vector<FinalClaim>& claims, const ScoringTask& task) {
  const std::vector<Candidate> candidates = countable(claims, task.min_confidence);
  const auto wanted = find_matches(task.must_contain, claims, candidates);
  const Matching matching(wanted, candidates.size());
  ClaimsScore score;
  for (std::size_t e = 0; e < wanted.size(); ++e) {
    const std::size_t candidate = matching.candidate_of(e);
    const auto expectation = static_cast<std::uint32_t>(e);
    if (candidate == none) {
      score.missing.push_back(expectation);
    } else {
      score.matched.push_back({expectation, candidates[candidate].position});
    }
  }
  for (std::size_t c = 0; c < candidates.size(); ++c) {
    if (!matching.takes(c)) score.unexpected.push_back(candidates[c].position);
  }
  std::sort(score.unexpected.begin(), score.unexpected.end());
  const auto unwanted = find_matches(task.must_not_contain, claims, candidates);
  for (std::size_t e = 0; e < unwanted.size(); ++e) {
    if (unwanted[e].empty()) continue;
    score.forbidden.push_back({static_cast<std::uint32_t>(e), candidates[unwanted[e].front()].position});
  }
  return score;
}

}  // namespace sluice
