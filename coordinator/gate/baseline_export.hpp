#pragma once

#include "common/error.hpp"
#include "coordinator/gate/baseline.hpp"
#include "coordinator/gate/gate.hpp"
#include "coordinator/gate/judge_pin.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace sluice {

/// Makes a baseline of a run: its scores, whether the checks that its tests name passed, and of several
/// repeats in which of them all did. Undefined scores are left out where claims are expected
/// (worth_of_silence), and so are the claims metrics of a fixture that only pass or fail, as scores say it;
/// but not whether a forbidden claim was found. Each entry's `meta` names the metric's version, for
/// semantic_similarity_to the embedding model too, and for a judge metric the judge, the number of votes, and
/// the rubric.
class BaselineExport {
 public:
  /// `created_at` of the header is the caller's: RFC 3339, UTC; or set_created_at says it later.
  BaselineExport(BaselineHeader header, std::string embedding_model, RunJudge judge = {});
  /// Leaves checks out, which have to pass whatever other answers come to; not a fixture's forbidden claims.
  void pin_scores_alone() { pins_checks_ = false; }

  /// A assessed case, in any order; not one that ended in an error.
  void add(std::string_view test_id, const CaseAssessment& assessment);
  void set_created_at(std::string date) { baseline_.header.created_at = std::move(date); }
  void set_stability(BaselineStability stability) { baseline_.stability = std::move(stability); }
  /// Sealed. internal_error if a score is not in 0..1 or a test came twice. Call once.
  Result<Baseline> finish();

 private:
  std::string_view meta_of(const AssessedMetric& assessed);
  void add_checks(std::string_view test_id, std::span<const AssessedMetric> metrics);
  void add_passes(std::string_view test_id, std::span<const double> passes);

  Baseline baseline_;
  std::string embedding_model_;
  RunJudge judge_;
  std::string meta_;
  bool pins_checks_ = true;
  /// What `meta_` is of.
  struct MetaSource {
    MetricId metric = MetricId::claims_precision;
    std::uint32_t rubric = 0;
    std::uint32_t samples = 0;
    friend bool operator==(const MetaSource&, const MetaSource&) = default;
  };
  std::optional<MetaSource> meta_source_;
  std::optional<Error> error_;
};

}  // namespace sluice
