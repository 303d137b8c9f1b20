#include "coordinator/cli/past_runs/judged_cases.hpp"

#include "coordinator/session/run_inputs.hpp"
#include "coordinator/suite/fingerprint.hpp"

#include <algorithm>
#include <utility>

namespace sluice {
namespace {

std::map<std::string, std::vector<Digest>> judged_by(const Case& one,
                                                     const std::vector<MetricId>& of_fixtures,
                                                     CaseJudging& judging) {
  std::map<std::string, std::vector<Digest>> by;
  Case alone = one;
  alone.expectations.clear();
  alone.weight = 1.0;  // Of the aggregates alone, as the category.
  alone.category.clear();
  alone.response_schema.clear();  // Part of the request, as the examples that it is shown.
  alone.examples = {};
  if (one.expectations.empty()) {
    const Digest claims = judging.of(alone);
    for (const MetricId metric : of_fixtures) by[std::string(info(metric).name)] = {claims};
  }
  for (const Expectation& expectation : one.expectations) {
    const MetricId metric = expectation.what.metric;
    alone.expectations = {expectation};
    Expectation& asked = alone.expectations.front();
    asked.thresholding = {};
    if (!is_judge_metric(metric)) asked.min_score.reset();  // Of a judge it is what each vote must reach.
    by[score_text(metric, expectation.name)].push_back(judging.of(alone));
  }
  for (auto& [metric, asked] : by) std::ranges::sort(asked);
  return by;
}

}  // namespace

Result<std::vector<JudgedCase>> judged_cases(const Asked& asked,
                                             const std::function<bool(std::string_view id)>& is_wanted) {
  const Suite& suite = asked.inputs.suite;
  FingerprintSettings settings = fingerprint_settings(asked.options, asked.inputs);
  settings.provider = {};
  settings.model.clear();
  for (FingerprintArm& arm : settings.arms) {
    FingerprintArm nobody;
    nobody.name = arm.name;
    arm = nobody;
  }
  Suite without_limits;
  without_limits.name = suite.name;
  without_limits.metrics = suite.metrics;
  CaseJudging judging(without_limits, std::move(settings));
  std::vector<MetricId> of_fixtures = suite.metrics;
  std::erase_if(of_fixtures, [](MetricId metric) { return !is_claims_metric(metric); });
  std::vector<JudgedCase> cases;
  for (std::size_t i = 0; i < suite.cases.size(); ++i) {
    if (is_wanted && !is_wanted(suite.cases.id(i))) continue;
    const auto one = suite.cases.read(i);
    if (!one) return fail(one.error());
    cases.push_back({std::string(suite.cases.id(i)), judged_by(**one, of_fixtures, judging)});
  }
  return cases;
}

namespace {

/// Calls `visit` with the cases of both, by id.
template <class Visit>
void visit_shared(const std::vector<JudgedCase>& base, const std::vector<JudgedCase>& current,
                  const Visit& visit) {
  auto before = base.begin();
  for (const JudgedCase& one : current) {
    while (before != base.end() && before->id < one.id) ++before;
    if (before != base.end() && before->id == one.id) visit(*before, one);
  }
}

}  // namespace

std::vector<ChangedMetric> judged_otherwise(const std::vector<JudgedCase>& base,
                                            const std::vector<JudgedCase>& current) {
  std::vector<ChangedMetric> changed;
  visit_shared(base, current, [&](const JudgedCase& before, const JudgedCase& now) {
    for (const auto& [metric, asked] : now.by) {
      const auto then = before.by.find(metric);
      // A check more takes nothing from the others.
      if (then != before.by.end() && !std::ranges::includes(asked, then->second))
        changed.push_back({now.id, metric});
    }
  });
  return changed;
}

std::vector<ChangedMetric> not_judged_any_more(const std::vector<JudgedCase>& base,
                                               const std::vector<JudgedCase>& current) {
  std::vector<ChangedMetric> gone;
  visit_shared(base, current, [&](const JudgedCase& before, const JudgedCase& now) {
    for (const auto& [metric, asked] : before.by) {
      if (!now.by.contains(metric)) gone.push_back({now.id, metric});
    }
  });
  return gone;
}

}  // namespace sluice
