#pragma once

#include "common/checks/redactor.hpp"
#include "coordinator/ledger/ledger.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/merge/packed_text.hpp"

#include <string>
#include <vector>

namespace sluice {

/// The cases of a run that did not simply pass, for the commands that come later: collected while the run is
/// judged, and noted in the ledger when its report is written. In a run that went wrong they are all of a
/// million: but for the last ones they are kept packed.
class NotPassed {
 public:
  /// What is said of the case is redacted: its checks may expect what may stand in no file.
  void add(const CaseResult& one, const Redactor& redactor);
  Result<void> note(Ledger& ledger, const std::string& run_id) const;

 private:
  std::vector<PackedText> full_batches_;
  std::vector<CaseOutcome> batch_;
};

}  // namespace sluice
