#include "coordinator/cli/run/run_notes.hpp"

#include "coordinator/cli/command.hpp"
#include "coordinator/session/asked_cases.hpp"

#include <exception>

namespace sluice {
namespace {

Result<void> note_cases(const RunNotes::Run& run, Ledger& ledger) {
  // Of a run that goes on they mostly were noted when it began.
  const auto known = ledger.asked_by(run.run_id);
  if (!known) return fail(known.error());
  if (!known->empty()) return {};
  const auto asked = asked_cases(run.options, run.inputs, *run.plan);
  if (!asked) return fail(asked.error());
  return ledger.note_asked(run.run_id, *asked);
}

/// Null where the settings redact something: files hold it in more ways than a pattern finds.
std::shared_ptr<const SuiteCopy> kept_copy(const RunNotes::Run& run) {
  const auto& copier = run.inputs.suite.copier;
  auto copy = copier ? copier->take() : nullptr;
  return run.inputs.redactor.empty() && run.options.settings.keep_suites.value ? copy : nullptr;
}

std::vector<std::string> note(const RunNotes::Run& run, const SuiteCopy* copy, Ledger& ledger) try {
  std::vector<std::string> warnings;
  const auto expect = [&](const Result<void>& noted, const std::string& what) {
    if (!noted) warnings.push_back(what + ": " + noted.error().message);
  };
  expect(note_cases(run, ledger),
         "what judges the cases of this run is not noted, so that `sluice compare` compares it only with "
         "runs of the same cases");
  if (copy != nullptr)
    expect(
        ledger.note_suite(run.run_id, *copy),
        "no copy of the suite is kept, so that this run can be shown only as long as the suite stays as it "
        "is");
  return warnings;
} catch (const std::exception& error) {  // No memory: the run, which was paid for, is reported all the same.
  return {std::string("what later commands know this run by is not noted: ") + error.what()};
}

}  // namespace

RunNotes::RunNotes(const Run& run, Ledger& ledger)
    : note_([run, copy = kept_copy(run), &ledger] { return note(run, copy.get(), ledger); }),
      warnings_(std::async(std::launch::async, note_)) {}

void RunNotes::finish() {
  auto warnings = warnings_.get();
  if (!warnings.empty()) warnings = note_();
  for (const std::string& warning : warnings) report_warning(warning);
}

}  // namespace sluice
