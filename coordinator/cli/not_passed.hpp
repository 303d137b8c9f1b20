#pragma once

#include "coordinator/ledger/ledger.hpp"
#include "coordinator/merge/case_result.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

/// The cases of a run that did not simply pass, for the commands that come later: collected while the run is
/// judged, and noted in the ledger when its report is written. Few are kept until then. Many are visited
/// again, since in a run that went wrong they are all of a million.
class NotPassed {
 public:
  void add(const CaseResult& one);
  /// `results`: those that were added.
  Result<void> note(Ledger& ledger, const std::string& run_id, const RunResults& results) const;

 private:
  std::size_t count_ = 0;
  std::vector<CaseOutcome> few_;
};

}  // namespace sluice
