#include "coordinator/cli/run/not_passed.hpp"

#include "common/text/text.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/report/wording/case_explanation.hpp"
#include "coordinator/suite/redacted_case.hpp"

#include <string>
#include <utility>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

/// Redacted in the case's own texts first: a sentence has them cut and in one line, where a pattern may match
/// no more.
std::vector<std::string> missed_by(const CaseResult& one, const Redactor& redactor) {
  if (redactor.empty()) return wording::missed_by(one);
  const Case clean = redacted(one.fixture, redactor);
  CaseResult shown{clean, one.trial, one.status};
  shown.assessment = one.assessment;
  std::vector<std::string> missed = wording::missed_by(shown);
  for (std::string& line : missed) redactor.apply(line);
  return missed;
}

CaseOutcome outcome_of(const CaseResult& one, const Redactor& redactor) {
  std::vector<std::string> missed = missed_by(one, redactor);
  for (std::string& line : missed) line = excerpt(line, sluice::defaults::max_message_bytes);
  return {one.trial, one.fixture.id, one.status, std::move(missed), one.not_started};
}

/// CBOR, which takes texts whatever their bytes are.
std::string to_bytes(const std::vector<CaseOutcome>& cases) {
  nlohmann::json list = nlohmann::json::array();
  for (const CaseOutcome& one : cases)
    list.push_back(nlohmann::json::array(
        {one.trial, one.id, static_cast<int>(one.status), one.missed, one.not_started}));
  std::string bytes;
  nlohmann::json::to_cbor(list, bytes);
  return bytes;
}

std::vector<CaseOutcome> from_bytes(const std::string& bytes) {
  std::vector<CaseOutcome> cases;
  for (const nlohmann::json& one : nlohmann::json::from_cbor(bytes)) {
    cases.push_back({one[0].get<TrialId>(), one[1].get<std::string>(),
                     static_cast<CaseStatus>(one[2].get<int>()), one[3].get<std::vector<std::string>>(),
                     one[4].get<bool>()});
  }
  return cases;
}

}  // namespace

void NotPassed::add(const CaseResult& one, const Redactor& redactor) {
  if (one.status == CaseStatus::pass) return;
  batch_.push_back(outcome_of(one, redactor));
  if (batch_.size() < defaults::cases_written_at_once) return;
  full_batches_.emplace_back(to_bytes(batch_));
  batch_.clear();
}

Result<void> NotPassed::note(Ledger& ledger, const std::string& run_id) const {
  for (const PackedText& batch : full_batches_) {
    const auto bytes = batch.unpacked();
    if (!bytes) return fail(bytes.error());
    if (auto noted = ledger.note_cases(run_id, from_bytes(*bytes)); !noted) return noted;
  }
  return batch_.empty() ? Result<void>() : ledger.note_cases(run_id, batch_);
}

}  // namespace sluice
