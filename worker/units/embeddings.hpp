#pragma once

#include "common/model/run_settings.hpp"
#include "worker/answer_store.hpp"
#include "worker/calls/call_engine.hpp"
#include "worker/providers/embeddings.hpp"
#include "worker/units/embedding_queue.hpp"
#include "worker/units/enricher.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sluice {

/// A call for the embeddings of some texts.
class EmbeddingCall final : public CallRequest {
 public:
  EmbeddingCall(const ProviderSettings& provider, const std::string& model, EmbeddingBatch batch)
      : provider_(provider), model_(model), batch_(std::move(batch)) {}

  EmbeddingBatch& batch() { return batch_; }
  std::vector<std::vector<float>> take_vectors() { return std::move(vectors_); }

  const std::string& provider() const override { return provider_.name; }
  const std::string& model() const override { return model_; }
  CallKind kind() const override { return CallKind::embedding; }
  wire::CallSize size() const override;
  HttpRequest build(const ProviderSettings& provider, const Credentials& credentials) const override;
  std::variant<CallUsage, Failed> read(const ProviderSettings& provider, const HttpResponse& response,
                                       std::chrono::system_clock::time_point now,
                                       const Credentials& credentials) override;
  std::string log_member() const override { return R"("unit":null)"; }

 private:
  const ProviderSettings& provider_;
  const std::string& model_;
  EmbeddingBatch batch_;
  std::vector<std::vector<float>> vectors_;
};

/// Gets the embeddings that the answers of one run are compared by: from memory, from the cache, computed
/// (lexical-ngrams-v1, and in mock mode), from other workers' caches, or by calls. Holds no clock and no
/// connection; not thread-safe.
class Embeddings final : public Enricher {
 public:
  /// Settings and engine must outlive it. REQUIRES: patterns of redaction that compile.
  Embeddings(const RunSettings& settings, std::shared_ptr<AnswerStore> store, CallEngine& engine,
             std::uint32_t owner);

  std::optional<std::variant<Evidence, Error>> begin(std::uint64_t unit, const WorkUnit& work,
                                                     std::string_view answer, TimePoint deadline,
                                                     const Moment& moment) override;
  void start_calls(const Moment& moment) override;
  void on_call_ended(const CallEnded& ended, const Moment& moment, std::vector<Enriched>& outcomes) override;
  void on_entry(const EntryKey& key, std::string_view entry, std::vector<Enriched>& outcomes) override;
  TimePoint deadline(std::uint64_t unit, TimePoint now) override;
  Spend leave(std::uint64_t unit) override { return queue_.leave(unit); }
  Error late() const override;
  void cancel() override;

 private:
  std::vector<EmbeddingOutcome> served(EmbeddingCall& call, const Spend& spend);
  Result<SharedVector> find(const std::string& text);
  Digest key_of(const std::string& text) const;
  void extend(TimePoint now);
  void give_up_dropped();

  const RunSettings& settings_;
  const EmbeddingSettings& embedding_;
  const ProviderSettings* provider_ = nullptr;  ///< Null if nothing is called for.
  bool computed_;
  std::shared_ptr<AnswerStore> store_;
  CallEngine& engine_;
  std::uint32_t owner_;
  std::map<Digest, std::string> sought_;  ///< Texts by key, held back in the queue.
  EmbeddingQueue queue_;
  std::map<std::uint64_t, EmbeddingCall> calls_;  ///< By their batches' numbers.
  Duration extended_{};                           ///< Up to what the provider's outages came to.
};

}  // namespace sluice
