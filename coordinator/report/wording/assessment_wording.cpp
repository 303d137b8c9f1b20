#include "coordinator/report/wording/assessment_wording.hpp"

#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/report/wording/judge_wording.hpp"
#include "coordinator/report/wording/wording.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace sluice::wording {
namespace {

std::string fixed_or_none(const std::optional<double>& number, int decimals) {
  return number ? fixed(*number, decimals) : std::string(dash);
}

/// The difference of the numbers as they are shown: that of the exact ones looks wrong beside them where each
/// is rounded by itself. 0.00 has no direction.
std::string signed_delta(const std::optional<double>& current, const std::optional<double>& baseline,
                         int decimals) {
  if (!current || !baseline) return dash;
  const auto shown = [&](double number) { return std::strtod(fixed(number, decimals).c_str(), nullptr); };
  const double delta = score_delta(shown(*current), shown(*baseline));
  return fixed(billionths(delta) == 0 ? 0.0 : delta, decimals, true);
}

std::string_view cause_words(MetricCause cause) {
  switch (cause) {
    case MetricCause::none:
    case MetricCause::assessed_statistically:
    case MetricCause::assessed_by_score:
      return "";
    case MetricCause::not_passed:
      return "not passed";
    case MetricCause::broke:
      return "broke";
    case MetricCause::still_failing:
      return "still failing";
    case MetricCause::below_min_score:
      return "below the score asked for";
    case MetricCause::below_min_floor:
      return "below the floor";
    case MetricCause::dropped:
      return "dropped by more than is allowed";
    case MetricCause::became_undefined:
      return "undefined now (0/0)";
    case MetricCause::missing_in_baseline:
      return "no entry in the baseline";
    case MetricCause::no_majority:
      return "no majority of the votes passed";
    case MetricCause::judge_disagrees:
      return "the votes disagree";
    case MetricCause::judge_uncalibrated:
      return "by a judge that is not calibrated (`sluice calibrate-judge`)";
    case MetricCause::judge_kappa_low:
      return "by a judge whose kappa is too low";
    case MetricCause::known_failure:
      return "a known failure";
    case MetricCause::known_failure_passed:
      return "passed, though it is said to fail";
  }
  return "";
}

/// Of several repeats: what they missed is asked of each, and not of the mean that is shown.
bool missed_in_repeats(const AssessedMetric& metric) {
  const MetricCause cause = metric.spared != MetricCause::none ? metric.spared : metric.cause;
  return metric.limit && metric.repeat_scores.size() > 1 &&
         (cause == MetricCause::below_min_score || cause == MetricCause::below_min_floor);
}

/// `1 of 4 repeats `; empty where all that missed the limit are undefined.
std::string repeats_below(const AssessedMetric& metric) {
  const auto below = std::ranges::count_if(
      metric.repeat_scores, [&](double score) { return billionths(score) < billionths(*metric.limit); });
  if (below == 0) return "";
  return std::to_string(below) + " of " + std::to_string(metric.repeat_scores.size()) + " repeats ";
}

/// The votes of each repeat decide by themselves: those of all may have a majority where one repeat has none.
std::string cause_words(const AssessedMetric& metric, MetricCause cause) {
  const std::string words(cause_words(cause));
  if (cause != MetricCause::no_majority || !metric.votes || metric.votes->answers < 2) return words;
  return "in " + std::to_string(metric.votes->outvoted) + " of " + std::to_string(metric.votes->answers) +
         " repeats " + words;
}

/// Why the metric failed or warned, and by what else than a drop; of what a judge without calibration would
/// fail, both.
std::string cause_in_words(const AssessedMetric& metric) {
  if (metric.cause == MetricCause::missing_in_baseline && metric.asked_otherwise)
    return "pinned of what the test asked before";
  const bool is_spared = metric.spared != MetricCause::none;
  std::string words = missed_in_repeats(metric) ? repeats_below(metric) : "";
  words += cause_words(metric, is_spared ? metric.spared : metric.cause);
  if (metric.is_known_and_unjudged()) return words + ", which nothing judged";
  const MetricCause further = metric.further_cause();
  if (further != MetricCause::none) words.append(", and ").append(cause_words(metric, further));
  if (!is_spared) return words;
  words.append(", ").append(cause_words(metric.cause));
  const bool has_kappa = metric.calibration && metric.calibration->found != nullptr;
  return has_kappa ? words + ": " + kappa(*metric.calibration->found) : words;
}

/// `agreement 0.67 (2 of 3 votes reached 0.75)`; of several repeats only the votes: they are on different
/// answers.
std::string votes_in_words(const AssessedMetric& metric) {
  const VoteTally& votes = *metric.votes;
  const std::string passed = grouped(votes.passed) + " of " + counted(votes.votes, "vote") +
                             (votes.min_score ? " reached " + shortest(*votes.min_score) : " passed");
  if (votes.votes > votes.samples) return passed;
  return "agreement " + fixed(votes.agreement(), 2) + " (" + passed + ")";
}

std::string known_failure_words(const CaseResult& result) {
  if (is_known_failure_that_passed(result))
    return "passed, though the suite says that it fails: take its `known_failure` out";
  const std::string& why = *result.fixture.known_failure;
  return why.empty() ? "known failure" : "known failure: " + why;
}

/// Something of the case had failed when the baseline was made, whatever became of it.
bool failed_before(const CaseResult& result) {
  return std::ranges::any_of(result.metrics(), [](const AssessedMetric& metric) {
    return metric.baseline_passed == false || metric.had_failed;
  });
}

/// What each vote had to reach, where that decides: above any limit of their mean, or missed by a majority.
std::optional<double> limit_of_each_vote(const AssessedMetric& metric) {
  if (!metric.votes || !metric.votes->min_score) return std::nullopt;
  const bool lacks_majority =
      metric.cause == MetricCause::no_majority || metric.spared == MetricCause::no_majority;
  const bool is_higher = !metric.limit || billionths(*metric.votes->min_score) > billionths(*metric.limit);
  return lacks_majority || is_higher ? metric.votes->min_score : std::nullopt;
}

}  // namespace

