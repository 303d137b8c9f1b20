#pragma once

#include "coordinator/facts/case_outcome.hpp"
#include "coordinator/facts/run_record.hpp"
#include "coordinator/report/html/html_page.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

/// The pages of `sluice view`: pure, but for what the ledger has handed over. Foreign text is escaped. All
/// links are relative, so that no page has the folder's name, which is secret.
namespace sluice {

/// The latest runs, to be looked at or compared. `limit`: as many were asked for.
std::string runs_page(const std::vector<PastRun>& runs, std::size_t limit);

/// How a run that goes on stands.
struct RunUnderWay {
  const PastRun& past;
  RunProgress progress;
  std::optional<double> per_second{};         ///< Of trials; unknown at first.
  std::optional<double> remaining_seconds{};  ///< Unknown while the rate is.
  std::chrono::milliseconds time{};           ///< That it took so far, as Ledger::time_of has it.
};

/// What its page begins with; asked for again until the run has ended.
std::string progress_panel(const RunUnderWay& run);
/// The page that it is asked for by itself.
std::string progress_page(const std::string& panel);
/// The frame of a page of a run: of one without an end with its progress.
PageFrame frame_of(const std::string& panel = {});
/// What the ledger says of a run, as facts of its page.
std::string facts_of(const PastRun& past);

/// A run that its report cannot be made of again, with why not, and its cases that did not simply pass, which
/// come redacted.
std::string record_page(const PastRun& past, const std::string& panel, const std::vector<std::string>& why,
                        const std::vector<CaseOutcome>& cases);

/// What went wrong, in sentences, as a page.
std::string message_page(const std::string& title, const std::vector<std::string>& sentences);

}  // namespace sluice
