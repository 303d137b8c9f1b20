#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// The values as bytes: IEEE 754, 4 bytes each, little endian.
std::string pack_embedding(std::span<const float> values);
/// What pack_embedding made the bytes of. Nothing if they are no embedding: none, another number of bytes, a
/// value that is not finite, or zeros alone, which point nowhere.
std::optional<std::vector<float>> unpack_embedding(std::string_view bytes);

}  // namespace sluice
