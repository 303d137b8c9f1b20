#pragma once

#include <string_view>

namespace sluice {

/// The text inside ```json and ```, which models put around JSON out of habit; any other text as it is,
/// trimmed.
std::string_view unfenced(std::string_view text);

}  // namespace sluice
