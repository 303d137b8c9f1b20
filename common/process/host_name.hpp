#pragma once

#include <optional>
#include <string>

namespace sluice {

/// This machine's name; nothing if it has none that can be read.
std::optional<std::string> host_name();

}  // namespace sluice
