#include "coordinator/session/run_inputs.hpp"

#include "common/text/text.hpp"
#include "config/embedded_config.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/session/run_commands.hpp"
#include "coordinator/session/run_files.hpp"
#include "coordinator/session/suite_path.hpp"
#include "coordinator/suite/answers/recorded_answers.hpp"
#include "coordinator/suite/fingerprint.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace sluice {
namespace {

/// A data file: the one that a setting names, or the built-in one. Its line ends are those of Unix: a
/// checkout with others is the same configuration.
struct DataFile {
  std::string origin;
  std::string text;
};

Result<DataFile> read_data_file(const Setting<std::string>& setting, std::string_view built_in,
                                const char* name, const RunFiles& source) {
  if (setting.value.empty()) return DataFile{std::string("built-in ") + name, std::string(built_in)};
  auto text = source.read(setting.value, defaults::max_fixture_bytes);
  if (!text) return fail(text.error().reason, setting.value + ": " + text.error().message);
  return DataFile{setting.value, with_unix_line_ends(std::move(*text))};
}

/// Reads and parses one data file, or says what is wrong with it.
template <class Parse>
auto load(const Setting<std::string>& setting, std::string_view built_in, const char* name,
          const Parse& parse, const RunFiles& source = {})
    -> decltype(parse(std::string_view(), std::string())) {
  const auto file = read_data_file(setting, built_in, name, source);
  if (!file) return tl::unexpected(std::vector{Finding{setting.where, 0, file.error().message}});
  return parse(file->text, file->origin);
}

/// What the settings name beside the suite.
struct DataFiles {
  PromptTemplate prompt;
  std::string ontology_text;
  Ontology ontology;
  PriceTable prices;
  Redactor redactor;
};

/// The value, or a default one with the findings added to the others.
template <class Value>
Value value_or_findings(tl::expected<Value, std::vector<Finding>> read, std::vector<Finding>& findings) {
  if (read) return std::move(*read);
  findings.insert(findings.end(), read.error().begin(), read.error().end());
  return {};
}

DataFiles load_data_files(const Settings& settings, const RunFiles& source, std::vector<Finding>& findings) {
  DataFiles files;
  files.prompt = value_or_findings(
      load(settings.prompt_file, embedded::claims_prompt, "prompt", parse_prompt, source), findings);
  const auto read_ontology = [&](std::string_view text, const std::string& origin) {
    files.ontology_text = text;
    return Ontology::read(text, origin);
  };
  files.ontology = value_or_findings(
      load(settings.ontology_file, embedded::ontology, "ontology", read_ontology, source), findings);
  files.prices = value_or_findings(
      load(settings.prices_file, embedded::prices, "price table", PriceTable::parse, source), findings);
  if (auto redactor = Redactor::make(redaction_of(settings))) {
    files.redactor = std::move(*redactor);
  } else {
    findings.push_back({"[redaction]", 0, redactor.error().message});
  }
  return files;
}

/// Who embeds, if any case is assessed by similarity, or gets a solved example.
ResolvedEmbedding embedding_for(const RunOptions& options, const Suite& suite,
                                std::vector<Finding>& findings) {
  const bool grades = options.grading && options.grading->judge == GradeJudge::embedding;
  const bool compares =
      std::ranges::find(suite.metrics, MetricId::semantic_similarity_to) != suite.metrics.end();
  if (!grades && !compares && suite.examples == nullptr) return {};
  auto resolved = resolve_embedding(options.settings);
  if (resolved) return std::move(*resolved);
  findings.push_back({options.suite_path, 0, resolved.error().message});
  return {};
}

/// Who judges, if any case is judged.
ResolvedJudge judge_for(const RunOptions& options, const Suite& suite, std::vector<Finding>& findings) {
  const bool grades = options.grading && options.grading->judge == GradeJudge::llm;
  if (!grades && std::ranges::none_of(suite.metrics, is_judge_metric)) return {};
  auto resolved = resolve_judge(options.settings, models_with_prices(options.settings));
  const bool is_named = resolved && resolved->provider;
  if (resolved && grades && !is_named && options.settings.mode.value != Mode::mock) {
    findings.push_back({options.suite_path, 0,
                        "--judge llm needs a model that compares: name it with --judge-provider PROVIDER and "
                        "--judge-model MODEL"});
    return {};
  }
  if (resolved) return std::move(*resolved);
  findings.push_back({options.suite_path, 0, resolved.error().message});
  return {};
}

}  // namespace

