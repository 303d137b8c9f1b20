#include "coordinator/session/run_plan.hpp"

#include "common/defaults.hpp"
#include "coordinator/session/trial_design.hpp"

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
  run.providers = {options.provider.provider};
  run.embedding = inputs.embedding.embedding;
  if (const auto& embedder = inputs.embedding.provider; embedder && *embedder != options.provider.provider) {
    run.providers.push_back(*embedder);
  }
  run.connect_timeout = settings.connect_timeout.value;
  run.request_timeout = settings.request_timeout.value;
  run.case_timeout = settings.case_timeout.value;
  run.backoff_initial = settings.rate_limit_initial_delay.value;
  run.max_retries = settings.rate_limit_max_retries.value;
  run.heartbeat_interval = defaults::heartbeat_interval;
  run.ontology = inputs.ontology_text;
  return run;
}

Result<std::shared_ptr<const Plan>> make_plan(const RunOptions& options, const RunInputs& inputs) {
  RequestSettings request;
  request.provider = options.provider.provider;
  request.model = options.provider.model;
  request.temperature = options.settings.temperature.value;
  request.max_tokens = options.settings.max_output_tokens.value;
  request.seed = options.settings.seed.value;
  request.response_schema = inputs.response_schema;
  auto design = make_trial_design(options);
  if (!design) return fail(std::move(design.error()));
  auto plan =
      Plan::make(inputs.suite, inputs.prompt, inputs.ontology, std::move(request), std::move(*design));
  if (!plan) return fail(std::move(plan.error()));
  if (auto usable = check_perturb_commands(options, *plan); !usable) return fail(std::move(usable.error()));
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
  const auto unknown = [&](const std::string& model, ProviderKind kind) {
    return fail(Reason::usage_invalid, "the budget of " + settings.max_run_cost.where +
                                           " needs the price of the model \"" + model + "\" (" +
                                           std::string(to_string(kind)) +
                                           "), which the price table does not have: name a table that has it "
                                           "with --prices, or use --max-tokens");
  };
  if (!config.price({})) return unknown(options.provider.model, options.provider.provider.kind);
  const auto& embedding = inputs.embedding;
  if (embedding.provider && !config.price({0, 0, 1}))
    return unknown(embedding.embedding.model, embedding.provider->kind);
  return {};
}

}  // namespace sluice
