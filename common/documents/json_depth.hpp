#pragma once

#include <cstddef>
#include <string_view>

namespace sluice {

/// True if brackets (outside strings) nest deeper than `limit`; cheap enough to run before each parse. A
/// document tree far beyond 100 levels would be walked and destroyed recursively.
bool nests_deeper_than(std::string_view json, std::size_t limit);

}  // namespace sluice
