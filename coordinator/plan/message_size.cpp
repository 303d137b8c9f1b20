#include "coordinator/plan/message_size.hpp"

#include "common/defaults.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/plan/defaults.hpp"
#include "coordinator/suite/answers/recorded_answers.hpp"

#include <algorithm>
#include <variant>

namespace sluice {
namespace {

/// Of a task, a claim, or a text on the wire beside its characters; also keeps the number of a message's
/// values within the wire's limits.
constexpr std::size_t overhead_bytes = 32;

std::size_t bytes_of(const std::vector<ExpectedClaim>& claims) {
  std::size_t bytes = 0;
  for (const auto& claim : claims) {
    bytes += overhead_bytes + claim.subject.size() + claim.predicate.size();
    if (claim.rationale) bytes += claim.rationale->size();
    if (const auto* text = std::get_if<std::string>(&claim.value)) bytes += text->size();
  }
  return bytes;
}

std::size_t bytes_of(const TextExpectation& expectation) {
  std::size_t bytes = overhead_bytes;
  for (const auto& text : expectation.texts) bytes += overhead_bytes + text.size();
  for (const auto& part : expectation.parts) bytes += bytes_of(part);
  return bytes;
}

std::size_t bytes_of_labels(const TextExpectation& expectation, const SuiteLabels& labels) {
  std::size_t bytes = 0;
  for (const auto& part : expectation.parts) bytes += bytes_of_labels(part, labels);
  if (positive(expectation.metric) != MetricId::label) return bytes;
  const auto all = labels.find(expectation.texts[1]);
  if (all == labels.end()) return bytes;
  for (const auto& label : all->second) bytes += overhead_bytes + label.size();
  return bytes;
}

std::size_t bytes_of(const std::vector<ToolCall>& calls) {
  std::size_t bytes = 0;
  for (const auto& call : calls)
    bytes += overhead_bytes + call.id.size() + call.name.size() + call.arguments.size();
  return bytes;
}

std::size_t bytes_of(const RecordedAnswer& answer) {
  return answer.text.size() + bytes_of(answer.calls);
}

std::size_t bytes_of(const RequestExtras& extras) {
  std::size_t bytes = 0;
  for (const auto& one : extras.params) bytes += overhead_bytes + one.name.size() + one.json.size();
  for (const auto& message : extras.messages) {
    bytes += overhead_bytes + message.call_id.size() + message.call_name.size();
    for (const auto& part : message.parts)
      bytes += overhead_bytes + part.text.size() + part.media_type.size();
    bytes += bytes_of(message.calls);
  }
  for (const auto& tool : extras.tools)
    bytes += overhead_bytes + tool.name.size() + tool.description.size() + tool.parameters.size();
  return bytes;
}

/// Metrics of texts whose results are as long as that of a judge metric, with its rationale and its votes.
constexpr std::uint32_t results_of_judge_metric = 8;

/// Of a judge metric, in a case or in a task.
std::size_t bytes_of_judged(const auto& judged) {
  return 2 * overhead_bytes + judged.reference.size() + judged.criteria.size() + judged.context.size();
}

/// Of a text that requests share, where the one before has it or not.
std::size_t bytes_of_shared(const SharedText& text, const SharedText& before) {
  const bool is_known = text == before || (text && before && *text == *before);
  return text && !is_known ? overhead_bytes + text->size() : 0;
}

}  // namespace

std::size_t message_bytes(const WorkUnit& unit, const WorkUnit* before) {
  std::size_t bytes = unit.request.user.size() + bytes_of(unit.request.extras);
  if (unit.recorded) bytes += bytes_of(*unit.recorded);
  bytes += bytes_of_shared(unit.request.system, before ? before->request.system : nullptr);
  bytes += bytes_of_shared(unit.request.response_schema, before ? before->request.response_schema : nullptr);
  for (const auto& task : unit.tasks) {
    bytes += overhead_bytes + bytes_of(task.must_contain) + bytes_of(task.must_not_contain);
    for (const auto& expectation : task.texts) bytes += bytes_of(expectation);
    for (const auto& expectation : task.judged) {
      bytes += bytes_of_judged(expectation);
      if (expectation.recorded) bytes += defaults::max_rationale_bytes;
    }
    bytes += task.question.prompt.size() + task.question.context.size();
  }
  return bytes;
}

std::size_t request_bytes(const Case& one) {
  return one.content.size() + one.context.size() + one.system.size() + bytes_of(one.extras) +
         one.response_schema.size();
}

void UnitLoad::add(const Case& one, std::size_t request, const SuiteLabels& labels) {
  if (cases == 0) bytes += request;
  if (one.recorded) {
    bytes += bytes_of(one.recorded->answer);
    longest_list = std::max(longest_list, one.recorded->answer.calls.size());
  }
  ++cases;
  bytes += overhead_bytes + bytes_of(one.must_contain) + bytes_of(one.must_not_contain);
  longest_list =
      std::max({longest_list, one.must_contain.size(), one.must_not_contain.size(), one.expectations.size()});
  values += defaults::values_of_trial;
  if (one.kind == CaseKind::claims)
    values += defaults::values_of_claims_metrics +
              defaults::values_of_expected_claim * (one.must_contain.size() + one.must_not_contain.size());
  bool is_judged = false;
  for (const auto& expectation : one.expectations) {
    if (const auto& judge = expectation.judge) {
      is_judged = true;
      metrics += results_of_judge_metric;
      bytes += bytes_of_judged(*judge);
      continue;
    }
    if (is_claims_metric(expectation.what.metric)) continue;
    ++metrics;
    bytes += bytes_of(expectation.what) + bytes_of_labels(expectation.what, labels);
    longest_list = std::max(longest_list, expectation.what.texts.size());
  }
  if (is_judged) bytes += request;  // The judge is shown what was asked.
}

bool UnitLoad::fits_a_message() const {
  const std::uint64_t all_values = values + std::uint64_t{metrics} * defaults::values_of_metric;
  return cases <= defaults::max_wire_items && longest_list <= defaults::max_wire_items &&
         metrics <= defaults::max_metrics_of_unit && all_values <= defaults::max_values_of_unit &&
         bytes <= defaults::max_bytes_of_unit;
}

}  // namespace sluice
