#include "coordinator/session/run_record.hpp"

#include "common/model/comparison.hpp"
#include "common/model/metrics.hpp"
#include "coordinator/output/json_writer.hpp"
#include "coordinator/plan/plan_identity.hpp"
#include "coordinator/session/suite_path.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace sluice {
namespace {

constexpr std::string_view judged_by_name = "judged_by";
constexpr std::string_view runs_commands_name = "runs_commands";

/// Who judges, and by what: with the fingerprint, which has what the tests ask, all that makes a judgement.
void add_judge(Json& json, const JudgeSettings& judge, std::uint32_t samples) {
  if (judge.rubrics.empty()) return;  // Nothing is judged.
  json.key("judge").open('{');
  const bool is_fake = judge.judge == Judge::fake;
  json.member("provider", is_fake ? to_string(judge.judge) : std::string_view(judge.provider));
  json.member("model", judge.model);
  json.member("samples", samples);
  json.member("temperature", judge.temperature);
  json.member("max_tokens", judge.max_tokens);
  json.key("rubrics").open('[');
  for (const Rubric& one : judge.rubrics) {
    json.value(one.id + " " + one.version + " " + to_prefixed_hex(rubric_hash(one)));
  }
  json.close(']');
  json.close('}');
}

/// What the answers are graded against, and by whom.
void add_grading(Json& json, const GradingSettings& grading, const std::string& baseline) {
  json.key("grading").open('{');
  json.member("baseline", baseline);
  json.member("judge", to_string(grading.judge));
  json.member("baseline_provider", grading.provider);
  json.member("baseline_model", grading.model);
  if (grading.judge == GradeJudge::llm) {
    json.member("provider", grading.llm.provider);
    json.member("model", grading.llm.model);
    json.member("max_tokens", grading.llm.max_tokens);
    json.member("seed", grading.llm.seed);
    json.member("comparison", comparison_version);
  }
  json.close('}');
}

void add_params(Json& json, const RequestParams& params) {
  if (!params.empty()) json.member("params", json_of(params));
}

/// How the suite is answered, arm by arm.
void add_arms(Json& json, const RunOptions& options) {
  json.key("arms").open('[');
  for (const RunArm& one : options.arms) {
    json.open('{');
    json.member("name", one.arm.name);
    json.member("provider", one.provider.provider.name);
    json.member("model", one.provider.model);
    if (one.arm.prompt) json.member("prompt", *one.arm.prompt);
    if (one.arm.temperature) json.member("temperature", one.arm.temperature);
    if (one.arm.max_tokens) json.member("max_output_tokens", *one.arm.max_tokens);
    if (one.arm.seed) json.member("seed", one.arm.seed);
    add_params(json, merged(one.provider.params, merged(options.settings.params.value, one.arm.params)));
    json.close('}');
  }
  json.close(']');
}

/// `a, b`, each once.
template <class NameOf>
std::string names_of(const RunOptions& options, const NameOf& name_of) {
  std::string names = name_of(options.provider);
  std::vector<std::string> named{names};
  for (const RunArm& one : options.arms) {
    const std::string& name = name_of(one.provider);
    if (std::ranges::find(named, name) != named.end()) continue;
    named.push_back(name);
    names += ", " + name;
  }
  return names;
}

/// What was kept under one set of patterns is not what another would have left.
Digest identity_of(const std::vector<RedactionPattern>& patterns) {
  FieldHasher hasher;
  for (const RedactionPattern& one : patterns) hasher.field(one.name).field(one.pattern);
  return hasher.finish();
}

/// The settings that decide what is requested and what an answer is: names and URLs without user info, no
/// keys. Not what only says how fast, how long or at what cost, and of what assesses a digest alone.
std::string settings_of(const RunOptions& options, const RunInputs& inputs, const RunSettings& run,
                        const Plan& plan, std::string_view command) {
  const Settings& settings = options.settings;
  std::string text;
  Json json(text);
  json.open('{');
  if (command != run_command) json.member("command", command);
  json.member("mode", to_string(run.mode));
  json.member("read_cache", run.read_cache);
  json.member("write_cache", run.write_cache);
  json.key("providers").open('[');
  for (const ProviderSettings& provider : run.providers) {
    json.open('{');
    json.member("name", provider.name);
    json.member("kind", to_string(provider.kind));
    json.member("cache_identity", provider.cache_identity);
    json.close('}');
  }
  json.close(']');
  json.member("model", options.provider.model);
  if (!options.arms.empty()) add_arms(json, options);
  json.member("temperature", temperature_for(settings, options.provider.model));
  json.member("max_output_tokens", settings.max_output_tokens.value);
  json.member("seed", settings.seed.value);
  add_params(json, merged(options.provider.params, settings.params.value));
  json.member("embedding_provider", run.embedding.provider);
  json.member("embedding_model", run.embedding.model);
  add_judge(json, run.judge, settings.judge_samples.value);
  if (run.grading && options.grading) add_grading(json, *run.grading, options.grading->baseline.arm.name);
  json.member(judged_by_name, inputs.judged_by);
  if (!inputs.suite.runs_command.empty()) json.member(runs_commands_name, true);
  if (!run.redaction.empty()) json.member("redaction", to_prefixed_hex(identity_of(run.redaction)));
  json.member("repeat", plan.trials().repeats());
  json.member("trials", to_prefixed_hex(trial_identity(plan)));
  json.key("perturbations").open('[');
  for (const PerturbationFacts& one : plan.perturbations()) json.value(one.name + " " + one.version);
  json.close(']');
  json.close('}');
  return text;
}

}  // namespace