FingerprintSettings fingerprint_settings(const RunOptions& options, const RunInputs& inputs) {
  FingerprintSettings settings;
  settings.provider = options.provider.provider.kind;
  settings.model = options.provider.model;
  settings.temperature = temperature_for(options.settings, settings.model);
  settings.max_tokens = options.settings.max_output_tokens.value;
  settings.seed = options.settings.seed.value;
  const RequestParams& common = options.settings.params.value;
  settings.params = merged(options.provider.params, common);
  if (inputs.embedding.provider) settings.embedding_provider = inputs.embedding.provider->kind;
  settings.embedding_model = inputs.embedding.embedding.model;
  const JudgeSettings& judge = inputs.judge.judge;
  settings.judge = {std::nullopt, judge.model, judge.temperature, judge.max_tokens,
                    options.settings.judge_samples.value};
  if (inputs.judge.provider) settings.judge.provider = inputs.judge.provider->kind;
  for (const RunArm& one : options.arms) {
    settings.arms.push_back(
        {one.arm.name, one.provider.provider.kind, one.provider.model,
         one.arm.temperature ? one.arm.temperature : temperature_for(options.settings, one.provider.model),
         one.arm.max_tokens.value_or(settings.max_tokens), one.arm.seed ? one.arm.seed : settings.seed,
         one.arm.prompt, merged(merged(one.provider.params, common), one.arm.params)});
  }
  settings.prompt = inputs.prompt.hash;
  settings.ontology = sha256(inputs.ontology_text);
  return settings;
}

Price price_of(const ResolvedProvider& model, const RunInputs& inputs) {
  return [&](const PaidTokens& paid) -> std::optional<double> {
    std::optional<double> cost = 0.0;
    const auto add = [&](CallKind kind, const std::optional<ProviderSettings>& provider,
                         const std::string& name) {
      if (!cost || paid.of(kind) == Usage{} || !provider) return;
      const auto more = inputs.prices.cost(provider->kind, name, paid.of(kind));
      cost = more ? std::optional(*cost + *more) : std::nullopt;
    };
    add(CallKind::answer, model.provider, model.model);
    add(CallKind::embedding, inputs.embedding.provider, inputs.embedding.embedding.model);
    add(CallKind::judge, inputs.judge.provider, inputs.judge.judge.model);
    if (inputs.grading) {
      const ResolvedProvider& baseline = inputs.grading->baseline.provider;
      add(CallKind::baseline, baseline.provider, baseline.model);
    }
    return cost;
  };
}

RunPrice price_of(const RunOptions& options, const RunInputs& inputs) {
  return [&](const PaidByArm& paid) -> std::optional<double> {
    double sum = 0.0;
    for (std::size_t arm = 0; arm < paid.by_arm().size(); ++arm) {
      if (paid.by_arm()[arm] == PaidTokens{}) continue;
      const auto& model = options.arms.empty() ? options.provider : options.arms.at(arm).provider;
      const auto cost = price_of(model, inputs)(paid.by_arm()[arm]);
      if (!cost) return std::nullopt;
      sum += *cost;
    }
    return sum;
  };
}

tl::expected<Ontology, std::vector<Finding>> load_ontology(const Settings& settings) {
  return load(settings.ontology_file, embedded::ontology, "ontology", Ontology::read);
}

ExampleModels models_with_prices(const Settings& settings) {
  return [&settings](ProviderKind kind) {
    const auto prices = load(settings.prices_file, embedded::prices, "price table", PriceTable::parse);
    return prices ? prices->models(kind, 2) : std::vector<std::string>();
  };
}

std::vector<Finding> findings_in_data_files(const Settings& settings) {
  std::vector<Finding> findings;
  load_data_files(settings, {}, findings);
  return findings;
}

