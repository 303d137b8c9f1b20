#pragma once

#include "coordinator/facts/retrieval_event.hpp"
#include "coordinator/output/json_writer.hpp"

namespace sluice {

/// `retrieval` of a run whose suite has solved examples (docs/report.md).
void write_json_retrieval(Json& json, const RetrievalSummary& retrieval);

}  // namespace sluice
