#pragma once

#include "common/error.hpp"
#include "coordinator/facts/run_facts.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/session/run_retrieval.hpp"

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The run before a run: where a provider embeds, the texts by which solved examples are found are embedded
/// by the workers, under the budgets and with the caches of the run that follows (docs/retrieval.md).
namespace sluice {

/// The suite has examples, and what its cases are shown of them is not known yet.
bool awaits_embeddings(const RunInputs& inputs);

/// A run whose answers are the texts, recorded, and whose results have their embeddings with them.
struct EmbeddingRun {
  RunOptions options;
  RunInputs inputs;                ///< A case for each text.
  std::vector<std::string> texts;  ///< By case, each once.
  std::vector<std::string> names;  ///< Whose text it is, for errors: `test "t1"`.
};

/// The run that embeds for a run of these. file_unreadable if a case's file cannot be read any more;
/// usage_invalid for more than defaults::max_texts_embedded_before. REQUIRES: awaits_embeddings(inputs).
Result<EmbeddingRun> embedding_run(const RunOptions& options, const RunInputs& inputs);

/// Collects what an EmbeddingRun came to. Not thread-safe.
class EmbeddingFold {
 public:
  /// The run must outlive it.
  explicit EmbeddingFold(const EmbeddingRun& run) : run_(run) {}

  void add(std::size_t case_index, const CaseResult& result);
  /// What the cases of `inputs` found. The first text's error that has no embedding, or
  /// embedding_count_wrong for vectors of several dimensions. `cut_short`: why the run did not get to its
  /// end.
  Result<RunRetrieval> retrieve(const RunInputs& inputs, const std::optional<Error>& cut_short) const;

 private:
  const EmbeddingRun& run_;
  std::map<std::string, std::vector<float>, std::less<>> vectors_;
  std::optional<Error> problem_;
};

/// The options of the run that follows: its budgets are what the embedding run has left of them. `price` is
/// that of the options.
RunOptions options_after(const RunFacts& embedded, RunOptions options, const RunPrice& price);

/// Adds the embedding run's calls and what was paid for them.
void add_embedding_run(const RunFacts& embedded, RunFacts& facts);

}  // namespace sluice
