#pragma once

#include "coordinator/governor/governor.hpp"
#include "coordinator/run/run_controller.hpp"
#include "tests/fuzz/fuzzed_input.hpp"

#include <chrono>
#include <string>

namespace sluice::fuzz {

using namespace std::chrono_literals;

inline constexpr const char* the_run = "run-1";

inline Suite make_suite() {
  Suite suite;
  for (int i = 0; i < 7; ++i) {
    Case one;
    one.id = "case-" + std::to_string(i);
    one.content = "content " + std::to_string(i % 5);  // Two of the units have two trials.
    suite.cases.push_back(one);
  }
  return suite;
}

/// Seven cases, of which two share their unit with another.
inline const Plan& the_plan() {
  static const Suite suite = make_suite();
  static const Plan plan = [] {
    PromptTemplate prompt;
    prompt.user = "{{content}}";
    RequestSettings request;
    request.provider.name = "openai";
    request.model = "m";
    return *Plan::make(suite, prompt, Ontology(), request, {});
  }();
  return plan;
}

/// Settings of a run, as the input decides.
inline RunController::Config config_of(FuzzedInput& input) {
  RunController::Config config;
  config.settings.run_id = the_run;
  config.settings.mode = Mode::live;
  config.settings.heartbeat_interval = 1000ms;
  config.settings.case_timeout = 15min;
  config.settings.providers.emplace_back().name = "openai";
  config.settings.providers.emplace_back().name = "gemini";
  config.settings.read_cache = input.flag();
  config.dispatch = {1000ms, 3, 3, 60s};
  config.worker_timeout = 10s;
  config.drain_timeout = input.flag() ? 5s : 0s;
  config.workers_may_join = input.flag();
  config.notes_leases = input.flag();
  config.expected_workers = input.below(3);
  config.how_to_start_a_worker = "start one";
  config.holders = {"cache-1", "cache-9"};
  for (UnitId unit = 0; unit < the_plan().unit_count(); ++unit)
    config.affinities.push_back({unit * 0x9e3779b97f4a7c15ull, unit % 3});
  if (input.flag()) config.budget.tokens = 100 * input.number();
  if (input.flag()) config.deadline = 10min;
  config.lease_secret = sha256("secret");
  config.time_of_day = [] { return std::chrono::system_clock::time_point(); };
  return config;
}

inline GovernorConfig governor_config(FuzzedInput& input) {
  ProviderLimits limits;
  if (input.flag()) limits.requests_per_minute = 1 + input.number() % 100'000;
  if (input.flag()) limits.tokens_per_minute = 1000 + input.number() % 1'000'000;
  if (input.flag()) limits.max_in_flight = 1 + input.below(64);
  return {{{"openai", limits}, {"gemini", {}}}, {60s, 1s, 600s}};
}

}  // namespace sluice::fuzz
