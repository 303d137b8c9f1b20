#include "coordinator/score_files/report_case_reader.hpp"

#include "common/defaults.hpp"
#include "common/model/metrics.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/gate/quoted.hpp"
#include "coordinator/gate/status.hpp"
#include "coordinator/suite/score_id.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace sluice {
namespace {

using Kind = JsonNode::Kind;

std::size_t repeats_of(const ComparedMetric& metric) {
  return metric.repeat_scores.size() + metric.repeat_passed.size();
}

/// Between two bounds, both excluded.
bool inner_if_there(JsonValues& values, const JsonAt& at, double low, const char* what,
                    std::optional<double>& target) {
  if (!at) return true;
  if (!at.is(Kind::number) || at->number <= low || at->number >= 1.0) return values.expected(at, what);
  target = at->number;
  return true;
}

}  // namespace

bool read_test_rules(JsonValues& values, const JsonAt& at, Thresholding& target) {
  if (const auto unit = at["unit"]) {
    target.cluster_by_category = unit.is(Kind::text) && unit->text == "category";
    const bool is_case = unit.is(Kind::text) && unit->text == "case";
    if (!target.cluster_by_category && !is_case) return values.expected(unit, "\"case\" or \"category\"");
  }
  // As of a suite: no suite is large enough to exclude a drop of 0, and none of all points is found.
  return inner_if_there(values, at["confidence"], 0.5, "a number above 0.5 and below 1", target.confidence) &&
         inner_if_there(values, at["min_effect"], 0.0, "a number above 0 and below 1", target.min_effect);
}

const ComparedCase* ReportCaseReader::read(const JsonAt& at) {
  if (!values_.object(at)) return nullptr;
  result_ = {};
  scored_.clear();
  std::size_t missing_claims = 0;
  std::size_t unexpected = 0;
  std::size_t forbidden = 0;
  if (!values_.text(at["id"], result_.test_id) || !read_status(at["status"]) ||
      !length_if_there(at["missing"], missing_claims) || !length_if_there(at["unexpected"], unexpected) ||
      !length_if_there(at["forbidden"], forbidden) || !read_expects_nothing(at) ||
      !read_tally_of_repeats(at["repeats"])) {
    return nullptr;
  }
  if (const auto category = at["category"]) {
    if (!category.is(Kind::text)) {
      values_.expected(category, "a text");
      return nullptr;
    }
    result_.category = category->text;
  }
  const auto metrics = at["metrics"];
  if (!values_.list(metrics)) return nullptr;
  for (std::size_t i = 0; i < metrics->members.size(); ++i) {
    if (!read_metric(metrics[i], missing_claims == 0, forbidden == 0, unexpected + forbidden == 0))
      return nullptr;
  }
  if (!check_repeats(metrics) || !read_votes(at)) return nullptr;
  drop_needless_words();
  return &result_;
}

bool ReportCaseReader::length_if_there(const JsonAt& at, std::size_t& target) {
  if (!at) return true;
  target = at->members.size();
  return values_.list(at);
}

/// What a check expects tells it from others of the case by the same metric.
void ReportCaseReader::drop_needless_words() {
  std::unordered_map<std::string_view, std::size_t> checks;
  for (const ComparedMetric& metric : result_.metrics) ++checks[metric.name];
  for (ComparedMetric& metric : result_.metrics) {
    if (checks[metric.name] < 2) metric.expected.clear();
  }
}

/// Those of judge metrics, which decide beside the scores.
bool ReportCaseReader::read_votes(const JsonAt& at) {
  const auto meta = at["meta"];
  if (!meta) return true;
  if (!values_.object(meta)) return false;
  const auto assay = meta["assay"];
  if (!assay) return true;
  if (!values_.object(assay)) return false;
  const auto judge = assay["judge"];
  if (!judge) return true;
  if (!values_.object(judge)) return false;
  std::unordered_map<std::string_view, std::size_t> judged;
  for (std::size_t i = 0; i < judge->members.size(); ++i) judged.emplace(judge.member(i).name(), i);
  for (ComparedMetric& metric : result_.metrics) {
    const MetricInfo* known = parts_of_score(metric.name).metric;
    if (known == nullptr || !is_judge_metric(known->id)) continue;
    const auto found = judged.find(metric.name);
    if (found != judged.end() && !read_votes_of(judge.member(found->second), metric)) return false;
  }
  return true;
}

