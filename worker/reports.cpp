#include "worker/reports.hpp"

#include "common/defaults.hpp"
#include "worker/defaults.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <variant>

namespace sluice {

namespace {

/// About what a result takes in a REPORT: enough to keep messages of many large ones within the wire's
/// limits.
std::size_t wire_bytes(const UnitResult& result) {
  std::size_t bytes = defaults::reported_result_bytes;
  for (const auto& claim : result.parsed) {
    const auto* text = std::get_if<std::string>(&claim.value);
    const auto claim_bytes = claim.subject.size() + claim.predicate.size() + (text ? text->size() : 0);
    bytes += 2 * (claim_bytes + defaults::reported_claim_bytes);  // As parsed and as final.
  }
  bytes += result.shown_text.size();
  if (result.observed) bytes += result.observed->text.size();
  bytes += result.embedding.size();
  if (result.grade) {
    for (const auto* answer : {&result.grade->baseline, &result.grade->candidate})
      bytes += std::min(answer->text.size(), defaults::max_graded_bytes);
  }
  for (const auto& score : result.scores) {
    const ClaimsScore& claims = score.claims;
    bytes += defaults::reported_trial_bytes +
             defaults::reported_position_bytes * (2 * claims.matched.size() + claims.missing.size() +
                                                  claims.unexpected.size() + 2 * claims.forbidden.size());
    for (const auto& metric : score.metrics) bytes += defaults::reported_metric_bytes + metric.detail.size();
  }
  return bytes;
}

}  // namespace

std::vector<wire::Report> make_reports(const std::string& run_id, std::uint32_t window,
                                       std::vector<UnitId> started, std::vector<UnitResult> results,
                                       std::vector<UnitId> returned, std::vector<UnitSpend> spent) {
  std::vector<wire::Report> reports;
  if (started.empty() && results.empty() && returned.empty() && spent.empty()) return reports;
  reports.push_back({run_id, window, std::move(started), {}, std::move(returned), std::move(spent)});
  std::size_t bytes = 0;
  for (auto& result : results) {
    auto* last = &reports.back();
    const std::size_t size = wire_bytes(result);
    // One that is large by itself goes alone: it may have nearly as many values as a message may.
    const bool full = bytes >= defaults::max_bytes_per_work ||
                      last->results.size() >= defaults::max_units_per_work ||
                      (size >= defaults::max_bytes_per_work && !last->results.empty());
    if (full) {
      bytes = 0;
      last = &reports.emplace_back(wire::Report{run_id, window, {}, {}});
    }
    bytes += size;
    last->results.push_back(std::move(result));
  }
  return reports;
}

}  // namespace sluice
