#include "coordinator/statistics/confusion.hpp"

#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::confusion_test {

using Label = ConfusionMatrix::Label;

TEST(Confusion, AgreesWithAHandCalculation) {
  // 0 is expected three times and said twice rightly; 1 once, and said twice; 2 never.
  ConfusionMatrix matrix(3);
  matrix.add(0, 0);
  matrix.add(0, 0);
  matrix.add(0, 1);
  matrix.add(1, 1);
  matrix.add(1, std::nullopt);
  EXPECT_EQ(matrix.answers(), 5u);
  EXPECT_EQ(matrix.right(), 3u);
  EXPECT_EQ(matrix.none(), 1u);
  EXPECT_DOUBLE_EQ(*matrix.accuracy(), 0.6);
  EXPECT_DOUBLE_EQ(*matrix.of(0).precision(), 1.0);
  EXPECT_DOUBLE_EQ(*matrix.of(0).recall(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(*matrix.of(0).f1(), 0.8);
  EXPECT_DOUBLE_EQ(*matrix.of(1).precision(), 0.5);
  EXPECT_DOUBLE_EQ(*matrix.of(1).recall(), 0.5);
  EXPECT_DOUBLE_EQ(*matrix.of(1).f1(), 0.5);
  EXPECT_EQ(matrix.of(2).precision(), std::nullopt);
  EXPECT_EQ(matrix.of(2).recall(), std::nullopt);
  EXPECT_EQ(matrix.of(2).f1(), std::nullopt);
  EXPECT_DOUBLE_EQ(*matrix.macro_f1(), 0.65) << "of the two that have one";
  EXPECT_EQ(ConfusionMatrix(2).accuracy(), std::nullopt);
  EXPECT_EQ(ConfusionMatrix(2).macro_f1(), std::nullopt);
}

TEST(Confusion, TheMostFrequentConfusionComesFirst) {
  ConfusionMatrix matrix(3);
  for (int i = 0; i < 2; ++i) matrix.add(2, 0);
  for (int i = 0; i < 5; ++i) matrix.add(0, 0);
  for (int i = 0; i < 2; ++i) matrix.add(0, std::nullopt);
  for (int i = 0; i < 3; ++i) matrix.add(1, 2);
  using Counted = std::pair<ConfusionMatrix::Pair, std::uint64_t>;
  EXPECT_EQ(matrix.confused(), (std::vector<Counted>{{{1, 2}, 3}, {{0, std::nullopt}, 2}, {{2, 0}, 2}}));
}

/// An answer as the naive computation has it: -1 is none of the labels.
using Answer = std::pair<int, int>;

double share(const std::vector<Answer>& answers, const auto& counts, const auto& of) {
  double all = 0;
  double part = 0;
  for (const Answer& one : answers) {
    if (!of(one)) continue;
    ++all;
    if (counts(one)) ++part;
  }
  return all == 0 ? -1 : part / all;
}

RC_GTEST_PROP(Confusion, IsWhatCountingEachAnswerGives, ()) {
  const int labels = *rc::gen::inRange(1, 6);
  const auto answers = *rc::gen::container<std::vector<Answer>>(
      rc::gen::pair(rc::gen::inRange(0, labels), rc::gen::inRange(-1, labels)));
  ConfusionMatrix matrix(static_cast<std::size_t>(labels));
  for (const auto& [expected, said] : answers)
    matrix.add(static_cast<Label>(expected),
               said < 0 ? std::nullopt : std::optional(static_cast<Label>(said)));
  const auto is_near = [](std::optional<double> value, double naive) {
    return naive < 0 ? !value : value && *value - naive < 1e-12 && naive - *value < 1e-12;
  };
  const auto is_right = [](const Answer& one) { return one.first == one.second; };
  RC_ASSERT(is_near(matrix.accuracy(), share(answers, is_right, [](const Answer&) { return true; })));
  double sum = 0;
  int defined = 0;
  std::uint64_t counted = 0;
  for (int label = 0; label < labels; ++label) {
    const double precision = share(answers, is_right, [&](const Answer& one) { return one.second == label; });
    const double recall = share(answers, is_right, [&](const Answer& one) { return one.first == label; });
    const LabelFigures& figures = matrix.of(static_cast<Label>(label));
    RC_ASSERT(is_near(figures.precision(), precision));
    RC_ASSERT(is_near(figures.recall(), recall));
    const auto involved = [&](const Answer& one) { return one.first == label || one.second == label; };
    const double of_either = share(answers, is_right, involved);  // Jaccard's index j; F1 is 2 j / (1 + j).
    const double f1 = of_either < 0 ? -1 : 2 * of_either / (1 + of_either);
    RC_ASSERT(is_near(figures.f1(), f1));
    if (f1 >= 0) {
      sum += f1;
      ++defined;
    }
    for (int said = 0; said < labels; ++said)
      counted += matrix.count(static_cast<Label>(label), static_cast<Label>(said));
    counted += matrix.count(static_cast<Label>(label), std::nullopt);
  }
  RC_ASSERT(is_near(matrix.macro_f1(), defined == 0 ? -1 : sum / defined));
  RC_ASSERT(counted == answers.size());
  std::uint64_t wrong = 0;
  for (const auto& [pair, count] : matrix.confused()) wrong += count;
  RC_ASSERT(wrong + matrix.right() == answers.size());
}

}  // namespace sluice::confusion_test
