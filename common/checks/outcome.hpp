#pragma once

#include "common/model/expectation.hpp"
#include "common/model/metrics.hpp"

#include <span>
#include <string>
#include <vector>

/// What metrics of an answer come to, one by one and in groups: the worker and, for commands, the coordinator
/// make outcomes alike. Pure and thread-safe.
namespace sluice {

MetricOutcome passed_outcome(MetricId id);
/// Cut to defaults::max_detail_bytes.
MetricOutcome failed_outcome(MetricId id, const std::string& detail);
/// Nobody knows whether it passes; `why` is not empty.
MetricOutcome undecided_outcome(MetricId id, const std::string& why);
/// Failed by the problem; passed if there is none.
MetricOutcome outcome_of(MetricId id, const std::string& problem);

/// `id` turns round what the metric came to. Why it fails then quotes what it must not be.
MetricOutcome negation_of(MetricId id, const MetricOutcome& plain, const std::vector<std::string>& texts);

/// What any_of or all_of, perhaps turned round, comes to by the outcomes of its parts, in their order. A part
/// that is undecided, or has no score, leaves the group undecided only where the other parts do not decide
/// it. REQUIRES: an outcome for each part.
MetricOutcome outcome_of_group(const TextExpectation& group, std::span<const MetricOutcome> parts);

}  // namespace sluice
