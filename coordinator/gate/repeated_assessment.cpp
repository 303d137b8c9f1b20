#include "coordinator/gate/repeated_assessment.hpp"

#include "coordinator/display/numbers.hpp"
#include "coordinator/gate/billionths.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

namespace sluice {
namespace {

using Repeats = std::span<const CaseAssessment* const>;

/// What the repeats of anything come to: `fail` by a majority, `disagree` by less than that.
enum class Failures : std::uint8_t { none, disagree, majority };

Failures failures(std::size_t failed, std::size_t assessed) {
  if (failed == 0) return Failures::none;
  return failed * 2 > assessed ? Failures::majority : Failures::disagree;
}

/// Gives every answer's questions the mean of what the repeats, which come first, have in their place.
void ask_of_means(std::span<std::vector<MetricQuestion>> answers, std::size_t repeats) {
  const auto shortest = std::ranges::min_element(answers, {}, [](const auto& one) { return one.size(); });
  const std::size_t count = shortest->size();
  for (std::size_t n = 0; n < count; ++n) {
    MeanScore scores;
    for (const auto& questions : answers.first(repeats)) {
      if (const auto worth = questions[n].worth()) scores.add(*worth);
    }
    for (auto& questions : answers) questions[n].mean = scores.mean();
  }
}

/// The baseline's limit that the mean of the n-th metric misses.
std::optional<double> missed_by_mean(Repeats repeats, std::size_t n) {
  for (const CaseAssessment* one : repeats) {
    if (const auto& missed = one->metrics[n].missed_by_mean) return missed;
  }
  return std::nullopt;
}

/// Those with an answer.
std::vector<const CaseAssessment*> answered_of(Repeats repeats) {
  std::vector<const CaseAssessment*> answered;
  std::ranges::remove_copy_if(repeats, std::back_inserter(answered), &CaseAssessment::is_non_answer);
  return answered;
}

/// Those that say something of the n-th metric: all of them of a check, and those with an answer of any
/// other.
Repeats asked_of(Repeats repeats, Repeats answered, std::size_t n) {
  return answered.front()->metrics[n].is_check() ? repeats : answered;
}

bool any_mean_dropped(Repeats repeats) {
  return std::ranges::any_of(repeats, [](const CaseAssessment* one) {
    return std::ranges::any_of(
        one->metrics, [](const AssessedMetric& metric) { return metric.missed_by_mean.has_value(); });
  });
}

CaseStatus status_of(Repeats repeats) {
  if (any_mean_dropped(repeats)) return CaseStatus::fail;
  const auto count = [&](CaseStatus status) {
    return static_cast<std::size_t>(std::ranges::count(repeats, status, &CaseAssessment::status));
  };
  // Each repeat was scored, so that none is an error; one without any metric counts as failed all the same.
  const std::size_t failed = count(CaseStatus::fail) + count(CaseStatus::error);
  switch (failures(failed, repeats.size())) {
    case Failures::majority:
      return CaseStatus::fail;
    case Failures::disagree:
      return CaseStatus::flaky;
    case Failures::none:
      break;
  }
  return count(CaseStatus::warn) > 0 ? CaseStatus::warn : CaseStatus::pass;
}

/// Those of all repeats, with the rationale of the one that is shown.
VoteTally votes_of(Repeats repeats, std::size_t n, const VoteTally& shown) {
  VoteTally all = shown;
  all.votes = all.passed = all.answers = all.outvoted = 0;
  for (const CaseAssessment* one : repeats) {
    const auto& votes = one->metrics[n].votes;
    if (!votes) continue;
    all.votes += votes->votes;
    all.passed += votes->passed;
    ++all.answers;
    if (2 * votes->passed <= votes->votes) ++all.outvoted;
    all.disagree = all.disagree || votes->disagree;
  }
  return all;
}

/// A mean that dropped fails its metric, whatever the repeats came to one by one. Only where the baseline had
/// failed too, another cause of most repeats stands.
void take_as_dropped(Repeats repeats, std::size_t n, double limit, AssessedMetric& metric) {
  metric.status = MetricStatus::fail;
  metric.missed_by_mean = limit;
  const auto otherwise = std::ranges::count_if(repeats, [n](const CaseAssessment* one) {
    const AssessedMetric& nth = one->metrics[n];
    return nth.status == MetricStatus::fail && nth.cause != MetricCause::dropped;
  });
  const bool mostly = failures(static_cast<std::size_t>(otherwise), repeats.size()) == Failures::majority;
  if (metric.had_failed && mostly) return;
  metric.cause = MetricCause::dropped;
  metric.limit = limit;
  metric.only_in_other_repeats = false;
}

/// The first of the repeats' n-th metrics that `counts` whose cause is that of most of them; null where none
/// counts.
template <class Counts>
const AssessedMetric* of_most(Repeats repeats, std::size_t n, MetricCause AssessedMetric::*cause,
                              const Counts& counts) {
  std::map<MetricCause, std::size_t> times;
  for (const CaseAssessment* one : repeats) {
    if (counts(one->metrics[n])) ++times[one->metrics[n].*cause];
  }
  const AssessedMetric* most = nullptr;
  for (const CaseAssessment* one : repeats) {
    const AssessedMetric& nth = one->metrics[n];
    if (counts(nth) && (most == nullptr || times[nth.*cause] > times[most->*cause])) most = &nth;
  }
  return most;
}

/// The n-th metric of all repeats together. `of_answer`: the repeat whose answer is shown.
AssessedMetric metric_of(Repeats repeats, std::size_t n, const CaseAssessment& of_answer) {
  const auto nth = [n](const CaseAssessment* one) -> const AssessedMetric& { return one->metrics[n]; };
  const auto count = [&](MetricStatus status) {
    return static_cast<std::size_t>(
        std::ranges::count(repeats, status, [&](const CaseAssessment* one) { return nth(one).status; }));
  };
  MetricStatus shown = MetricStatus::pass;
  if (count(MetricStatus::fail) > 0) {
    shown = MetricStatus::fail;
  } else if (count(MetricStatus::warn) > 0) {
    shown = MetricStatus::warn;
  } else if (count(MetricStatus::pass) == 0) {
    shown = MetricStatus::unjudged;
  }
  // Its cause and limit are those of most repeats that came to what is shown.
  AssessedMetric metric = *of_most(repeats, n, &AssessedMetric::cause,
                                   [shown](const AssessedMetric& one) { return one.status == shown; });
  // What is said of an answer stands beside that answer.
  metric.only_in_other_repeats = nth(&of_answer).status != shown;
  metric.detail = nth(&of_answer).detail;
  if (metric.votes && nth(&of_answer).votes) metric.votes->rationale = nth(&of_answer).votes->rationale;
  if (failures(count(MetricStatus::fail), repeats.size()) == Failures::disagree)
    metric.status = MetricStatus::flaky;
  const auto by_itself = static_cast<std::size_t>(
      std::ranges::count_if(repeats, [&](const CaseAssessment* one) { return nth(one).fails_by_itself(); }));
  metric.own_cause = MetricCause::none;
  if (failures(by_itself, repeats.size()) == Failures::majority) {
    metric.own_cause = of_most(repeats, n, &AssessedMetric::own_cause, [](const AssessedMetric& one) {
                         return one.fails_by_itself();
                       })->own_cause;
  }
  if (const auto limit = missed_by_mean(repeats, n)) take_as_dropped(repeats, n, *limit, metric);
  const auto not_passed = static_cast<std::size_t>(
      std::ranges::count(repeats, false, [&](const CaseAssessment* one) { return nth(one).passed; }));
  metric.passed = failures(not_passed, repeats.size()) != Failures::majority;
  MeanScore scores;
  const bool any_score =
      std::ranges::any_of(repeats, [&](const CaseAssessment* one) { return nth(one).score.has_value(); });
  for (const CaseAssessment* one : repeats) {
    if (metric.is_pinned()) metric.repeat_passes += nth(one).holds() ? '1' : '0';
    if (const auto worth = nth(one).worth()) {
      if (any_score) scores.add(*worth);
      metric.repeat_scores.push_back(*worth);
    }
    if (!metric.limit) metric.limit = nth(one).limit;
    // Of a repeat whose score is as undefined as most of the baseline's were nothing is compared.
    if (!metric.baseline) metric.baseline = nth(one).baseline;
    metric.is_left_to_tests = metric.is_left_to_tests || nth(one).is_left_to_tests;
    if (nth(one).became_undefined()) metric.some_repeat_became_undefined = true;
  }
  metric.score = scores.mean();
  if (metric.votes) metric.votes = votes_of(repeats, n, *metric.votes);
  return metric;
}

/// The n-th metric failed for the baseline's sake: by its mean, or in most repeats.
bool fell(Repeats repeats, std::size_t n, const AssessedMetric& combined) {
  if (combined.missed_by_mean && combined.cause == MetricCause::dropped) return true;
  const auto count = std::ranges::count_if(repeats, [n](const CaseAssessment* one) {
    const AssessedMetric& nth = one->metrics[n];
    return nth.status == MetricStatus::fail && fell_below_baseline(nth.cause);
  });
  return failures(static_cast<std::size_t>(count), repeats.size()) == Failures::majority;
}

/// No metric failed in most repeats, and the case did, by another one in each. The base may have done the
/// same: what it pins of several repeats, metric by metric, each passed in most of them.
bool fell_in_parts(Repeats repeats) {
  const auto& held = repeats.front()->baseline_passes;
  if (!held) return true;
  const auto broke = std::ranges::count_if(repeats, [](const CaseAssessment* one) {
    return std::ranges::count(one->metrics, MetricCause::broke, &AssessedMetric::cause) > 0;
  });
  return *held >= 0.5 && failures(static_cast<std::size_t>(broke), repeats.size()) == Failures::majority;
}

/// How a case that failed regressed.
enum class Fall : std::uint8_t {
  none,
  of_metric,  ///< By one of its metrics, whatever the others came to.
  in_parts,   ///< In each repeat that failed, by another check in each.
};

/// `combined`: the case's status and metrics.
Fall fall_of(Repeats repeats, Repeats answered, const CaseAssessment& combined) {
  if (combined.status != CaseStatus::fail) return Fall::none;
  for (std::size_t n = 0; n < combined.metrics.size(); ++n) {
    if (fell(asked_of(repeats, answered, n), n, combined.metrics[n])) return Fall::of_metric;
  }
  const bool failed_otherwise = std::ranges::any_of(
      repeats, [](const CaseAssessment* one) { return one->status == CaseStatus::fail && !one->regressed; });
  return !failed_otherwise && fell_in_parts(repeats) ? Fall::in_parts : Fall::none;
}

/// A check that passes in most repeats has not broken, as the base may have been as flaky.
void spare_flaky_checks(CaseAssessment& assessment) {
  for (AssessedMetric& metric : assessment.metrics) {
    if (metric.status == MetricStatus::flaky && metric.cause == MetricCause::broke)
      metric.cause = MetricCause::not_passed;
  }
}

/// A check of a repeat without an answer.
void fail_check(AssessedMetric& check) {
  const bool had_failed = check.baseline_passed == false;
  check.passed = false;
  check.status = had_failed ? MetricStatus::warn : MetricStatus::fail;
  check.cause = !check.baseline_passed ? MetricCause::not_passed
                : had_failed           ? MetricCause::still_failing
                                       : MetricCause::broke;
  check.own_cause = MetricCause::not_passed;
}

/// Anything else of it: nothing is assessed.
void clear(AssessedMetric& metric) {
  metric.score.reset();
  metric.votes.reset();
  metric.missed_by_mean.reset();
  metric.status = MetricStatus::unjudged;
  metric.cause = metric.spared = metric.own_cause = MetricCause::none;
}

bool rose(const AssessedMetric& metric) {
  return metric.score && metric.baseline && billionths(*metric.score) > billionths(*metric.baseline);
}

}  // namespace

void MeanScore::add(double score) {
  only_ = score;
  sum_ += billionths(score);
  ++count_;
}

std::optional<double> MeanScore::mean() const {
  if (count_ == 0) return std::nullopt;
  if (count_ == 1) return only_;
  const std::int64_t half = sum_ < 0 ? -(count_ / 2) : count_ / 2;
  return from_billionths((sum_ + half) / count_);
}

std::vector<CaseAssessment> assessed_repeats(std::span<std::vector<MetricQuestion>> answers,
                                             std::size_t repeats, const AssessmentRules& rules) {
  if (repeats > 1) ask_of_means(answers, repeats);
  std::vector<CaseAssessment> assessed;
  assessed.reserve(answers.size());
  for (const auto& questions : answers) assessed.push_back(assessed_case(questions, rules));
  return assessed;
}

CaseAssessment assessment_of_non_answer(const CaseAssessment& answered) {
  CaseAssessment none = answered;
  none.is_non_answer = true;
  none.improved = none.regressed = false;
  for (AssessedMetric& metric : none.metrics) {
    metric.detail = {};
    metric.is_check() ? fail_check(metric) : clear(metric);
    none.regressed = none.regressed || metric.cause == MetricCause::broke;
  }
  // A check that had failed excuses itself, and nothing else that was asked.
  const bool was_known = !none.metrics.empty() && std::ranges::all_of(none.metrics, [](const auto& metric) {
    return metric.cause == MetricCause::still_failing;
  });
  none.status = was_known ? CaseStatus::warn : CaseStatus::fail;
  return none;
}

CaseStatus shown_status(CaseStatus of_case) {
  return of_case == CaseStatus::flaky ? CaseStatus::fail : of_case;
}

CaseAssessment assessment_of_repeats(Repeats repeats) {
  if (repeats.size() == 1) return *repeats.front();
  CaseAssessment assessment;
  assessment.status = status_of(repeats);
  const auto answered = answered_of(repeats);
  const auto least =
      std::ranges::min(answered, {}, [](const CaseAssessment* one) { return one->metrics.size(); });
  assessment.metrics.reserve(least->metrics.size());
  const auto found = std::ranges::find(answered, shown_status(assessment.status),
                                       [](const CaseAssessment* one) { return one->status; });
  const CaseAssessment& of_answer = found == answered.end() ? *answered.front() : **found;
  for (std::size_t n = 0; n < least->metrics.size(); ++n) {
    const CaseAssessment& shown = of_answer.metrics.size() > n ? of_answer : *least;
    assessment.metrics.push_back(metric_of(asked_of(repeats, answered, n), n, shown));
  }

  const auto all = [&](auto&& is) {
    return std::ranges::all_of(repeats, [&](const CaseAssessment* one) { return is(*one); });
  };
  assessment.baseline_passes = repeats.front()->baseline_passes;
  const Fall fall = fall_of(repeats, answered, assessment);
  assessment.regressed = fall != Fall::none;
  if (fall != Fall::in_parts) spare_flaky_checks(assessment);  // Else they are why.
  const bool none_failed = assessment.status == CaseStatus::pass || assessment.status == CaseStatus::warn;
  assessment.improved = none_failed && (std::ranges::any_of(assessment.metrics, rose) ||
                                        all([](const CaseAssessment& one) { return one.improved; }));
  return assessment;
}

std::optional<GateNotice> repeats_incomplete_notice(std::uint64_t lost, bool strict) {
  if (lost == 0) return std::nullopt;
  return GateNotice{warning_under(strict), "repeats_incomplete",
                    wording::counted(lost, "repeat") +
                        " ended in an error, and the others decided alone what became of their cases: see "
                        "what ended in an error, and run again.",
                    true, "Repeats"};
}

}  // namespace sluice
