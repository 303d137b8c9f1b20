#include "coordinator/report/data/json_case.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/merge/aggregate.hpp"
#include "coordinator/output/claim_json.hpp"
#include "coordinator/output/vote_json.hpp"
#include "coordinator/report/data/json_usage.hpp"
#include "coordinator/report/wording/case_explanation.hpp"

#include <algorithm>
#include <string_view>

namespace sluice {
namespace {

void write_claim_object(Json& json, const FinalClaim& claim) {
  json.open('{');
  write_final_claim(json, claim);
  json.close('}');
}

void write_expectation(Json& json, const ExpectedClaim& expected,
                       const std::optional<ExpectedClaim>& taken_for) {
  json.member("subject", expected.subject);
  json.member("predicate", expected.predicate);
  json.member("value", expected.value);
  json.member("rationale", expected.rationale);
  if (!taken_for) return;
  json.key("taken_for").open('{');
  json.member("subject", taken_for->subject);
  json.member("predicate", taken_for->predicate);
  json.member("value", taken_for->value);
  json.close('}');
}

/// Of a check also where it was known to fail, and only warns.
std::optional<bool> passed(const AssessedMetric& metric) {
  const bool is_check = info(metric.id).kind == MetricKind::pass_fail;
  if (metric.status == MetricStatus::warn && is_check) return metric.holds();
  if (metric.status == MetricStatus::pass) return true;
  if (metric.status == MetricStatus::fail) return false;
  return std::nullopt;
}

std::optional<std::string_view> unless(bool is_absent, std::string_view text) {
  return is_absent ? std::nullopt : std::optional(text);
}

void write_thresholding(Json& json, const std::optional<Thresholding>& thresholding) {
  json.key("thresholding");
  if (!thresholding) return json.null();
  json.open('{');
  json.member("mode", to_string(thresholding->mode.value_or(ThresholdMode::relative)));
  json.member("max_drop", thresholding->max_drop);
  json.member("min_floor", thresholding->min_floor);
  json.member("min_score", thresholding->min_score);
  if (thresholding->mode == ThresholdMode::statistical) write_json_test_rules(json, *thresholding);
  json.close('}');
}

/// What each assessed repeat came to by the n-th metric.
void write_repeats(Json& json, const CaseResult& result, std::size_t n) {
  if (result.repeats.assessed < 2) return;
  const bool is_scored = result.metrics()[n].is_scored();
  json.key(is_scored ? "repeat_scores" : "repeat_passed").open('[');
  for (const TrialResult& trial : result.trials) {
    if (trial.perturbation > 0 || trial.error != nullptr) continue;
    const AssessedMetric& assessed = trial.assessment.metrics[n];
    is_scored ? json.value(assessed.score) : json.value(assessed.passed);
  }
  json.close(']');
}

void write_metrics(Json& json, const CaseResult& result, const ThresholdsInEffect& thresholds,
                   std::span<const Rubric> rubrics) {
  json.key("metrics").open('[');
  for (std::size_t n = 0; n < result.metrics().size(); ++n) {
    const AssessedMetric& assessed = result.metrics()[n];
    json.open('{');
    json.member("name", assessed.shown_name());
    json.member("version", info(assessed.id).version);
    json.member("asked_by_name", assessed.asked_by_name);
    if (assessed.is_check()) json.member("check", digest_text(assessed.check()));
    if (const ScoreDigest asks = assessed.is_scored() ? assessed.asks() : 0; asks != 0)
      json.member("asks", digest_text(asks));
    if (const auto words = wording::expectation_in_words(result, n, rubrics); !words.empty())
      json.member("expected", words);
    json.member("score", assessed.score);
    json.member("passed", passed(assessed));
    json.member("status", to_string(assessed.status));
    json.member("cause", unless(assessed.cause == MetricCause::none, to_string(assessed.cause)));
    if (assessed.spared != MetricCause::none) json.member("would_fail_by", to_string(assessed.spared));
    if (const MetricCause further = assessed.further_cause(); further != MetricCause::none)
      json.member("fails_also_by", to_string(further));
    json.member("detail", unless(assessed.detail.empty(), assessed.detail));
    json.member("baseline", assessed.baseline);
    if (assessed.baseline_passed) json.member("baseline_passed", *assessed.baseline_passed);
    json.member("delta", assessed.delta());
    json.member("limit", assessed.limit);
    write_repeats(json, result, n);
    write_thresholding(json, thresholds.of(assessed));
    json.close('}');
  }
  json.close(']');
}

void write_details(Json& json, const CaseResult& result, CaseDetails& details) {
  explain(result, details);
  json.key("missing").open('[');
  for (const MissedClaim& missed : details.missing) {
    json.open('{');
    write_expectation(json, *missed.expected, missed.taken_for);
    json.key("got");
    if (missed.got == nullptr) {
      json.null();
    } else {
      json.open('{');
      write_final_claim(json, *missed.got);
      json.member("below_min_confidence", missed.below_min_confidence);
      json.close('}');
    }
    json.close('}');
  }
  json.close(']');
  json.key("unexpected").open('[');
  for (const FinalClaim* claim : details.unexpected) write_claim_object(json, *claim);
  json.close(']');
  json.key("forbidden").open('[');
  for (const ForbiddenClaim& forbidden : details.forbidden) {
    json.open('{');
    write_expectation(json, *forbidden.forbidden, forbidden.taken_for);
    json.key("got");
    write_claim_object(json, *forbidden.got);
    json.close('}');
  }
  json.close(']');
}

void write_answer(Json& json, const CaseResult& result) {
  const UnitResult* unit = result.unit;
  json.key("claims").open('[');
  if (unit != nullptr) {
    for (const FinalClaim& claim : unit->claims) write_claim_object(json, claim);
  }
  json.close(']');
  json.key("parsed").open('[');
  if (unit != nullptr) {
    for (const ParsedClaim& claim : unit->parsed) write_parsed_claim(json, claim);
  }
  json.close(']');
  json.key("answer");
  unit == nullptr || is_zero(unit->answer) ? json.null() : json.value(to_prefixed_hex(unit->answer));
  const std::string_view shown = unit == nullptr ? std::string_view() : unit->shown_text;
  json.member("answer_text", unless(shown.empty(), shown));
  write_usage(json, known_usage(result));
}

void write_judge_score(Json& json, const JudgeScore& judged) {
  json.member("passed", judged.passed());
  json.member("score", judged.score());
  json.member("source", to_string(judged.source));
  write_each_vote(json, judged);
  json.member("agreement", judged.agreement());
  json.member("rationale", judged.rationale);
}

/// The n-th judge metric of each repeat that was assessed.
void write_judged_repeats(Json& json, const CaseResult& result, std::size_t n) {
  json.key("repeats").open('[');
  for (const TrialResult& trial : result.trials) {
    if (trial.perturbation > 0 || trial.error != nullptr) continue;
    json.open('{');
    write_judge_score(json, trial.score->judged[n]);
    json.close('}');
  }
  json.close(']');
}

/// The calibration that the gate found for the n-th judge metric, if it asks for any.
std::optional<CalibrationStanding> standing_of(const CaseResult& result, std::size_t n) {
  for (const AssessedMetric& metric : result.metrics()) {
    if (!metric.votes || n-- > 0) continue;
    return metric.calibration ? std::optional(metric.calibration->standing) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

void write_json_scores(Json& json, const Scores& scores) {
  json.member("precision", scores.precision);
  json.member("recall", scores.recall);
  json.member("f1", scores.f1);
}

void write_json_test_rules(Json& json, const Thresholding& thresholding) {
  json.member("confidence", thresholding.confidence);
  json.member("min_effect", thresholding.min_effect);
  json.member("unit", thresholding.cluster_by_category ? "category" : "case");
}

Thresholding ThresholdsInEffect::tests_of(const Thresholding& given) const {
  Thresholding effect;
  effect.mode = ThresholdMode::statistical;
  effect.confidence = given.confidence.value_or(defaults::statistics::confidence);
  effect.min_effect = given.min_effect.value_or(gate_.default_max_drop);
  effect.cluster_by_category = given.cluster_by_category;
  return effect;
}

std::optional<Thresholding> ThresholdsInEffect::of_all_cases() const {
  if (suite_.mode != ThresholdMode::statistical) return std::nullopt;
  return tests_of(suite_);
}

std::optional<Thresholding> ThresholdsInEffect::of(const AssessedMetric& metric) const {
  if (!metric.is_scored()) return std::nullopt;
  const Expectation* named = metric.expectation;
  const Thresholding given = merged(suite_, named != nullptr ? named->thresholding : Thresholding{});
  Thresholding effect;
  effect.mode = given.mode.value_or(ThresholdMode::relative);
  if (effect.mode == ThresholdMode::relative) {
    effect.max_drop = given.max_drop.value_or(gate_.default_max_drop);
    effect.min_floor = given.min_floor;
  }
  if (effect.mode == ThresholdMode::statistical) {
    effect = tests_of(given);
    effect.min_floor = given.min_floor;
  }
  // Where nobody names a mode, a fixed score holds beside the relative ones.
  if (!given.mode || given.mode == ThresholdMode::absolute) effect.min_score = given.min_score;
  // Of a judge metric it is what the votes had to reach, and asked of no score.
  if (named != nullptr && named->min_score && !is_judge_metric(metric.id))
    effect.min_score = std::max(effect.min_score.value_or(0.0), *named->min_score);
  return effect;
}

void write_json_case(Json& json, const CaseResult& result, const ThresholdsInEffect& thresholds,
                     std::span<const Rubric> rubrics, CaseDetails& details) {
  const Case& fixture = result.fixture;
  json.member("id", fixture.id);
  json.member("name", fixture.name);
  json.member("category", fixture.category);
  json.member("language", fixture.language);
  json.member("source", fixture.source);
  json.member("kind", fixture.kind == CaseKind::claims ? "claims" : "text");
  if (fixture.recorded) json.member("answer_recorded", true);
  json.member("status", to_string(result.status));
  json.key("reason_code");
  result.error == nullptr ? json.null() : json.value(to_string(result.error->reason));
  if (result.not_started) json.member("not_started", true);
  if (const auto unit = result.first_unit(); unit && result.shares_request)
    json.member("request", std::uint64_t{*unit});
  json.member("regressed", result.assessment.regressed);
  json.member("improved", result.assessment.improved);
  if (const CaseChange change = result.assessment.change(); change != CaseChange::none)
    json.member("change", to_string(change));
  if (fixture.known_failure) {
    json.key("known_failure");
    fixture.known_failure->empty() ? json.value(true) : json.value(*fixture.known_failure);
  }
  write_metrics(json, result, thresholds, rubrics);
  write_json_scores(json, result.counts ? scores_of(*result.counts) : Scores{});
  const auto count = [&](std::uint64_t Counts::*part) {
    return result.counts ? std::optional((*result.counts).*part) : std::nullopt;
  };
  json.member("true_positives", count(&Counts::true_positives));
  json.member("false_positives", count(&Counts::false_positives));
  json.member("false_negatives", count(&Counts::false_negatives));
  json.member("weight", fixture.weight);
  write_details(json, result, details);
  write_answer(json, result);
}

void write_json_votes(Json& json, const CaseResult& result, std::span<const Rubric> rubrics) {
  if (result.score == nullptr || result.score->judged.empty()) return;
  json.key("meta").open('{');
  json.key("assay").open('{');
  json.key("judge").open('{');
  std::size_t n = 0;
  for (const Expectation& expectation : result.fixture.expectations) {
    if (!is_judge_metric(expectation.what.metric)) continue;
    json.key(score_text(expectation.what.metric, expectation.name)).open('{');
    const bool has_rubric = expectation.judge && expectation.judge->rubric < rubrics.size();
    const Rubric* rubric = has_rubric ? &rubrics[expectation.judge->rubric] : nullptr;
    json.member("rubric", rubric != nullptr ? std::optional(rubric->id) : std::nullopt);
    json.member("rubric_version", rubric != nullptr ? std::optional(rubric->version) : std::nullopt);
    if (rubric != nullptr) json.member("rubric_hash", to_prefixed_hex(rubric_hash(*rubric)));
    json.member("min_score", expectation.min_score.value_or(defaults::judge_min_score));
    write_judge_score(json, result.score->judged[n]);
    if (const auto standing = standing_of(result, n)) json.member("calibration", to_string(*standing));
    if (result.repeats.assessed > 1) write_judged_repeats(json, result, n);
    json.close('}');
    ++n;
  }
  for (int i = 0; i < 3; ++i) json.close('}');
}

}  // namespace sluice
