#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace sluice {

/// Changes that make one text the other: characters added, taken away or replaced. Nothing if there are more
/// than `most`. Takes time in proportion to the shorter text and to the words of 64 bits that `most` bits
/// fill. Pure.
std::optional<std::size_t> distance_within(std::string_view one, std::string_view other, std::size_t most);

}  // namespace sluice
