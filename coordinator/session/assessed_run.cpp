#include "coordinator/session/assessed_run.hpp"

#include "common/text/joined.hpp"
#include "common/text/text.hpp"
#include "coordinator/merge/redacted_results.hpp"
#include "coordinator/session/run_retrieval.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

/// Why a trial has no committed result.
Error unfinished(const RunFacts& facts) {
  // The run's own sentence counts and names the cases; it is said once, of the run.
  if (facts.cut_short && facts.cut_short->reason == Reason::cache_miss)
    return {Reason::cache_miss, "no cache holds all that this case needs; `--mode live` asks for it"};
  if (facts.cut_short && facts.cut_short->reason == Reason::cache_in_use)
    return {Reason::cache_in_use,
            "no cache was seen to hold all that this case needs, and another process has one open: run again "
            "when it has ended"};
  if (facts.cut_short) return *facts.cut_short;
  return {Reason::worker_lost, "every worker that began this trial was lost"};
}

RunResults results_under(const Gate& gate, const RunSoFar& run) {
  return {run.inputs.suite,
          run.source,
          run.plan.trial_count(),
          [&plan = run.plan](TrialId trial) { return plan.case_of(trial); },
          [&facts = run.facts](TrialId) { return unfinished(facts); },
          gate,
          &run.plan.trials(),
          &run.inputs.ontology,
          run.not_started,
          nullptr,
          run.options.settings.mode.value == Mode::mock,
          [&plan = run.plan](TrialId trial) { return plan.trials_of(plan.unit_of(trial)).size() > 1; }};
}

std::filesystem::path folder_of_suite(const std::string& suite_path) {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path suite = suite_path;
  return fs::is_directory(suite, none) ? suite : suite.parent_path();
}

/// What the files that cases name are relative to: from the checkout's root, wherever the command runs.
std::string source_folder(const std::filesystem::path& folder) {
  const std::string in_checkout = path_in_checkout(folder);
  return in_checkout.empty() ? folder.string() : in_checkout;
}

/// Empty unless it lies there.
std::string path_below(const std::filesystem::path& root, const std::filesystem::path& file) {
  const std::filesystem::path below = file.lexically_relative(root);
  return below.empty() || *below.begin() == ".." ? "" : below.generic_string();
}

/// ReportInput::name_of_file. Many cases stand in one file, whose links are followed once.
std::function<std::string(const std::filesystem::path&)> names_of_files(const std::filesystem::path& folder) {
  namespace fs = std::filesystem;
  std::error_code none;
  const fs::path checkout = checkout_of(folder);
  const fs::path root = checkout.empty() ? fs::current_path(none) : checkout;
  return [root, names = std::map<fs::path, std::string>()](const fs::path& file) mutable {
    std::string& name = names[file];
    std::error_code error;
    if (name.empty()) name = path_below(root, file);
    if (name.empty()) name = path_below(root, fs::weakly_canonical(file, error));
    if (name.empty()) name = file.generic_string();
    return name;
  };
}

/// `temperature 0.7, top_p 0.9`
std::string parameters_of(const Arm& arm) {
  std::vector<std::string> set;
  if (arm.temperature) set.push_back("temperature " + shortest(*arm.temperature));
  if (arm.max_tokens) set.push_back("max_output_tokens " + std::to_string(*arm.max_tokens));
  if (arm.seed) set.push_back("seed " + std::to_string(*arm.seed));
  for (const RequestParam& param : arm.params) set.push_back(param.name + " " + param.json);
  return joined(set);
}

std::vector<ArmIdentity> arms_of(const RunOptions& options, const RunInputs& inputs) {
  std::vector<ArmIdentity> arms;
  for (const RunArm& one : options.arms) {
    arms.push_back({one.provider.provider.kind, one.provider.provider.name, one.provider.model,
                    one.arm.prompt ? inputs.suite.prompts[*one.arm.prompt].id : std::string(),
                    parameters_of(one.arm)});
  }
  return arms;
}

