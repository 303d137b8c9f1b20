#include "coordinator/gate/baseline_export.hpp"

#include "coordinator/gate/repeated_assessment.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

/// As a reader of the file would give it: keys sorted, no white space.
std::string canonical(const nlohmann::json& meta) {
  return meta.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

struct Checks {
  std::vector<double> passed;
  std::vector<CheckDigest> digests;
  std::string repeats;  ///< BaselineEntry
};

/// Those of the metric at `first`, which is the first of its kind; empty where an earlier one is.
Checks checks_from(std::span<const AssessedMetric> metrics, std::size_t first) {
  Checks checks;
  const MetricId id = metrics[first].id;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (metrics[i].id != id || !metrics[i].is_pinned()) continue;
    if (i < first) return {};
    checks.passed.push_back(metrics[i].holds() ? 1.0 : 0.0);
    checks.digests.push_back(metrics[i].check());
    checks.repeats += metrics[i].repeat_passes;
  }
  return checks;
}

}  // namespace

BaselineExport::BaselineExport(BaselineHeader header, std::string embedding_model, RunJudge judge)
    : embedding_model_(std::move(embedding_model)), judge_(std::move(judge)) {
  baseline_.header = std::move(header);
}

std::string_view BaselineExport::meta_of(const AssessedMetric& assessed) {
  const VoteTally votes = assessed.votes.value_or(VoteTally{});
  const MetaSource source{assessed.id, votes.rubric, votes.samples};
  if (meta_source_ == source) return meta_;
  meta_source_ = source;
  const MetricInfo& metric = info(assessed.id);
  if (assessed.votes) {
    meta_ = judge_.meta_of(metric, votes);
  } else if (metric.id == MetricId::semantic_similarity_to) {
    meta_ = canonical({{"embedding_model", embedding_model_}, {"metric_version", metric.version}});
  } else {
    meta_ = canonical({{"metric_version", metric.version}});
  }
  return meta_;
}

void BaselineExport::add(std::string_view test_id, const CaseAssessment& assessment) {
  for (const AssessedMetric& assessed : assessment.metrics) {
    if (!assessed.is_scored() || !assessed.worth()) continue;
    const double score = *assessed.worth();
    if (!(score >= 0.0 && score <= 1.0)) {
      error_ = Error{Reason::internal_error, "the score of `" + std::string(test_id) + "` for " +
                                                 assessed.shown_name() + " is not in 0..1."};
      continue;
    }
    const std::string name = assessed.shown_name();
    BaselineEntry entry{test_id, name, score + 0.0, meta_of(assessed)};  // 0 for -0.
    if (assessed.repeat_scores.size() > 1) entry.scores = assessed.repeat_scores;
    entry.asks = assessed.asks();
    baseline_.add(entry);
  }
  add_checks(test_id, assessment.metrics);
  if (pins_checks_) add_passes(test_id, passes_of_checks(assessment.metrics));
}

void BaselineExport::add_checks(std::string_view test_id, std::span<const AssessedMetric> metrics) {
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    if (!metrics[i].is_pinned() || (metrics[i].is_check() && !pins_checks_)) continue;
    const Checks checks = checks_from(metrics, i);
    if (checks.passed.empty()) continue;
    BaselineEntry entry{test_id, info(metrics[i].id).name, std::ranges::min(checks.passed),
                        meta_of(metrics[i])};
    entry.kind = PinKind::checks;
    if (checks.passed.size() > 1) entry.scores = checks.passed;
    if (std::ranges::count(checks.digests, CheckDigest{0}) == 0) entry.checks = checks.digests;
    entry.repeats = checks.repeats;
    baseline_.add(entry);
  }
}

void BaselineExport::add_passes(std::string_view test_id, std::span<const double> passes) {
  MeanScore share;
  for (const double one : passes) share.add(one);
  if (passes.size() > 1) baseline_.add({test_id, passed_name, *share.mean(), "", passes});
}

Result<Baseline> BaselineExport::finish() {
  if (error_) return fail(*error_);
  if (const auto twice = baseline_.seal()) {
    return fail(Reason::internal_error, "a test has two scores of one metric: entries " +
                                            std::to_string(twice->first) + " and " +
                                            std::to_string(twice->second) + " of the export.");
  }
  return std::move(baseline_);
}

}  // namespace sluice