bool ReportCaseReader::read_votes_of(const JsonAt& judged, ComparedMetric& metric) {
  if (!values_.object(judged) || !read_rubric(judged, metric) ||
      !read_calibration(judged["calibration"], metric.calibration))
    return false;
  const auto repeats = judged["repeats"];
  if (!repeats) {
    if (!read_tally(judged, metric.votes.emplace_back())) return false;
  } else if (!values_.list(repeats)) {
    return false;
  }
  for (std::size_t i = 0; repeats && i < repeats->members.size(); ++i) {
    const auto one = repeats[i];
    if (!values_.object(one) || !read_tally(one, metric.votes.emplace_back())) return false;
  }
  std::optional<double> min_score;
  if (!values_.fraction_if_there(judged["min_score"], min_score)) return false;
  for (VoteTally& tally : metric.votes) tally.min_score = min_score;
  const std::size_t assessed = std::max<std::size_t>(metric.repeat_scores.size(), 1);
  if (metric.votes.size() == assessed) return true;
  return values_.problem(judged->line,
                         "`" + judged.place() + "` has the votes of " + std::to_string(metric.votes.size()) +
                             " repeats, and the metric the scores of " + std::to_string(assessed) +
                             ": use the sluice that wrote it, or run the suite again");
}

/// A report of an earlier sluice has no hash.
bool ReportCaseReader::read_rubric(const JsonAt& judged, ComparedMetric& metric) {
  JudgePin pin;
  for (const auto& [name, target] :
       {std::pair("rubric_version", &pin.rubric_version), std::pair("rubric_hash", &pin.rubric_hash)}) {
    const auto at = judged[name];
    if (at && !at.is(Kind::null) && !values_.text(at, *target)) return false;
  }
  metric.judged_by =
      &rubrics_.try_emplace({pin.rubric_version, pin.rubric_hash}, std::move(pin)).first->second;
  return true;
}

bool ReportCaseReader::read_calibration(const JsonAt& at, std::optional<CalibrationStanding>& target) {
  if (!at) return true;
  using enum CalibrationStanding;
  for (const CalibrationStanding one : {calibrated, missing, other_criteria, fake, kappa_low}) {
    if (at.is(Kind::text) && to_string(one) == at->text) target = one;
  }
  return target || values_.expected(at, "calibrated, missing, other_criteria, fake or kappa_low");
}

bool ReportCaseReader::read_tally(const JsonAt& judged, VoteTally& tally) {
  const auto samples = judged["samples"];
  if (!values_.list(samples)) return false;
  const std::size_t count = samples->members.size();
  if (count == 0 || count > defaults::max_judge_samples) {
    return values_.problem(samples->line, "`" + samples.place() + "` holds " + std::to_string(count) +
                                              " votes, expected 1 to " +
                                              std::to_string(defaults::max_judge_samples));
  }
  for (std::size_t i = 0; i < count; ++i) {
    bool passed = false;
    if (!values_.truth(samples[i], passed)) return false;
    tally.passed += passed ? 1 : 0;
  }
  tally.samples = tally.votes = static_cast<std::uint32_t>(count);
  tally.disagree = tally.passed > 0 && tally.passed < tally.votes;
  return true;
}

bool ReportCaseReader::read_status(const JsonAt& at) {
  constexpr std::array all{CaseStatus::pass, CaseStatus::warn, CaseStatus::flaky, CaseStatus::fail,
                           CaseStatus::error};
  const bool is_known = at.is(Kind::text) &&
                        std::ranges::any_of(all, [&](CaseStatus one) { return to_string(one) == at->text; });
  if (!is_known) return values_.expected(at, "pass, warn, flaky, fail or error");
  result_.is_error = at->text == to_string(CaseStatus::error);
  return true;
}

bool ReportCaseReader::read_expects_nothing(const JsonAt& at) {
  std::size_t zeros = 0;
  for (const char* name : {"true_positives", "false_negatives"}) {
    const auto count = at[name];
    if (!count || count.is(Kind::null)) continue;  // Of a text, or an error.
    if (!count->whole) return values_.expected(count, "a whole number from 0, or null");
    zeros += *count->whole == 0 ? 1 : 0;
  }
  result_.expects_nothing = zeros == 2;
  result_.is_known_failure = static_cast<bool>(at["known_failure"]);
  result_.not_started = static_cast<bool>(at["not_started"]);
  if (const auto request = at["request"]) {
    if (!request->whole || *request->whole >= PairedCase::own_answers)
      return values_.expected(request, "a whole number from 0 to 4294967294");
    result_.answers = static_cast<std::uint32_t>(*request->whole);
  }
  return true;
}

/// Of the repeats that no metric lists.
bool ReportCaseReader::read_tally_of_repeats(const JsonAt& at) {
  if (!at) return true;
  const auto count_if_there = [&](const JsonAt& value, std::uint32_t& target) {
    if (!value) return true;
    if (!value->whole || *value->whole > defaults::max_read_repeats)
      return values_.expected(value,
                              "a whole number from 0 to " + std::to_string(defaults::max_read_repeats));
    target = static_cast<std::uint32_t>(*value->whole);
    return true;
  };
  return values_.object(at) && count_if_there(at["non_answers"], result_.non_answers) &&
         count_if_there(at["errors"], result_.lost_repeats);
}

