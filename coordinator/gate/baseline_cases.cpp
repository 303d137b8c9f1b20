// The cases of a baseline as a side of a comparison.
#include "coordinator/gate/compare.hpp"
#include "coordinator/gate/judge_pin.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <string_view>

namespace sluice {
namespace {

void add_checks(const BaselineEntry& entry, std::vector<ComparedMetric>& metrics) {
  for (std::size_t n = 0; const auto passed = entry.passed(n); ++n) {
    ComparedMetric& check = metrics.emplace_back();
    check.name = entry.metric;
    check.passed = *passed;
    for (const char repeat : entry.repeats_of(n)) check.repeat_passed.push_back(repeat == '1');
    if (!entry.checks.empty()) check.check = entry.checks[n];
    check.asked_by_name = true;  // No others are pinned.
  }
}

}  // namespace

NextCase cases_of(const Baseline& baseline) {
  struct State {
    std::size_t next = 0;
    ComparedCase at;
    std::map<std::string_view, JudgePin> judges;  ///< By what an entry says of it: most share one.
  };
  return [&baseline, state = std::make_shared<State>()]() -> Result<const ComparedCase*> {
    if (state->next == baseline.size()) return nullptr;
    state->at.test_id = baseline.entry(state->next).test_id;
    state->at.metrics.clear();
    state->at.passes.clear();
    for (; state->next < baseline.size(); ++state->next) {
      const BaselineEntry entry = baseline.entry(state->next);
      if (entry.test_id != state->at.test_id) break;
      if (entry.kind == PinKind::checks) {
        add_checks(entry, state->at.metrics);
        continue;
      }
      if (entry.metric == passed_name) {
        state->at.passes.assign(entry.scores.begin(), entry.scores.end());
        continue;
      }
      ComparedMetric& metric = state->at.metrics.emplace_back();
      metric.name = entry.metric;
      metric.score = entry.score;
      metric.asks = entry.asks;
      const MetricInfo* known = parts_of_score(entry.metric).metric;
      if (known != nullptr && is_judge_metric(known->id)) {
        metric.samples = entry.judge_samples;
        const auto [judge, is_new] = state->judges.try_emplace(entry.meta);
        if (is_new) judge->second = parse_judge_pin(entry.meta);
        metric.judged_by = &judge->second;
      }
      if (entry.scores.size() > 1) metric.repeat_scores.assign(entry.scores.begin(), entry.scores.end());
    }
    return &state->at;
  };
}

}  // namespace sluice
