#pragma once

#include "coordinator/facts/quality.hpp"
#include "coordinator/statistics/intervals.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

/// Grades over some tests. Grades of one test share its prompt, or even its answers, and are no independent
/// evidence.
struct QualityTotals {
  std::uint64_t tests = 0;
  std::uint64_t grades = 0;
  std::uint64_t compared_twice = 0;  ///< Of the grades: those that were judged in both orders.
  std::uint64_t position_flips = 0;  ///< Of these: ties, since the order decided.
  ClusteredProportion quality;       ///< Of the tests' means, each of which counts once.
  AnswerPrices baseline;
  AnswerPrices candidate;

  void add(const QualityOfTest& test);
};

/// Two arms beside each other, by one grader.
struct GroupQuality {
  QualityGroup group;
  std::map<std::string, QualityTotals, std::less<>> by_category;
  QualityTotals all;
  std::int64_t last_graded_ms = 0;  ///< Unix time.
};

/// REQUIRES: tests that are ordered by group.
std::vector<GroupQuality> quality_by_group(std::span<const QualityOfTest> tests);

/// Nothing where nothing is known.
std::optional<double> mean_cost(const AnswerPrices& prices);
std::optional<double> mean_latency_ms(const AnswerPrices& prices);

}  // namespace sluice
