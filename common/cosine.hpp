#pragma once

#include <span>

namespace sluice {

/// The sum of the products of two vectors' elements, in double; of the shorter one's where they differ in
/// length. Always added up in the same order, so that it is the same wherever it is computed.
double dot_product(std::span<const float> a, std::span<const float> b);

/// The cosine of two vectors of this product and these products with themselves, clamped to 0..1: 1.0 exactly
/// for equal vectors, 0.0 if either is all zero.
double cosine(double product, double square_a, double square_b);

/// The same of two vectors of one dimension. Symmetric.
double similarity(std::span<const float> a, std::span<const float> b);

}  // namespace sluice
