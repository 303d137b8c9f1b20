#include "coordinator/run/command_checks.hpp"

#include "common/checks/outcome.hpp"
#include "common/defaults.hpp"
#include "common/documents/json_depth.hpp"
#include "common/model/request_text.hpp"
#include "common/text/text.hpp"
#include "coordinator/output/json_writer.hpp"
#include "coordinator/run/defaults.hpp"
#include "coordinator/run/verdict.hpp"
#include "coordinator/suite/answers/recorded_calls.hpp"
#include "coordinator/suite/expectations/command_reader.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

/// The calls of tools that are the last lines of the answer's text. Arguments that were cut off are a text.
void append_calls(Json& json, const std::string& answer) {
  RecordedAnswer with_calls{answer, "", {}};
  take_calls_of_text(with_calls);
  json.key("tool_calls").open('[');
  for (const ToolCall& call : with_calls.calls) {
    json.open('{');
    json.member("name", call.name);
    json.key("arguments");
    // A program's reader of JSON may take no more.
    if (!nests_deeper_than(call.arguments, defaults::max_checked_depth) &&
        nlohmann::json::accept(call.arguments)) {
      json.raw_json(call.arguments);
    } else {
      json.value(call.arguments);
    }
    json.close('}');
  }
  json.close(']');
}

/// The answer and its case, as docs/metrics.md says.
std::string input_of(const UnitResult& result, const Case& test_case, const ModelRequest& request,
                     const TrialPlace& place, std::string_view perturbation, std::string_view parameters) {
  std::string text;
  Json json(text);
  json.open('{');
  const ObservedAnswer answer = result.observed.value_or(ObservedAnswer());
  json.member("answer", answer.text);
  append_calls(json, answer.text);
  json.member("finish_reason", answer.finish_reason);
  json.member("served_model", answer.served_model);
  json.key("usage");
  if (result.usage == Usage{}) {
    json.null();
  } else {
    json.open('{');
    json.member("input_tokens", result.usage.input_tokens);
    json.member("output_tokens", result.usage.output_tokens);
    json.close('}');
  }
  json.key("case").open('{');
  json.member("id", test_case.id);
  json.member("name", test_case.name);
  json.member("category", test_case.category);
  json.key("tags").open('[');
  for (const std::string& tag : test_case.tags) json.value(tag);
  json.close(']');
  json.key("vars").raw_json(test_case.command_vars.empty() ? "{}" : test_case.command_vars);
  json.member("system", request.system ? *request.system : std::string());
  json.member("prompt", transcript(request.extras.messages, request.user));
  json.member("model", request.model);
  json.member("perturbation", perturbation);
  json.member("repeat", place.repeat + 1);
  json.close('}');
  json.key("parameters").raw_json(parameters);
  json.close('}');
  return text + "\n";
}

BoundedCommand bounded(const CommandCheck& check, const CommandRules& rules) {
  BoundedCommand command;
  command.arguments = check.arguments;
  command.time_limit = check.time_limit;
  command.max_output_bytes = defaults::max_verdict_bytes;
  command.hidden_variables = rules.hidden_variables;
  command.kind = "check";
  command.for_more_time = "timeout_seconds would give it more";
  command.folder = rules.folder;
  return command;
}

bool is_same(const CommandRun& one, const BoundedCommand& command, const std::string& input) {
  return one.command.arguments == command.arguments && one.command.time_limit == command.time_limit &&
         one.input == input;
}

/// Hands out a list's elements one after the other.
template <class T>
class Next {
 public:
  explicit Next(std::span<const T> all) : rest_(all) {}
  /// Null after the last.
  const T* take() {
    if (rest_.empty()) return nullptr;
    const T* first = &rest_.front();
    rest_ = rest_.subspan(1);
    return first;
  }

 private:
  std::span<const T> rest_;
};

}  // namespace

