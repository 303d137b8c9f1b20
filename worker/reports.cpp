#include "worker/reports.hpp"

#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "worker/defaults.hpp"
#include "worker/scoring/score.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

namespace sluice {

namespace {

std::size_t bytes_of(const ClaimValue& value) {
  const auto* text = std::get_if<std::string>(&value);
  return text ? text->size() : 0;
}

/// As parsed and as final.
std::size_t claims_bytes(const UnitResult& result) {
  std::size_t bytes = (result.parsed.size() + result.claims.size()) * defaults::reported_claim_bytes;
  for (const auto& claim : result.parsed)
    bytes += claim.subject.size() + claim.predicate.size() + bytes_of(claim.value);
  for (const auto& claim : result.claims)
    bytes += claim.concept_path.size() + claim.predicate.size() + bytes_of(claim.value);
  return bytes;
}

/// The writer mends what is no UTF-8: three bytes for each.
std::size_t prose_bytes(const std::string& text) {
  return invalid_utf8_at(text) ? 3 * text.size() : text.size();
}

std::size_t score_bytes(const TrialScore& score) {
  const ClaimsScore& claims = score.claims;
  std::size_t bytes =
      defaults::reported_trial_bytes +
      defaults::reported_position_bytes * (2 * claims.matched.size() + claims.missing.size() +
                                           claims.unexpected.size() + 2 * claims.forbidden.size());
  for (const auto& metric : score.metrics)
    bytes += defaults::reported_metric_bytes + std::min(metric.detail.size(), defaults::max_detail_bytes) +
             metric.label.size();
  for (const auto& judged : score.judged)
    bytes += defaults::reported_metric_bytes + judged.votes.size() * defaults::reported_vote_bytes +
             std::min(judged.rationale.size(), defaults::max_rationale_bytes);
  return bytes;
}

std::size_t observed_bytes(const UnitResult& result) {
  if (!result.observed) return 0;
  const ObservedAnswer& answer = *result.observed;
  return prose_bytes(answer.text) + answer.finish_reason.size() + answer.served_model.size();
}

/// What a result takes in a REPORT, or a little more: a message of more than the wire's limits is refused
/// each time that it comes.
std::size_t wire_bytes(const UnitResult& result) {
  std::size_t bytes = defaults::reported_result_bytes + claims_bytes(result) + observed_bytes(result) +
                      result.shown_text.size() + result.embedding.size();
  if (result.error) bytes += prose_bytes(result.error->message);
  if (result.grade) {
    bytes +=
        2 * defaults::max_detail_bytes + defaults::max_rationale_bytes + result.grade->grade.grader_id.size();
    for (const auto* answer : {&result.grade->baseline, &result.grade->candidate})
      bytes += std::min(answer->text.size(), defaults::max_graded_bytes);
  }
  for (const auto& score : result.scores) bytes += score_bytes(score);
  return bytes;
}

std::size_t score_values(const TrialScore& score) {
  const ClaimsScore& claims = score.claims;
  std::size_t values = defaults::reported_trial_values +
                       defaults::reported_match_values * (claims.matched.size() + claims.forbidden.size()) +
                       claims.missing.size() + claims.unexpected.size();
  for (const auto& metric : score.metrics)
    values += defaults::reported_metric_values + (metric.id == MetricId::label ? 1 : 0);
  for (const auto& judged : score.judged)
    values += defaults::reported_metric_values + judged.votes.size() * defaults::reported_vote_values;
  return values;
}

/// What a result counts for the wire's limit of values, or a little more.
std::size_t wire_values(const UnitResult& result) {
  std::size_t values = defaults::reported_result_values +
                       defaults::reported_claim_values * (result.parsed.size() + result.claims.size());
  for (const auto& score : result.scores) values += score_values(score);
  return values;
}

std::string too_many(std::size_t values) {
  return "the result has " + std::to_string(values) +
         " values, claims and votes of judges among them, more than a message to the coordinator holds (" +
         std::to_string(defaults::max_reported_values) +
         "): have fewer tests ask the same request, or ask judges for fewer samples";
}

std::string too_large(const UnitResult& result, std::size_t bytes) {
  const std::size_t observed = observed_bytes(result);
  const std::size_t claims = claims_bytes(result);
  std::string text = "the result has " + std::to_string(bytes) +
                     " bytes, more than a message to the coordinator holds (" +
                     std::to_string(defaults::max_reported_bytes) + "): ";
  if (observed < claims)
    return text + std::to_string(claims) + " of them are the answer's " +
           std::to_string(result.parsed.size()) + " claims; the answer has to be shorter";
  return text + std::to_string(observed) +
         " of them are the answer as observations keep it, redacted; run without --save-observations and "
         "without checks by commands, or let [redaction] match less";
}

bool is_empty(const wire::Report& report) {
  return report.started.empty() && report.results.empty() && report.returned.empty() && report.spent.empty();
}

}  // namespace

UnitResult fit_for_report(UnitResult result) {
  const std::size_t bytes = wire_bytes(result);
  const std::size_t values = wire_values(result);
  const bool is_short = bytes <= defaults::max_reported_bytes;
  if (is_short && values <= defaults::max_reported_values) return result;
  UnitResult small;
  small.unit = result.unit;
  small.key = result.key;
  small.answer = result.answer;
  small.usage = result.usage;
  small.spend = result.spend;
  small.stored_baseline = result.stored_baseline;
  small.shown_text = shown_beginning(result.shown_text, true);
  std::string why = is_short ? too_many(values) : too_large(result, bytes);
  small.error = result.error ? Error{result.error->reason, result.error->message + "; " + why}
                             : Error{Reason::answer_too_large, std::move(why)};
  return small;
}

std::vector<wire::Report> make_reports(const std::string& run_id, std::uint32_t window,
                                       std::vector<UnitId> started, std::vector<UnitResult> results,
                                       std::vector<UnitId> returned, std::vector<UnitSpend> spent) {
  std::vector<wire::Report> reports;
  reports.push_back({run_id, window, std::move(started), {}, std::move(returned), std::move(spent)});
  if (results.empty() && is_empty(reports.front())) return {};
  std::size_t bytes = 0;
  std::size_t values = 0;
  for (auto& result : results) {
    auto* last = &reports.back();
    const std::size_t size = wire_bytes(result);
    const std::size_t count = wire_values(result);
    // One that is large by itself goes alone: it may have nearly as many values as a message may.
    const bool full = values + count > defaults::max_reported_values ||
                      bytes >= defaults::max_bytes_per_work ||
                      last->results.size() >= defaults::max_units_per_work ||
                      (size >= defaults::max_bytes_per_work && !is_empty(*last));
    if (full) {
      bytes = values = 0;
      last = &reports.emplace_back(wire::Report{run_id, window, {}, {}});
    }
    bytes += size;
    values += count;
    last->results.push_back(std::move(result));
  }
  return reports;
}

}  // namespace sluice
