#include "coordinator/report/assessment_wording.hpp"

#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/report/judge_wording.hpp"
#include "coordinator/report/wording.hpp"

#include <algorithm>
#include <cmath>

namespace sluice::wording {
namespace {

std::string fixed_or_none(const std::optional<double>& number, int decimals, bool with_sign = false) {
  return number ? fixed(*number, decimals, with_sign) : std::string(dash);
}

// 0.00 has no direction.
std::string signed_delta(const std::optional<double>& delta, int decimals) {
  if (delta && billionths(*delta) == 0) return fixed(0.0, decimals, true);
  return fixed_or_none(delta, decimals, true);
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

/// Why the metric failed or warned; of what a judge without calibration would fail, both.
std::string cause_in_words(const AssessedMetric& metric) {
  std::string words(cause_words(metric.cause));
  if (metric.spared == MetricCause::none) return words;
  words = std::string(cause_words(metric.spared)) + ", " + words;
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
  const bool passed = std::ranges::any_of(result.metrics(), [](const AssessedMetric& metric) {
    return metric.cause == MetricCause::known_failure_passed;
  });
  if (passed) return "passed, though the suite says that it fails: take its `known_failure` out";
  const std::string& why = *result.fixture.known_failure;
  return why.empty() ? "known failure" : "known failure: " + why;
}

std::string quoted_list(const std::vector<std::string>& texts) {
  std::string list;
  for (const auto& text : texts) {
    if (list.size() > defaults::max_claim_bytes) return list + ", ...";
    list += (list.empty() ? "\"" : ", \"") + excerpt(text, defaults::max_claim_bytes) + '"';
  }
  return list;
}

// The n-th outcome of a text metric answers the n-th expectation of it.
const Expectation* expectation_of(const CaseResult& result, std::size_t metric) {
  const auto metrics = result.metrics();
  const MetricId id = metrics[metric].id;
  auto before = std::ranges::count(metrics.first(metric), id, &AssessedMetric::id);
  for (const Expectation& expectation : result.fixture.expectations) {
    if (expectation.what.metric == id && before-- == 0) return &expectation;
  }
  return nullptr;
}

bool has_something_to_say(const AssessedMetric& metric) {
  return metric.status == MetricStatus::fail || metric.status == MetricStatus::flaky ||
         metric.status == MetricStatus::warn;
}

bool misses_a_score(const AssessedMetric& metric) {
  return has_something_to_say(metric) && info(metric.id).kind == MetricKind::scored;
}

/// `correctness v1 "In May."`: what the judge was asked by, and what the test gave it.
std::string asked_of_the_judge(MetricId metric, const JudgeQuestion& asked, std::span<const Rubric> rubrics) {
  std::string words(info(metric).name);
  if (asked.rubric < rubrics.size()) {
    const Rubric& rubric = rubrics[asked.rubric];
    words = rubric_in_words(metric, rubric.id, rubric.version);
  }
  for (const std::string* text : {&asked.reference, &asked.criteria, &asked.context}) {
    if (!text->empty()) return words + ' ' + quoted_list({*text});
  }
  return words;
}

/// What was asked for, and the judge's own words: foreign text, which may be as long as it likes.
void tell_judgement(const AssessedMetric& metric, const Expectation* expectation,
                    std::span<const Rubric> rubrics, std::vector<CaseLine>& lines) {
  if (expectation != nullptr && expectation->judge)
    lines.push_back({CaseLineKind::expected, asked_of_the_judge(metric.id, *expectation->judge, rubrics)});
  if (!metric.votes || metric.votes->rationale.empty()) return;
  const std::string rationale = one_line(to_valid_utf8(metric.votes->rationale));
  lines.push_back({CaseLineKind::judgement, excerpt(rationale, defaults::max_message_bytes)});
}

/// The keys of the numbers that a suite gives; what the run adds to them has none.
std::vector<std::string_view> keys_of_numbers(MetricId metric) {
  switch (positive(metric)) {
    case MetricId::levenshtein:
      return {"max_distance"};
    case MetricId::rouge_n:
      return {"n", "min_score"};
    case MetricId::latency:
      return {"max_ms"};
    case MetricId::cost:
      return {"max_dollars"};
    case MetricId::all_of:
      return {"pass_mark"};
    default:
      return {};
  }
}

/// `icontains "a", "b"`, `latency max_ms 200`, `command ["./check.sh"]`, `any_of (icontains "a"; cost
/// max_dollars 1)`.
std::string expected_in_words(const TextExpectation& what) {
  std::string words(info(what.metric).name);
  // The other texts of a command are its parameters and the hash of its files.
  if (is_command_metric(what.metric)) return words + ' ' + what.texts.at(0);
  if (!what.texts.empty()) words += ' ' + quoted_list(what.texts);
  const auto keys = keys_of_numbers(what.metric);
  for (std::size_t i = 0; i < std::min(keys.size(), what.numbers.size()); ++i)
    words.append(" ").append(keys[i]).append(" ").append(shortest(what.numbers[i]));
  for (const TextExpectation& part : what.parts)
    words += (&part == what.parts.data() ? " (" : "; ") + expected_in_words(part);
  return what.parts.empty() ? words : words + ")";
}

void tell_metrics(const CaseResult& result, std::span<const Rubric> rubrics, std::vector<CaseLine>& lines) {
  for (std::size_t i = 0; i < result.metrics().size(); ++i) {
    const AssessedMetric& metric = result.metrics()[i];
    if (!has_something_to_say(metric)) continue;
    const bool is_scored = misses_a_score(metric);
    if (is_scored) lines.push_back({CaseLineKind::score, assessed(metric)});
    // What the claims metrics miss is shown claim by claim.
    if (is_claims_metric(metric.id)) continue;
    const Expectation* expectation = expectation_of(result, i);
    if (is_judge_metric(metric.id)) {
      tell_judgement(metric, expectation, rubrics, lines);
      continue;
    }
    const std::string name(info(metric.id).name);
    if (expectation != nullptr)
      lines.push_back({CaseLineKind::expected, expected_in_words(expectation->what)});
    if (!metric.detail.empty()) lines.push_back({CaseLineKind::detail, std::string(metric.detail)});
    if (metric.only_in_other_repeats) {
      lines.push_back({CaseLineKind::detail, name + " did not pass in another repeat than the one shown"});
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

}  // namespace

int decimals_for(std::initializer_list<std::optional<double>> scores) {
  const auto kept_apart = [&](int decimals) {
    const double step = std::pow(10.0, -decimals);
    for (const auto& a : scores) {
      for (const auto& b : scores) {
        if (!a || !b || billionths(*a) == billionths(*b)) continue;
        if (std::abs(*a - *b) < step / 2 || fixed(*a, decimals) == fixed(*b, decimals)) return false;
      }
    }
    return true;
  };
  int decimals = 2;
  while (decimals < 9 && !kept_apart(decimals)) ++decimals;
  return decimals;
}

ScoreWords words_for(const AssessedMetric& metric) {
  if (metric.baseline_passed) {
    const auto words = [](bool passed) { return std::string(passed ? "passed" : "failed"); };
    return {words(*metric.baseline_passed ? metric.holds() : metric.is_fixed()),
            words(*metric.baseline_passed), std::string(dash), std::string(dash)};
  }
  const int decimals = decimals_for({metric.score, metric.baseline, metric.limit});
  return {fixed_or_none(metric.score, decimals), fixed_or_none(metric.baseline, decimals),
          signed_delta(metric.delta(), decimals), fixed_or_none(metric.limit, decimals)};
}

ScoreWords words_for(const AggregateComparison& comparison) {
  const int decimals = decimals_for({comparison.current, comparison.baseline});
  return {fixed_or_none(comparison.current, decimals), fixed_or_none(comparison.baseline, decimals),
          signed_delta(comparison.delta(), decimals), std::string(dash)};
}

std::string assessed(const AssessedMetric& metric) {
  const ScoreWords words = words_for(metric);
  std::string text = std::string(info(metric.id).name) + ' ';
  if (metric.baseline) text += words.baseline + " → ";
  text += words.score;
  if (metric.delta()) text += " (" + words.delta + ")";
  if (metric.limit) text += ", limit " + words.limit;
  if (metric.votes && metric.votes->passed < metric.votes->votes) text += ", " + votes_in_words(metric);
  const auto cause = cause_in_words(metric);
  if (!cause.empty()) text.append(": ").append(cause);
  return text;
}

std::vector<std::string> missed_scores(const CaseResult& result) {
  std::vector<std::string> missed;
  for (const AssessedMetric& metric : result.metrics()) {
    if (misses_a_score(metric)) missed.push_back(assessed(metric));
  }
  return missed;
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
      text += (text.empty() ? "" : ", ") + std::string(info(metric.id).name) + " failed → passed";
      continue;
    }
    if (!rose && !cleared) continue;
    const ScoreWords words = words_for(metric);
    text += (text.empty() ? "" : ", ") + std::string(info(metric.id).name) + ' ' + words.baseline + " → " +
            words.score;
    if (rose) text += " (" + words.delta + ")";
  }
  return text;
}

std::string change_of(const CaseResult& result) {
  if (result.fixture.known_failure && result.status == CaseStatus::warn) return known_failure_words(result);
  switch (result.assessment.change()) {
    case CaseChange::none:
      return "";
    case CaseChange::broke:
      return "broke: it passed when the baseline was made";
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
    names += (names.empty() ? "" : ", ") + std::string(info(metric.id).name);
  }
  return names;
}

bool judge_warns(const CaseResult& result) {
  return std::ranges::any_of(result.metrics(), [](const AssessedMetric& metric) {
    const bool is_known = metric.cause == MetricCause::known_failure;
    return (metric.votes && metric.votes->disagree) || (metric.spared != MetricCause::none && !is_known);
  });
}

std::string_view label_of(CaseLineKind kind) {
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

std::vector<CaseLine> explanation(const CaseResult& result, std::span<const Rubric> rubrics,
                                  CaseDetails& details) {
  std::vector<CaseLine> lines;
  if (result.status == CaseStatus::error) return lines;
  if (auto change = change_of(result); !change.empty())
    lines.push_back({CaseLineKind::change, std::move(change)});
  if (result.repeats.planned > 1) {
    lines.push_back({CaseLineKind::repeats, std::to_string(result.repeats.failed) + " of " +
                                                std::to_string(result.repeats.assessed) + " failed"});
  }
  tell_metrics(result, rubrics, lines);
  explain(result, details);
  tell_claims(result, details, lines);
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
    text.append(label_of(line.kind)).append(": ").append(line.text).append("\n");
  return text;
}

std::string headline(const std::vector<CaseLine>& explanation) {
  std::string text;
  for (const CaseLine& line : explanation) {
    const bool is_second = !text.empty();
    if (is_second && line.kind == CaseLineKind::rationale) continue;
    if (line.kind == CaseLineKind::change && explanation.size() > 1) continue;
    if (is_second) text += "; ";
    text += line.kind == CaseLineKind::score ? "" : std::string(label_of(line.kind)) + ": ";
    text += first_line(line.text);
    if (is_second || line.kind == CaseLineKind::score) break;
  }
  return text;
}

std::string first_line(std::string_view text) {
  return excerpt(text.substr(0, text.find_first_of("\r\n")), defaults::first_line_bytes);
}

}  // namespace sluice::wording
