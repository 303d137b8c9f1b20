#include "coordinator/report/wording/case_explanation.hpp"

#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/expectation_wording.hpp"
#include "coordinator/gate/assess_metrics.hpp"
#include "coordinator/report/wording/assessment_wording.hpp"
#include "coordinator/report/wording/judge_wording.hpp"
#include "coordinator/report/wording/wording.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace sluice::wording {
namespace {

// The n-th outcome of a text metric answers the n-th expectation of it.
const Expectation* expectation_of(const CaseResult& result, std::size_t metric) {
  const auto metrics = result.metrics();
  const MetricId id = metrics[metric].id;
  const auto before = std::ranges::count(metrics.first(metric), id, &AssessedMetric::id);
  return find_expectation(result.fixture, id, static_cast<std::size_t>(before));
}

std::string asked_of_the_judge(const ScoreId& score, const JudgeQuestion& asked,
                               std::span<const Rubric> rubrics) {
  std::string words = to_string(score);
  if (asked.rubric < rubrics.size()) {
    const Rubric& rubric = rubrics[asked.rubric];
    words = rubric_in_words(score, rubric.id, rubric.version);
  }
  return asked_in_words(std::move(words), {{}, {}, asked.context, asked.reference, asked.criteria});
}

std::string asked_for(const Expectation& expectation, std::span<const Rubric> rubrics) {
  const ScoreId score{expectation.what.metric, expectation.name};
  if (expectation.judge) return asked_of_the_judge(score, *expectation.judge, rubrics);
  return is_judge_metric(score.metric) ? "" : expected_in_words(expectation.what, to_string(score));
}

/// What was asked for, and the judge's own words: foreign text, which may be as long as it likes.
void tell_judgement(const AssessedMetric& metric, const Expectation* expectation,
                    std::span<const Rubric> rubrics, std::vector<CaseLine>& lines) {
  if (expectation != nullptr && expectation->judge)
    lines.push_back({CaseLineKind::expected, asked_for(*expectation, rubrics)});
  if (!metric.votes || metric.votes->rationale.empty()) return;
  const std::string rationale = one_line(to_valid_utf8(metric.votes->rationale));
  lines.push_back({CaseLineKind::judgement, excerpt(rationale, defaults::max_message_bytes)});
}

/// What is worse than in the baseline, what else fails, and what had failed before.
int rank_of(const AssessedMetric& metric) {
  if (fell_below_baseline(metric.cause)) return 0;
  return metric.cause == MetricCause::still_failing ? 2 : 1;
}

/// The places of the metrics that have something to say, in the order of their telling.
std::vector<std::size_t> told_metrics(std::span<const AssessedMetric> metrics) {
  std::vector<std::size_t> told;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (has_something_to_say(metrics[i])) told.push_back(i);
  }
  std::ranges::stable_sort(told, {}, [&](std::size_t i) { return rank_of(metrics[i]); });
  return told;
}

/// How a failed check stands to the baseline; empty where that has none of the case's checks, or it failed in
/// too few repeats to have broken.
std::string_view standing_of(const AssessedMetric& metric, bool are_checks_pinned) {
  switch (metric.cause) {
    case MetricCause::broke:
      return "broke";
    case MetricCause::still_failing:
      return "still failing";
    case MetricCause::not_passed:
      return are_checks_pinned && metric.is_check() && !metric.baseline_passed ? "new" : "";
    default:
      return "";
  }
}

/// Of a metric that did not come to its status in the repeat that is shown.
std::string failed_elsewhere(const AssessedMetric& metric) {
  const auto failed = std::ranges::count(metric.repeat_passes, '0');
  if (failed == 0) return " did not pass in another repeat than the one shown";
  return " failed in " + std::to_string(failed) + " of " + std::to_string(metric.repeat_passes.size()) +
         " repeats, not in the one shown";
}

