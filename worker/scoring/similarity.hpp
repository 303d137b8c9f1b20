#pragma once

#include "common/error.hpp"
#include "common/model/expectation.hpp"
#include "common/model/metrics.hpp"
#include "common/model/trial.hpp"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace sluice {

using SharedVector = std::shared_ptr<const std::vector<float>>;
/// Embeddings by their text.
using EmbeddedTexts = std::unordered_map<std::string, SharedVector>;

/// The texts whose embeddings semantic_similarity_to needs for this answer, each once: none if the unit has
/// no such metric; neither texts that are the answer itself nor blank ones, for these need no model.
std::vector<std::string> texts_to_embed(std::string_view answer, const WorkUnit& unit);

/// The greatest similarity of the answer and a reference text: 1 if they are the same text, 0 if one of them
/// is blank. Errors: internal_error for a text without its embedding, embedding_count_wrong as for
/// embedded_similarity. REQUIRES: the metric is semantic_similarity_to.
Result<MetricOutcome> assess_similarity(std::string_view answer, const TextExpectation& expectation,
                                        const EmbeddedTexts& embedded);

/// Of two embeddings. `whose` names them: "the answer and of its reference". embedding_count_wrong: they
/// differ in their dimensions.
Result<double> embedded_similarity(std::span<const float> a, std::span<const float> b,
                                   std::string_view whose);

}  // namespace sluice
