#include "common/cosine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace sluice {

double dot_product(std::span<const float> a, std::span<const float> b) {
  // Four sums side by side: one alone would wait for each of its additions.
  std::array<double, 4> sums{};
  const std::size_t size = std::min(a.size(), b.size());
  const std::size_t whole = size - size % sums.size();
  for (std::size_t i = 0; i < whole; i += sums.size()) {
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += double{a[i + k]} * double{b[i + k]};
  }
  for (std::size_t i = whole; i < size; ++i) sums[0] += double{a[i]} * double{b[i]};
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

double cosine(double product, double square_a, double square_b) {
  if (square_a == 0.0 || square_b == 0.0) return 0.0;
  // One root of the product: of equal vectors it is the square itself, to the last bit.
  return std::clamp(product / std::sqrt(square_a * square_b), 0.0, 1.0);
}

double similarity(std::span<const float> a, std::span<const float> b) {
  return cosine(dot_product(a, b), dot_product(a, a), dot_product(b, b));
}

}  // namespace sluice