void tell_metrics(const CaseResult& result, std::span<const Rubric> rubrics, std::vector<CaseLine>& lines) {
  const std::vector<std::size_t> told = told_metrics(result.metrics());
  const bool are_checks_pinned = std::ranges::any_of(
      result.metrics(), [](const AssessedMetric& metric) { return metric.baseline_passed.has_value(); });
  for (const std::size_t i : told) {
    const AssessedMetric& metric = result.metrics()[i];
    // Of a single one the case's own change says it.
    const std::string_view standing = told.size() > 1 ? standing_of(metric, are_checks_pinned) : "";
    const bool is_scored = misses_a_score(metric);
    if (is_scored) lines.push_back({CaseLineKind::score, assessed(metric)});
    // What the claims metrics miss is shown claim by claim.
    if (is_claims_metric(metric.id)) continue;
    const Expectation* expectation = expectation_of(result, i);
    if (is_judge_metric(metric.id)) {
      tell_judgement(metric, expectation, rubrics, lines);
      continue;
    }
    const std::string name = metric.shown_name();
    if (expectation != nullptr)
      lines.push_back({CaseLineKind::expected, asked_for(*expectation, rubrics), standing});
    if (!metric.detail.empty()) lines.push_back({CaseLineKind::detail, std::string(metric.detail)});
    if (metric.only_in_other_repeats) {
      lines.push_back({CaseLineKind::detail, name + failed_elsewhere(metric)});
      continue;
    }
    if (expectation == nullptr && metric.detail.empty() && !is_scored)
      lines.push_back({CaseLineKind::detail, name + " did not pass"});
  }
}

std::string shortened(const ExpectedClaim& expected) {
  return excerpt(to_text(expected.subject, expected.predicate, expected.value), defaults::max_claim_bytes);
}

void tell_claims(const CaseResult& result, const CaseDetails& details, std::vector<CaseLine>& lines) {
  for (const MissedClaim& missed : details.missing) {
    const ExpectedClaim& expected = *missed.expected;
    std::string words = shortened(expected);
    if (missed.taken_for) words += ", taken for " + shortened(*missed.taken_for);
    lines.push_back({CaseLineKind::expected, std::move(words)});
    if (expected.rationale)
      lines.push_back({CaseLineKind::rationale, excerpt(*expected.rationale, defaults::max_message_bytes)});
    const auto kind = missed.got == nullptr ? CaseLineKind::nothing_got : CaseLineKind::got;
    lines.push_back({kind, got(missed, result.fixture)});
  }
  for (const ForbiddenClaim& forbidden : details.forbidden) {
    std::string words = extracted(*forbidden.got);
    if (forbidden.taken_for) words += ", forbidden as " + shortened(*forbidden.forbidden);
    lines.push_back({CaseLineKind::forbidden, std::move(words)});
    if (forbidden.forbidden->rationale)
      lines.push_back(
          {CaseLineKind::rationale, excerpt(*forbidden.forbidden->rationale, defaults::max_message_bytes)});
  }
  for (const FinalClaim* claim : details.unexpected) {
    if (is_shown_as_got(details, *claim)) continue;
    lines.push_back({CaseLineKind::unexpected, extracted(*claim)});
  }
}

/// `2 of 4 failed, 1 refused`
std::string failed_repeats(const CaseResult& result) {
  std::string words =
      std::to_string(result.repeats.failed) + " of " + std::to_string(result.repeats.counted()) + " failed";
  std::map<Reason, std::size_t> without_answer;
  for (const TrialResult& trial : result.trials) {
    if (trial.perturbation == 0 && is_without_answer(trial)) ++without_answer[trial.error->reason];
  }
  for (const auto& [reason, count] : without_answer)
    words += ", " + std::to_string(count) + " " + non_answer_word(reason);
  return words;
}

}  // namespace

std::string expectation_in_words(const CaseResult& result, std::size_t metric,
                                 std::span<const Rubric> rubrics) {
  const Expectation* expectation = expectation_of(result, metric);
  const bool is_told = expectation != nullptr && !is_claims_metric(expectation->what.metric);
  return is_told ? asked_for(*expectation, rubrics) : "";
}

std::vector<std::string> missed_by(const CaseResult& result) {
  std::vector<std::string> missed;
  if (result.fixture.known_failure && result.status == CaseStatus::warn)
    missed.push_back(one_line(change_of(result)));
  for (std::size_t i = 0; i < result.metrics().size(); ++i) {
    const AssessedMetric& metric = result.metrics()[i];
    if (misses_a_score(metric)) missed.push_back(assessed(metric));
    const bool is_of_baseline =
        metric.cause == MetricCause::broke || metric.cause == MetricCause::still_failing;
    if (!metric.is_check() || !is_of_baseline) continue;
    const std::string check = one_line(expectation_in_words(result, i, {}));
    missed.push_back(check + (metric.cause == MetricCause::broke
                                  ? " broke: it passed when the baseline was made"
                                  : " is still failing, as when the baseline was made"));
  }
  return missed;
}

