#pragma once

#include "coordinator/facts/observation.hpp"
#include "coordinator/facts/retrieval_event.hpp"

#include <string>

namespace sluice {

/// One observation for people, section by section: what was asked, what was answered, what was made of it and
/// what it took. Foreign text in it cannot move the cursor. Ends with a line feed. `found`: which solved
/// example the case found; null: it looked for none.
std::string observation_page(const Observation& one, const RetrievalEvent* found = nullptr);

/// A line for each claim of a JSON array: `subject/predicate = value (confidence 0.9, line 7)`. `subject` is
/// the member with its subject.
std::string claim_lines(const JsonText& claims, const char* subject);

}  // namespace sluice
