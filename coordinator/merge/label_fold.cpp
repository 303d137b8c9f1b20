#include "coordinator/merge/label_fold.hpp"

#include <optional>

namespace sluice {
namespace {

/// The labels that an answer was read as, in the order of the expectations.
std::vector<std::string_view> labels_of(const TrialScore& score) {
  std::vector<std::string_view> labels;
  for (const MetricOutcome& outcome : score.metrics) {
    if (outcome.id == MetricId::label) labels.push_back(outcome.label);
  }
  return labels;
}

}  // namespace

LabelFold::LabelFold(const SuiteLabels& labels) : labels_(labels) {
  for (const auto& [path, names] : labels) {
    for (const std::string& name : names)
      numbers_[path].emplace(name, static_cast<ConfusionMatrix::Label>(numbers_[path].size()));
  }
}

LabelledAnswers& LabelFold::answers_of(const std::string& path, std::uint32_t arm) {
  const auto found = answers_.find({path, arm});
  if (found != answers_.end()) return found->second;
  const std::vector<std::string>& names = labels_.find(path)->second;
  return answers_.try_emplace({path, arm}, LabelledAnswers{path, arm, names, ConfusionMatrix(names.size())})
      .first->second;
}

void LabelFold::add(const CaseResult& result) {
  std::size_t which = 0;
  for (const Expectation& expectation : result.fixture.expectations) {
    if (expectation.what.metric != MetricId::label) continue;
    const std::size_t at = which++;
    const auto numbers = numbers_.find(expectation.what.texts[1]);
    if (numbers == numbers_.end()) continue;
    LabelledAnswers& answers = answers_of(numbers->first, result.fixture.arm);
    const auto expected = numbers->second.find(expectation.what.texts.front());
    for (const TrialResult& trial : result.trials) {
      if (trial.perturbation > 0 || trial.not_started) continue;
      const auto labels = trial.score != nullptr ? labels_of(*trial.score) : std::vector<std::string_view>();
      if (at >= labels.size() || expected == numbers->second.end()) {
        ++answers.left_out;
        continue;
      }
      const auto said = numbers->second.find(labels[at]);
      answers.matrix.add(expected->second,
                         said != numbers->second.end() ? std::optional(said->second) : std::nullopt);
    }
  }
}

std::vector<LabelledAnswers> LabelFold::finish() {
  std::vector<LabelledAnswers> all;
  for (auto& [key, answers] : answers_) all.push_back(std::move(answers));
  return all;
}

}  // namespace sluice
