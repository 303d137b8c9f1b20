#include "coordinator/statistics/confusion.hpp"

#include <algorithm>

namespace sluice {
namespace {

std::optional<double> quotient(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::optional<double> LabelFigures::precision() const {
  return quotient(right, said);
}

std::optional<double> LabelFigures::recall() const {
  return quotient(right, support);
}

std::optional<double> LabelFigures::f1() const {
  return quotient(2 * right, support + said);
}

void ConfusionMatrix::add(Label expected, std::optional<Label> said) {
  ++answers_;
  ++counts_[{expected, said}];
  ++figures_.at(expected).support;
  if (!said) return;
  ++figures_.at(*said).said;
  if (*said == expected) ++figures_[expected].right;
}

std::uint64_t ConfusionMatrix::count(Label expected, std::optional<Label> said) const {
  const auto found = counts_.find({expected, said});
  return found != counts_.end() ? found->second : 0;
}

std::uint64_t ConfusionMatrix::right() const {
  std::uint64_t right = 0;
  for (const LabelFigures& one : figures_) right += one.right;
  return right;
}

std::uint64_t ConfusionMatrix::none() const {
  std::uint64_t none = answers_;
  for (const LabelFigures& one : figures_) none -= one.said;
  return none;
}

std::optional<double> ConfusionMatrix::accuracy() const {
  return quotient(right(), answers_);
}

std::optional<double> ConfusionMatrix::macro_f1() const {
  double sum = 0.0;
  std::uint64_t defined = 0;
  for (const LabelFigures& one : figures_) {
    const auto f1 = one.f1();
    sum += f1.value_or(0.0);
    defined += f1 ? 1 : 0;
  }
  if (defined == 0) return std::nullopt;
  return sum / static_cast<double>(defined);
}

std::vector<std::pair<ConfusionMatrix::Pair, std::uint64_t>> ConfusionMatrix::confused() const {
  std::vector<std::pair<Pair, std::uint64_t>> pairs;
  for (const auto& [pair, count] : counts_) {
    if (pair.second != pair.first) pairs.emplace_back(pair, count);
  }
  std::ranges::stable_sort(pairs, std::ranges::greater(), &std::pair<Pair, std::uint64_t>::second);
  return pairs;
}

}  // namespace sluice
