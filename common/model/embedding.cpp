#include "common/model/embedding.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace sluice {

static_assert(std::endian::native == std::endian::little);

std::string pack_embedding(std::span<const float> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

std::optional<std::vector<float>> unpack_embedding(std::string_view bytes) {
  if (bytes.empty() || bytes.size() % sizeof(float) != 0) return std::nullopt;
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  const bool points_somewhere = std::ranges::any_of(values, [](float value) { return value != 0.0f; });
  if (!points_somewhere || !std::ranges::all_of(values, [](float value) { return std::isfinite(value); }))
    return std::nullopt;
  return values;
}

}  // namespace sluice
