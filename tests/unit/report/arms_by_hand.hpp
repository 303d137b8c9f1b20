#pragma once

#include "coordinator/merge/run_arms.hpp"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

/// Cases of several arms, by hand: what the tests of RunArmsFold share.
namespace sluice::run_arms {

inline AssessedMetric pass_fail(bool passed) {
  AssessedMetric metric;
  metric.id = MetricId::must_contain;
  metric.passed = passed;
  metric.status = passed ? MetricStatus::pass : MetricStatus::fail;
  metric.cause = passed ? MetricCause::none : MetricCause::not_passed;
  metric.own_cause = metric.cause;
  return metric;
}

inline AssessedMetric scored(double score) {
  AssessedMetric metric;
  metric.id = MetricId::semantic_similarity_to;
  metric.score = score;
  return metric;
}

/// Of a fixture that expects no claim.
inline AssessedMetric of_clean_case(MetricId id, std::optional<double> score) {
  AssessedMetric metric;
  metric.id = id;
  metric.score = score;
  metric.is_silence_best = is_silence_best_of(id, true);
  return metric;
}

using Statuses = std::vector<std::optional<CaseStatus>>;

/// Cases by hand, each with one answer.
class Arms {
 public:
  explicit Arms(std::vector<std::string> names, const ArmRules& rules = {})
      : names_(names), fold_(std::move(names), rules) {}

  void add(std::uint32_t test, std::uint32_t arm, std::vector<AssessedMetric> metrics) {
    const bool failed = metrics.front().status == MetricStatus::fail;
    add(test, arm, failed ? CaseStatus::fail : CaseStatus::pass, std::move(metrics));
  }
  /// What is added from here on.
  void know_failures() { known_failure_ = "it is known"; }
  void add_refusal(std::uint32_t test, std::uint32_t arm, std::vector<AssessedMetric> metrics) {
    is_next_refused_ = true;
    add(test, arm, CaseStatus::fail, std::move(metrics));
    is_next_refused_ = false;
  }
  void add_error(std::uint32_t test, std::uint32_t arm) { add(test, arm, CaseStatus::error, {}); }
  void add_not_started(std::uint32_t test, std::uint32_t arm) {
    is_next_started_ = false;
    add_error(test, arm);
    is_next_started_ = true;
  }
  /// The next answer is that of the one before.
  void share_last_answer() { --next_unit_; }
  /// The answer's call took so long.
  void spend_next(std::uint32_t latency_ms) {
    spend_.calls = 1;
    spend_.latency_ms = latency_ms;
  }
  /// The next answer comes without its usage: nobody knows it, or a filter took nothing.
  void lack_usage(bool is_unmetered) {
    next_usage_ = {};
    if (is_unmetered) spend_.add_answer(CallKind::answer, {});
  }
  RunArms finish(const RunPrice& price = {}) { return fold_.finish(price); }

 private:
  void add(std::uint32_t test, std::uint32_t arm, CaseStatus status, std::vector<AssessedMetric> metrics) {
    Case one;
    one.id = "t" + std::to_string(1000 + test) + "@" + names_.at(arm);
    one.arm = arm;
    one.test = test;
    one.known_failure = known_failure_;
    const Error error{Reason::refusal, "no"};
    UnitResult unit;
    unit.unit = next_unit_++;
    unit.answer = sha256("answer");
    unit.usage = std::exchange(next_usage_, Usage{10, 20});
    unit.spend = std::exchange(spend_, {});
    TrialResult trial;
    trial.unit = &unit;
    trial.error = status == CaseStatus::error ? &error : nullptr;
    trial.assessment.metrics = std::move(metrics);
    trial.assessment.is_non_answer = is_next_refused_;
    CaseResult result{.fixture = one, .counts = {}};
    result.status = status;
    result.not_started = !is_next_started_;
    result.trials = {&trial, 1};
    fold_.add(result);
  }

  std::vector<std::string> names_;
  RunArmsFold fold_;
  UnitId next_unit_ = 0;
  Spend spend_;
  Usage next_usage_{10, 20};
  bool is_next_started_ = true;
  bool is_next_refused_ = false;
  std::optional<std::string> known_failure_;
};

inline const ArmMetricComparison& of(const ArmPair& pair, ComparedMean metric) {
  for (const auto& one : pair.metrics) {
    if (one.metric == metric) return one;
  }
  throw std::logic_error("the pair has no such metric");
}

}  // namespace sluice::run_arms
