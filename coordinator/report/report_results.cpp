#include "common/metrics.hpp"
#include "common/text.hpp"
#include "coordinator/report/report_events.hpp"

#include <algorithm>

// What is done once a metric, a result or the report is whole.

namespace sluice {
namespace {

constexpr std::size_t shown_name_bytes = 60;

}  // namespace

bool ReportReader::finish_metric() {
  name_.clear();
  return require(Field::name, Field::asked_by_name, place());
}

bool ReportReader::finish_result() {
  name_.clear();
  const std::string where = place();
  if (!require(Field::id, Field::metrics, where)) return false;
  std::vector<ComparedMetric>& metrics = result_.metrics;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const auto before = metrics.begin() + static_cast<std::ptrdiff_t>(i);
    if (is_scored(metrics[i]) && std::find_if(metrics.begin(), before, [&](const ComparedMetric& other) {
                                   return other.name == metrics[i].name;
                                 }) != before) {
      return problem("`" + where + "` has the scored metric " + "`" + excerpt(metrics[i].name, shown_name_bytes) +
                     "`" + " twice");
    }
    if (!settle(metrics[i], i)) return false;
  }
  if (!settle_repeats()) return false;
  result_.expects_nothing = zero_counts_ == 2;
  scores_.add(result_);
  return true;
}

/// Whether a metric that only passes or fails did, also where the report leaves that to a score.
bool ReportReader::settle(ComparedMetric& metric, std::size_t index) {
  if (is_scored(metric) || !metric.repeat_passed.empty()) return true;
  const MetricId id = find_metric(metric.name)->id;
  if (passed_[index]) {
    metric.passed = *passed_[index];
  } else if (id == MetricId::claims_required) {
    metric.passed = missing_ == 0;
  } else if (id == MetricId::claims_forbidden) {
    metric.passed = forbidden_ == 0;
  } else if (id == MetricId::claims_absent) {
    metric.passed = unexpected_ + forbidden_ == 0;
  } else {
    return problem("`" + place() + ".metrics[" + std::to_string(index) +
                   "].passed` is null, expected true or false");
  }
  return true;
}

bool ReportReader::count_of_expected(const JsonValue& value) {
  if (value.kind == JsonValue::Kind::null) return true;  // Of a text, or an error.
  if (!value.whole) return expected(value, "a whole number from 0, or null");
  zero_counts_ += *value.whole == 0 ? 1 : 0;
  return true;
}

tl::expected<ReportScores, Finding> ReportReader::finish() {
  if (!problem_ && require(Field::schema_version, Field::timestamp, "")) {
    require(Field::fixture_results, Field::sluice_version, "");
  }
  if (problem_) return tl::unexpected(*problem_);
  finish_stability();
  if (const auto twice = scores_.seal()) {
    return tl::unexpected(Finding{file_, 0,
                                  "`fixture_results[" + std::to_string(twice->second) +
                                      "]` has the id of `fixture_results[" + std::to_string(twice->first) +
                                      "]`: keep one of the two"});
  }
  return std::move(scores_);
}

}  // namespace sluice
