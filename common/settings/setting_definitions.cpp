#include "common/settings/setting_definitions.hpp"

#include "common/defaults.hpp"
#include "common/settings/request_body.hpp"
#include "common/settings/setting_values.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace sluice {
namespace {

struct Plain {
  template <class T>
  std::string operator()(const T& value) const {
    return show_value(value);
  }
};
struct AsMilliseconds {
  std::string operator()(std::chrono::milliseconds value) const { return std::to_string(value.count()); }
};
struct AsSeconds {
  std::string operator()(std::chrono::milliseconds value) const { return show_seconds(value); }
  std::string operator()(const std::optional<std::chrono::milliseconds>& value) const {
    return value ? show_seconds(*value) : "(none)";
  }
};
struct OrDefault {
  std::string operator()(const std::optional<double>& value) const {
    return value ? show_value(value) : "\"default\"";
  }
};
struct LogFormatName {
  std::string operator()(LogFormat format) const { return show_value(std::string(to_string(format))); }
};
struct NamesOrNone {
  std::string operator()(const std::vector<std::string>& names) const {
    return names.empty() ? "(none)" : show_value(names);
  }
};

template <class Owner, class T, class Parser, class Show = Plain>
Definition<Owner> define(std::string_view key, std::string_view flag, Setting<T> Owner::*member, Parser parse,
                         std::string_view value, std::string_view doc, Show show = {}) {
  Definition<Owner> definition;
  definition.key = key;
  definition.flag = flag;
  definition.value = value;
  definition.doc = doc;
  definition.set = [member, parse](Owner& owner, const RawValue& raw,
                                   const Stamp& stamp) -> std::optional<std::string> {
    auto parsed = parse(raw);
    if (!parsed) return std::move(parsed.error());
    owner.*member = Setting<T>{std::move(*parsed), stamp.origin, stamp.where};
    return std::nullopt;
  };
  definition.show = [member, show](const Owner& owner) { return show((owner.*member).value); };
  definition.stamp = [member](const Owner& owner) {
    return Stamp{(owner.*member).origin, (owner.*member).where};
  };
  return definition;
}

SettingDefinition outside_file(SettingDefinition definition) {
  definition.in_file = false;
  return definition;
}

SettingDefinition with_bare_flag(SettingDefinition definition, std::string_view bare) {
  definition.bare = bare;
  return definition;
}

SettingDefinition in_section(std::string_view section, SettingDefinition definition, std::string_view key) {
  definition.section = section;
  definition.section_key = key;
  return definition;
}

SettingDefinition in_judge_section(SettingDefinition definition, std::string_view key,
                                   std::string_view other_variable) {
  definition.other_variable = other_variable;
  return in_section(judge_section, std::move(definition), key);
}

/// Two fields of Settings: who is named stays known beneath a "none", which calls nobody.
SettingDefinition define_judge() {
  SettingDefinition definition = define("judge", "--judge", &Settings::judge, word(), "none|fake|PROVIDER",
                                        "Judge of the judge metrics: none (no calls), fake (counts shared "
                                        "words, for trials), or a provider's name (default: none)");
  definition.off_flag = "--no-judge";
  definition.off = to_string(Judge::none);
  definition.set = [set = definition.set](Settings& settings, const RawValue& raw,
                                          const Stamp& stamp) -> std::optional<std::string> {
    if (auto problem = set(settings, raw, stamp)) return problem;
    if (names_a_provider(settings.judge.value)) settings.judge_provider = settings.judge;
    return std::nullopt;
  };
  return definition;
}

/// Two fields of Settings: what "robust" adds is nobody's business but the coordinator's.
SettingDefinition define_mode() {
  SettingDefinition definition;
  definition.key = "mode";
  definition.flag = "--mode";
  definition.value = "live|cached|mock|robust";
  definition.doc =
      "Where answers come from: live (providers, through the cache), cached (the cache alone), mock, or "
      "robust: live with all perturbations";
  definition.set = [](Settings& settings, const RawValue& raw,
                      const Stamp& stamp) -> std::optional<std::string> {
    const auto parsed = parse_mode(raw);
    if (!parsed) return parsed.error();
    settings.mode = {parsed->mode, stamp.origin, stamp.where};
    settings.robust = parsed->robust;
    return std::nullopt;
  };
  definition.show = [](const Settings& settings) { return show_value(std::string(mode_name(settings))); };
  definition.stamp = [](const Settings& settings) {
    return Stamp{settings.mode.origin, settings.mode.where};
  };
  return definition;
}

std::vector<SettingDefinition> make_setting_definitions() {
  using S = Settings;
  constexpr double hour = 3600.0;
  constexpr double week = 7 * 24 * hour;
  constexpr std::int64_t max_budget = 1'000'000'000'000;
  return {
      define("fixtures_dir", "--fixtures", &S::fixtures_dir, word(), "DIR", "Folder of the fixtures"),
      define_mode(),
      define("provider", "--provider", &S::provider, word(), "NAME",
             "openai, openai-responses, anthropic, gemini or a [providers.NAME] of the settings file"),
      define("model", "--model", &S::model, word(), "MODEL", "Model to ask"),
      outside_file(define("base_url", "--base-url", &S::base_url, parse_url, "URL",
                          "Base URL of the provider's API (openai: with its /v1; others: the bare host)")),
      define("temperature", "--temperature", &S::temperature, real_or_default(0.0, 2.0), "T",
             "Sampling temperature, or \"default\" to send none", OrDefault()),
      define("max_output_tokens", "--max-output-tokens", &S::max_output_tokens, whole(1, 10'000'000), "N",
             "Upper bound of an answer in tokens"),
      define("seed", "--seed", &S::seed, any_integer(), "N", "Seed to send to the provider"),
      define("params", "", &S::params, parse_params, "TABLE",
             "Further fields of each request, such as { top_p = 0.9 }; they override the provider's"),
      define(
          "max_concurrent", "--max-concurrent", &S::max_concurrent, whole(1, 10'000), "N",
          "Most calls in flight per worker; unset: 5 at first, then as many as the limits or a search allow"),
      outside_file(define("max_in_flight", "--max-in-flight", &S::max_in_flight, optional_whole(1, 1'000'000),
                          "N", "Most calls in flight to the run's provider, over all workers")),
      define("rate_limit_initial_delay_ms", "", &S::rate_limit_initial_delay, whole_milliseconds(1, 600'000),
             "MS", "Upper bound of the first retry's delay", AsMilliseconds()),
      define("rate_limit_max_retries", "", &S::rate_limit_max_retries, whole(0, 1000), "N",
             "Retries after the first call"),
      define("connect_timeout_seconds", "--connect-timeout", &S::connect_timeout, seconds(hour), "SECONDS",
             "Longest wait for a connection to the provider", AsSeconds()),
      define("request_timeout_seconds", "--request-timeout", &S::request_timeout, seconds(24 * hour),
             "SECONDS", "Longest wait for one answer", AsSeconds()),
      define("case_timeout_seconds", "--case-timeout", &S::case_timeout, seconds(week), "SECONDS",
             "Longest time for a case with all its retries", AsSeconds()),
      define("worker_timeout_seconds", "--worker-timeout", &S::worker_timeout, seconds(week), "SECONDS",
             "How long a run waits without any worker", AsSeconds()),
      define("drain_timeout_seconds", "--drain-timeout", &S::drain_timeout, seconds_or_none(week), "SECONDS",
             "How long a run or worker that stops waits for its calls in flight; 0: not at all", AsSeconds()),
      define("expect_workers", "--expect-workers", &S::expect_workers, optional_whole(1, 10'000), "N",
             "Start when this many workers have joined, or after --worker-timeout"),
      define("outage_timeout_seconds", "--outage-timeout", &S::outage_timeout, seconds(week), "SECONDS",
             "How long a run waits for a provider that is down", AsSeconds()),
      define("run_deadline_seconds", "--deadline", &S::run_deadline, time_span(week), "TIME",
             "Time for the whole run: seconds, or 90s, 10m, 2h", AsSeconds()),
      define("max_run_tokens", "--max-tokens", &S::max_run_tokens, optional_large_whole(1, max_budget), "N",
             "Most tokens that the whole run may pay for"),
      define("max_run_cost", "--max-cost", &S::max_run_cost, optional_real(0.001, 999'999.0), "DOLLARS",
             "Most US dollars that the whole run may cost, by the price table"),
      define("regression_threshold", "--threshold", &S::regression_threshold, real(0.0, 1.0), "POINTS",
             "How far a score may drop below its baseline, unless a thresholding sets it"),
      with_bare_flag(define("perturb", "--perturb", &S::perturb, parse_perturbations, "A,B",
                            "Perturbations of code and prose to apply to every case: names, all (the same as "
                            "no value) or none",
                            NamesOrNone()),
                     "all"),
      define("repeat", "--repeat", &S::repeat, whole(1, 100), "N",
             "How often each case is asked in each form (default 1)"),
      define("perturb_timeout_seconds", "", &S::perturb_timeout, seconds(hour), "SECONDS",
             "Longest time for a command of --perturb-command", AsSeconds()),
      define("perturb_max_bytes", "", &S::perturb_max_bytes, whole(1, defaults::max_perturb_bytes), "BYTES",
             "Longest output of a command of --perturb-command"),
      define("min_pass_rate", "--min-pass-rate", &S::min_pass_rate, optional_real(0.0, 1.0), "SHARE",
             "Lowest share of cases that must pass, from 0 to 1; unset: all must pass"),
      define("min_stability", "--min-stability", &S::min_stability, optional_real(0.0, 1.0), "SHARE",
             "Lowest share of perturbed answers that must stay the same, from 0 to 1"),
      define("embedding_provider", "--embedding-provider", &S::embedding_provider, word(), "NAME",
             "Provider that embeds texts for semantic_similarity_to (default: openai)"),
      define("embedding_model", "--embedding-model", &S::embedding_model, word(), "MODEL",
             "Embedding model, or lexical-ngrams-v1 for the built-in embedder (default: "
             "text-embedding-3-small)"),
      in_judge_section(define_judge(), "provider", "VERDICT_JUDGE"),
      in_judge_section(define("judge_model", "--judge-model", &S::judge_model, word(), "MODEL",
                              "Model that judges; there is no default"),
                       "model", "VERDICT_JUDGE_MODEL"),
      in_judge_section(
          define("judge_samples", "--judge-samples", &S::judge_samples, whole(1, defaults::max_judge_samples),
                 "N", "Votes for each judge metric, unless its test sets them (default 3)"),
          "samples", "VERDICT_JUDGE_SAMPLES"),
      in_judge_section(define("judge_temperature", "--judge-temperature", &S::judge_temperature,
                              real(0.0, 2.0), "T", "Sampling temperature of votes (default 0)"),
                       "temperature", "VERDICT_JUDGE_TEMPERATURE"),
      in_judge_section(define("judge_max_tokens", "--judge-max-tokens", &S::judge_max_tokens,
                              whole(1, 10'000'000), "N", "Upper bound of a vote in tokens (default 1024)"),
                       "max_tokens", "VERDICT_JUDGE_MAX_TOKENS"),
      with_bare_flag(define("save_observations", "--save-observations", &S::save_observations, yes_or_no(),
                            "true|false", "Save each prompt and answer with its results (default false)"),
                     "true"),
      define("database_path", "", &S::database_path, word(), "FILE",
             "File that observations are kept in (default: observations.db in the home)"),
      define("retention_days", "", &S::retention_days, whole(0, 36'500), "DAYS",
             "How long observations are kept"),
      define("retention_max_count", "", &S::retention_max_count, whole(0, 1'000'000'000), "N",
             "How many of the newest observations are kept, whatever their age"),
      define("max_tokens_per_file", "", &S::max_tokens_per_file, whole(1, 10'000'000), "N",
             "Most tokens of a file for `generate-corpus`, by an upper bound; longer files are left out"),
      define("max_tokens_per_scan", "", &S::max_tokens_per_scan, whole(1, 1'000'000'000), "N",
             "Most tokens of all its files, by the same bound, without the prompt around each"),
      in_section(
          redaction_section,
          define("redact", "--redact", &S::redact, parse_redactions, "A,B",
                 "Shipped patterns to replace outside the caches: keys, mail, all or none", NamesOrNone()),
          "shipped"),
      in_section(ledger_section,
                 with_bare_flag(define("durable", "--durable", &S::durable, yes_or_no(), "true|false",
                                       "Sync results and answers to the disk before they count, so that they "
                                       "survive a loss of power (default false)"),
                                "true"),
                 "durable"),
      in_section(ledger_section,
                 define("keep_suites", "", &S::keep_suites, yes_or_no(), "true|false",
                        "Keep a copy of each run's suite in the ledger (default true)"),
                 "keep_suites"),
      in_judge_section(
          define("judge_min_kappa", "--judge-min-kappa", &S::judge_min_kappa, optional_real(0.0, 1.0),
                 "KAPPA", "Judge scores only warn without a calibration of at least this kappa, from 0 to 1"),
          "min_kappa", ""),
      define("log_format", "--log-format", &S::log_format, parse_log_format, "text|json",
             "Format of stderr: sentences, or a JSON object per line", LogFormatName()),
      define("prompt_file", "--prompt", &S::prompt_file, word(), "FILE",
             "Prompt template instead of the built-in one"),
      define("ontology_file", "--ontology", &S::ontology_file, word(), "FILE",
             "Ontology instead of the built-in one"),
      define("prices_file", "--prices", &S::prices_file, word(), "FILE",
             "Price table instead of the built-in one"),
      outside_file(define("home", "--home", &S::home, word(), "DIR", "Folder of caches and ledger")),
  };
}

std::vector<ProviderDefinition> make_provider_definitions() {
  using P = ProviderConfig;
  constexpr std::int64_t max_rate = 1'000'000'000'000;
  return {
      define("kind", "", &P::kind, parse_kind, "KIND",
             "Request format: openai, openai-responses, anthropic, gemini, http (your own body) or exec (a "
             "program)"),
      define("base_url", "", &P::base_url, parse_any_url, "URL",
             "Base URL of the API; kind http: the whole URL"),
      define("api_key_env", "", &P::api_key_env, parse_variable_name, "NAME",
             "Environment variable that holds the key; \"\" to call without one"),
      define("cache_identity", "", &P::cache_identity, word(), "TEXT",
             "Stands for the provider in cache keys instead of its base URL"),
      define("model", "", &P::model, word(), "MODEL", "Model to ask if no other is named"),
      define("max_tokens_field", "", &P::max_tokens_field, one_of({"max_completion_tokens", "max_tokens"}),
             "NAME", "Which field carries max_tokens (kinds openai and exec)"),
      define("headers", "", &P::headers, parse_headers, "TABLE",
             "Headers of each request: texts, or { env = \"NAME\" } for a secret"),
      define("query", "", &P::query, parse_query, "TABLE", "Query of each request's URL"),
      define("params", "", &P::params, parse_params, "TABLE", "Further fields of each request for an answer"),
      define("body", "", &P::body, parse_body, "TABLE",
             "Body of each request, with {{prompt}} and the like in its texts (kind http only)",
             [](const std::string& value) { return value.empty() ? std::string("(none)") : value; }),
      define("answer", "", &P::answer, parse_pointers, "TABLE",
             "JSON Pointers to the answer's text, its usage and so on (kind http only)"),
      define("command", "", &P::command, parse_command, "LIST",
             "Program that answers, and its arguments (kind exec only)", NamesOrNone()),
      define("key_hosts", "", &P::key_hosts, parse_hosts, "HOSTS",
             "Further hosts that a worker may send the key to"),
      define("requests_per_minute", "", &P::requests_per_minute, optional_large_whole(1, 10'000'000), "N",
             "Calls that the provider allows in a minute"),
      define("tokens_per_minute", "", &P::tokens_per_minute, optional_large_whole(1, max_rate), "N",
             "Tokens that the provider allows in a minute, input and output together"),
      define("input_tokens_per_minute", "", &P::input_tokens_per_minute, optional_large_whole(1, max_rate),
             "N", "Input tokens that the provider allows in a minute"),
      define("output_tokens_per_minute", "", &P::output_tokens_per_minute, optional_large_whole(1, max_rate),
             "N", "Output tokens that the provider allows in a minute"),
      define("max_in_flight", "", &P::max_in_flight, optional_whole(1, 1'000'000), "N",
             "Calls under way over all workers"),
      define("burst_seconds", "", &P::burst_seconds, optional_real(0.001, 3600.0), "SECONDS",
             "How much of the rates may come at once (default: one second)"),
  };
}

std::string renamed_to(const std::string& name, const std::string& run_budget) {
  return "is now called " + name + "; the budget of the whole run is " + run_budget;
}

}  // namespace

std::span<const SettingDefinition> setting_definitions() {
  static const std::vector<SettingDefinition> definitions = make_setting_definitions();
  return definitions;
}

std::span<const ProviderDefinition> provider_definitions() {
  static const std::vector<ProviderDefinition> definitions = make_provider_definitions();
  return definitions;
}

std::string variable_of(std::string_view key) {
  std::string name = "SLUICE_";
  for (const char c : key) name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

std::string place_in_settings_file(std::string_view key) {
  for (const SettingDefinition& one : setting_definitions()) {
    if (!one.in_file || one.key != key) continue;
    const std::string there = "[" + std::string(one.section) + "]";
    return one.section_key.empty() ? there : there + " as \"" + std::string(one.section_key) + "\"";
  }
  const bool is_providers = std::ranges::find(provider_definitions(), key, &ProviderDefinition::key) !=
                            provider_definitions().end();
  return is_providers ? "[providers.NAME]" : "";
}

std::span<const RenamedKey> renamed_eval_keys() {
  static constexpr std::array<RenamedKey, 1> keys{{{"max_tokens", "max_output_tokens", "max_run_tokens"}}};
  return keys;
}

std::string renamed_key(const RenamedKey& one) {
  return renamed_to("\"" + std::string(one.key) + "\"", "\"" + std::string(one.run_budget) + "\" in [eval]");
}

std::string renamed_variable(const RenamedKey& one) {
  return renamed_to(variable_of(one.key), variable_of(one.run_budget));
}

}  // namespace sluice
