#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace sluice {

/// What became of one label. A figure of 0/0 is undefined.
struct LabelFigures {
  std::uint64_t support = 0;  ///< Answers of which it was expected.
  std::uint64_t said = 0;     ///< Answers that said it.
  std::uint64_t right = 0;    ///< Both.

  std::optional<double> precision() const;
  std::optional<double> recall() const;
  /// 2 right / (support + said).
  std::optional<double> f1() const;
};

/// How often which label was expected and which was said, of labels by their numbers. An answer may also say
/// none of them: that is a miss of the expected one, and no answer too many of any. Memory: what is not 0.
class ConfusionMatrix {
 public:
  using Label = std::uint32_t;
  using Pair = std::pair<Label, std::optional<Label>>;  ///< Expected, and said; nothing: none of the labels.

  explicit ConfusionMatrix(std::size_t labels) : figures_(labels) {}

  /// REQUIRES: both are labels.
  void add(Label expected, std::optional<Label> said);

  std::size_t labels() const { return figures_.size(); }
  std::uint64_t answers() const { return answers_; }
  std::uint64_t count(Label expected, std::optional<Label> said) const;
  const LabelFigures& of(Label label) const { return figures_.at(label); }
  std::uint64_t right() const;
  /// Answers that are none of the labels.
  std::uint64_t none() const;
  /// The share of the answers that are right; nothing without any.
  std::optional<double> accuracy() const;
  /// The mean of the labels' F1, of those that have one: that were expected or said. Nothing without any.
  std::optional<double> macro_f1() const;
  /// The most frequent first, equally frequent ones in the order of the labels; without what is right.
  std::vector<std::pair<Pair, std::uint64_t>> confused() const;

 private:
  std::vector<LabelFigures> figures_;
  std::map<Pair, std::uint64_t> counts_;
  std::uint64_t answers_ = 0;
};

}  // namespace sluice
