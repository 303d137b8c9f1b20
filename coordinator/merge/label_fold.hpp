#pragma once

#include "coordinator/merge/case_result.hpp"
#include "coordinator/statistics/confusion.hpp"
#include "coordinator/suite/expectations/label_sets.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// What the answers of an arm were read as, where they have their labels at one path.
struct LabelledAnswers {
  std::string path;       ///< Empty: the answer is the label.
  std::uint32_t arm = 0;  ///< As Case::arm.
  std::vector<std::string> names;
  ConfusionMatrix matrix;      ///< Of the labels by their place in `names`.
  std::uint64_t left_out = 0;  ///< Answers that are not in it, since they ended in an error.
};

/// Counts what each unperturbed answer was read as by the metric label. As a part of a group it decides
/// nothing by itself, and is not counted. Memory: the pairs of labels that occur.
class LabelFold {
 public:
  /// `labels` are those of the suite, and must outlive the fold.
  explicit LabelFold(const SuiteLabels& labels);

  void add(const CaseResult& result);
  /// By path, then by arm; empty where no case expects a label. Call once.
  std::vector<LabelledAnswers> finish();

 private:
  using Numbers = std::map<std::string_view, ConfusionMatrix::Label>;

  LabelledAnswers& answers_of(const std::string& path, std::uint32_t arm);

  const SuiteLabels& labels_;
  std::map<std::string, Numbers, std::less<>> numbers_;  ///< By path.
  std::map<std::pair<std::string, std::uint32_t>, LabelledAnswers> answers_;
};

}  // namespace sluice
