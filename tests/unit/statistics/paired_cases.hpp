#pragma once

#include "coordinator/statistics/paired_sample.hpp"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

namespace sluice {

/// A side with these scores as its repeats.
inline RepeatSum scores(std::span<const double> repeats) {
  RepeatSum side;
  for (const double score : repeats) side.add(share_of_score(score));
  return side;
}

inline RepeatSum scores(std::initializer_list<double> repeats) {
  return scores(std::span<const double>(repeats.begin(), repeats.size()));
}

inline PairedCase scored(double base, double current, std::uint32_t cluster = 0) {
  return {scores({base}), scores({current}), cluster};
}

struct RepeatClaims {
  std::uint64_t true_positives = 0;
  std::uint64_t false_positives = 0;
  std::uint64_t false_negatives = 0;
};

inline RepeatSum f1_of(std::initializer_list<RepeatClaims> repeats) {
  RepeatSum side;
  for (const auto& one : repeats) {
    side.add(share_of_f1(one.true_positives, one.false_positives, one.false_negatives));
  }
  return side;
}

/// Base and current change places.
inline std::vector<PairedCase> swapped(std::vector<PairedCase> cases) {
  for (PairedCase& one : cases) std::swap(one.base, one.current);
  return cases;
}

/// Darwin's fifteen pairs of maize plants (crossed less self-fertilised height, in eighths of an inch), as R.
/// A. Fisher gives them in "The Design of Experiments" (1935), section 17; as scores around one half.
inline std::vector<PairedCase> darwins_maize() {
  std::vector<PairedCase> cases;
  for (const int difference : {49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48}) {
    cases.push_back(scored(0.5 + difference / 1000.0, 0.5));
  }
  return cases;
}

}  // namespace sluice
