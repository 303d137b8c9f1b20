#include "worker/scoring/similarity.hpp"

#include "common/cosine.hpp"
#include "common/text/trimmed.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <unordered_set>

namespace sluice {

namespace {

/// What is known of two texts without embedding them.
std::optional<double> known_similarity(std::string_view a, std::string_view b) {
  if (a == b) return 1.0;
  if (trimmed(a).empty() || trimmed(b).empty()) return 0.0;
  return std::nullopt;
}

Result<std::span<const float>> vector_of(const EmbeddedTexts& embedded, std::string_view text) {
  const auto found = embedded.find(std::string(text));
  if (found == embedded.end()) return fail(Reason::internal_error, "a text was not embedded");
  return std::span<const float>(*found->second);
}

}  // namespace

std::vector<std::string> texts_to_embed(std::string_view answer, const WorkUnit& unit) {
  std::vector<std::string> texts;
  std::unordered_set<std::string_view> seen;
  for (const auto& task : unit.tasks) {
    for (const auto& expectation : task.texts) {
      if (expectation.metric != MetricId::semantic_similarity_to) continue;
      for (const auto& text : expectation.texts) {
        if (known_similarity(answer, text)) continue;
        if (seen.insert(text).second) texts.push_back(text);
      }
    }
  }
  if (!texts.empty()) texts.emplace_back(answer);
  return texts;
}

Result<MetricOutcome> assess_similarity(std::string_view answer, const TextExpectation& expectation,
                                        const EmbeddedTexts& embedded) {
  double best = 0.0;
  for (const auto& text : expectation.texts) {
    if (const auto known = known_similarity(answer, text)) {
      best = std::max(best, *known);
      continue;
    }
    const auto given = vector_of(embedded, answer);
    const auto expected = vector_of(embedded, text);
    if (!given) return fail(given.error());
    if (!expected) return fail(expected.error());
    const auto alike = embedded_similarity(*given, *expected, "the answer and of its reference");
    if (!alike) return fail(alike.error());
    best = std::max(best, *alike);
  }
  // Providers' embeddings of one text differ in their last digits from call to call.
  constexpr double shown = 1e6;
  return MetricOutcome{expectation.metric, std::round(best * shown) / shown, std::nullopt, ""};
}

Result<double> embedded_similarity(std::span<const float> a, std::span<const float> b,
                                   std::string_view whose) {
  if (a.size() == b.size()) return similarity(a, b);
  return fail(Reason::embedding_count_wrong,
              "the embeddings of " + std::string(whose) + " have " + std::to_string(a.size()) + " and " +
                  std::to_string(b.size()) +
                  " dimensions; run with --refresh to embed both by the same model");
}

}  // namespace sluice
