#pragma once

#include "common/error.hpp"
#include "common/settings/settings.hpp"
#include "coordinator/ledger/ledger.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

/// Opens the ledger, or makes it, and warns of a file of an earlier version that was brought up to date. In a
/// read-only folder it is opened for reading alone.
Result<Ledger> open_ledger(const std::filesystem::path& file, Outlives outlives = Outlives::process);
/// The ledger of the settings' home; nothing if no run has made it yet: reading does not make one.
Result<std::optional<Ledger>> open_past_runs(const Settings& settings);

inline constexpr const char* no_run_yet = "no run is recorded yet; `sluice run` records one";

/// The first digits of a run's id, which are enough to name it.
std::string short_id(const std::string& run_id);

/// What came of it: a verdict, `running`, `unfinished`, or that it was graded or calibrated by.
std::string verdict_of(const PastRun& past);
/// The words in the colour that the gate's verdicts have.
std::string painted_as(const std::string& verdict, const std::string& words);
/// When the run began, in UTC: `2026-02-05 14:03`.
std::string minute_of_start(const PastRun& past);
/// `0.90 0.85 0.87`, precision, recall and F1, or of texts how many failed (`20 failed`), else ended in
/// errors or were flaky, else passed, of other commands how many were answered; empty for one without an end.
std::string result_words(const PastRun& past);
/// `$0.12`, what the run paid; empty where nobody knows it.
std::string cost_words(const PastRun& past);
/// Everything about a run: labels and what they label, which may be foreign text.
using RunFact = std::pair<std::string_view, std::string>;
std::vector<RunFact> facts_of_run(const PastRun& past);
/// The same, a line each.
std::string run_details(const PastRun& past, bool colour = false);
/// What `sluice runs prune` came to, in a line.
std::string pruned_runs(const PrunedRuns& done, bool dry_run);
/// As JSON: an array of objects, or one object. Both end with a line feed.
std::string runs_as_json(const std::vector<PastRun>& runs);
std::string run_as_json(const PastRun& past);

}  // namespace sluice
