#include "coordinator/gate/aggregate_gate.hpp"

#include "coordinator/display/numbers.hpp"
#include "coordinator/gate/quoted.hpp"

#include <algorithm>
#include <cstdint>

namespace sluice {
namespace {

AggregateOutcome assess(const AggregateComparison& pair, double threshold) {
  if (!pair.baseline) return AggregateOutcome::not_compared;
  if (!pair.current) return AggregateOutcome::beyond_limit;
  const std::int64_t drop = billionths(*pair.baseline) - billionths(*pair.current);
  if (drop <= 0) return AggregateOutcome::no_drop;
  return drop <= billionths(threshold) ? AggregateOutcome::within_limit : AggregateOutcome::beyond_limit;
}

}  // namespace

bool pins_scores(const AggregateBaseline& baseline) {
  return baseline.precision || baseline.recall || baseline.f1;
}

AggregateAssessment assess_aggregates(const AggregateBaseline& baseline, std::optional<double> precision,
                                      std::optional<double> recall, std::optional<double> f1,
                                      double threshold) {
  AggregateAssessment assessment;
  assessment.baseline = baseline;
  assessment.threshold = threshold;
  assessment.metrics = {
      {.name = "precision", .current = precision, .baseline = baseline.precision},
      {.name = "recall", .current = recall, .baseline = baseline.recall},
      {.name = "f1", .current = f1, .baseline = baseline.f1},
  };
  for (AggregateComparison& pair : assessment.metrics) {
    pair.outcome = assess(pair, threshold);
    // The outcomes stand in the order of their weight.
    assessment.outcome = std::max(assessment.outcome, pair.outcome);
  }
  return assessment;
}

std::optional<GateNotice> untested_notice(const Thresholding& suite, const std::string& manifest) {
  if (suite.mode != ThresholdMode::statistical) return std::nullopt;
  return GateNotice{GateNotice::Severity::info, "statistics_not_compared",
                    "`thresholding.mode: statistical` tests the scores of each case, and `" + manifest +
                        "` has aggregates alone, which were compared by --threshold: for the tests write a "
                        "baseline with `--export-baseline` and name that."};
}

std::vector<GateNotice> mismatch_notices(const AggregateBaseline& baseline, const std::string& model,
                                         const std::string& prompt_version, const std::string& manifest,
                                         bool strict) {
  std::vector<GateNotice> notices;
  const auto compare = [&](std::string_view code, const std::string& what, const std::string& pinned,
                           const std::string& current) {
    if (pinned.empty() || pinned == current) return;
    notices.push_back(
        {warning_under(strict), std::string(code),
         "the [baseline] table of `" + manifest + "` was measured with the " + what + " " +
             backquoted(pinned) + ", and this run has " + backquoted(current) +
             ": where that is intended, pin the new one with `sluice update-baseline --force` after a run "
             "without --baseline."});
  };
  compare("model_mismatch", "model", baseline.model, model);
  compare("prompt_mismatch", "prompt version", baseline.prompt_version, prompt_version);
  return notices;
}

std::optional<GateNotice> corpus_mismatch_notice(const Manifest& pinned, std::uint64_t fixtures,
                                                 const std::string& manifest, bool strict) {
  if (!pinned.total_fixtures || *pinned.total_fixtures == fixtures) return std::nullopt;
  return GateNotice{warning_under(strict), "corpus_mismatch",
                    "`" + manifest + "` is that of a corpus of " +
                        wording::counted(*pinned.total_fixtures, "fixture") +
                        " (`total_fixtures`), and this suite has " + wording::counted(fixtures, "fixture") +
                        ": its [baseline] table is of others; name the manifest of this suite, or correct "
                        "the number and pin the new ones with `sluice update-baseline --force` after a run "
                        "without --baseline."};
}

std::optional<GateNotice> missing_aggregates_notice(const AggregateAssessment& assessment,
                                                    const std::string& manifest, bool strict) {
  std::string names;
  for (const AggregateComparison& pair : assessment.metrics) {
    if (pair.current && !pair.baseline) names += (names.empty() ? "" : ", ") + std::string(pair.name);
  }
  if (names.empty()) return std::nullopt;
  return GateNotice{warning_under(strict), "missing_aggregates",
                    "the [baseline] table of `" + manifest + "` does not have what this run has (" + names +
                        "), which was compared with nothing: pin it with `sluice update-baseline --force` "
                        "after a run without --baseline."};
}

}  // namespace sluice
