#pragma once

#include "worker/scoring/similarity.hpp"
#include "worker/scoring/votes.hpp"

#include <utility>

namespace sluice {

/// What the metrics of a unit read beside its answer, as the enrichers got it: a member for each kind.
struct Evidence {
  EmbeddedTexts embedded;  ///< All that texts_to_embed names for the answer.
  UnitVotes votes = {};    ///< Empty if nothing is judged.

  /// Takes what another enricher got.
  void merge(Evidence&& more) {
    if (embedded.empty()) {
      embedded = std::move(more.embedded);
    } else {
      embedded.merge(more.embedded);
    }
    if (votes.empty()) votes = std::move(more.votes);
  }
};

}  // namespace sluice
