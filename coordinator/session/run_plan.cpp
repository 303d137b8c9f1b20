#include "coordinator/session/run_plan.hpp"

#include "common/defaults.hpp"
#include "common/model/sampling.hpp"
#include "common/text/text.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/session/run_retrieval.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace sluice {
namespace {

std::uint64_t leading_bytes(const Digest& digest) {
  std::uint64_t number = 0;
  std::memcpy(&number, digest.data(), sizeof number);
  return number;
}

void add_provider(const ProviderSettings& provider, std::vector<ProviderSettings>& providers) {
  if (std::ranges::find(providers, provider) == providers.end()) providers.push_back(provider);
}

/// `3 cases have judge metrics (a, b, c)`.
std::string named(const JudgedCases& cases) {
  std::string text = std::to_string(cases.count) + (cases.count == 1 ? " case has" : " cases have");
  text += " judge metrics (";
  for (const std::string& id : cases.first) {
    if (&id != cases.first.data()) text += ", ";
    text += excerpt(id, defaults::max_named_id_bytes);
  }
  const std::size_t rest = cases.count - cases.first.size();
  return text + (rest > 0 ? ", and " + std::to_string(rest) + " more)" : ")");
}

/// Judge metrics need somebody who judges, or in a cached run somebody whose votes are looked up.
Result<void> check_judge(const RunOptions& options, const RunInputs& inputs, const Plan& plan) {
  const JudgedCases& cases = plan.judged_cases();
  const JudgeSettings& judge = inputs.judge.judge;
  const bool is_cached = options.settings.mode.value == Mode::cached;
  const bool replays = is_cached && !judge.provider.empty();
  if (cases.count == 0 || judge.judge != Judge::none || replays) return {};
  const Setting<std::string>& given = options.settings.judge;
  const std::string off = given.origin == Origin::default_value
                              ? ", and no judge is named: "
                              : ", and the judge is \"none\" (" + given.where + "): ";
  const std::string flag = options.grading ? "--judge-provider" : "--judge";
  const std::string ask = "with " + flag + " PROVIDER and --judge-model";
  const std::string import = "import a cassette that holds their votes (`sluice cache import`)";
  return fail(Reason::usage_invalid,
              named(cases) + off +
                  (is_cached ? import + " and name the judge that gave them " + ask +
                                   ", or have them judged in --mode live " + ask
                             : "name one " + ask + ", or " + import +
                                   ", name the judge that gave them in the same way and run with --mode "
                                   "cached") +
                  "; " + flag + " fake tries them out without a model");
}

std::optional<std::pair<double, double>> token_price(const ResolvedProvider& model,
                                                     const PriceTable& prices) {
  constexpr std::uint64_t million = 1'000'000;
  const auto of = [&](const Usage& usage) { return prices.cost(model.provider.kind, model.model, usage); };
  const auto input = of({million, 0});
  const auto output = of({0, million});
  if (!input || !output) return std::nullopt;
  return std::pair(*input, *output);
}

/// Costs of answers are checked by prices: one that nobody knows would be taken for nothing.
Result<void> check_prices(const Suite& suite, const std::vector<RequestSettings>& requests) {
  if (!suite.checks_costs) return {};
  const auto unknown = std::ranges::find_if(requests, [](const RequestSettings& one) { return !one.price; });
  if (unknown == requests.end()) return {};
  if (unknown->model == defaults::recorded_model)
    return fail(
        Reason::usage_invalid,
        "the suite checks what answers cost, and no model is named for those of --answers: name the one "
        "that gave them with --provider and --model, for its price, or leave out the cost");
  return fail(Reason::usage_invalid,
              "the suite checks what answers cost, and the price table does not have the "
              "model \"" +
                  unknown->model + "\" (" + unknown->provider.name +
                  "): name a table that has it with --prices, or leave out the cost");
}

RequestSettings request_of(const RunOptions& options, const RunInputs& inputs,
                           const ResolvedProvider& model) {
  const Settings& settings = options.settings;
  const bool is_free = settings.mode.value == Mode::mock;  // Nobody is paid, whatever model is meant.
  return {.provider = model.provider,
          .model = model.model,
          .temperature = temperature_for(settings, model.model),
          .max_tokens = settings.max_output_tokens.value,
          .seed = settings.seed.value,
          .response_schema = inputs.response_schema,
          .params = merged(model.params, settings.params.value),
          .price = is_free ? std::pair(0.0, 0.0) : token_price(model, inputs.prices),
          .judge_samples = settings.judge_samples.value};
}

std::vector<std::string> params_of(const Arm& arm) {
  std::vector<std::string> names;
  if (arm.temperature) names.emplace_back("temperature");
  if (arm.max_tokens) names.emplace_back("max_output_tokens");
  if (arm.seed) names.emplace_back("seed");
  for (const RequestParam& one : arm.params) names.push_back(one.name);
  return names;
}

/// By arm; a run without arms has one.
std::vector<RequestSettings> requests_of(const RunOptions& options, const RunInputs& inputs) {
  if (options.arms.empty()) return {request_of(options, inputs, options.provider)};
  std::vector<RequestSettings> requests;
  for (const RunArm& one : options.arms) {
    RequestSettings& request = requests.emplace_back(request_of(options, inputs, one.provider));
    if (one.arm.temperature) request.temperature = one.arm.temperature;
    if (one.arm.max_tokens) request.max_tokens = *one.arm.max_tokens;
    if (one.arm.seed) request.seed = one.arm.seed;
    request.params = merged(request.params, one.arm.params);
    request.own_params = params_of(one.arm);
  }
  return requests;
}

/// They go to each worker in one message.
Result<void> check_rubrics(const Plan& plan) {
  std::size_t bytes = 0;
  for (const Rubric& one : plan.rubrics()) bytes += one.system.size() + one.user.size();
  if (bytes <= defaults::max_bytes_of_unit) return {};
  return fail(Reason::fixture_invalid,
              "the rubrics of the suite come to " + std::to_string(bytes) +
                  " bytes, more than one message to a worker can hold; shorten them, or spread their tests "
                  "over several suites");
}

}  // namespace

