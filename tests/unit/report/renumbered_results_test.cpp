#include "coordinator/merge/renumbered_results.hpp"

#include <utility>

#include <gtest/gtest.h>

namespace sluice::renumbered_results_test {
namespace {

/// Trials and the units whose answers they show.
class Source final : public ResultSource {
 public:
  explicit Source(std::vector<std::pair<TrialId, UnitId>> trials) : trials_(std::move(trials)) {}
  Result<void> visit_from(TrialId first, const VisitTrial& visit) const override {
    for (const auto& [trial, unit] : trials_) {
      if (trial < first) continue;
      CommittedTrial one;
      one.trial = trial;
      one.unit.unit = unit;
      one.unit.scores.resize(1);
      one.unit.scores.front().trial = trial;
      visit(one);
    }
    return {};
  }

 private:
  std::vector<std::pair<TrialId, UnitId>> trials_;
};

TEST(RenumberedResults, TrialsHaveTheirNewNumbersAndUnitsThatOfTheirFirstTrial) {
  // Of the second case nothing is left, whose trial was the first of the unit of the last one.
  const Source source({{0, 0}, {1, 1}, {2, 2}, {3, 2}, {5, 1}});
  const RenumberedResults results(source, {{0, 0, 1}, {2, 4, 2}, {5, 8, 1}});
  using Row = std::pair<TrialId, UnitId>;
  const auto rows_from = [&](TrialId first) {
    std::vector<Row> rows;
    EXPECT_TRUE(results.visit_from(first, [&](const CommittedTrial& one) {
      rows.emplace_back(one.trial, one.unit.unit);
      EXPECT_EQ(one.unit.scores.front().trial, one.trial);
    }));
    return rows;
  };
  EXPECT_EQ(rows_from(0), (std::vector<Row>{{0, 0}, {4, 4}, {5, 4}, {8, 8}}));
  EXPECT_EQ(rows_from(5), (std::vector<Row>{{5, 4}, {8, 8}}));
}

}  // namespace
}  // namespace sluice::renumbered_results_test
