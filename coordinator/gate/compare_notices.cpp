#include "coordinator/gate/compare.hpp"

#include <cstddef>

namespace sluice {

GateNotice no_scores_notice(std::span<const std::string> compared) {
  const bool is_pair = compared.size() == 2;
  std::string names;
  for (std::size_t i = 0; i < compared.size(); ++i) {
    const bool is_last = i + 1 == compared.size();
    if (i > 0) names += !is_last ? ", " : is_pair ? " nor " : " and ";
    names += "`" + compared[i] + "`";
  }
  return {
      GateNotice::Severity::info, "no_scores",
      (is_pair ? "neither " : "none of ") + names + " has a score: what is compared is which checks passed."};
}

GateNotice mock_run_notice(const std::string& base, const std::string& current) {
  return {GateNotice::Severity::warning, "mock_run",
          "`" + current + "` is of a mock run, whose answers no model gave, and `" + base +
              "` is not: what differs says nothing about a model; compare two runs of one kind.",
          false};
}

std::optional<GateNotice> uncalibrated_notice(const CompareSummary& summary, const std::string& current,
                                              bool strict) {
  if (summary.uncalibrated == 0) return std::nullopt;
  return GateNotice{warning_under(strict), "judge_uncalibrated",
                    "the gate of the run of `" + current + "` asked for a calibration of its judge, and " +
                        std::to_string(summary.uncalibrated) +
                        " of its judge scores are without one that is good enough: " +
                        (strict ? "" : "what it would fail only warns; ") +
                        "calibrate the judge with `sluice calibrate-judge`, and run the suite again.",
                    true, "Judge"};
}

}  // namespace sluice
