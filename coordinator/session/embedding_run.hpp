#pragma once

#include "common/error.hpp"
#include "common/hash.hpp"
#include "coordinator/facts/run_facts.hpp"
#include "coordinator/merge/case_result.hpp"
#include "coordinator/session/run_inputs.hpp"
#include "coordinator/session/run_options.hpp"
#include "coordinator/session/run_retrieval.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

/// The run before a run: where a provider embeds, the texts by which solved examples are found are embedded
/// by the workers, under the budgets and with the caches of the run that follows (docs/retrieval.md).
namespace sluice {

/// The suite has examples, and what its cases are shown of them is not known yet.
bool awaits_embeddings(const RunInputs& inputs);

/// A run whose answers are the texts, recorded, and whose results have their embeddings with them.
struct EmbeddingRun {
  RunOptions options;
  RunInputs inputs;                ///< A case for each text, which is its recorded answer.
  std::vector<std::string> names;  ///< By case: whose text it is, for errors: `test "t1"`.
};

/// The run that embeds for a run of these. file_unreadable if a case's file cannot be read any more;
/// usage_invalid for more texts than defaults::max_texts_embedded_before, or than
/// defaults::max_bytes_embedded_before in all. REQUIRES: awaits_embeddings(inputs).
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
  std::map<Digest, std::vector<float>> vectors_;  ///< By the texts' hashes.
  std::optional<Error> problem_;
};

/// Adds the embedding run's calls and what was paid for them.
void add_embedding_run(const RunFacts& embedded, RunFacts& facts);

}  // namespace sluice
