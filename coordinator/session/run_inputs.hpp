#pragma once

#include "common/checks/redactor.hpp"
#include "common/documents/finding.hpp"
#include "common/model/ontology.hpp"
#include "common/model/paid_tokens.hpp"
#include "common/model/request.hpp"
#include "coordinator/facts/paid_by_arm.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/session/run_retrieval.hpp"
#include "coordinator/suite/fingerprint_parts.hpp"
#include "coordinator/suite/prices.hpp"
#include "coordinator/suite/prompts/prompt.hpp"
#include "coordinator/suite/suite.hpp"

#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

struct FingerprintSettings;

/// Everything that a run reads from files before it starts.
struct RunInputs {
  Suite suite;
  PromptTemplate prompt;
  std::string ontology_text;
  Ontology ontology;
  PriceTable prices;
  SharedText response_schema;
  ResolvedEmbedding embedding;              ///< Without a model when no case is assessed by similarity.
  ResolvedJudge judge;                      ///< Nobody when no case of the suite is judged.
  std::optional<RunGrading> grading;        ///< That of the options.
  Redactor redactor{};                      ///< What the settings name.
  std::string fingerprint;                  ///< `config_fingerprint` of a baseline: of the whole suite.
  std::optional<RunRetrieval> retrieval{};  ///< Of a suite with solved examples, once it is known.
  std::string judged_by{};                  ///< `judging_fingerprint` of the whole suite.
  FingerprintParts fingerprint_parts{};     ///< Of `fingerprint`.
};

/// The ontology that the settings name, or the built-in one.
tl::expected<Ontology, std::vector<Finding>> load_ontology(const Settings& settings);

/// Two models that the settings' price table knows of a provider's kind; none if it cannot be read. The
/// settings must outlive it.
ExampleModels models_with_prices(const Settings& settings);

/// What is wrong with the prompt, the ontology, the prices and the redaction that the settings name: what
/// load_run_inputs finds in them.
std::vector<Finding> findings_in_data_files(const Settings& settings);

/// Prices of the tokens of a model, of the one that embeds and of the one that judges. All must outlive it.
Price price_of(const ResolvedProvider& model, const RunInputs& inputs);
/// The same of the run's model, or of each arm's. Options and inputs must outlive it.
RunPrice price_of(const RunOptions& options, const RunInputs& inputs);

/// What the run adds to its suite in a fingerprint.
FingerprintSettings fingerprint_settings(const RunOptions& options, const RunInputs& inputs);

/// Selects from the suite, and reads the data files that the settings name, or the built-in ones. Either all
/// of it or every finding.
tl::expected<RunInputs, std::vector<Finding>> load_run_inputs(const RunOptions& options, Suite suite);

}  // namespace sluice
