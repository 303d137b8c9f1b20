#include "coordinator/cli/run_inputs.hpp"

#include "common/defaults.hpp"
#include "common/files.hpp"
#include "common/text.hpp"
#include "config/embedded_config.hpp"
#include "coordinator/suite/fingerprint.hpp"
#include "coordinator/suite/suite_loader.hpp"

#include <algorithm>
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
                                const char* name) {
  if (setting.value.empty()) return DataFile{std::string("built-in ") + name, std::string(built_in)};
  auto text = read_file(setting.value, defaults::max_fixture_bytes);
  if (!text) return fail(text.error().reason, setting.value + ": " + text.error().message);
  return DataFile{setting.value, with_unix_line_ends(std::move(*text))};
}

/// Reads and parses one data file; what is wrong with it becomes a finding.
template <class Parse>
auto load(const Setting<std::string>& setting, std::string_view built_in, const char* name,
          const Parse& parse, std::vector<Finding>& findings)
    -> decltype(parse(std::string_view(), std::string())) {
  const auto file = read_data_file(setting, built_in, name);
  if (!file) {
    findings.push_back({setting.where, 0, file.error().message});
    return fail(file.error());
  }
  auto parsed = parse(file->text, file->origin);
  if (!parsed) findings.push_back({file->origin, 0, parsed.error().message});
  return parsed;
}

/// Who embeds, if any case is judged by similarity.
ResolvedEmbedding embedding_for(const RunOptions& options, const Suite& suite,
                                std::vector<Finding>& findings) {
  if (std::ranges::find(suite.metrics, MetricId::semantic_similarity_to) == suite.metrics.end()) return {};
  auto resolved = resolve_embedding(options.settings);
  if (resolved) return std::move(*resolved);
  findings.push_back({options.suite_path, 0, resolved.error().message});
  return {};
}

std::string fingerprint_of(const RunOptions& options, const RunInputs& inputs) {
  FingerprintSettings settings;
  settings.provider = options.provider.provider.kind;
  settings.model = options.provider.model;
  settings.temperature = options.settings.temperature.value;
  settings.max_tokens = options.settings.max_output_tokens.value;
  settings.seed = options.settings.seed.value;
  if (inputs.embedding.provider) settings.embedding_provider = inputs.embedding.provider->kind;
  settings.embedding_model = inputs.embedding.embedding.model;
  settings.prompt = inputs.prompt.hash;
  settings.ontology = sha256(inputs.ontology_text);
  return to_prefixed_hex(config_fingerprint(inputs.suite, settings));
}

}  // namespace

Price price_of(const RunOptions& options, const RunInputs& inputs) {
  return [&](const PaidTokens& paid) -> std::optional<double> {
    const auto& model = options.provider;
    auto cost = inputs.prices.cost(model.provider.kind, model.model, {paid.input_tokens, paid.output_tokens});
    const auto& embedder = inputs.embedding;
    if (!cost || paid.embedding_tokens == 0 || !embedder.provider) return cost;
    const auto embedded =
        inputs.prices.cost(embedder.provider->kind, embedder.embedding.model, {paid.embedding_tokens, 0});
    return embedded ? std::optional(*cost + *embedded) : std::nullopt;
  };
}

Result<Ontology> load_ontology(const Settings& settings) {
  const auto file = read_data_file(settings.ontology_file, embedded::ontology, "ontology");
  if (!file) return fail(file.error());
  return Ontology::parse(file->text, file->origin);
}

tl::expected<RunInputs, std::vector<Finding>> load_run_inputs(const RunOptions& options, Suite suite) {
  std::vector<Finding> findings;
  auto selected = select(std::move(suite), options.categories, options.max_fixtures);
  if (!selected) findings.push_back({"--categories", 0, selected.error().message});
  const auto& settings = options.settings;
  auto prompt = load(settings.prompt_file, embedded::claims_prompt, "prompt", parse_prompt, findings);
  std::string ontology_text;
  auto ontology = load(
      settings.ontology_file, embedded::ontology, "ontology",
      [&](std::string_view text, const std::string& origin) {
        ontology_text = text;
        return Ontology::parse(text, origin);
      },
      findings);
  auto prices = load(settings.prices_file, embedded::prices, "price table", PriceTable::parse, findings);
  auto embedding = selected ? embedding_for(options, *selected, findings) : ResolvedEmbedding{};
  if (!findings.empty()) return tl::unexpected(std::move(findings));
  RunInputs inputs{std::move(*selected),     std::move(*prompt),
                   std::move(ontology_text), std::move(*ontology),
                   std::move(*prices),       share(std::string(embedded::claims_schema)),
                   std::move(embedding),     {}};
  inputs.fingerprint = fingerprint_of(options, inputs);
  return inputs;
}

}  // namespace sluice
