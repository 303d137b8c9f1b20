#include "coordinator/observations/run_diff.hpp"

#include "common/documents/json_depth.hpp"
#include "coordinator/gate/status.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

using JsonValue = nlohmann::json;

/// A metric's name, and which of those with this name it is.
using MetricKey = std::pair<std::string, std::size_t>;

struct ObservedMetric {
  MetricKey key;
  MetricValue value{};
  std::string expected{};   ///< Empty if the observation does not say it.
  std::string rationale{};  ///< The same.
};

std::string text_in(const JsonValue& object, const char* member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::vector<ObservedMetric> metrics_of(const Observation& one) {
  std::vector<ObservedMetric> metrics;
  std::map<std::string, std::size_t> seen;
  const JsonValue parsed = parse_tree<JsonValue>(one.metrics.text);
  if (!parsed.is_array()) return metrics;
  for (const JsonValue& metric : parsed) {
    const auto name = metric.is_object() ? metric.find("name") : metric.end();
    if (!metric.is_object() || name == metric.end() || !name->is_string()) continue;
    ObservedMetric observed{MetricKey(name->get<std::string>(), seen[name->get<std::string>()]++)};
    if (const auto score = metric.find("score"); score != metric.end() && score->is_number())
      observed.value.score = score->get<double>();
    if (const auto passed = metric.find("passed"); passed != metric.end() && passed->is_boolean())
      observed.value.passed = passed->get<bool>();
    observed.expected = text_in(metric, "expected");
    if (const auto judge = metric.find("judge"); judge != metric.end() && judge->is_object())
      observed.rationale = text_in(*judge, "rationale");
    metrics.push_back(std::move(observed));
  }
  for (ObservedMetric& metric : metrics) {
    if (seen[metric.key.first] < 2) metric.expected.clear();
  }
  return metrics;
}

/// Those of `before` in their order, then what `after` has beside them.
std::vector<MetricDiff> diff_metrics(const Observation& before, const Observation& after) {
  std::vector<MetricDiff> metrics;
  auto of_after = metrics_of(after);
  for (auto& [key, value, expected, rationale] : metrics_of(before)) {
    MetricDiff one{key.first, {value, std::nullopt}, std::move(expected), {std::move(rationale), {}}};
    const auto same = std::ranges::find(of_after, key, &ObservedMetric::key);
    if (same != of_after.end()) {
      one.value.after = same->value;
      if (!same->expected.empty()) one.expected = std::move(same->expected);
      one.rationale.after = std::move(same->rationale);
      of_after.erase(same);
    }
    metrics.push_back(std::move(one));
  }
  for (auto& [key, value, expected, rationale] : of_after)
    metrics.push_back({key.first, {std::nullopt, value}, std::move(expected), {{}, std::move(rationale)}});
  return metrics;
}

/// A check, which has no score, that passed before and failed after.
bool fell(const std::optional<MetricValue>& before, const std::optional<MetricValue>& after) {
  return before && after && !before->score && !after->score && before->passed == true &&
         after->passed == false;
}

/// A check that failed in both.
bool fails_still(const MetricDiff& one) {
  const auto fails = [](const std::optional<MetricValue>& value) {
    return value && !value->score && value->passed == false;
  };
  return fails(one.value.before) && fails(one.value.after);
}

/// A baseline that knows a failure makes a warning of it (docs/gate.md). Between two runs it is one;
/// `other_baseline`: so is that of a check that fails in both, which only one of the baselines may know.
void name_known_failures(BeforeAndAfter<std::string>& status, const std::vector<MetricDiff>& metrics,
                         bool other_baseline) {
  const std::string pass(to_string(CaseStatus::pass));
  const std::string warn(to_string(CaseStatus::warn));
  const std::string fail(to_string(CaseStatus::fail));
  const bool broke = std::ranges::any_of(
      metrics, [](const MetricDiff& one) { return fell(one.value.before, one.value.after); });
  const bool was_mended = std::ranges::any_of(
      metrics, [](const MetricDiff& one) { return fell(one.value.after, one.value.before); });
  const bool fails_in_both = other_baseline && std::ranges::any_of(metrics, fails_still);
  const auto is_failure = [&](const std::string& own, bool differs, const std::string& other) {
    return own == warn && ((differs && other == pass) || (fails_in_both && other == fail));
  };
  if (is_failure(status.after, broke, status.before)) status.after = fail;
  if (is_failure(status.before, was_mended, status.after)) status.before = fail;
}

bool came_to_the_same(const TrialDiff& one) {
  return one.answer == AnswerChange::same && !one.claims &&
         one.before->reason_code == one.after->reason_code &&
         std::ranges::none_of(one.metrics, [](const MetricDiff& metric) { return metric.value.differ(); });
}

/// Where limits may have changed as well, only that it warns of a failure which it knows is the baseline's.
bool is_by_baseline_alone(const CaseDiff& one, const GateChange& gate) {
  const bool is_judged_otherwise = one.judged_otherwise && !one.judged_otherwise->empty();
  if (!gate.baseline || !one.status.differ() || is_judged_otherwise) return false;
  if (!std::ranges::all_of(one.trials, came_to_the_same)) return false;
  if (!gate.config) return true;
  const std::set<std::string_view> statuses{one.status.before, one.status.after};
  return statuses == std::set{to_string(CaseStatus::fail), to_string(CaseStatus::warn)} &&
         std::ranges::any_of(one.trials, [](const TrialDiff& trial) {
           return std::ranges::any_of(trial.metrics, fails_still);
         });
}

TrialDiff diff_trials(const Observation& before, bool lost_before, const Observation& after,
                      bool lost_after) {
  TrialDiff diff{&before, &after, diff_metrics(before, after), {before.status, after.status}};
  if (lost_before || lost_after) {
    diff.answer = AnswerChange::unknown;
  } else if (before.raw_response != after.raw_response) {
    diff.answer = AnswerChange::changed;
  }
  diff.claims = before.final_claims != after.final_claims;
  diff.prompt = before.input_hash != after.input_hash || before.system_hash != after.system_hash;
  if (before.input_hash.empty() || after.input_hash.empty()) diff.prompt.reset();
  return diff;
}

/// A case's trials by perturbation (the unperturbed first) and repeat.
using Trials = std::map<std::pair<std::string, std::uint64_t>, BeforeAndAfter<const Observation*>>;

std::string status_in(const RunAnswers& run, const std::string& id, const Trials& trials,
                      const Observation* BeforeAndAfter<const Observation*>::*side) {
  std::set<std::string> statuses;
  for (const auto& [form, both] : trials) {
    if (both.*side != nullptr && form.first.empty()) statuses.insert((both.*side)->status);
  }
  return status_of(run, id, statuses);
}

std::string trial_name(const std::string& id, const Observation& one) {
  const std::string form = form_of(one);
  return form.empty() ? id : id + " (" + form + ")";
}

/// What one run has of a case alone: the case, or those of its trials.
void add_alone(const std::string& id, const Trials& trials,
               const Observation* BeforeAndAfter<const Observation*>::*side, bool has_other,
               std::vector<std::string>& to) {
  if (!has_other) return to.push_back(id);
  for (const auto& [form, both] : trials) {
    const bool is_in_both = both.before != nullptr && both.after != nullptr;
    if (!is_in_both && both.*side != nullptr) to.push_back(trial_name(id, *(both.*side)));
  }
}

}  // namespace

