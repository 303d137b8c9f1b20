#pragma once

#include "common/checks/json_schema.hpp"
#include "common/checks/pattern.hpp"
#include "common/error.hpp"
#include "common/model/completion.hpp"
#include "common/model/expectation.hpp"
#include "common/model/metrics.hpp"
#include "worker/scoring/compiled_cache.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// An answer as checks look at it.
struct CheckedAnswer {
  CheckedAnswer(std::string_view of) : text(of) {}
  CheckedAnswer(const std::string& of) : text(of) {}
  CheckedAnswer(const char* of) : text(of) {}

  std::string_view text;
  std::span<const ToolCall> calls{};
  std::span<const Tool> tools{};              ///< That the request declares.
  Usage usage{};                              ///< Nothing but zeros: not known.
  std::optional<std::uint32_t> latency_ms{};  ///< Nothing: not known.
  bool is_refusal = false;                    ///< As is_native_refusal.
  bool is_recorded = false;                   ///< It came from a file: nobody is called for it.
};

/// Checks answers: every metric of docs/metrics.md that needs no model and no claims. Patterns and
/// schemas are compiled once and kept by their text, bounded. The outcome is a function of the arguments
/// alone. Thread-safe.
class TextChecker {
 public:
  /// Undecided are the latency of an answer that nobody measured, and the cost of one whose usage the
  /// provider did not name. Error: fixture_invalid, if a pattern or schema cannot be compiled. REQUIRES: a
  /// metric of the answer, neither semantic_similarity_to (similarity.hpp) nor a command.
  Result<MetricOutcome> assess(const CheckedAnswer& answer, const TextExpectation& expectation) const;

 private:
  /// `turned_round`, also below: within groups that pass what fails.
  Result<MetricOutcome> assess(const CheckedAnswer& answer, const TextExpectation& expectation,
                               bool turned_round) const;
  Result<MetricOutcome> assess_positive(const CheckedAnswer& answer, const TextExpectation& expectation,
                                        bool turned_round) const;
  /// Of icontains and icontains_any.
  Result<MetricOutcome> assess_in_any_case(MetricId id, std::string_view answer,
                                           const std::vector<std::string>& texts) const;
  Result<MetricOutcome> assess_patterns(const CheckedAnswer& answer,
                                        const TextExpectation& expectation) const;
  /// Each call with the tools that the request declares.
  Result<SchemaFinding> compare_calls(const CheckedAnswer& answer) const;
  Result<MetricOutcome> assess_group(const CheckedAnswer& answer, const TextExpectation& group,
                                     bool turned_round) const;
  mutable CompiledCache<Pattern> patterns_;
  mutable CompiledCache<JsonSchema> schemas_;
};

}  // namespace sluice
