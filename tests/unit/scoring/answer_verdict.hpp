#pragma once

#include "common/text/text.hpp"
#include "worker/scoring/text_metrics.hpp"

#include <string>

#include <gtest/gtest.h>

/// What the tests of checks share.
namespace sluice::answer_checks_test {

/// Whether an answer passes, and why not: "pass", or the detail.
inline std::string verdict(const CheckedAnswer& answer, const TextExpectation& expectation) {
  const TextChecker checker;
  const auto outcome = checker.assess(answer, expectation);
  if (!outcome) return "error: " + outcome.error().message;
  EXPECT_EQ(outcome->id, expectation.metric);
  if (outcome->is_undecided()) return "undecided: " + outcome->detail;
  if (!outcome->passed) return outcome->score ? "score " + shortest(*outcome->score) : "undefined";
  if (*outcome->passed) return outcome->detail.empty() ? "pass" : "pass: " + outcome->detail;
  EXPECT_FALSE(outcome->detail.empty());
  return outcome->detail;
}

}  // namespace sluice::answer_checks_test