std::string command_of(const RunRecord& record) {
  constexpr std::string_view start = R"({"command": ")";
  if (!record.settings.starts_with(start)) return std::string(run_command);
  const auto end = record.settings.find('"', start.size());
  return record.settings.substr(start.size(), end - start.size());
}

bool numbers_alike(const RunRecord& record, const Plan& plan) {
  return record.settings.find('"' + to_prefixed_hex(trial_identity(plan)) + '"') != std::string::npos;
}

bool was_judged_alike(const RunRecord& record, const RunInputs& inputs) {
  const std::string judged_by = '"' + std::string(judged_by_name) + R"(": ")" + inputs.judged_by + '"';
  return record.config_fingerprint.empty() || record.config_fingerprint == inputs.fingerprint ||
         record.settings.find(judged_by) != std::string::npos;
}

bool notes_judging(const RunRecord& record) {
  return record.settings.find('"' + std::string(judged_by_name) + R"(": ")") != std::string::npos;
}

bool had_arms(const RunRecord& record) {
  // A text of ours: a name that holds these characters has its quotes escaped.
  return record.settings.find(R"("arms": [)") != std::string::npos;
}

bool runs_commands(const RunRecord& record) {
  return record.settings.find('"' + std::string(runs_commands_name) + R"(": true)") != std::string::npos;
}

bool was_redacted_by(const RunRecord& record, const std::vector<RedactionPattern>& patterns) {
  return record.settings.find(R"("redaction": ")" + to_prefixed_hex(identity_of(patterns)) + '"') !=
         std::string::npos;
}

bool reads_beside_answers(const RunRecord& record) {
  if (command_of(record) == generate_command) return false;
  const auto has = [](const std::string& text, std::string_view words) {
    return text.find(words) != std::string::npos;
  };
  // Texts of ours, as above.
  return !has(record.settings, R"("embedding_provider": "")") || has(record.settings, R"("judge": {)") ||
         has(record.settings, R"("grading": {)") || has(record.flags, R"("answers":[)");
}

RunRecord record_of(const RunOptions& options, const RunInputs& inputs, const RunSettings& run,
                    const Plan& plan, std::int64_t now_ms, std::string_view command) {
  RunRecord record;
  record.run_id = run.run_id;
  record.suite = inputs.suite.name;
  record.mode = mode_name(options.settings);
  record.provider = names_of(options, [](const ResolvedProvider& one) { return one.provider.name; });
  record.model = names_of(options, [](const ResolvedProvider& one) { return one.model; });
  const bool asks_for_claims = std::ranges::any_of(inputs.suite.metrics, is_claims_metric);
  if (asks_for_claims) record.prompt_version = inputs.prompt.version;
  record.started_at_ms = now_ms;
  record.trials = plan.trial_count();
  if (asks_for_claims) record.prompt_hash = to_prefixed_hex(inputs.prompt.hash);
  record.suite_path = suite_path_of(options.suite_path);
  record.selection = options.is_selection();
  record.config_fingerprint = inputs.fingerprint;
  record.plan_identity = to_prefixed_hex(plan_identity(plan));
  record.settings = settings_of(options, inputs, run, plan, command);
  record.flags = options.given_flags;
  return record;
}

}  // namespace sluice
