#include "coordinator/gate/unjudged_scores.hpp"

namespace sluice {
namespace {

/// One that is undefined is no score that something could judge: no baseline pins it either.
bool is_unjudged(const AssessedMetric& metric) {
  return metric.score.has_value() && info(metric.id).kind == MetricKind::scored && metric.asked_by_name &&
         !metric.votes && !metric.is_left_to_tests &&
         (metric.status == MetricStatus::unjudged || metric.is_known_and_unjudged());
}

}  // namespace

void UnjudgedScores::visit(std::string_view test_id, std::span<const AssessedMetric> metrics) {
  for (const AssessedMetric& metric : metrics) {
    if (is_unjudged(metric)) found_.add(metric.score_id(), test_id);
  }
}

std::optional<GateNotice> UnjudgedScores::finish(bool strict) const {
  if (found_.empty()) return std::nullopt;
  return GateNotice{
      warning_under(strict), "unjudged",
      "nothing judges " + found_.in_words() +
          ", so that it passes whatever the answer: name the lowest score that passes, as `min_score: 0.8` "
          "in `expected`, or pin the scores with `--export-baseline FILE` and run with `--baseline FILE`.",
      true, "Scores"};
}

}  // namespace sluice
