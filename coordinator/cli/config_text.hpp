#pragma once

#include "common/settings/settings.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace sluice {

/// The lines of `sluice config`, `key = value  # origin`, of which keys, values and origins stand below each
/// other. In at most `columns` columns, if that is known: where a line is longer, the settings of each
/// provider are aligned apart, and a value that has no room behind its key stands below it.
std::string config_text(std::span<const SettingLine> lines, std::optional<std::size_t> columns);

}  // namespace sluice