template <typename T>
const T* pointer_to(const std::optional<T>& value) {
  return value ? &*value : nullptr;
}

}  // namespace

AssessedRun::AssessedRun(const RunGate& gate, std::unique_ptr<const RunGate> of_arm, const RunSoFar& run)
    : run_(run),
      of_arm_(std::move(of_arm)),
      gate_(&gate),
      results_(results_under(gate.gate, run)),
      price_(price_of(run.options, run.inputs)) {}

Result<AssessedRun> AssessedRun::under(const RunGate& loaded, const RunSoFar& run) {
  if (!run.options.baseline_arm) return AssessedRun(loaded, nullptr, run);
  auto made = gate_against_arm(run.options, run.inputs, results_under(loaded.gate, run), loaded);
  if (!made) return fail(std::move(made.error()));
  auto of_arm = std::make_unique<const RunGate>(std::move(*made));
  const RunGate& gate = *of_arm;
  return AssessedRun(gate, std::move(of_arm), run);
}

Result<void> AssessedRun::assess(const VisitCase& also) {
  auto assessed = assess_run(run_.options, results_, *gate_, run_.plan.perturbations(), price_,
                             run_.facts.cut_short, also);
  if (!assessed) return fail(std::move(assessed.error()));
  assessment_ = std::move(*assessed);
  return {};
}

RunIdentity AssessedRun::identity() const {
  const RunInputs& inputs = run_.inputs;
  const ResolvedProvider& asked = run_.options.provider;
  return {inputs.prompt.version,   inputs.prompt.hash,           inputs.ontology.version(),
          asked.provider.kind,     asked.provider.name,          asked.model,
          gate_->judge.identity(), arms_of(run_.options, inputs)};
}

std::vector<Error> AssessedRun::report(const Beside& beside, const UseReport& use) const {
  const RunOptions& options = run_.options;
  const Redactor& redactor = run_.inputs.redactor;
  const RedactedResults clean(run_.source, redactor);
  const bool is_clean = beside.is_redacted || redactor.empty();
  const RunResults shown{results_.suite,       is_clean ? run_.source : clean,
                         results_.trials,      results_.case_of,
                         results_.unfinished,  results_.gate,
                         results_.table,       results_.ontology,
                         results_.not_started, &redactor,
                         results_.is_mock,     results_.shares_request};
  const RunFacts& facts = run_.facts;
  const std::filesystem::path folder = folder_of_suite(options.suite_path);
  PaidTokens of_judge;
  of_judge.of(CallKind::judge) = facts.paid.of(CallKind::judge);
  return use({shown,
              assessment_->aggregates,
              assessment_->verdict,
              identity(),
              facts,
              assessment_->gate,
              std::string(mode_name(options.settings)),
              paid_cost(facts, price_),
              source_folder(folder),
              names_of_files(folder),
              pointer_to(assessment_->stability),
              options.is_selection(),
              options.settings.min_stability.value,
              facts.is_unmetered(CallKind::judge) ? std::nullopt : price_(of_judge),
              pointer_to(assessment_->arms),
              pointer_to(assessment_->judge_bias),
              pointer_to(assessment_->calibrations),
              beside.retrieval,
              &redactor,
              beside.prompts_are_lost,
              assessment_->pass_groups,
              assessment_->labels.empty() ? nullptr : &assessment_->labels});
}

Result<std::optional<JudgedRetrievals>> retrieval_of(const RunInputs& inputs, const RunResults& results) {
  if (!inputs.retrieval) return std::nullopt;
  RetrievalFold fold(events_of(*inputs.retrieval));
  const auto visited = visit_cases(results, [&](const CaseResult& result) {
    // A failure that is excused is one that the example did not help against.
    const bool is_excused = std::ranges::any_of(result.metrics(), &AssessedMetric::is_excused);
    fold.add(results.case_of(result.trial), is_excused ? CaseStatus::fail : result.status);
  });
  if (!visited) return fail(visited.error());
  return fold.finish();
}

}  // namespace sluice
