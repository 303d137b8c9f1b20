#pragma once

#include "common/error.hpp"
#include "common/model/request.hpp"
#include "common/settings/settings.hpp"
#include "coordinator/retrieval/retrieve.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/suite/suite.hpp"

#include <cstddef>
#include <vector>

namespace sluice {

/// What the cases of a run found among the suite's solved examples, before it is planned.
struct RunRetrieval {
  std::vector<RetrievedExample> of_cases;  ///< In the order of the cases; those that take none are left out.
};

/// Embeds examples and cases with the built-in embedder, in this process, and finds the nearest for each.
/// usage_invalid where the settings name another embedder, unless the run is a mock run; else as
/// retrieve_examples. REQUIRES: a suite with examples.
Result<RunRetrieval> retrieve_for_run(const RunOptions& options, const Suite& suite,
                                      const ResolvedEmbedding& embedding);

/// What stands in front of each case's request, as TrialDesign has it.
std::vector<SharedText> few_shots_of(const RunRetrieval& retrieval, std::size_t cases);

/// The events, for the ledger.
std::vector<RetrievalEvent> events_of(const RunRetrieval& retrieval);

}  // namespace sluice
