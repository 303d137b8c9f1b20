#include "coordinator/cli/not_passed.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/report/assessment_wording.hpp"

namespace sluice {
namespace {

CaseOutcome outcome_of(const CaseResult& one) {
  return {one.trial, one.fixture.id, one.status, wording::missed_scores(one)};
}

Result<void> note_many(Ledger& ledger, const std::string& run_id, const RunResults& results) {
  std::vector<CaseOutcome> batch;
  Result<void> noted;
  const auto write = [&] {
    if (noted && !batch.empty()) noted = ledger.note_cases(run_id, batch);
    batch.clear();
  };
  const auto visited = visit_cases(results, [&](const CaseResult& one) {
    if (one.status == CaseStatus::pass) return;
    batch.push_back(outcome_of(one));
    if (batch.size() == defaults::cases_written_at_once) write();
  });
  if (!visited) return fail(visited.error());
  write();
  return noted;
}

}  // namespace

void NotPassed::add(const CaseResult& one) {
  if (one.status == CaseStatus::pass) return;
  ++count_;
  if (count_ <= defaults::cases_written_at_once) {
    few_.push_back(outcome_of(one));
  } else if (!few_.empty()) {
    few_ = std::vector<CaseOutcome>();  // Braces alone would keep its memory.
  }
}

Result<void> NotPassed::note(Ledger& ledger, const std::string& run_id, const RunResults& results) const {
  if (count_ == 0) return {};
  if (count_ == few_.size()) return ledger.note_cases(run_id, few_);
  return note_many(ledger, run_id, results);
}

}  // namespace sluice
