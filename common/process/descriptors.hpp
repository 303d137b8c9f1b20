#pragma once

#include "common/error.hpp"

namespace sluice {

/// What both programs do before they open anything: standard descriptors that are closed are taken, so that
/// no file of the home becomes one and gets log text (reading and writing fail as before), and as many files
/// as the system allows may be open. Error: settings_invalid if those are too few for a run.
Result<void> prepare_descriptors();

}  // namespace sluice
