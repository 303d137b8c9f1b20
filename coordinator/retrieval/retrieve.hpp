#pragma once

#include "common/error.hpp"
#include "coordinator/facts/retrieval_event.hpp"
#include "coordinator/suite/suite.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Makes the embedding of a text.
using Embed = std::function<std::vector<float>(std::string_view)>;

/// Whether the case is shown an example if one is near. Nobody is asked for an answer that is recorded.
bool takes_example(const Case& one);

/// What retrieval brought for a case.
struct RetrievedExample {
  RetrievalEvent event;
  std::string shown;  ///< In front of what the case asks; empty: nothing.
};

/// The nearest solved example of each case that takes one, in the order of the cases; none for a case whose
/// answer is recorded. An example with the case's own id is left out: it would hold the case's answer. The
/// embedder's name goes into the events. file_unreadable if a case's file cannot be read any more. REQUIRES:
/// the suite has examples.
Result<std::vector<RetrievedExample>> retrieve_examples(const Suite& suite, const Embed& embed,
                                                        const std::string& embedder);

}  // namespace sluice