std::vector<UnitAffinity> affinities_of(std::span<const Digest> keys) {
  std::vector<UnitAffinity> affinities;
  affinities.reserve(keys.size());
  for (const Digest& key : keys) affinities.push_back({leading_bytes(key), 0});
  return affinities;
}

void add_pins(std::span<const std::optional<Pin>> pins, RunController::Config& config) {
  const bool any_pinned = std::ranges::any_of(pins, [](const auto& pin) { return pin.has_value(); });
  const bool names_answers = any_pinned || config.settings.mode == Mode::cached;
  std::map<std::string, std::uint32_t> holder_numbers;
  for (UnitId unit = 0; unit < pins.size(); ++unit) {
    const auto& pin = pins[unit];
    if (pin) {
      const auto [entry, is_new] = holder_numbers.try_emplace(pin->holder, config.holders.size() + 1);
      if (is_new) config.holders.push_back(pin->holder);
      config.affinities[unit].holder = entry->second;
    }
    if (names_answers) config.pinned_answers.push_back(pin ? pin->answer : Digest{});
  }
}

RunSettings run_settings(const RunOptions& options, const RunInputs& inputs, std::string run_id) {
  const auto& settings = options.settings;
  RunSettings run;
  run.run_id = std::move(run_id);
  run.mode = settings.mode.value;
  run.read_cache = !options.refresh && !options.no_cache;
  run.write_cache = !options.no_cache;
  // Of whom nothing is asked no key is needed.
  const CaseList& cases = inputs.suite.cases;
  if (!options.answers_alone && options.arms.empty() && cases.lacks_answers(0))
    run.providers = {options.provider.provider};
  for (std::uint32_t arm = 0; arm < options.arms.size(); ++arm) {
    if (cases.lacks_answers(arm)) add_provider(options.arms[arm].provider.provider, run.providers);
  }
  run.embedding = inputs.embedding.embedding;
  if (const auto& embedder = inputs.embedding.provider) add_provider(*embedder, run.providers);
  run.judge = inputs.judge.judge;
  run.judge.refresh = options.judge_refresh;
  if (const auto& judge = inputs.judge.provider) add_provider(*judge, run.providers);
  if (const auto& grading = options.grading) {
    const ResolvedProvider& baseline = grading->baseline.provider;
    add_provider(baseline.provider, run.providers);
    run.grading = GradingSettings{grading->judge, baseline.provider.name, baseline.model};
    if (grading->judge == GradeJudge::llm) {
      run.grading->llm = run.judge;
      run.grading->llm.temperature = steadiest_temperature(run.judge.model);
      run.grading->llm.seed = grading->judge_seed;
    }
  }
  run.connect_timeout = settings.connect_timeout.value;
  run.request_timeout = settings.request_timeout.value;
  run.case_timeout = settings.case_timeout.value;
  run.backoff_initial = settings.rate_limit_initial_delay.value;
  run.max_retries = settings.rate_limit_max_retries.value;
  run.heartbeat_interval = defaults::heartbeat_interval;
  run.observe = settings.save_observations.value;
  run.durable = settings.durable.value;
  run.redaction = redaction_of(settings);
  run.returns_embeddings = options.returns_embeddings;
  run.ontology = inputs.ontology_text;
  return run;
}

