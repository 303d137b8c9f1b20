#pragma once

#include "common/checks/redactor.hpp"
#include "coordinator/facts/committed_results.hpp"

namespace sluice {

/// The results of a source with what the patterns match replaced in every text that came from a model, a
/// provider, a judge or a command. Which claims are one and the same stays known. For results that were kept
/// under other patterns. Holds references.
class RedactedResults final : public ResultSource {
 public:
  RedactedResults(const ResultSource& source, const Redactor& redactor)
      : source_(source), redactor_(redactor) {}
  Result<void> visit_from(TrialId first, const VisitTrial& visit) const override;

 private:
  const ResultSource& source_;
  const Redactor& redactor_;
};

}  // namespace sluice
