#pragma once

#include "common/error.hpp"
#include "common/model/request.hpp"
#include "common/settings/settings.hpp"
#include "coordinator/retrieval/retrieve.hpp"
#include "coordinator/suite/suite.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace sluice {

/// What the cases of a run found among the suite's solved examples, before it is planned.
struct RunRetrieval {
  std::vector<RetrievedExample> of_cases;  ///< In the order of the cases; those that take none are left out.
};

/// Whether the built-in embedder serves: where it is named, and in a mock run whatever is named, as answers
/// are embedded by a worker.
bool embeds_here(const Settings& settings, const ResolvedEmbedding& embedding);

/// Embeds examples and cases with the built-in embedder, in this process, and finds the nearest for each.
/// Errors as retrieve_examples. REQUIRES: a suite with examples.
Result<RunRetrieval> retrieve_here(const Suite& suite);

/// What a past run's cases were shown, by its events: without embeddings. A case that has no event, or whose
/// example is gone, is shown nothing. REQUIRES: a suite with examples.
RunRetrieval retrieval_again(const Suite& suite, std::span<const RetrievalEvent> events);

/// In place of few_shots_of where nothing is known yet: the longest that any case could be shown. Errors as
/// CaseList::read. REQUIRES: a suite with examples.
Result<std::vector<SharedText>> longest_few_shots(const Suite& suite);

/// What stands in front of each case's request, as TrialDesign has it.
std::vector<SharedText> few_shots_of(const RunRetrieval& retrieval, std::size_t cases);

/// The events, for the ledger.
std::vector<RetrievalEvent> events_of(const RunRetrieval& retrieval);

}  // namespace sluice
