#pragma once

#include "common/defaults.hpp"
#include "common/error.hpp"
#include "common/model/provider_limits.hpp"
#include "common/model/redaction.hpp"
#include "common/model/request_extras.hpp"
#include "common/model/run_settings.hpp"
#include "common/text/stderr_line.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// Where a setting's value comes from, weakest first.
enum class Origin : std::uint8_t { default_value, file, suite, environment, flag };

/// A value with its origin. `where` is the place itself: `sluice.toml:12`, `suite.yaml:3`, `SLUICE_MODEL` or
/// `--model`; empty for a default.
template <class T>
struct Setting {
  T value{};
  Origin origin = Origin::default_value;
  std::string where{};
};

/// Where the parts of an answer stand in the body of a response of kind `http`: JSON Pointers (RFC 6901);
/// empty: nowhere.
struct AnswerPointers {
  std::string text;
  std::string finish_reason{};
  std::string model{};
  std::string input_tokens{};
  std::string output_tokens{};
  std::string error{};  ///< A text.
  friend bool operator==(const AnswerPointers&, const AnswerPointers&) = default;
};

/// A provider as configured: a built-in one, or a [providers.NAME] table.
struct ProviderConfig {
  std::string name;
  Setting<ProviderKind> kind{ProviderKind::openai};
  Setting<std::string> base_url;
  Setting<std::string> api_key_env;              ///< Empty: the provider is called without a key.
  Setting<std::string> cache_identity;           ///< Empty: the normalised base URL.
  Setting<std::string> model;                    ///< Empty: there is no default model.
  Setting<std::string> max_tokens_field;         ///< Meant for kind `openai` only.
  Setting<std::vector<ProviderHeader>> headers;  ///< By name.
  Setting<std::vector<QueryField>> query;        ///< By name.
  Setting<RequestParams> params;                 ///< Of requests for answers.
  Setting<std::string> body;                     ///< Kind `http`: a template, as JSON (request_body.hpp).
  Setting<AnswerPointers> answer;                ///< Kind `http`.
  Setting<std::vector<std::string>> command;     ///< Kind `exec`: the program, then its arguments.
  Setting<std::vector<std::string>> key_hosts;   ///< See trusted_key_hosts (key_trust.hpp).
  Setting<std::optional<std::uint64_t>> requests_per_minute;  ///< See ProviderLimits, as for all that follow.
  Setting<std::optional<std::uint64_t>> tokens_per_minute;
  Setting<std::optional<std::uint64_t>> input_tokens_per_minute;
  Setting<std::optional<std::uint64_t>> output_tokens_per_minute;
  Setting<std::optional<std::uint32_t>> max_in_flight;
  Setting<std::optional<double>> burst_seconds;

  ProviderLimits limits() const;
};

