#pragma once

#include "coordinator/suite/examples/plugin_file.hpp"
#include "coordinator/suite/examples/solved_examples.hpp"

#include <variant>

namespace sluice {

/// The nearest example is near enough to be followed.
struct Hit {
  const SolvedExample* example;  ///< Never null.
  double score;                  ///< Its similarity, 0..1 in whole billionths.
};

/// It is near enough to be shown as guidance.
struct Degraded {
  const SolvedExample* near_match;  ///< Never null.
  double score;
};

/// Nothing is near enough.
struct Miss {};

/// What retrieval found for a case: one of three, each with what it needs and nothing else.
using RetrievalOutcome = std::variant<Hit, Degraded, Miss>;

/// The two rules, on a similarity in whole billionths. No similarity meets both.
bool is_hit(double score, const Floors& floors);
bool is_degraded(double score, const Floors& floors);

/// What the nearest example comes to. The similarity is rounded to a billionth first, so that what machines
/// compute differently beyond that does not decide; one that is no number is a miss. Pure. REQUIRES: floors
/// that a plugin file may have; the example must outlive the outcome.
RetrievalOutcome classify(const SolvedExample& nearest, double similarity, const Floors& floors);

/// What the example of an outcome is shown as, in front of what the case asks; empty for a miss.
std::string render(const RetrievalOutcome& outcome, const Plugin& plugin);

}  // namespace sluice
