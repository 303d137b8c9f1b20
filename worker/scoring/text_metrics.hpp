#pragma once

#include "common/checks/json_schema.hpp"
#include "common/checks/pattern.hpp"
#include "common/error.hpp"
#include "common/model/expectation.hpp"
#include "common/model/metrics.hpp"
#include "worker/scoring/compiled_cache.hpp"

#include <string_view>

namespace sluice {

/// Checks answers by their text: every metric of docs/metrics.md that looks at nothing else. Patterns and
/// schemas are compiled once and kept by their text, bounded. The outcome is a function of the arguments
/// alone. Thread-safe.
class TextChecker {
 public:
  /// Error: fixture_invalid, if a pattern or schema cannot be compiled.
  /// REQUIRES: a metric of the answer's text, and not semantic_similarity_to (similarity.hpp).
  Result<MetricOutcome> assess(std::string_view answer, const TextExpectation& expectation) const;

 private:
  mutable CompiledCache<Pattern> patterns_;
  mutable CompiledCache<JsonSchema> schemas_;
};

}  // namespace sluice
