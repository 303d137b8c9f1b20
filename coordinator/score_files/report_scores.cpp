#include "coordinator/score_files/report_scores.hpp"

#include "common/text/text.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace sluice {
namespace {

/// Of each of the repeats that count: 1 where every check passed, else 0; empty without a check.
std::vector<double> passes_of(const ComparedCase& assessed, std::size_t repeats) {
  std::vector<double> passes;
  for (const ComparedMetric& metric : assessed.metrics) {
    if (!is_check(metric)) continue;
    passes.resize(repeats, 1.0);
    for (std::size_t r = 0; r < repeats; ++r) {
      const bool passed = metric.repeat_passed.empty() ? metric.passed : metric.repeat_passed[r];
      if (!passed) passes[r] = 0.0;
    }
  }
  if (!passes.empty()) passes.insert(passes.end(), assessed.non_answers, 0.0);
  return passes;
}

}  // namespace

void ReportScores::read(std::size_t index, ComparedCase& into) const {
  const StoredCase& stored = cases_[index];
  into.test_id = id_of(stored);
  into.is_error = stored.is_error;
  into.not_started = stored.not_started;
  into.answers = stored.answers;
  into.expects_nothing = stored.expects_nothing;
  into.is_known_failure = stored.is_known_failure;
  into.non_answers = stored.non_answers;
  into.lost_repeats = stored.lost_repeats;
  into.category = names_[stored.category];
  into.metrics.resize(stored.metric_count);
  for (std::size_t i = 0; i < into.metrics.size(); ++i) {
    const StoredMetric& metric = metrics_[stored.first_metric + i];
    ComparedMetric& target = into.metrics[i];
    target.name = names_[metric.name];
    target.score = metric.has_score ? std::optional(metric.score) : std::nullopt;
    target.passed = metric.passed;
    target.asked_by_name = metric.asked_by_name;
    target.asks = sluice::is_scored(target) ? metric.digest : 0;
    target.check = sluice::is_scored(target) ? 0 : metric.digest;
    target.thresholding = limits_[metric.limits].thresholding;
    target.min_score = limits_[metric.limits].min_score;
    const std::uint32_t rubric = limits_[metric.limits].rubric;
    target.judged_by = rubric > 0 ? &rubrics_[rubric - 1] : nullptr;
    target.calibration = metric.calibration;
    target.expected = expected_of(metric);
    read_votes(stored, metric, target.votes);
    target.repeat_scores.clear();
    target.repeat_passed.clear();
    for (std::size_t r = 0; r < stored.repeats; ++r) {
      const double outcome = repeats_[stored.first_repeat + i * stored.repeats + r];
      if (metric.is_scored) {
        target.repeat_scores.push_back(std::isnan(outcome) ? std::nullopt : std::optional(outcome));
      } else {
        target.repeat_passed.push_back(outcome > 0.0);
      }
    }
  }
  into.passes = passes_of(into, std::max<std::size_t>(stored.repeats, 1));
}

void ReportScores::read_votes(const StoredCase& stored, const StoredMetric& metric,
                              std::vector<VoteTally>& into) const {
  into.clear();
  if (metric.votes == 0) return;
  for (std::size_t r = 0; r < std::max<std::size_t>(stored.repeats, 1); ++r) {
    const StoredVotes& votes = votes_[metric.votes - 1 + r];
    VoteTally& tally = into.emplace_back();
    tally.samples = tally.votes = votes.votes;
    tally.passed = votes.passed;
    tally.disagree = votes.passed > 0 && votes.passed < votes.votes;
    tally.min_score = limits_[metric.limits].of_each_vote;
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
  stored.not_started = added.not_started;
  stored.answers = added.answers;
  stored.expects_nothing = added.expects_nothing;
  stored.is_known_failure = added.is_known_failure;
  stored.non_answers = added.non_answers;
  stored.lost_repeats = added.lost_repeats;
  stored.category = number_of(added.category);
  stored.first_repeat = repeats_.size();
  ids_ += added.test_id;
  for (const ComparedMetric& metric : added.metrics) {
    const auto of_each_vote = metric.votes.empty() ? std::nullopt : metric.votes.front().min_score;
    metrics_.push_back(
        {metric.score.value_or(0.0), number_of(metric.name),
         number_of(Limits{metric.thresholding, metric.min_score, of_each_vote, rubric_of(metric)}),
         metric.votes.empty() ? 0 : static_cast<std::uint32_t>(votes_.size() + 1), metric.score.has_value(),
         metric.passed, metric.asked_by_name, metric.repeat_passed.empty(), metric.calibration,
         place_of(metric.expected), sluice::is_scored(metric) ? metric.asks : metric.check});
    for (const VoteTally& tally : metric.votes) {
      votes_.push_back({static_cast<std::uint8_t>(tally.votes), static_cast<std::uint8_t>(tally.passed)});
    }
    for (const auto& score : metric.repeat_scores) {
      repeats_.push_back(score.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
    for (const bool passed : metric.repeat_passed) repeats_.push_back(passed ? 1.0 : 0.0);
  }
  if (!added.metrics.empty()) {
    stored.repeats =
        static_cast<std::uint32_t>((repeats_.size() - stored.first_repeat) / added.metrics.size());
  }
  cases_.push_back(stored);
}

std::optional<Baseline::Duplicate> ReportScores::seal() {
  name_numbers_.clear();
  limit_numbers_.clear();
  rubric_numbers_.clear();
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

std::string_view ReportScores::expected_of(const StoredMetric& metric) const {
  if (metric.expected == 0) return {};
  const std::size_t length = static_cast<unsigned char>(expected_[metric.expected - 1]);
  return std::string_view(expected_).substr(metric.expected, length);
}

/// None for words that are too long, or one too many: they only name what is compared.
std::uint32_t ReportScores::place_of(const std::string& expected) {
  const std::size_t place = expected_.size() + 1;
  if (expected.empty() || expected.size() > 255 || place > std::numeric_limits<std::uint32_t>::max())
    return 0;
  expected_ += static_cast<char>(expected.size());
  expected_ += expected;
  return static_cast<std::uint32_t>(place);
}

std::uint32_t ReportScores::number_of(const std::string& name) {
  const auto [place, is_new] = name_numbers_.try_emplace(name, static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.push_back(name);
  return place->second;
}

std::uint32_t ReportScores::rubric_of(const ComparedMetric& metric) {
  if (metric.judged_by == nullptr) return 0;
  const JudgePin& rubric = *metric.judged_by;
  const auto [place, is_new] =
      rubric_numbers_.try_emplace({rubric.rubric_version, rubric.rubric_hash}, rubrics_.size() + 1);
  if (is_new) rubrics_.push_back(rubric);
  return place->second;
}

void ReportScores::judged_by(JudgeIdentity judge) {
  for (JudgePin& rubric : rubrics_) rubric.judge = judge;
}

std::uint32_t ReportScores::number_of(const Limits& limits) {
  if (!limits_.empty() && limits_.back() == limits) return static_cast<std::uint32_t>(limits_.size() - 1);
  const Thresholding& given = limits.thresholding;
  std::string key(given.mode ? to_string(*given.mode) : "none");
  key += given.cluster_by_category ? " by category" : "";
  for (const auto& number : {given.max_drop, given.min_floor, given.min_score, given.confidence,
                             given.min_effect, limits.min_score, limits.of_each_vote}) {
    key += '|';
    if (number) key += shortest(*number);
  }
  key += '|' + std::to_string(limits.rubric);
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
