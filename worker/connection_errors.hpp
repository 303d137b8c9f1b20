#pragma once

#include "common/error.hpp"

#include <chrono>
#include <optional>
#include <string>

/// Why a worker ends that has no coordinator to work for, as one sentence each.
namespace sluice {

/// The warning ahead of that: what a worker does meanwhile, and for how long (without `patience` until one is
/// back). `is_refused`: its connections do not come about, which was said.
std::string coordinator_awaited(std::optional<std::chrono::milliseconds> patience, bool is_refused);
/// `refusal`: why its connections did not come about, if that is known. `has_answers`: it worked on a run.
Error coordinator_silent(std::chrono::milliseconds patience, const std::string& refusal, bool has_answers);
/// `detail`: the coordinator's, of its REJECT.
Error not_taken(const std::string& detail);
/// `detail`: the coordinator's, of its REJECT.
Error protocol_mismatch(const std::string& detail);
/// `detail`: of a WORK that is malformed.
Error unreadable_work(const std::string& detail);

}  // namespace sluice
