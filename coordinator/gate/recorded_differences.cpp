#include "coordinator/gate/recorded_differences.hpp"

#include "coordinator/suite/answers/recorded_answers.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace sluice {

void RecordedDifferences::visit(const Case& test_case, std::span<const AssessedMetric> metrics) {
  if (!test_case.recorded) return;
  const std::optional<std::string>& context = test_case.recorded->context;
  for (const AssessedMetric& metric : metrics) {
    if (!metric.votes || metric.expectation == nullptr || !metric.expectation->judge) continue;
    const JudgeQuestion& question = *metric.expectation->judge;
    const std::string& own = question.context;
    if (context && !own.empty() && own != *context) other_context_.add(metric.score_id(), test_case.id);
    const auto asked = question.samples ? question.samples : samples_;
    if (asked && *asked != metric.votes->samples) other_votes_.add(metric.score_id(), test_case.id);
  }
}

std::vector<GateNotice> RecordedDifferences::finish() const {
  std::vector<GateNotice> notices;
  const auto add = [&](std::string code, std::string message) {
    notices.push_back({GateNotice::Severity::warning, std::move(code), std::move(message), false, "Judge"});
  };
  if (!other_context_.empty()) {
    add("recorded_context_unused",
        "the judge was shown the metric's own `context` for " + other_context_.in_words() +
            ", and the one that was recorded with the answer is another: that takes the place of "
            "`input.context` alone, so name the suite's there, or leave `context` out of the answer.");
  }
  if (!other_votes_.empty()) {
    add("recorded_votes_differ",
        "as recorded there are more or fewer votes on " + other_votes_.in_words() +
            " than `samples` or `judge_samples` asks for, and they count as they are: record as many, or "
            "leave the judgement out of the answer, so that a judge is asked.");
  }
  return notices;
}

}  // namespace sluice
