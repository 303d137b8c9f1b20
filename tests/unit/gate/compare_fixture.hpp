#pragma once

#include "coordinator/gate/compare.hpp"
#include "gate_fixture.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

/// What the tests of comparisons share.
namespace sluice::compare_test {

inline NextCase cases_of(std::vector<ComparedCase> cases) {
  const auto all = std::make_shared<std::vector<ComparedCase>>(std::move(cases));
  return [all, next = std::size_t{0}]() mutable -> Result<const ComparedCase*> {
    return next == all->size() ? nullptr : &(*all)[next++];
  };
}

inline ComparedCase scored(std::string id, std::optional<double> score, Thresholding thresholding = {}) {
  ComparedMetric metric;
  metric.name = similarity;
  metric.score = score;
  metric.thresholding = thresholding;
  return {std::move(id), false, {metric}};
}

/// A text with repeats, assessed by its similarity.
inline ComparedCase repeated(std::string id, std::vector<std::optional<double>> scores,
                             Thresholding thresholding = {}) {
  ComparedCase one = scored(std::move(id), scores.front(), thresholding);
  one.metrics[0].repeat_scores = std::move(scores);
  return one;
}

struct Outcome {
  CompareSummary summary;
  std::map<std::string, ScoreComparison> rows;  ///< By test and metric; the texts of a row are gone.
};

inline Outcome compare_all(const NextCase& base, const NextCase& current, const CompareRules& rules = {}) {
  Outcome outcome;
  const auto compared = compare(base, current, rules, [&](const ScoreComparison& row) {
    const auto name = std::string(row.test_id) + " " + std::string(row.metric);
    EXPECT_TRUE(outcome.rows.try_emplace(name, row).second) << name;
  });
  EXPECT_TRUE(compared);
  if (compared) outcome.summary = *compared;
  return outcome;
}

inline RowChange change(const Outcome& outcome, const std::string& id) {
  return outcome.rows.at(id + " " + similarity).change;
}

}  // namespace sluice::compare_test
