#pragma once

#include "coordinator/gate/judge_pin.hpp"
#include "coordinator/merge/judge_agreement_fold.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace sluice {

/// What `sluice calibrate-judge` came to.
struct CalibrationReport {
  std::string suite;
  JudgeIdentity judge;
  std::string against;  ///< `labels`, or the name of the metric.
  double confidence = 0.0;
  std::vector<CalibratedMetric> metrics;
  std::uint64_t errors = 0;  ///< Cases without a judged answer.
};

/// Lines of at most `columns` for people, without colours. REQUIRES: columns >= 40.
std::string calibration_text(const CalibrationReport& report, std::size_t columns);
/// One JSON object (docs/commands.md).
std::string calibration_json(const CalibrationReport& report);

}  // namespace sluice
