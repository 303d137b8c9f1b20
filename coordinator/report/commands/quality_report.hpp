#pragma once

#include "coordinator/merge/quality_fold.hpp"

#include <cstddef>
#include <span>
#include <string>

namespace sluice {

/// What `sluice quality` prints (docs/grading.md): for each group a heading and a table by category, in at
/// most `columns` columns. No colours.
std::string quality_text(std::span<const GroupQuality> groups, double confidence, std::size_t columns);
/// The same as a JSON array, with a line feed at its end.
std::string quality_json(std::span<const GroupQuality> groups, double confidence);

}  // namespace sluice
