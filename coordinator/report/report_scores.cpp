#include "coordinator/report/report_scores.hpp"

#include "common/text.hpp"

#include <algorithm>
#include <memory>

namespace sluice {

void ReportScores::read(std::size_t index, ComparedCase& into) const {
  const StoredCase& stored = cases_[index];
  into.test_id = id_of(stored);
  into.is_error = stored.is_error;
  into.expects_nothing = stored.expects_nothing;
  into.metrics.resize(stored.metric_count);
  for (std::size_t i = 0; i < into.metrics.size(); ++i) {
    const StoredMetric& metric = metrics_[stored.first_metric + i];
    ComparedMetric& target = into.metrics[i];
    target.name = names_[metric.name];
    target.score = metric.has_score ? std::optional(metric.score) : std::nullopt;
    target.passed = metric.passed;
    target.asked_by_name = metric.asked_by_name;
    target.thresholding = limits_[metric.limits].thresholding;
    target.min_score = limits_[metric.limits].min_score;
  }
}

void ReportScores::add(const ComparedCase& added) {
  StoredCase stored;
  stored.id_begin = ids_.size();
  stored.id_length = static_cast<std::uint32_t>(added.test_id.size());
  stored.first_metric = metrics_.size();
  stored.metric_count = static_cast<std::uint32_t>(added.metrics.size());
  stored.added = static_cast<std::uint32_t>(cases_.size());
  stored.is_error = added.is_error;
  stored.expects_nothing = added.expects_nothing;
  ids_ += added.test_id;
  for (const ComparedMetric& metric : added.metrics) {
    metrics_.push_back({metric.score.value_or(0.0), number_of(metric.name),
                        number_of(Limits{metric.thresholding, metric.min_score}), metric.score.has_value(),
                        metric.passed, metric.asked_by_name});
  }
  cases_.push_back(stored);
}

std::optional<Baseline::Duplicate> ReportScores::seal() {
  name_numbers_.clear();
  limit_numbers_.clear();
  std::ranges::sort(cases_, [this](const StoredCase& a, const StoredCase& b) {
    if (const auto order = id_of(a) <=> id_of(b); order != 0) return order < 0;
    return a.added < b.added;
  });
  for (std::size_t i = 1; i < cases_.size(); ++i) {
    if (id_of(cases_[i - 1]) != id_of(cases_[i])) continue;
    return Baseline::Duplicate{cases_[i - 1].added, cases_[i].added};
  }
  return std::nullopt;
}

std::string_view ReportScores::id_of(const StoredCase& stored) const {
  return std::string_view(ids_).substr(stored.id_begin, stored.id_length);
}

std::uint32_t ReportScores::number_of(const std::string& name) {
  const auto [place, is_new] = name_numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(name);
  return place->second;
}

std::uint32_t ReportScores::number_of(const Limits& limits) {
  if (!limits_.empty() && limits_.back() == limits) return static_cast<std::uint32_t>(limits_.size() - 1);
  std::string key = limits.thresholding.mode == ThresholdMode::relative   ? "r"
                    : limits.thresholding.mode == ThresholdMode::absolute ? "a"
                                                                          : "n";
  for (const auto& number : {limits.thresholding.max_drop, limits.thresholding.min_floor,
                             limits.thresholding.min_score, limits.min_score}) {
    key += '|';
    if (number) key += shortest(*number);
  }
  const auto [place, is_new] =
      limit_numbers_.try_emplace(std::move(key), static_cast<std::uint32_t>(limits_.size()));
  if (is_new) limits_.push_back(limits);
  return place->second;
}

NextCase cases_of(const ReportScores& scores) {
  struct State {
    std::size_t next = 0;
    ComparedCase at;
  };
  return [&scores, state = std::make_shared<State>()]() -> Result<const ComparedCase*> {
    if (state->next == scores.size()) return nullptr;
    scores.read(state->next++, state->at);
    return &state->at;
  };
}

}  // namespace sluice
