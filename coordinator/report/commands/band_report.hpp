#pragma once

#include "coordinator/retrieval/calibrate_bands.hpp"

#include <string>
#include <vector>

namespace sluice {

/// What `sluice calibrate-bands` proposes, for people: a paragraph for each kind of cases.
std::string bands_text(const std::vector<TripleCalibration>& calibrations);
/// The same as a JSON array, which ends with a line feed.
std::string bands_json(const std::vector<TripleCalibration>& calibrations);

}  // namespace sluice
