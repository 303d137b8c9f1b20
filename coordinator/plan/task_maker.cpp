#include "coordinator/plan/task_maker.hpp"

#include "common/model/expectation.hpp"
#include "common/model/metrics.hpp"
#include "common/model/request_text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/answers/recorded_answers.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

namespace sluice {

namespace {

/// How the recorded answer was judged for this score; null where a judge is to be asked: by another rubric,
/// or another version of it, it may be worth something else, and so beside a context of the metric's own.
const JudgeScore* recorded_judgement(const Case& test_case, const Expectation& one,
                                     std::span<const Rubric> rubrics) {
  if (!test_case.recorded || !one.judge->context.empty()) return nullptr;
  for (const RecordedJudgement& judged : test_case.recorded->judgements) {
    const Rubric& rubric = rubrics[one.judge->rubric];
    const bool is_same = judged.score.metric == one.what.metric && judged.name == one.name &&
                         judged.rubric == rubric.id && judged.rubric_version == rubric.version;
    if (is_same) return &judged.score;
  }
  return nullptr;
}

/// A vote that passed where it was given must reach what the test asks for as well.
JudgeScore as_asked_for(JudgeScore judged, double min_score) {
  for (CountedVote& vote : judged.votes) vote.passed = vote.passed && vote.score >= min_score;
  return judged;
}

/// Whether votes are needed.
bool needs_judge(const Case& test_case, std::span<const Rubric> rubrics) {
  return std::ranges::any_of(test_case.expectations, [&](const Expectation& one) {
    return one.judge && recorded_judgement(test_case, one, rubrics) == nullptr;
  });
}

/// Where costs are checked the price is known: make_plan refuses a run without one.
void add_price(const std::optional<std::pair<double, double>>& price, TextExpectation& expectation) {
  if (positive(expectation.metric) == MetricId::cost && price)
    expectation.numbers.insert(expectation.numbers.end(), {price->first, price->second});
  for (TextExpectation& part : expectation.parts) add_price(price, part);
}

/// An answer is read as one of all labels of the suite, whichever the test itself lists.
void add_labels(const SuiteLabels& labels, TextExpectation& expectation) {
  if (positive(expectation.metric) == MetricId::label) {
    const auto all = labels.find(expectation.texts[1]);
    if (all == labels.end()) return;
    expectation.texts.resize(first_label);
    expectation.texts.insert(expectation.texts.end(), all->second.begin(), all->second.end());
  }
  for (TextExpectation& part : expectation.parts) add_labels(labels, part);
}

}  // namespace

TaskMaker::TaskMaker(const Suite& suite, const Ontology& ontology)
    : suite_(&suite), ontology_(ontology), uses_rubric_(suite.rubrics.size()) {}

void TaskMaker::add(const Case& test_case) {
  const auto is_of_all = [](const Expectation& one) { return sluice::checks_all_calls(one.what); };
  checks_all_calls_ = checks_all_calls_ || std::ranges::any_of(test_case.expectations, is_of_all);
  if (needs_judge(test_case, suite_->rubrics) && judged_.count++ < defaults::named_trials)
    judged_.first.push_back(test_case.id);
  for (const Expectation& expectation : test_case.expectations) {
    if (!expectation.judge) continue;
    uses_rubric_.at(expectation.judge->rubric) = true;
    gives_context_ = gives_context_ || !expectation.judge->context.empty();
  }
}

bool TaskMaker::shows_question(const Case& test_case) {
  return std::ranges::any_of(test_case.expectations,
                             [](const Expectation& one) { return one.judge.has_value(); });
}

std::vector<Rubric> TaskMaker::rubrics() const {
  std::vector<Rubric> used;
  for (std::size_t i = 0; i < uses_rubric_.size(); ++i) {
    if (uses_rubric_[i]) used.push_back(suite_->rubrics[i]);
  }
  return used;
}

/// The answer's claims go through the ontology too: both sides have its words.
std::vector<ExpectedClaim> TaskMaker::canonical(const std::vector<ExpectedClaim>& written) const {
  std::vector<ExpectedClaim> claims;
  claims.reserve(written.size());
  for (const auto& one : written) claims.push_back(ontology_.canonical(one));
  return claims;
}

JudgeExpectation TaskMaker::asked_of_judge(const Case& test_case, const Expectation& expectation,
                                           const RequestSettings& settings) const {
  const auto& judge = *expectation.judge;
  const auto rubric = std::count(uses_rubric_.begin(), uses_rubric_.begin() + judge.rubric, true);
  JudgeExpectation asked{expectation.what.metric,
                         static_cast<std::uint32_t>(rubric),
                         judge.samples.value_or(settings.judge_samples),
                         expectation.min_score.value_or(defaults::judge_min_score),
                         judge.reference,
                         judge.criteria,
                         {},
                         judge.context};
  if (const auto* judged = recorded_judgement(test_case, expectation, suite_->rubrics)) {
    asked.recorded = as_asked_for(*judged, asked.min_score);
    asked.samples = static_cast<std::uint32_t>(judged->votes.size());
  }
  return asked;
}

ScoringTask TaskMaker::of(TrialId trial, const Case& test_case, const Case& form,
                          const RequestSettings& settings) const {
  ScoringTask task;
  task.trial = trial;
  task.must_contain = canonical(test_case.must_contain);
  task.must_not_contain = canonical(test_case.must_not_contain);
  task.min_confidence = test_case.min_confidence;
  task.assesses_claims = test_case.kind == CaseKind::claims;
  for (const auto& expectation : test_case.expectations) {
    if (expectation.judge) {
      task.judged.push_back(asked_of_judge(test_case, expectation, settings));
    } else if (!is_claims_metric(expectation.what.metric)) {
      const std::size_t before = task.texts.size();
      add_for_worker(expectation.what, task.texts);
      for (std::size_t i = before; i < task.texts.size(); ++i) {
        add_price(settings.price, task.texts[i]);
        add_labels(suite_->labels, task.texts[i]);
      }
    }
  }
  if (!task.judged.empty()) task.question = {transcript(form.extras.messages, form.content), form.context};
  return task;
}

}  // namespace sluice
