#pragma once

#include "coordinator/ledger/row_checks.hpp"

#include <array>

namespace sluice {

/// Tells the file from a ledger, and from anybody else's database: "slob".
inline constexpr int observations_application_id = 0x736c6f62;

/// The checksums of the observations, and of the prompts.
const std::array<row_checks::Table, 2>& observation_checks();

}  // namespace sluice