/// The effective settings. Each is documented, named and bounded in setting_definitions.cpp.
struct Settings {
  Setting<Mode> mode{Mode::cached};
  bool robust =
      false;  ///< The mode was given as "robust": live, with all perturbations unless some are named.
  Setting<std::string> fixtures_dir{"tests/llm_fixtures"};
  Setting<std::string> provider{"gemini"};
  Setting<std::string> model;     ///< Empty: the provider's own.
  std::string model_provider;     ///< Named in the same place as `model`; empty: none. See resolve_provider.
  Setting<std::string> base_url;  ///< Empty: the provider's own.
  Setting<std::optional<double>> temperature{defaults::temperature};  ///< Nothing: not sent.
  Setting<std::uint32_t> max_output_tokens{defaults::max_output_tokens};
  Setting<std::optional<std::int64_t>> seed;
  Setting<RequestParams> params;  ///< Over those of the provider.
  Setting<std::uint32_t> max_concurrent{defaults::max_concurrent};
  Setting<std::optional<std::uint32_t>> max_in_flight;  ///< Nothing: the provider's own. See limits_of.
  Setting<std::chrono::milliseconds> rate_limit_initial_delay{defaults::backoff_initial};
  Setting<std::uint32_t> rate_limit_max_retries{defaults::max_retries};
  Setting<std::chrono::milliseconds> connect_timeout{defaults::connect_timeout};
  Setting<std::chrono::milliseconds> request_timeout{defaults::request_timeout};
  Setting<std::chrono::milliseconds> case_timeout{defaults::case_timeout};
  Setting<std::chrono::milliseconds> worker_timeout{defaults::peer_timeout};
  Setting<std::chrono::milliseconds> drain_timeout{defaults::drain_timeout};
  Setting<std::optional<std::uint32_t>> expect_workers;
  Setting<std::chrono::milliseconds> outage_timeout{defaults::outage_timeout};
  Setting<std::optional<std::chrono::milliseconds>> run_deadline;  ///< From the run's start.
  Setting<std::optional<std::uint64_t>> max_run_tokens;            ///< Paid ones, input and output.
  Setting<std::optional<double>> max_run_cost;                     ///< US dollars.
  Setting<std::string> prompt_file;  ///< Empty: the built-in file, as for the next two.
  Setting<std::string> ontology_file;
  Setting<std::string> prices_file;
  /// How far a metric may drop below its baseline, in points of 0..1, where no thresholding says otherwise.
  Setting<double> regression_threshold{defaults::regression_threshold};
  /// Names of perturbations, or "all" or "none" alone; empty: not set. See perturbations_wanted.
  Setting<std::vector<std::string>> perturb;
  Setting<std::uint32_t> repeat{1};  ///< Trials of each case in each form.
  Setting<std::chrono::milliseconds> perturb_timeout{defaults::perturb_timeout};
  Setting<std::uint32_t> perturb_max_bytes{defaults::perturb_max_bytes};
  Setting<std::optional<double>>
      min_pass_rate;  ///< The lowest share of cases that passes; nothing: all must.
  Setting<std::optional<double>> min_stability;  ///< The lowest stability that passes; nothing: any does.
  Setting<std::string> embedding_provider;       ///< Empty: openai. See resolve_embedding.
  Setting<std::string> embedding_model;          ///< Empty: the provider's own, as far as there is one.
  /// "none", "fake", or the name of a provider. See resolve_judge.
  Setting<std::string> judge{std::string(to_string(Judge::none))};
  /// The provider that the strongest place names which names one: `judge`, or who is beneath a "none".
  Setting<std::string> judge_provider;
  Setting<std::string> judge_model;  ///< Empty: the provider's own.
  std::string judge_model_provider;  ///< Named in the same place as `judge_model`; empty: none.
  Setting<std::uint32_t> judge_samples{defaults::judge_samples};  ///< Votes where a test says nothing else.
  Setting<double> judge_temperature{defaults::judge_temperature};
  Setting<std::uint32_t> judge_max_tokens{defaults::judge_max_tokens};
  Setting<bool> keep_suites{true};  ///< The ledger keeps what suites of runs were read from.
  Setting<bool> durable{false};     ///< What is stored outlives a loss of power (docs/durability.md).
  Setting<bool> save_observations{false};
  Setting<std::string> database_path;  ///< Of observations; empty: in the home. See observations_file.
  Setting<std::uint32_t> retention_days{defaults::retention_days};
  Setting<std::uint32_t> retention_max_count{defaults::retention_max_count};
  Setting<std::uint32_t> max_tokens_per_file{defaults::max_tokens_per_file};  ///< Of `generate-corpus`: ...
  Setting<std::uint32_t> max_tokens_per_scan{defaults::max_tokens_per_scan};  ///< ... of files' texts alone.
  Setting<std::vector<std::string>> redact;  ///< Names of shipped patterns, or "all" or "none" alone.
  /// Those of the file, by name: in effect beside the shipped ones. See redaction_of.
  std::vector<std::pair<std::string, Setting<std::string>>> redaction_patterns;
  /// The kappa that a judge's calibration must reach for its scores to fail a run; nothing: none is asked
  /// for.
  Setting<std::optional<double>> judge_min_kappa;
  Setting<std::string> home;  ///< SLUICE_HOME
  Setting<LogFormat> log_format{LogFormat::text};
  std::vector<ProviderConfig> providers;  ///< By name, the built-in ones included.
  /// What was given and has no effect, a sentence each without a full stop: for whoever loads settings to
  /// say.
  std::vector<std::string> warnings;

  const ProviderConfig* find_provider(std::string_view name) const;
};

/// As the user set it: `robust` where the mode is live for that.
std::string_view mode_name(const Settings& settings);

/// The names under `perturb`, `{"all"}` for a robust run that names none; empty where nothing is perturbed.
/// settings_invalid for a robust run that wants none.
Result<std::vector<std::string>> perturbations_wanted(const Settings& settings);

