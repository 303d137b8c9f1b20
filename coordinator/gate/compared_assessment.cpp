#include "coordinator/gate/compared_assessment.hpp"

#include "coordinator/gate/repeated_assessment.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

namespace sluice {
namespace {

bool asks_otherwise(const ComparedMetric& metric, const ComparedCase& current, const CompareRules& rules) {
  return !rules.judged_otherwise.empty() &&
         std::ranges::binary_search(rules.judged_otherwise, ChangedMetric{current.test_id, metric.name});
}

/// Of a check that is one of `of_case`; empty: there was one repeat.
CheckRepeats repeats_in(const ComparedMetric& check, const ComparedCase& of_case) {
  CheckRepeats repeats;
  for (const bool passed : check.repeat_passed) repeats += passed ? '1' : '0';
  if (!is_check(check)) return repeats;
  if (repeats.empty() && of_case.non_answers > 0) repeats += check.passed ? '1' : '0';
  return repeats.append(of_case.non_answers, '0');
}

PinnedScore pinned_of(const ComparedMetric& check, const ComparedCase& base) {
  const CheckRepeats repeats = repeats_in(check, base);
  if (repeats.empty()) return {PinnedScore::State::pinned, check.passed ? 1.0 : 0.0};
  return {PinnedScore::State::pinned, passed_mostly(repeats) ? 1.0 : 0.0, passed_ever(repeats) ? 1.0 : 0.0};
}

/// Of the same check of the base, wherever it stands; of its only one by the metric where a side does not say
/// which check it is.
PinnedScore pinned_check(const IndexedCase& current, const ComparedMetric& metric, const IndexedCase* base) {
  if (base == nullptr || (*base)->is_error) return {PinnedScore::State::absent};
  const IndexedCase::Metrics of_metric = base->all(metric.name);
  if (of_metric.size() == 1 && current.all(metric.name).size() == 1) {
    const ComparedMetric& only = *of_metric.front();
    const bool says_which = only.check != 0 && metric.check != 0;
    if (says_which && only.check != metric.check) return {PinnedScore::State::absent};
    return pinned_of(only, **base);
  }
  if (metric.check == 0) return {PinnedScore::State::absent};
  const IndexedCase::Metrics before = base->all(metric.name, metric.check);
  const IndexedCase::Metrics now = current.all(metric.name, metric.check);
  const auto nth = static_cast<std::size_t>(std::ranges::lower_bound(now, &metric) - now.begin());
  return nth < before.size() ? pinned_of(*before[nth], **base) : PinnedScore{PinnedScore::State::absent};
}

/// A side of the time when no baseline pinned them counts as free of forbidden claims.
PinnedScore pinned_forbidden(const IndexedCase& current, const ComparedMetric& metric,
                             const IndexedCase* base) {
  const PinnedScore pinned = pinned_check(current, metric, base);
  const bool lacks_it = pinned.state == PinnedScore::State::absent && base != nullptr && !(*base)->is_error;
  return lacks_it ? PinnedScore{PinnedScore::State::pinned, 1.0} : pinned;
}

std::size_t repeats_of(const ComparedMetric& metric) {
  return is_scored(metric) ? metric.repeat_scores.size() : metric.repeat_passed.size();
}

/// In most repeats of the base, whose score is the mean of the few others. A baseline lists defined scores
/// alone, and its repeats are those of the case's other metrics.
bool was_mostly_undefined(const ComparedMetric& metric, const IndexedCase* base) {
  const ComparedMetric* before = base == nullptr ? nullptr : base->find(metric.name);
  if (before == nullptr) return false;
  const auto& scores = before->repeat_scores;
  const auto defined = std::ranges::count_if(scores, [](const auto& one) { return one.has_value(); });
  const std::size_t of_all = scores.empty() ? 1 : static_cast<std::size_t>(defined);
  return 2 * of_all < std::max(base->repeats(), (*base)->passes.size());
}

/// Where undefined scores are worth_of_silence.
PinnedScore pinned_beside_silence(const ComparedMetric& before) {
  PinnedScore pinned{PinnedScore::State::pinned, before.score.value_or(*worth_of_silence)};
  for (const auto& score : before.repeat_scores)
    pinned.best = std::max(pinned.best, score ? score : worth_of_silence);
  return pinned;
}

/// CaseAssessment::baseline_passes
std::optional<double> share_of_passes(const IndexedCase* base) {
  if (base == nullptr || (*base)->is_error) return std::nullopt;
  MeanScore share;
  if ((*base)->passes.empty()) {
    // Of a fixture it is whether its forbidden claims were absent.
    const ComparedMetric* forbidden = base->find(info(MetricId::claims_forbidden).name);
    if (forbidden == nullptr) return std::nullopt;
    for (const bool passed : forbidden->repeat_passed) share.add(passed ? 1.0 : 0.0);
    return share.mean();
  }
  if ((*base)->passes.size() < 2) return std::nullopt;
  for (const double one : passes_of(**base, passed_mostly).of_repeats) share.add(one);
  return share.mean();
}

void put(const VoteTally& votes, MetricQuestion& question) {
  if (!question.is_judged()) return;
  question.votes = votes;
  question.passed = 2 * votes.passed > votes.votes;
}

MetricQuestion question_of(const ComparedMetric& metric, const IndexedCase& current, const IndexedCase* base,
                           const CompareRules& rules) {
  MetricQuestion question;
  const ScoreParts parts = parts_of_score(metric.name);
  question.metric = parts.metric;
  question.name = parts.name;
  question.asked_by_name = metric.asked_by_name;
  question.passed = metric.passed;
  if (!question.is_scored()) {
    if (metric.asked_by_name) question.pinned = pinned_check(current, metric, base);
    if (!metric.asked_by_name && question.metric->id == MetricId::claims_forbidden)
      question.pinned = pinned_forbidden(current, metric, base);
    return question;
  }
  question.score = metric.score;
  question.best_undefined =
      question.metric != nullptr && is_claims_metric(question.metric->id) && current->expects_nothing;
  question.pinned = pinned_score(metric, *current, base, rules);
  question.thresholding = merged(rules.suite, metric.thresholding);
  question.min_score = metric.min_score;
  if (metric.votes.size() == 1) put(metric.votes.front(), question);
  if (metric.calibration && question.is_judged()) question.calibration = {*metric.calibration};
  // The tests go by our metrics; a drop of another tool's must not pass unseen.
  const bool is_statistical = question.thresholding.mode == ThresholdMode::statistical;
  if (is_statistical && question.metric == nullptr) question.thresholding.mode = ThresholdMode::relative;
  return question;
}

/// REQUIRES: ascending by `part`.
template <class Value, class Part>
IndexedCase::Metrics equal_part(IndexedCase::Metrics metrics, const Value& value, Part part) {
  const auto begin = std::ranges::lower_bound(metrics, value, {}, part);
  return {begin, std::ranges::upper_bound(begin, metrics.end(), value, {}, part)};
}

}  // namespace

IndexedCase::IndexedCase(const ComparedCase& of) : case_(&of) {
  by_name_.reserve(of.metrics.size());
  for (const ComparedMetric& metric : of.metrics) {
    by_name_.push_back(&metric);
    repeats_ = std::max(repeats_, repeats_of(metric));
  }
  std::ranges::sort(by_name_, {}, [](const ComparedMetric* one) {
    return std::tuple(std::string_view(one->name), one->check, one);
  });
}

IndexedCase::Metrics IndexedCase::all(std::string_view name) const {
  return equal_part(Metrics(by_name_), name,
                    [](const ComparedMetric* one) { return std::string_view(one->name); });
}

IndexedCase::Metrics IndexedCase::all(std::string_view name, CheckDigest check) const {
  return equal_part(all(name), check, &ComparedMetric::check);
}

const ComparedMetric* IndexedCase::find(std::string_view name) const {
  const Metrics found = all(name);
  return found.empty() ? nullptr : found.front();
}

bool is_silence_best(const ComparedMetric& metric, const ComparedCase& current, const ComparedCase& base) {
  const MetricInfo* known = find_metric(metric.name);
  return known != nullptr && is_silence_best_of(known->id, current.expects_nothing || base.expects_nothing);
}

PinnedScore pinned_score(const ComparedMetric& metric, const ComparedCase& current, const IndexedCase* base,
                         const CompareRules& rules) {
  if (asks_otherwise(metric, current, rules)) return {};
  if (base == nullptr || (*base)->is_error) return {PinnedScore::State::absent};
  if (const ComparedMetric* pinned = base->find(metric.name)) {
    if (pinned->asks != 0 && metric.asks != 0 && pinned->asks != metric.asks)
      return {.state = PinnedScore::State::absent, .asked_otherwise = true};
    if (is_silence_best(metric, current, **base)) return pinned_beside_silence(*pinned);
    const bool is_as_undefined =
        !metric.score && !current.expects_nothing && was_mostly_undefined(metric, base);
    if (!pinned->score || is_as_undefined) return {PinnedScore::State::undefined};
    PinnedScore known{PinnedScore::State::pinned, *pinned->score};
    for (const auto& score : pinned->repeat_scores) known.best = std::max(known.best, score);
    known.samples = pinned->votes.empty() ? pinned->samples : pinned->votes.front().samples;
    return known;
  }
  const auto score = [&](MetricId id) {
    const ComparedMetric* other = base->find(info(id).name);
    return other == nullptr ? std::nullopt : other->score;
  };
  const bool undefined = metric.name == info(MetricId::claims_precision).name &&
                         nothing_was_extracted(score(MetricId::claims_recall), score(MetricId::claims_f1));
  return {undefined ? PinnedScore::State::undefined : PinnedScore::State::absent};
}

BasePasses passes_of(const ComparedCase& base, bool (*counts)(std::string_view repeats)) {
  std::vector<CheckRepeats> checks;
  for (const ComparedMetric& metric : base.metrics) {
    if (is_check(metric)) checks.push_back(repeats_in(metric, base));
  }
  return passes_of_base(std::move(checks), base.passes, counts);
}

CaseAssessment assess_compared(const IndexedCase& current, const IndexedCase* base, const CompareRules& rules,
                               bool is_left_out) {
  std::vector<MetricQuestion> questions;
  questions.reserve(current->metrics.size());
  for (const ComparedMetric& metric : current->metrics) {
    questions.push_back(question_of(metric, current, base, rules));
    if (is_left_out && is_scored(metric)) questions.back().pinned = {};
  }
  const AssessmentRules assessment{rules.default_max_drop};
  const std::size_t count = current.repeats();
  if (count == 1 && current->non_answers == 0) return assessed_case(questions, assessment);
  std::vector<std::vector<MetricQuestion>> of_repeats;
  for (std::size_t repeat = 0; repeat < count; ++repeat) {
    for (std::size_t i = 0; i < questions.size(); ++i) {
      const ComparedMetric& metric = current->metrics[i];
      if (repeats_of(metric) != count) continue;
      if (questions[i].is_scored()) {
        questions[i].score = metric.repeat_scores[repeat];
        if (metric.votes.size() == count) put(metric.votes[repeat], questions[i]);
      } else {
        questions[i].passed = metric.repeat_passed[repeat];
      }
    }
    auto& of_repeat = of_repeats.emplace_back(questions);
    for (std::size_t i = 0; i < of_repeat.size(); ++i) {
      MetricQuestion& one = of_repeat[i];
      const bool became_undefined = one.is_scored() && !one.score && !one.best_undefined &&
                                    one.pinned.state == PinnedScore::State::pinned;
      if (became_undefined && was_mostly_undefined(current->metrics[i], base))
        one.pinned = {PinnedScore::State::undefined};
    }
  }
  std::vector<CaseAssessment> repeats = assessed_repeats(of_repeats, count, assessment);
  const std::optional<double> baseline_passes = share_of_passes(base);
  std::vector<const CaseAssessment*> all;
  for (CaseAssessment& one : repeats) {
    one.baseline_passes = baseline_passes;
    all.push_back(&one);
  }
  const CaseAssessment without_answer = assessment_of_non_answer(repeats.front());
  all.insert(all.end(), current->non_answers, &without_answer);
  return assessment_of_repeats(all);
}

}  // namespace sluice