void fit_judge(const Plan& plan, RunSettings& run) {
  run.judge.rubrics = plan.rubrics();
  run.judge.gives_context = plan.gives_context();
  if (plan.judged_cases().count > 0) return;
  const std::string judge = std::exchange(run.judge, {}).provider;
  if (plan.has_provider(judge) || run.embedding.provider == judge) return;
  if (run.grading && (run.grading->provider == judge || run.grading->llm.provider == judge)) return;
  std::erase_if(run.providers, [&](const ProviderSettings& provider) { return provider.name == judge; });
}

Result<std::shared_ptr<const Plan>> make_plan(const RunOptions& options, const RunInputs& inputs,
                                              OnCommands on_commands) {
  std::vector<SharedText> few_shots;
  if (inputs.retrieval) few_shots = few_shots_of(*inputs.retrieval, inputs.suite.cases.size());
  return make_plan(options, inputs, std::move(few_shots), std::move(on_commands));
}

Result<std::shared_ptr<const Plan>> make_plan(const RunOptions& options, const RunInputs& inputs,
                                              std::vector<SharedText> few_shots, OnCommands on_commands) {
  auto design = make_trial_design(options, inputs.redactor, std::move(on_commands));
  if (!design) return fail(std::move(design.error()));
  design->few_shots = std::move(few_shots);
  auto requests = requests_of(options, inputs);
  if (auto priced = check_prices(inputs.suite, requests); !priced) return fail(std::move(priced.error()));
  auto plan =
      Plan::make(inputs.suite, inputs.prompt, inputs.ontology, std::move(requests), std::move(*design));
  if (!plan) return fail(std::move(plan.error()));
  if (auto usable = check_perturb_commands(options, *plan); !usable) return fail(std::move(usable.error()));
  if (auto judged = check_judge(options, inputs, *plan); !judged) return fail(std::move(judged.error()));
  if (auto fit = check_rubrics(*plan); !fit) return fail(std::move(fit.error()));
  return std::make_shared<const Plan>(std::move(*plan));
}

GovernorConfig governor_config(const Settings& settings, const RunSettings& run) {
  GovernorConfig config;
  for (const ProviderSettings& provider : run.providers) {
    config.providers.emplace_back(provider.name, limits_of(settings, provider.name));
  }
  config.times = {settings.request_timeout.value, run.heartbeat_interval, settings.outage_timeout.value};
  return config;
}

Result<void> add_budgets(const RunOptions& options, const RunInputs& inputs, RunController::Config& config) {
  const auto& settings = options.settings;
  config.deadline = settings.run_deadline.value;
  if (config.settings.mode != Mode::live) return {};
  config.budget = {settings.max_run_tokens.value, settings.max_run_cost.value};
  if (!config.budget.cost) return {};
  config.price = price_of(options, inputs);
  const auto unknown = [&](const std::string& model, const ProviderSettings& provider) {
    // The price table has models by the kind of their provider.
    const std::string kind(to_string(provider.kind));
    const std::string where = provider.name == kind ? kind : provider.name + ", of kind " + kind;
    return fail(Reason::usage_invalid, "the budget of " + settings.max_run_cost.where +
                                           " needs the price of the model \"" + model + "\" (" + where +
                                           "), which the price table does not have: name a table that has it "
                                           "with --prices, or use --max-tokens");
  };
  std::vector<ResolvedProvider> models;
  if (!options.answers_alone) models.push_back(options.provider);
  for (const RunArm& arm : options.arms) models.push_back(arm.provider);
  for (const ResolvedProvider& one : models) {
    if (!inputs.prices.cost(one.provider.kind, one.model, {})) return unknown(one.model, one.provider);
  }
  const auto& embedding = inputs.embedding;
  if (embedding.provider && !config.price(PaidTokens{0, 0, 1}))
    return unknown(embedding.embedding.model, *embedding.provider);
  const auto& grading = config.settings.grading;
  PaidTokens of_baseline;
  of_baseline.of(CallKind::baseline) = {1, 1};
  if (grading && !config.price(of_baseline))
    return unknown(grading->model, options.grading->baseline.provider.provider);
  const JudgeSettings& judge =
      grading && grading->judge == GradeJudge::llm ? grading->llm : config.settings.judge;
  PaidTokens of_judge;
  of_judge.of(CallKind::judge) = {1, 1};
  if (judge.judge == Judge::model && inputs.judge.provider && !config.price(of_judge))
    return unknown(judge.model, *inputs.judge.provider);
  return {};
}

}  // namespace sluice