/// What the run's messages to workers say of a configured provider.
ProviderSettings provider_settings(const Settings& settings, const ProviderConfig& config);

/// A provider and a model that a run can use.
struct ResolvedProvider {
  ProviderSettings provider;
  std::string model;
  RequestParams params{};  ///< The provider's own.
};

/// Whether resolve_provider finds a model.
bool names_model(const Settings& settings);

/// What resolve_provider, resolve_embedding and resolve_judge refuse whatever the models: settings_invalid
/// for a provider that does not exist. The built-in lexical model and the fake judge need none.
Result<void> check_provider(const Settings& settings);
Result<void> check_embedding_provider(const Settings& settings);
Result<void> check_judge_provider(const Settings& settings);

/// What resolve_provider refuses of the model, be it there or not: settings_invalid for `openai:gpt-5` where
/// nobody names the provider.
Result<void> check_model(const Settings& settings);

/// Names of models that a provider's kind has, for an example in a message.
using ExampleModels = std::function<std::vector<std::string>(ProviderKind)>;

/// The chosen provider, with `base_url` over the provider's own, and its model: `model` if it was named for
/// this provider, else the provider's, else "mock" in mode mock, whose answers no model gives. A model goes
/// with the provider that the same place (flags, environment, suite, file) names beside it, and with any
/// where that place names none. settings_invalid if the provider is unknown or has no model; the message
/// names the examples for a provider at its standard address.
Result<ResolvedProvider> resolve_provider(const Settings& settings, const ExampleModels& examples = {});

/// Who embeds texts for semantic_similarity_to.
struct ResolvedEmbedding {
  EmbeddingSettings embedding;
  std::optional<ProviderSettings> provider;  ///< Nothing for the built-in embedder.
};

/// The embedder of a suite that needs one: by default text-embedding-3-small of openai. `lexical-ngrams-v1`
/// is the built-in one, which takes no provider. `base_url` applies if the run's provider embeds as well.
/// settings_invalid if the provider is unknown, has no embeddings, or needs a model to be named.
Result<ResolvedEmbedding> resolve_embedding(const Settings& settings);

/// True for a judge that is a provider's name: neither "none" nor "fake".
bool names_a_provider(std::string_view judge);

/// Who judges.
struct ResolvedJudge {
  JudgeSettings judge;  ///< Without rubrics; `refresh` is false.
  /// Whose votes they are, also where caches alone are read; nothing for the fake judge, and where nobody is
  /// named.
  std::optional<ProviderSettings> provider;
};

/// The judge of a suite that needs one. A provider that is named has the model `judge_model`, if that was
/// named for it (as for resolve_provider), else its own. "none" keeps provider and model of the strongest
/// place that names a provider, for votes from caches; where none does, both are empty. A mock run judges
/// with "fake". settings_invalid if the provider is unknown or has no model; the message names the examples
/// for a provider at its standard address.
Result<ResolvedJudge> resolve_judge(const Settings& settings, const ExampleModels& examples = {});

/// What an answer of this model is sampled with: nothing where the model takes no temperature and none was
/// set.
std::optional<double> temperature_for(const Settings& settings, std::string_view model);

/// What a provider of these settings allows: its own limits, with `max_in_flight` of the whole run over those
/// of the run's provider. No limit for one that does not exist.
ProviderLimits limits_of(const Settings& settings, std::string_view provider);

/// The environment variables that hold secrets of any provider: keys, and values of headers. Each once.
std::vector<std::string> secret_variables(const Settings& settings);

/// The file that observations are kept in.
std::string observations_file(const Settings& settings);

/// All patterns that are replaced outside the caches: the shipped ones that are switched on, then those of
/// the file. They are not compiled yet.
std::vector<RedactionPattern> redaction_of(const Settings& settings);

/// One line of `sluice config`.
struct SettingLine {
  std::string key;     ///< `eval.model`, `judge.samples`, `providers.local.base_url`, `home`
  std::string value;   ///< As it would stand in the file; `(none)` if there is none.
  std::string origin;  ///< `default`, `sluice.toml:12`, `SLUICE_MODEL` or `flag --model`
};

/// All settings with where they come from, in the order of the documentation. Holds no API key.
std::vector<SettingLine> describe(const Settings& settings);

}  // namespace sluice
