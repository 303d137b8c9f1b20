#include "coordinator/gate/gate.hpp"

#include "coordinator/gate/assess_metrics.hpp"

#include <algorithm>
#include <cstddef>

namespace sluice {

std::string_view to_string(MetricStatus status) {
  switch (status) {
    case MetricStatus::unjudged:
      return "unjudged";
    case MetricStatus::pass:
      return "pass";
    case MetricStatus::warn:
      return "warn";
    case MetricStatus::fail:
      return "fail";
    case MetricStatus::flaky:
      return "flaky";
  }
  return "fail";
}

std::string_view to_string(MetricCause cause) {
  switch (cause) {
    case MetricCause::none:
      return "none";
    case MetricCause::not_passed:
      return "not_passed";
    case MetricCause::below_min_score:
      return "below_min_score";
    case MetricCause::below_min_floor:
      return "below_min_floor";
    case MetricCause::dropped:
      return "dropped";
    case MetricCause::became_undefined:
      return "became_undefined";
    case MetricCause::missing_in_baseline:
      return "missing_in_baseline";
    case MetricCause::assessed_statistically:
      return "judged_statistically";
    case MetricCause::assessed_by_score:
      return "judged_by_score";
  }
  return "none";
}

namespace {

/// An outcome with the expectation it is about; the expectation is null for a fixture, which names no metric.
struct MatchedOutcome {
  const MetricOutcome* outcome = nullptr;
  const Expectation* expectation = nullptr;
};

const Expectation* expectation_of_claims(const Case& test_case, MetricId metric) {
  const auto& all = test_case.expectations;
  const auto found = std::ranges::find(all, metric, [](const Expectation& one) { return one.what.metric; });
  return found == all.end() ? nullptr : &*found;
}

/// Pairs the outcomes of text metrics with the expectations in their order, those of claims metrics by name.
std::vector<MatchedOutcome> match_outcomes(const Case& test_case, std::span<const MetricOutcome> outcomes) {
  std::vector<MatchedOutcome> matched;
  const auto& expectations = test_case.expectations;
  std::size_t next_text = 0;
  for (const MetricOutcome& outcome : outcomes) {
    const Expectation* expectation = nullptr;
    if (is_claims_metric(outcome.id)) {
      expectation = expectation_of_claims(test_case, outcome.id);
      if (expectation == nullptr && !expectations.empty()) continue;
    } else {
      while (next_text < expectations.size() && expectations[next_text].what.metric != outcome.id) {
        ++next_text;
      }
      if (next_text == expectations.size()) continue;
      expectation = &expectations[next_text++];
    }
    matched.push_back({&outcome, expectation});
  }
  return matched;
}

/// The baseline's scores of one case.
class PinnedCase {
 public:
  PinnedCase(const Baseline* baseline, std::string_view test_id) : baseline_(baseline) {
    if (baseline_ != nullptr) range_ = baseline_->of_test(test_id);
  }

  PinnedScore of(MetricId metric) const {
    if (baseline_ == nullptr) return {PinnedScore::State::no_baseline};
    if (const auto score = find(info(metric).name)) return {PinnedScore::State::pinned, *score};
    return {was_undefined(metric) ? PinnedScore::State::undefined : PinnedScore::State::absent};
  }

 private:
  std::optional<double> find(std::string_view metric) const {
    for (std::size_t i = range_.first; i < range_.last; ++i) {
      const BaselineEntry entry = baseline_->entry(i);
      if (entry.metric == metric) return entry.score;
    }
    return std::nullopt;
  }

  bool was_undefined(MetricId metric) const {
    return metric == MetricId::claims_precision &&
           nothing_was_extracted(find(info(MetricId::claims_recall).name),
                                 find(info(MetricId::claims_f1).name));
  }

  const Baseline* baseline_;
  Baseline::Range range_;
};

MetricQuestion question_of(const MatchedOutcome& matched, const Case& test_case, const PinnedCase& pinned,
                           const Gate::Config& config) {
  MetricQuestion question;
  question.metric = &info(matched.outcome->id);
  question.asked_by_name = matched.expectation != nullptr;
  if (!question.is_scored()) {
    question.passed = matched.outcome->passed.value_or(false);
    return question;
  }
  question.score = matched.outcome->score;
  question.best_undefined = is_claims_metric(matched.outcome->id) && test_case.must_contain.empty();
  question.pinned = pinned.of(matched.outcome->id);
  question.thresholding = config.suite;
  if (matched.expectation != nullptr) {
    question.thresholding = merged(config.suite, matched.expectation->thresholding);
    question.min_score = matched.expectation->min_score;
  }
  return question;
}

}  // namespace

CaseAssessment Gate::assess(const Case& test_case, std::span<const MetricOutcome> outcomes) const {
  const std::vector<MatchedOutcome> matched = match_outcomes(test_case, outcomes);
  const PinnedCase pinned(config_.baseline, test_case.id);
  std::vector<MetricQuestion> questions;
  questions.reserve(matched.size());
  for (const MatchedOutcome& one : matched) questions.push_back(question_of(one, test_case, pinned, config_));

  CaseAssessment assessment = assessed_case(questions, {config_.default_max_drop, config_.strict});
  for (std::size_t i = 0; i < matched.size(); ++i) assessment.metrics[i].detail = matched[i].outcome->detail;
  return assessment;
}

}  // namespace sluice
