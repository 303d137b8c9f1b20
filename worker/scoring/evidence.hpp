#pragma once

#include "common/model/grading.hpp"
#include "worker/scoring/similarity.hpp"
#include "worker/scoring/votes.hpp"

#include <optional>
#include <utility>

namespace sluice {

/// A baseline's answer that was called for, and stored or to be stored.
struct PaidBaseline {
  Digest key{};
  Digest digest{};  ///< answer_digest.
  /// Set if the cache has another one yet: to be stored once its unit has a result, which pins it.
  std::optional<Completion> unstored = {};
};

/// What the metrics of a unit read beside its answer, as the enrichers got it: a member for each kind.
struct Evidence {
  EmbeddedTexts embedded;                     ///< All that texts_to_embed names for the answer.
  UnitVotes votes = {};                       ///< Empty if nothing is judged.
  std::optional<GradingResult> grade = {};    ///< Nothing unless answers are graded.
  std::optional<PaidBaseline> baseline = {};  ///< The same, and unless it was called for.

  /// Takes what another enricher got.
  void merge(Evidence&& more) {
    if (embedded.empty()) {
      embedded = std::move(more.embedded);
    } else {
      embedded.merge(more.embedded);
    }
    if (votes.empty()) votes = std::move(more.votes);
    if (!grade) grade = std::move(more.grade);
  }
};

}  // namespace sluice