std::string status_of(const RunAnswers& run, const std::string& case_id,
                      const std::set<std::string>& trials) {
  if (run.statuses) {
    const auto noted = run.statuses->find(case_id);
    return noted == run.statuses->end() ? std::string(to_string(CaseStatus::pass)) : noted->second;
  }
  if (trials.empty()) return "";
  return trials.size() == 1 ? *trials.begin() : std::string(to_string(CaseStatus::flaky));
}

bool TrialDiff::is_changed() const {
  return status.differ() || before->reason_code != after->reason_code || answer == AnswerChange::changed ||
         claims || std::ranges::any_of(metrics, [](const MetricDiff& one) { return one.value.differ(); });
}

bool CaseDiff::is_changed() const {
  return !by_baseline_alone && (status.differ() || std::ranges::any_of(trials, &TrialDiff::is_changed));
}

bool CaseDiff::has(StatusChange change) const {
  if (by_baseline_alone || !status.differ()) return false;
  if (change == StatusChange::any) return true;
  const auto then = case_status_from(status.before);
  const auto now = case_status_from(status.after);
  if (!then || !now) return false;
  return change == StatusChange::worse ? *now > *then : *now < *then;
}

std::size_t RunDiff::changed() const {
  return static_cast<std::size_t>(std::ranges::count_if(cases, &CaseDiff::is_changed));
}

