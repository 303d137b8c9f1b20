#include "coordinator/session/baseline_run.hpp"

#include "coordinator/report/wording/wording.hpp"
#include "coordinator/session/run_record.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace sluice {
namespace {

/// The F1 of a case over its repeats. Undefined ones stand for the best, which they are.
struct MeanF1 {
  double sum = 0.0;
  std::size_t count = 0;
  bool any_defined = false;

  std::optional<double> value() const {
    return any_defined ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
  }
};
using ScoresByCase = std::map<std::size_t, MeanF1>;

/// Nothing for a trial that has no F1 to be compared: an error, or a test of a text.
void add_f1(const CommittedTrial& trial, std::size_t case_index, ScoresByCase& scores) {
  if (trial.unit.error || trial.unit.scores.empty()) return;
  const auto& metrics = trial.unit.scores.front().metrics;
  const auto f1 = std::ranges::find(metrics, MetricId::claims_f1, &MetricOutcome::id);
  if (f1 == metrics.end()) return;
  MeanF1& mean = scores[case_index];
  mean.sum += f1->score.value_or(1.0);
  mean.any_defined = mean.any_defined || f1->score.has_value();
  ++mean.count;
}

/// The case of an unperturbed trial of a recorded run, as this run numbers cases; nothing: none of this
/// run's.
using FindCase = std::function<std::optional<std::size_t>(const CommittedTrial&)>;

FindCase by_number(const Plan& plan) {
  return [&plan](const CommittedTrial& trial) -> std::optional<std::size_t> {
    if (trial.trial >= plan.trial_count()) return std::nullopt;
    const TrialPlace place = plan.trials().place(trial.trial);
    return place.perturbation == 0 ? std::optional(place.case_index) : std::nullopt;
  };
}

/// Cases with the same request cannot be distinguished by it, and are left out.
FindCase by_request(const Plan& plan) {
  std::map<Digest, std::optional<std::size_t>> cases;
  for (TrialId trial = 0; trial < plan.trial_count(); ++trial) {
    const TrialPlace place = plan.trials().place(trial);
    if (place.perturbation != 0) continue;
    const auto [known, is_new] = cases.try_emplace(plan.key(plan.unit_of(trial)), place.case_index);
    if (!is_new && known->second != place.case_index) known->second.reset();
  }
  return [cases = std::move(cases)](const CommittedTrial& trial) -> std::optional<std::size_t> {
    const auto found = cases.find(trial.unit.key);
    return found != cases.end() ? found->second : std::nullopt;
  };
}

Result<ScoresByCase> read_scores(const ResultSource& results, const FindCase& find_case) {
  ScoresByCase scores;
  const auto visited = results.visit([&](const CommittedTrial& trial) {
    if (const auto index = find_case(trial)) add_f1(trial, *index, scores);
  });
  if (!visited) return fail(visited.error());
  return scores;
}

}  // namespace

std::string measured_at(const RunSummary& summary) {
  const std::string time = wording::rfc3339(summary.completed_at_ms);
  return time.substr(0, time.find('.')) + "Z";
}

bool is_made_of(const AggregateBaseline& baseline, const PastRun& past) {
  return past.summary && past.run.model == baseline.model &&
         past.run.prompt_version == baseline.prompt_version &&
         measured_at(*past.summary) == baseline.measured_at;
}

Result<std::vector<FixtureScores>> compare_fixtures(const Plan& plan, const PastRun& past,
                                                    const ResultSource& results_then,
                                                    const ResultSource& results_now) {
  const auto then =
      read_scores(results_then, numbers_alike(past.run, plan) ? by_number(plan) : by_request(plan));
  if (!then) return fail(then.error());
  const auto now = read_scores(results_now, by_number(plan));
  if (!now) return fail(now.error());
  std::vector<FixtureScores> compared;
  for (const auto& [index, before] : *then) {
    const auto after = now->find(index);
    if (after == now->end()) continue;
    const auto first = static_cast<TrialId>(plan.trials().first_trial(index));
    compared.push_back({std::string(plan.case_id(first)), before.value(), after->second.value()});
  }
  return compared;
}

}  // namespace sluice
