#include "coordinator/cli/past_answers.hpp"

#include "common/text/text.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/past_runs.hpp"
#include "coordinator/observations/observe.hpp"
#include "coordinator/plan/plan_identity.hpp"
#include "coordinator/session/embedding_run.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_plan.hpp"

#include <map>
#include <memory>
#include <set>
#include <utility>

namespace sluice {
namespace {

/// Provider and model of the run, where the flags name none: those of one arm stand in its record.
void take_over(const PastRun& past, Settings& settings) {
  const auto is_one = [](const std::string& names) { return names.find(", ") == std::string::npos; };
  const std::string where = "the run";
  if (settings.provider.origin != Origin::flag && is_one(past.run.provider))
    settings.provider = {past.run.provider, Origin::flag, where};
  if (settings.model.origin != Origin::flag && is_one(past.run.model)) {
    settings.model = {past.run.model, Origin::flag, where};
    settings.model_provider = settings.provider.value;
  }
}

int not_as_it_was(const PastRun& past, const std::string& suite) {
  return report_error(
      "run " + short_id(past.run.run_id) +
      " saved no observations, and what it asked is not known: " + suite +
      " and these flags ask for something else now. Give the flags of that run (its provider, model, arms, "
      "repeats, perturbations, selection), or run with --save-observations");
}

/// The trials of the case, under every arm if none is named.
bool is_wanted(std::string_view id, const std::string& wanted) {
  return id == wanted || (id.starts_with(wanted) && id.substr(wanted.size()).starts_with('@'));
}

void redact(Observation& one, const Redactor& redactor) {
  if (redactor.empty()) return;
  for (std::string* text :
       {&one.raw_response, &one.parsed_claims.text, &one.final_claims.text, &one.metrics.text})
    redactor.apply(*text);
  for (auto* text : {&one.parse_error, &one.error}) {
    if (*text) redactor.apply(**text);
  }
}

/// What was asked, as the run's plan has it.
struct Asked {
  RunOptions options;
  RunInputs inputs;
  std::shared_ptr<const Plan> plan;
};

Result<std::vector<RetrievalEvent>> retrievals_of(const Settings& settings, const PastRun& past) {
  const auto ledger = open_past_runs(settings);
  if (!ledger) return fail(ledger.error());
  if (!*ledger) return std::vector<RetrievalEvent>();
  return (*ledger)->retrievals_of(past.run.run_id);
}

tl::expected<std::unique_ptr<Asked>, int> plan_again(const SettingFlags& settings, RunFlags flags,
                                                     const PastRun& past) {
  if (!flags.suite) flags.suite = past.run.suite_path;
  auto loaded = load_run(settings, flags, [&past](Settings& chosen) { take_over(past, chosen); });
  if (!loaded) return tl::unexpected(loaded.error());
  loaded->options.progress = false;
  if (awaits_embeddings(loaded->inputs)) {
    const auto events = retrievals_of(loaded->options.settings, past);
    if (!events) return tl::unexpected(report_error(events.error()));
    loaded->inputs.retrieval = retrieval_again(loaded->inputs.suite, *events);
  }
  auto asked = std::make_unique<Asked>(Asked{std::move(loaded->options), std::move(loaded->inputs), nullptr});
  auto plan = make_plan(asked->options, asked->inputs);
  if (!plan) return tl::unexpected(report_error(plan.error()));
  if (to_prefixed_hex(plan_identity(**plan)) != past.run.plan_identity)
    return tl::unexpected(not_as_it_was(past, asked->options.suite_path));
  asked->plan = *plan;
  return asked;
}

}  // namespace

Result<std::optional<PastRun>> find_past_run(const Settings& settings, const std::string& words) {
  const auto ledger = open_past_runs(settings);
  if (!ledger) return fail(ledger.error());
  if (!*ledger) return std::nullopt;
  if (words == "last") {
    auto runs = (*ledger)->list_runs(1);
    if (!runs) return fail(runs.error());
    return runs->empty() ? std::nullopt : std::optional(std::move(runs->front()));
  }
  auto found = (*ledger)->find_run(words);
  if (!found) return fail(std::move(found.error()));
  return std::move(*found);
}

tl::expected<std::vector<Observation>, int> observations_from_caches(const SettingFlags& settings,
                                                                     RunFlags flags, const PastRun& past,
                                                                     const std::string& case_id,
                                                                     const CacheTools& tools) {
  const auto asked = plan_again(settings, std::move(flags), past);
  if (!asked) return tl::unexpected(asked.error());
  const RunOptions& options = (*asked)->options;
  const RunInputs& inputs = (*asked)->inputs;
  const std::shared_ptr<const Plan>& plan = (*asked)->plan;
  const auto ledger = open_past_runs(options.settings);
  if (!ledger || !*ledger)
    return tl::unexpected(report_error(ledger ? "the run ledger is gone" : ledger.error().message));
  // A unit's answer serves other trials, too: it is read whole.
  std::set<UnitId> wanted;
  for (TrialId trial = 0; trial < plan->trial_count(); ++trial) {
    if (is_wanted(plan->case_id(trial), case_id)) wanted.insert(plan->unit_of(trial));
  }
  std::map<UnitId, UnitResult> units;
  const auto visited = (*ledger)->results_of(past.run.run_id)->visit([&](const CommittedTrial& one) {
    const UnitId unit = plan->unit_of(one.trial);
    if (!wanted.contains(unit)) return;
    const auto [known, is_new] = units.try_emplace(unit, one.unit);
    auto& scores = known->second.scores;
    if (!is_new) scores.insert(scores.end(), one.unit.scores.begin(), one.unit.scores.end());
  });
  if (!visited) return tl::unexpected(report_error(visited.error()));
  std::vector<std::string> arms;
  for (const RunArm& one : options.arms) arms.push_back(one.arm.name);
  ObservationMaker maker(plan,
                         {past.run.run_id, inputs.prompt.version, to_prefixed_hex(inputs.prompt.hash),
                          std::move(arms), price_of(options, inputs), inputs.redactor},
                         0);
  std::vector<Observation> found;
  for (auto& [id, result] : units) {
    if (!is_zero(result.answer)) {
      auto answer = tools.find_answer(options.settings, {result.key, result.answer});
      if (!answer) return tl::unexpected(report_error(answer.error()));
      if (*answer) {
        result.observed = ObservedAnswer{std::move((*answer)->text), std::move((*answer)->finish_reason),
                                         std::move((*answer)->served_model), (*answer)->created_at_ms};
      }
    }
    if (auto added = maker.add(result, past.run.started_at_ms, found); !added)
      return tl::unexpected(report_error(added.error()));
  }
  std::erase_if(found, [&](const Observation& one) { return !is_wanted(one.case_id, case_id); });
  for (Observation& one : found) redact(one, inputs.redactor);
  if (found.empty()) {
    return tl::unexpected(report_error("run " + short_id(past.run.run_id) + " has no result of a case \"" +
                                       excerpt(case_id, 80) + "\""));
  }
  return found;
}

}  // namespace sluice