std::size_t RunDiff::count(StatusChange change) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(cases, [&](const CaseDiff& one) { return one.has(change); }));
}

std::size_t RunDiff::by_baseline_alone() const {
  return static_cast<std::size_t>(std::ranges::count(cases, true, &CaseDiff::by_baseline_alone));
}

std::size_t RunDiff::unknown_answers() const {
  std::size_t unknown = 0;
  for (const CaseDiff& one : cases) {
    for (const TrialDiff& trial : one.trials) unknown += trial.answer == AnswerChange::unknown ? 1 : 0;
  }
  return unknown;
}

std::size_t RunDiff::changed_and_judged_otherwise() const {
  return static_cast<std::size_t>(std::ranges::count_if(cases, [](const CaseDiff& one) {
    return one.is_changed() && one.judged_otherwise && !one.judged_otherwise->empty();
  }));
}

RunDiff diff_runs(const RunAnswers& before, const RunAnswers& after,
                  const std::optional<std::vector<ChangedMetric>>& judged_otherwise, const GateChange& gate) {
  std::map<std::string, Trials> cases;
  for (const Observation& one : before.observations)
    cases[one.case_id][{one.perturbation, one.repeat}].before = &one;
  for (const Observation& one : after.observations)
    cases[one.case_id][{one.perturbation, one.repeat}].after = &one;
  RunDiff diff;
  constexpr auto of_before = &BeforeAndAfter<const Observation*>::before;
  constexpr auto of_after = &BeforeAndAfter<const Observation*>::after;
  for (const auto& [id, trials] : cases) {
    const auto has = [&trials = trials](auto side) {
      return std::ranges::any_of(trials, [&](const auto& one) { return one.second.*side != nullptr; });
    };
    const bool has_before = has(of_before);
    const bool has_after = has(of_after);
    if (has_before) add_alone(id, trials, of_before, has_after, diff.only_before);
    if (has_after) add_alone(id, trials, of_after, has_before, diff.only_after);
    if (!has_before || !has_after) continue;
    CaseDiff one{id, {status_in(before, id, trials, of_before), status_in(after, id, trials, of_after)}};
    for (const auto& [form, both] : trials) {
      if (both.before == nullptr || both.after == nullptr) continue;
      one.trials.push_back(diff_trials(*both.before, before.lost_answers.contains(both.before->trial),
                                       *both.after, after.lost_answers.contains(both.after->trial)));
    }
    if (judged_otherwise) {
      auto& metrics = one.judged_otherwise.emplace();
      auto changed = std::ranges::lower_bound(*judged_otherwise, id, {}, &ChangedMetric::test_id);
      for (; changed != judged_otherwise->end() && changed->test_id == id; ++changed)
        metrics.push_back(changed->metric);
    }
    one.by_baseline_alone = one.trials.size() == trials.size() && is_by_baseline_alone(one, gate);
    const bool other_baseline = gate.baseline && !one.by_baseline_alone;
    for (TrialDiff& trial : one.trials) {
      name_known_failures(trial.status, trial.metrics, other_baseline);
      if (trial.after->perturbation.empty()) name_known_failures(one.status, trial.metrics, other_baseline);
    }
    diff.cases.push_back(std::move(one));
  }
  return diff;
}

std::string form_of(const Observation& one) {
  std::string form = one.perturbation;
  if (one.repeat > 0) form += (form.empty() ? "" : ", ") + ("repeat " + std::to_string(one.repeat + 1));
  return form;
}

}  // namespace sluice
