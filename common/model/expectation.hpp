#pragma once

#include "common/model/metrics.hpp"

#include <string>
#include <vector>

namespace sluice {

/// What a metric of the answer's text assesses by (docs/suites.md). `texts` is never empty.
struct TextExpectation {
  MetricId metric = MetricId::must_contain;
  /// Texts to look for, patterns (RE2), accepted answers, references, or for json_schema the schema's JSON
  /// text alone.
  std::vector<std::string> texts;
  friend bool operator==(const TextExpectation&, const TextExpectation&) = default;
};

}  // namespace sluice
