#pragma once

#include "common/model/grading.hpp"
#include "worker/scoring/similarity.hpp"
#include "worker/scoring/votes.hpp"

#include <optional>
#include <utility>

namespace sluice {

/// An answer that replaces another one in the cache.
struct RenewedAnswer {
  Digest key{};
  Completion answer;
};

/// What the metrics of a unit read beside its answer, as the enrichers got it: a member for each kind.
struct Evidence {
  EmbeddedTexts embedded;                   ///< All that texts_to_embed names for the answer.
  UnitVotes votes = {};                     ///< Empty if nothing is judged.
  std::optional<GradingResult> grade = {};  ///< Nothing unless answers are graded.
  /// The baseline's, to be stored once the unit is complete.
  std::optional<RenewedAnswer> renewed_baseline = {};

  /// Takes what another enricher got.
  void merge(Evidence&& more) {
    if (embedded.empty()) {
      embedded = std::move(more.embedded);
    } else {
      embedded.merge(more.embedded);
    }
    if (votes.empty()) votes = std::move(more.votes);
    if (!grade) grade = std::move(more.grade);
    if (!renewed_baseline) renewed_baseline = std::move(more.renewed_baseline);
  }
};

}  // namespace sluice