bool ReportCaseReader::read_metric(const JsonAt& at, bool required, bool forbidden, bool absent) {
  if (!values_.object(at)) return false;
  ComparedMetric& metric = result_.metrics.emplace_back();
  const auto passed = at["passed"];
  if (!values_.text(at["name"], metric.name) || !values_.fraction(at["score"], metric.score)) return false;
  if (!passed || !(passed.is(Kind::null) || passed.is(Kind::boolean))) {
    return values_.expected(passed, "true, false or null");
  }
  if (!values_.truth(at["asked_by_name"], metric.asked_by_name) || !read_repeats(at, metric) ||
      !read_thresholding(at["thresholding"], metric)) {
    return false;
  }
  if (at["check"] && !values_.digest(at["check"], metric.check)) return false;
  if (at["asks"] && !values_.digest(at["asks"], metric.asks)) return false;
  if (const auto words = at["expected"]; words.is(Kind::text))
    metric.expected = excerpt(words->text, defaults::compared_check_bytes);
  if (is_scored(metric) && !scored_.insert(metric.name).second) {
    return values_.problem(at->line, "`" + at.above()->above()->place() + "` has the scored metric " +
                                         backquoted(metric.name) + " twice");
  }
  if (is_scored(metric) || !metric.repeat_passed.empty()) return true;
  // Whether it did, also where the report leaves that to a score.
  const MetricId id = find_metric(metric.name)->id;
  if (passed.is(Kind::boolean)) {
    metric.passed = passed->boolean;
  } else if (id == MetricId::claims_required) {
    metric.passed = required;
  } else if (id == MetricId::claims_forbidden) {
    metric.passed = forbidden;
  } else if (id == MetricId::claims_absent) {
    metric.passed = absent;
  } else {
    return values_.expected(passed, "true or false");
  }
  return true;
}

bool ReportCaseReader::read_repeats(const JsonAt& at, ComparedMetric& metric) {
  for (const char* name : {"repeat_scores", "repeat_passed"}) {
    const auto repeats = at[name];
    if (!repeats) continue;
    if (!values_.list(repeats)) return false;
    if (repeats->members.size() > defaults::max_read_repeats) {
      return values_.problem(repeats->line, "`" + repeats.place() + "` holds more than " +
                                                std::to_string(defaults::max_read_repeats) + " repeats");
    }
  }
  const auto scores = at["repeat_scores"];
  for (std::size_t i = 0; scores && i < scores->members.size(); ++i) {
    if (!values_.fraction(scores[i], metric.repeat_scores.emplace_back())) return false;
  }
  const auto passed = at["repeat_passed"];
  for (std::size_t i = 0; passed && i < passed->members.size(); ++i) {
    bool one = false;
    if (!values_.truth(passed[i], one)) return false;
    metric.repeat_passed.push_back(one);
  }
  return true;
}

bool ReportCaseReader::read_thresholding(const JsonAt& at, ComparedMetric& metric) {
  if (!at || at.is(Kind::null)) return true;
  Thresholding& target = metric.thresholding;
  if (!values_.object(at)) return false;
  if (const auto mode = at["mode"]) {
    for (const auto one : {ThresholdMode::relative, ThresholdMode::absolute, ThresholdMode::statistical}) {
      if (mode.is(Kind::text) && mode->text == to_string(one)) target.mode = one;
    }
    if (!target.mode) return values_.expected(mode, "\"relative\", \"absolute\" or \"statistical\"");
  }
  // `min_score` is in effect in this mode or beside it: it holds whatever the mode.
  return values_.fraction_if_there(at["max_drop"], target.max_drop) &&
         values_.fraction_if_there(at["min_floor"], target.min_floor) &&
         values_.fraction_if_there(at["min_score"], metric.min_score) && read_test_rules(values_, at, target);
}

/// All metrics of a case have as many repeats, and scored ones scores.
bool ReportCaseReader::check_repeats(const JsonAt& metrics) {
  for (std::size_t i = 0; i < result_.metrics.size(); ++i) {
    const ComparedMetric& metric = result_.metrics[i];
    const std::string where = "`" + metrics[i].place() + "`";
    if (!(is_scored(metric) ? metric.repeat_passed.empty() : metric.repeat_scores.empty())) {
      return values_.problem(metrics->line,
                             where + (is_scored(metric) ? " is a score and has `repeat_passed`"
                                                        : " only passes or fails and has `repeat_scores`"));
    }
    const std::size_t expected = repeats_of(result_.metrics.front());
    if (repeats_of(metric) == expected) continue;
    return values_.problem(metrics->line, where + " tells of " + std::to_string(repeats_of(metric)) +
                                              " repeats, and the first metric of the case of " +
                                              std::to_string(expected) +
                                              ": use the sluice that wrote it, or run the suite again");
  }
  return true;
}

}  // namespace sluice