namespace {

std::string_view kind_word(CaseLineKind kind) {
  switch (kind) {
    case CaseLineKind::change:
      return "Change";
    case CaseLineKind::repeats:
      return "Repeats";
    case CaseLineKind::score:
      return "Score";
    case CaseLineKind::expected:
      return "Expected";
    case CaseLineKind::rationale:
      return "Rationale";
    case CaseLineKind::got:
    case CaseLineKind::nothing_got:
      return "Got";
    case CaseLineKind::judgement:
      return "Judge";
    case CaseLineKind::detail:
      return "Detail";
    case CaseLineKind::forbidden:
      return "Forbidden";
    case CaseLineKind::unexpected:
      return "Unexpected";
  }
  return "";
}

}  // namespace

std::string label_of(const CaseLine& line) {
  std::string label(kind_word(line.kind));
  return line.standing.empty() ? label : label + " (" + std::string(line.standing) + ")";
}

std::vector<CaseLine> explanation(const CaseResult& result, std::span<const Rubric> rubrics,
                                  CaseDetails& details) {
  std::vector<CaseLine> lines;
  if (result.status == CaseStatus::error) return lines;
  if (auto change = change_of(result); !change.empty())
    lines.push_back({CaseLineKind::change, std::move(change)});
  if (result.repeats.planned > 1) lines.push_back({CaseLineKind::repeats, failed_repeats(result)});
  // Of a known failure that passed nothing was missed: what to do about it stands in its change.
  if (!is_known_failure_that_passed(result)) {
    tell_metrics(result, rubrics, lines);
    explain(result, details);
    tell_claims(result, details, lines);
  }
  if (result.fixture.kind == CaseKind::text && result.unit != nullptr) {
    const std::string& answer = result.unit->shown_text;
    if (answer.empty()) {
      lines.push_back({CaseLineKind::nothing_got, "An empty answer"});
    } else if (one_line(answer).empty()) {
      lines.push_back({CaseLineKind::nothing_got, "White space alone"});
    } else {
      lines.push_back({CaseLineKind::got, excerpt(answer, defaults::max_claim_bytes)});
    }
  }
  return lines;
}

std::string plain_text(const std::vector<CaseLine>& explanation) {
  std::string text;
  for (const CaseLine& line : explanation)
    text.append(label_of(line)).append(": ").append(line.text).append("\n");
  return text;
}

namespace {

/// The line says what was missed, and not only what came, or how often.
bool says_why(const CaseLine& line) {
  return line.kind != CaseLineKind::change && line.kind != CaseLineKind::repeats &&
         line.kind != CaseLineKind::got && line.kind != CaseLineKind::nothing_got;
}

}  // namespace

std::string headline(const std::vector<CaseLine>& explanation) {
  std::string text;
  const bool is_said_why = std::ranges::any_of(explanation, says_why);
  // Of several repeats how many failed stands behind the check, whose reason it would push out.
  std::string repeats;
  for (const CaseLine& line : explanation) {
    if (line.kind == CaseLineKind::repeats) {
      repeats = label_of(line) + ": " + line.text;
      continue;
    }
    const bool is_second = !text.empty();
    if (is_second && line.kind == CaseLineKind::rationale) continue;
    if (line.kind == CaseLineKind::change && is_said_why) continue;
    if (is_second) text += clause_separator(text);
    text += line.kind == CaseLineKind::score ? "" : label_of(line) + ": ";
    text += first_line(line.text);
    if (is_second || line.kind == CaseLineKind::score) break;
  }
  if (!text.empty() && !repeats.empty()) text += clause_separator(text);
  return text + repeats;
}

std::string first_line(std::string_view text) {
  return excerpt(text.substr(0, text.find_first_of("\r\n")), defaults::first_line_bytes);
}

}  // namespace sluice::wording
