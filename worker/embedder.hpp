#pragma once

#include "common/run_settings.hpp"
#include "worker/answer_store.hpp"
#include "worker/embedding_queue.hpp"
#include "worker/entry_exchange.hpp"
#include "worker/providers/embeddings.hpp"
#include "worker/providers/key_mask.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice {

/// Gets the embeddings that the answers of one run are compared by: from memory, from the cache, computed
/// (lexical-ngrams-v1, and in mock mode), from other workers' caches, or by calls that the owner makes, with
/// the retries and pauses of every other call. Holds no clock and no connection; not thread-safe.
class Embedder {
 public:
  /// The exchange must outlive it. `keys` are taken out of answers before anything else is done with them.
  Embedder(const RunSettings& settings, std::shared_ptr<AnswerStore> store, EntryExchange& exchange,
           KeyMask keys = {});

  /// The embeddings of what texts_to_embed names for the unit's answer, or why they cannot be had; nothing if
  /// they are to be called for: then the outcome comes under the waiter's number.
  std::optional<std::variant<EmbeddedTexts, Error>> embed(std::uint64_t waiter, const WorkUnit& unit,
                                                          std::string_view answer, TimePoint deadline);

  /// The provider of all calls.
  const std::string& provider() const { return settings_.provider; }
  /// The next call that may be made now; it is under way until one of the following is told of it.
  std::optional<EmbeddingBatch> next();
  HttpRequest request(const EmbeddingBatch& batch, std::string_view api_key) const;

  /// What another cache holds of an embedding that was sought; empty: it is to be called for. What does not
  /// fit is told in `problem`, and called for, too.
  std::vector<EmbeddingOutcome> found(const Digest& key, std::string_view entry, std::string& problem);

  /// Stores the vectors, and then hands them out: what was not stored is not told.
  std::vector<EmbeddingOutcome> served(const EmbeddingBatch& batch, Embedded embedded, const Spend& spend);
  /// As EmbeddingQueue has them.
  std::vector<EmbeddingOutcome> failed(const EmbeddingBatch& batch, const Error& error, const Spend& spend);
  std::vector<EmbeddingOutcome> expired(const EmbeddingBatch& batch, const Error& error, const Spend& spend);
  Spend leave(std::uint64_t waiter) { return queue_.leave(waiter); }
  void extend(Duration time) { queue_.extend(time); }

 private:
  Result<SharedVector> find(const std::string& text);
  Digest key_of(const std::string& text) const;
  void give_up_dropped();

  EmbeddingSettings settings_;
  std::optional<ProviderSettings> from_;  ///< Nothing if the vectors are computed.
  bool computed_ = false;
  bool replay_ = false;
  bool read_cache_ = true;
  bool write_cache_ = true;
  std::shared_ptr<AnswerStore> store_;
  EntryExchange& exchange_;
  KeyMask keys_;
  std::map<Digest, std::string> sought_;  ///< Texts by key, held back in the queue.
  EmbeddingQueue queue_;
};

}  // namespace sluice
