#include "coordinator/session/run_retrieval.hpp"

#include "common/model/run_settings.hpp"
#include "common/text/lexical_embedder.hpp"

#include <string>
#include <utility>

namespace sluice {

Result<RunRetrieval> retrieve_for_run(const RunOptions& options, const Suite& suite,
                                      const ResolvedEmbedding& embedding) {
  // As a worker embeds answers: the built-in embedder, and in a mock run whatever is named.
  if (embedding.provider && options.settings.mode.value != Mode::mock) {
    return fail(
        Reason::usage_invalid,
        "the suite's \"examples\" are found by the built-in embedder alone, and the settings name \"" +
            embedding.embedding.model + "\" of the provider \"" + embedding.provider->name +
            "\": say --embedding-model " + std::string(lexical_embedding_model) + ", or \"embedding_model: " +
            std::string(lexical_embedding_model) + "\" under \"settings\" of the suite");
  }
  auto retrieved = retrieve_examples(suite, lexical_embedding, std::string(lexical_embedding_model));
  if (!retrieved) return fail(std::move(retrieved.error()));
  return RunRetrieval{std::move(*retrieved)};
}

std::vector<SharedText> few_shots_of(const RunRetrieval& retrieval, std::size_t cases) {
  std::vector<SharedText> few_shots(cases);
  for (const RetrievedExample& one : retrieval.of_cases) {
    if (!one.shown.empty()) few_shots[one.event.case_index] = share(one.shown);
  }
  return few_shots;
}

std::vector<RetrievalEvent> events_of(const RunRetrieval& retrieval) {
  std::vector<RetrievalEvent> events;
  for (const RetrievedExample& one : retrieval.of_cases) events.push_back(one.event);
  return events;
}

}  // namespace sluice
