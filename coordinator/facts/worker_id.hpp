#pragma once

#include <cstdint>

namespace sluice {

/// A worker process: the random instance id of its HELLO.
using WorkerId = std::uint64_t;

}  // namespace sluice
