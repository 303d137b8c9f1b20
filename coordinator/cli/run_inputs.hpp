#pragma once

#include "common/error.hpp"
#include "common/finding.hpp"
#include "common/ontology.hpp"
#include "common/request.hpp"
#include "coordinator/cli/run_options.hpp"
#include "coordinator/suite/case.hpp"
#include "coordinator/suite/prices.hpp"
#include "coordinator/suite/prompt.hpp"

#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace sluice {

/// Everything that a run reads from files before it starts.
struct RunInputs {
  Suite suite;
  PromptTemplate prompt;
  std::string ontology_text;
  Ontology ontology;
  PriceTable prices;
  SharedText response_schema;
};

/// The ontology that the settings name, or the built-in one.
Result<Ontology> load_ontology(const Settings& settings);

/// Reads the suite and the data files that the settings name, or the built-in ones. Either all of it or every
/// finding.
tl::expected<RunInputs, std::vector<Finding>> load_run_inputs(const RunOptions& options);

}  // namespace sluice
