#include "coordinator/session/unnamed_models.hpp"

#include "common/defaults.hpp"
#include "common/model/metrics.hpp"
#include "common/model/run_settings.hpp"
#include "common/text/joined.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace sluice {

std::optional<std::string> unnamed_judge(const Settings& settings, const Suite& suite) {
  if (settings.judge.origin != Origin::default_value) return std::nullopt;
  std::vector<std::string_view> judged;
  for (const MetricId metric : suite.metrics) {
    if (is_judge_metric(metric)) judged.push_back(info(metric).name);
  }
  if (judged.empty()) return std::nullopt;
  return "tests have judge metrics (" + joined(judged) +
         "), and no judge is named, so that only a mock run takes them: name one with --judge PROVIDER and "
         "--judge-model MODEL, as judge in the suite's settings, or under [judge] in sluice.toml; --judge "
         "fake "
         "tries them out";
}

std::optional<std::string> unnamed_embedder(const Settings& settings, const Suite& suite) {
  const bool compares =
      std::ranges::find(suite.metrics, MetricId::semantic_similarity_to) != suite.metrics.end();
  if (!compares && !suite.examples) return std::nullopt;
  const bool is_named = settings.embedding_provider.origin != Origin::default_value ||
                        settings.embedding_model.origin != Origin::default_value;
  if (is_named) return std::nullopt;
  return (compares ? "semantic_similarity_to compares embeddings"
                   : "solved examples are found by embeddings") +
         std::string(", and no embedder is set, so ") + std::string(defaults::embedding_model) + " of " +
         std::string(defaults::embedding_provider) +
         " is asked: name another with --embedding-provider and --embedding-model, or use "
         "--embedding-model " +
         std::string(lexical_embedding_model) + ", which needs no calls";
}

}  // namespace sluice