Result<CheckedResult> CheckedResult::make(RecordResult record, const Plan& plan, const CommandRules& rules) {
  CheckedResult checked(std::move(record), rules);
  const UnitResult& result = checked.record_.item.result;
  for (std::size_t i = 0; i < result.scores.size(); ++i) {
    if (auto asked = checked.ask(i, plan, result.unit); !asked) return fail(std::move(asked.error()));
  }
  checked.ends_.resize(checked.runs_.size());
  checked.open_ = checked.runs_.size();
  for (std::size_t i = 0; !result.observed && i < checked.runs_.size(); ++i)
    checked.take(i, {CommandEnd::Kind::failed, "", "the worker sent no answer to check"});
  return checked;
}

Result<void> CheckedResult::ask(std::size_t score, const Plan& plan, UnitId unit) {
  const UnitResult& result = record_.item.result;
  const TrialId number = result.scores[score].trial;
  auto test_case = plan.case_of_trial(number);
  if (!test_case) return fail(std::move(test_case.error()));
  CheckedTrial trial{std::move(*test_case), {}};
  if (runs_commands(*trial.test_case)) {
    const auto request = plan.request(unit);
    if (!request) return fail(request.error());
    const TrialPlace place = plan.trials().place(number);
    const std::string perturbation =
        place.perturbation > 0 ? plan.perturbations()[place.perturbation - 1].name : std::string();
    visit_commands(*trial.test_case, [&](const TextExpectation& what) {
      const CommandCheck check = command_check(what);
      BoundedCommand command = bounded(check, *rules_);
      std::string input = input_of(result, *trial.test_case, *request, place, perturbation, check.parameters);
      // A program that gives a verdict and a score is run once for both.
      const auto known =
          std::ranges::find_if(runs_, [&](const CommandRun& one) { return is_same(one, command, input); });
      trial.runs.push_back(static_cast<std::size_t>(known - runs_.begin()));
      if (known == runs_.end()) runs_.push_back({std::move(command), std::move(input)});
    });
  }
  trials_.push_back(std::move(trial));
  return {};
}

void CheckedResult::take(std::size_t n, const CommandEnd& end) {
  CommandEnd& kept = ends_[n] = end;
  rules_->redactor.apply(kept.errors);
  kept.message = with_errors(std::move(kept.message), kept.errors, defaults::quoted_check_error_bytes);
  --open_;
}

RecordResult CheckedResult::finish() {
  UnitResult& result = record_.item.result;
  if (runs_.empty()) return std::move(record_);
  if (result.shown_text.empty() && result.observed)
    result.shown_text = std::string(beginning(result.observed->text, defaults::max_shown_bytes));
  for (std::size_t i = 0; i < trials_.size(); ++i) {
    if (!trials_[i].runs.empty()) merge(result.scores[i], trials_[i]);
  }
  return std::move(record_);
}

void CheckedResult::merge(TrialScore& score, const CheckedTrial& trial) const {
  const std::size_t count = score.metrics.size() - std::min(score.judged.size(), score.metrics.size());
  const std::vector<MetricOutcome> judged(score.metrics.begin() + static_cast<std::ptrdiff_t>(count),
                                          score.metrics.end());
  score.metrics.resize(count);
  const std::vector<MetricOutcome> of_worker = std::exchange(score.metrics, {});
  Next<MetricOutcome> next_outcome{std::span(of_worker)};
  Next<std::size_t> next_run{std::span(trial.runs)};
  const std::function<MetricOutcome(const TextExpectation&)> outcome_for = [&](const TextExpectation& what) {
    if (is_command_metric(what.metric)) {
      MetricOutcome outcome = outcome_of_command(what, ends_[*next_run.take()], rules_->redactor);
      rules_->redactor.apply(outcome.detail);
      return outcome;
    }
    if (!has_command(what)) {
      const MetricOutcome* outcome = next_outcome.take();
      if (outcome != nullptr && outcome->id == what.metric) return *outcome;
      return undecided_outcome(what.metric,
                               "the worker did not assess it; is it of the coordinator's version?");
    }
    std::vector<MetricOutcome> parts;
    for (const TextExpectation& part : what.parts) parts.push_back(outcome_for(part));
    return outcome_of_group(what, parts);
  };
  for (const Expectation& expectation : trial.test_case->expectations) {
    if (!expectation.judge) score.metrics.push_back(outcome_for(expectation.what));
  }
  score.metrics.insert(score.metrics.end(), judged.begin(), judged.end());
}

}  // namespace sluice