bool is_known_failure_that_passed(const CaseResult& result) {
  return std::ranges::any_of(result.metrics(), [](const AssessedMetric& metric) {
    return metric.cause == MetricCause::known_failure_passed;
  });
}

bool has_something_to_say(const AssessedMetric& metric) {
  return metric.status == MetricStatus::fail || metric.status == MetricStatus::flaky ||
         metric.status == MetricStatus::warn;
}

bool misses_a_score(const AssessedMetric& metric) {
  return has_something_to_say(metric) && info(metric.id).kind == MetricKind::scored;
}

ScoreWords words_for(const AssessedMetric& metric) {
  if (metric.baseline_passed) {
    const auto words = [](bool passed) { return std::string(passed ? "passed" : "failed"); };
    return {words(*metric.baseline_passed ? metric.holds() : metric.is_fixed()),
            words(*metric.baseline_passed), std::string(dash), std::string(dash)};
  }
  const auto of_each_vote = limit_of_each_vote(metric);
  const auto limit = of_each_vote ? of_each_vote : metric.limit;
  const bool has_mean = of_each_vote && metric.votes->samples > 1;
  const bool is_of_each_repeat = !of_each_vote && missed_in_repeats(metric);
  // Of a limit of each repeat the lowest is what misses it.
  const auto compared =
      is_of_each_repeat ? std::optional(std::ranges::min(metric.repeat_scores)) : metric.score;
  const int decimals = std::max(decimals_for({metric.score, metric.baseline}),
                                decimals_for({compared, metric.baseline, limit}));
  return {fixed_or_none(metric.score, decimals), fixed_or_none(metric.baseline, decimals),
          signed_delta(metric.score, metric.baseline, decimals),
          fixed_or_none(limit, decimals) + (has_mean            ? " a vote"
                                            : is_of_each_repeat ? " a repeat"
                                                                : "")};
}

