#pragma once

#include "common/documents/finding.hpp"
#include "coordinator/score_files/baseline_file.hpp"
#include "coordinator/score_files/report_scores.hpp"

#include <filesystem>
#include <istream>
#include <string>
#include <variant>

#include <tl/expected.hpp>

namespace sluice {

/// Reads the scores of a JSON report (docs/report.md) piece by piece: memory holds what ReportScores keeps.
/// A finding names the place (line, and the path of the key like `fixture_results[3].metrics[0].score`):
/// truncated or no JSON, another schema_version, a field that is missing, mistyped or twice there, a score
/// that is not a number in 0..1, an id or a scored metric of a case twice, nesting beyond 64 levels. Unknown
/// keys are left out. `file` is for findings. The first problem ends the reading.
///
/// A claims metric that only passes or fails counts as named by the test when its case lacks one of the
/// claims scores, which a fixture never does.
tl::expected<ReportScores, Finding> parse_report(std::istream& text, const std::string& file);

/// A file with scores: a baseline, or the report of a run.
using ScoreFile = std::variant<Baseline, ReportScores>;

/// Reads either, by what stands in the file. What is neither is named by a baseline's finding.
tl::expected<ScoreFile, Finding> load_score_file(const std::filesystem::path& file);

}  // namespace sluice
