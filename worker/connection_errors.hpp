#pragma once

#include "common/error.hpp"

#include <chrono>
#include <string>

/// Why a worker ends that has no coordinator to work for, as one sentence each.
namespace sluice {

Error coordinator_silent(std::chrono::milliseconds patience);
/// `detail`: the coordinator's, of its REJECT.
Error protocol_mismatch(const std::string& detail);

}  // namespace sluice