ScoreWords words_for(const AggregateComparison& comparison) {
  const int decimals = decimals_for({comparison.current, comparison.baseline});
  return {fixed_or_none(comparison.current, decimals), fixed_or_none(comparison.baseline, decimals),
          signed_delta(comparison.current, comparison.baseline, decimals), std::string(dash)};
}

std::string assessed(const AssessedMetric& metric) {
  const ScoreWords words = words_for(metric);
  std::string text = metric.shown_name() + ' ';
  if (metric.baseline) text += words.baseline + " → ";
  text += words.score;
  if (metric.delta()) text += " (" + words.delta + ")";
  if (metric.limit) text += ", limit " + words.limit;
  if (metric.votes && metric.votes->passed < metric.votes->votes) text += ", " + votes_in_words(metric);
  const auto cause = cause_in_words(metric);
  if (!cause.empty()) text.append(": ").append(cause);
  return text;
}

std::string points(double difference) {
  const double number = static_cast<double>(std::abs(billionths(difference))) / 1e7;
  if (number > 0.0 && number < 0.01) return "under 0.01 points";
  const std::string text = shortest(std::round(number * 100) / 100);
  return text + (text == "1" ? " point" : " points");
}

std::string aggregate_title(const AggregateComparison& comparison) {
  std::string title(comparison.name);
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z')
    title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return title;
}

std::string dropped(const AggregateComparison& comparison) {
  const ScoreWords words = words_for(comparison);
  const std::string title = aggregate_title(comparison);
  const auto delta = comparison.delta();
  if (!delta) return title + " is undefined now (was " + words.baseline + ")";
  return title + " dropped by " + points(*delta) + " (" + words.baseline + " to " + words.score + ")";
}

std::string aggregate_status(AggregateOutcome outcome) {
  switch (outcome) {
    case AggregateOutcome::not_compared:
      return "– not compared";
    case AggregateOutcome::no_drop:
      return "✓ no drop";
    case AggregateOutcome::within_limit:
      return "⚠ within limit";
    case AggregateOutcome::beyond_limit:
      return "✗ beyond limit";
  }
  return "";
}

std::string improvements(const CaseResult& result) {
  std::string text;
  for (const AssessedMetric& metric : result.metrics()) {
    const bool rose =
        metric.score && metric.baseline && billionths(*metric.score) > billionths(*metric.baseline);
    // Nothing is claimed any more where nothing is to be found.
    const bool cleared = !metric.score && metric.baseline && metric.status == MetricStatus::pass;
    if (metric.is_fixed()) {
      text += (text.empty() ? "" : ", ") + metric.shown_name() + " failed → passed";
      continue;
    }
    if (!rose && !cleared) continue;
    const ScoreWords words = words_for(metric);
    text += (text.empty() ? "" : ", ") + metric.shown_name() + ' ' + words.baseline + " → " + words.score;
    if (rose) text += " (" + words.delta + ")";
  }
  return text;
}

std::string change_of(const CaseResult& result) {
  if (result.fixture.known_failure && result.status == CaseStatus::warn) return known_failure_words(result);
  switch (result.assessment.change()) {
    case CaseChange::none:
    case CaseChange::dropped:  // Its score says it.
      return "";
    case CaseChange::broke:
      return failed_before(result)
                 ? "broke: a check that passed when the baseline was made; another failed then, too"
                 : "broke: it passed when the baseline was made";
    case CaseChange::fixed:
      return "fixed: it failed when the baseline was made";
    case CaseChange::still_failing:
      return "still failing, as when the baseline was made";
  }
  return "";
}

std::string missing_entries(const CaseResult& result) {
  std::string names;
  for (const AssessedMetric& metric : result.metrics()) {
    if (metric.cause != MetricCause::missing_in_baseline) continue;
    names += (names.empty() ? "" : ", ") + metric.shown_name();
  }
  return names;
}

bool judge_warns(const CaseResult& result) {
  return std::ranges::any_of(result.metrics(), [](const AssessedMetric& metric) {
    const bool is_known = metric.cause == MetricCause::known_failure;
    return (metric.votes && metric.votes->disagree) || (metric.spared != MetricCause::none && !is_known);
  });
}

}  // namespace sluice::wording
