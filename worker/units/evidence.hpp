#pragma once

#include "worker/scoring/similarity.hpp"

#include <utility>

namespace sluice {

/// What the metrics of a unit read beside its answer, as the enrichers got it: a member for each kind.
struct Evidence {
  EmbeddedTexts embedded;  ///< All that texts_to_embed names for the answer.

  /// Takes what another enricher got.
  void merge(Evidence&& more) {
    if (embedded.empty()) {
      embedded = std::move(more.embedded);
    } else {
      embedded.merge(more.embedded);
    }
  }
};

}  // namespace sluice