namespace {

/// Gives the cases the answers that --answers names.
std::vector<Finding> take_answers(const RunOptions& options, const RunFiles& source, const Redactor& redactor,
                                  CaseList& cases) {
  if (!options.answers) return {};
  const auto text = source.read(*options.answers, defaults::max_recorded_bytes);
  if (!text) return {{*options.answers, 0, text.error().message}};
  auto answers = parse_recorded_answers(*text, *options.answers, redactor);
  if (!answers) return std::move(answers.error());
  // Of a part of the suite the others' answers are no slips.
  if (!options.is_selection()) {
    if (auto unknown = answers->check_tests(cases); !unknown.empty()) return unknown;
  }
  cases.take(std::make_shared<const RecordedAnswers>(std::move(*answers)));
  if (!options.answers_alone) return {};
  std::size_t missing = 0;
  std::string first;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (cases.has_answer(i)) continue;
    if (missing++ == 0) first = cases.id(i);
  }
  if (missing == 0) return {};
  return {{*options.answers, 0,
           "it has no answer to " + std::to_string(missing) + " of " + std::to_string(cases.size()) +
               " tests, as \"" + first +
               "\": record them, leave them out with --filter, or name the model that is to be asked with "
               "--provider and --model"}};
}

}  // namespace

tl::expected<RunInputs, std::vector<Finding>> load_run_inputs(const RunOptions& options, Suite suite) {
  std::vector<Finding> findings;
  auto selected = select(std::move(suite), options.selection);
  if (!selected) {
    const bool nothing_fits =
        selected.error().reason == Reason::usage_invalid && !options.selection.filters.empty();
    findings.push_back(
        {options.suite_path, 0,
         selected.error().message + (nothing_fits ? how_to_list_tests(options.suite_path) : "")});
  }
  const RunFiles source = selected ? RunFiles(options, *selected) : RunFiles();
  auto files = load_data_files(options.settings, source, findings);
  auto embedding = selected ? embedding_for(options, *selected, findings) : ResolvedEmbedding{};
  auto judge = selected ? judge_for(options, *selected, findings) : ResolvedJudge{};
  if (!findings.empty()) return tl::unexpected(std::move(findings));
  if (!options.arms.empty()) {
    std::vector<Arm> arms;
    for (const RunArm& one : options.arms) arms.push_back(one.arm);
    selected->cases = selected->cases.under(arms);
  }
  if (!options.only_cases.empty()) {
    selected->cases.keep_if([&](std::size_t index) {
      return std::ranges::binary_search(options.only_cases, selected->cases.id(index));
    });
    if (selected->cases.empty()) {
      findings.push_back({options.suite_path, 0,
                          "holds none of the cases that are to run again, as " + options.only_cases.front() +
                              "; run the suite"});
      return tl::unexpected(std::move(findings));
    }
  }
  if (options.is_selection()) note_selected_commands(options.suite_path, *selected);
  if (auto wrong = take_answers(options, source, files.redactor, selected->cases); !wrong.empty())
    return tl::unexpected(std::move(wrong));
  RunInputs inputs{std::move(*selected),
                   std::move(files.prompt),
                   std::move(files.ontology_text),
                   std::move(files.ontology),
                   std::move(files.prices),
                   share(std::string(embedded::claims_schema)),
                   std::move(embedding),
                   std::move(judge),
                   options.grading,
                   std::move(files.redactor),
                   {}};
  const FingerprintSettings settings = fingerprint_settings(options, inputs);
  inputs.fingerprint = to_prefixed_hex(config_fingerprint(inputs.suite, settings));
  inputs.fingerprint_parts = fingerprint_parts(inputs.suite, settings);
  inputs.judged_by = to_prefixed_hex(judging_fingerprint(inputs.suite, settings));
  if (inputs.suite.examples && embeds_here(options.settings, inputs.embedding)) {
    auto retrieval = retrieve_here(inputs.suite);
    if (!retrieval)
      return tl::unexpected(std::vector{Finding{options.suite_path, 0, retrieval.error().message}});
    inputs.retrieval = std::move(*retrieval);
  }
  return inputs;
}

}  // namespace sluice
