#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// What the tests for "unstable beyond the floor" (coordinator/statistics/stability.hpp) could have shown at
/// best: it takes repeats for a p-value to be small, whatever the answers are. Pure.
namespace sluice {

/// The smallest p-value of a test over cases. Of the C(n + m, n) ways to say which of a case's answers are
/// the n unperturbed ones all are as likely if perturbing changes nothing, so that a case with m perturbed
/// answers has none below 1 / C(n + m, n), and several cases none below the product.
class SmallestP {
 public:
  /// A case whose answers differ: one whose answers are all identical can show nothing.
  void add(std::uint64_t unperturbed, std::uint64_t perturbed);
  double value() const;  ///< 1 if nothing was added.

 private:
  double log_ways_ = 0.0;
};

/// By test: true where answers differ (its smallest p is below 1), and yet it could not have become
/// significant, with Holm's correction for all of the tests.
std::vector<bool> out_of_reach(std::span<const double> smallest, double confidence);

/// The fewest repeats with which a case becomes significant as one of `tests` if its answers go on as they
/// came: the unperturbed ones alike, and of the perturbed ones, so many units of them a repeat
/// (PerturbedAnswer::unit), this share (0..1) the same as they, the others alike. Nothing if it takes more
/// than 100. REQUIRES: tests > 0.
std::optional<std::uint32_t> repeats_needed(double same_share, double units_per_repeat, std::uint64_t tests,
                                            double confidence);

}  // namespace sluice
