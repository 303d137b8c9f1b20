#pragma once

#include "common/error.hpp"

#include <chrono>
#include <string>

/// Why a worker ends that has no coordinator to work for, as one sentence each.
namespace sluice {

/// `refusal`: why its connections did not come about, if that is known.
Error coordinator_silent(std::chrono::milliseconds patience, const std::string& refusal);
/// `detail`: the coordinator's, of its REJECT.
Error protocol_mismatch(const std::string& detail);

}  // namespace sluice
