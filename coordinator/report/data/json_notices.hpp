#pragma once

#include "coordinator/gate/gate.hpp"
#include "coordinator/output/json_writer.hpp"

#include <cstddef>
#include <vector>

namespace sluice {

/// The member `notices` on a line of its own at `depth`, with each notice as an object on a line below.
void write_json_notices(Json& json, const std::vector<GateNotice>& notices, std::size_t depth);

}  // namespace sluice
