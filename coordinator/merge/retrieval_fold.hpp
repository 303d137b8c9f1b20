#pragma once

#include "coordinator/facts/retrieval_event.hpp"
#include "coordinator/gate/status.hpp"

#include <cstddef>
#include <vector>

namespace sluice {

/// The retrievals of a run with the statuses of their cases, and counted.
struct JudgedRetrievals {
  std::vector<RetrievalEvent> events;
  RetrievalSummary summary;
};

/// Adds up what became of the cases that took solved examples. Not thread-safe.
class RetrievalFold {
 public:
  /// In the order of the cases.
  explicit RetrievalFold(std::vector<RetrievalEvent> events);

  /// Once for each case, in their order; those without an event are passed over.
  void add(std::size_t case_index, CaseStatus status);
  /// The fold is then empty.
  JudgedRetrievals finish();

 private:
  JudgedRetrievals judged_;
  std::size_t next_ = 0;  ///< The first event whose case has not come.
};

}  // namespace sluice
