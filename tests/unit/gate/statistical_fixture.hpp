#pragma once

#include "coordinator/gate/statistical_gate.hpp"
#include "gate_fixture.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

/// What the tests of the statistical gate share.
namespace sluice::statistical_gate_test {

inline Thresholding statistical(double min_effect = 0.05) {
  Thresholding thresholding;
  thresholding.mode = ThresholdMode::statistical;
  thresholding.min_effect = min_effect;
  return thresholding;
}

inline std::string id_of(int number) {
  std::string id = std::to_string(number);
  return "case-" + std::string(3 - std::min<std::size_t>(3, id.size()), '0') + id;
}

/// Forty texts whose similarity was pinned at `base`; `current` says what each scores now.
struct Forty {
  Baseline baseline;
  Gate gate;

  explicit Forty(double base, Thresholding suite = statistical()) {
    std::vector<TestPin> pins;
    for (int i = 0; i < 40; ++i) pins.push_back({id_of(i), similarity, base});
    baseline = baseline_of(pins);
    gate = gate_of(&baseline, suite);
  }

  StatisticalAssessment assessed(auto&& current) const {
    StatisticalGate tests({&baseline, gate.config().suite, 0.05, 1});
    for (int i = 0; i < 40; ++i) {
      Case test = test_of(id_of(i), MetricId::semantic_similarity_to);
      test.category = i % 2 == 0 ? "even" : "odd";
      const std::vector outcomes{score_of(MetricId::semantic_similarity_to, current(i))};
      tests.add(test, gate.assess(test, outcomes));
    }
    return tests.finish();
  }
};

}  // namespace sluice::statistical_gate_test
