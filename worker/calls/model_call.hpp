#pragma once

#include "common/error.hpp"
#include "common/hash.hpp"
#include "common/model/completion.hpp"
#include "common/model/paid_tokens.hpp"
#include "common/model/request.hpp"
#include "common/model/run_settings.hpp"
#include "worker/answer_store.hpp"
#include "worker/calls/call_request.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace sluice {

/// A request to a model under its cache key, whatever its answer is for.
struct KeyedRequest {
  const ModelRequest* request = nullptr;
  Digest key{};           ///< common/model/cache_key.hpp
  WantedAnswer wanted{};  ///< An answer that is replayed or lent must be the pinned one, if any is.
};

/// A keyed request that is looked up in the caches, then lent by another worker, then called for. The request
/// and the store must outlive it. Not thread-safe.
class ModelCall : public CallRequest {
 public:
  ModelCall(const KeyedRequest& keyed, AnswerStore& store) : keyed_(keyed), store_(store) {}

  /// What this process's caches hold of it, if the run's mode wants an answer from there. An error: there
  /// will be none. Nothing: it is to be called for.
  std::optional<std::variant<Completion, Error>> find(const RunSettings& settings) const;
  /// Stores a new answer, or final non-answer.
  Result<void> store(const Completion& answer) const;
  /// The same unless that would replace one that may still count (AnswerStore): then false.
  Result<bool> store_if_none(const Completion& answer) const;

  EntryKey entry_key() const { return {EntryKind::answer, keyed_.key}; }
  /// What came of a call that has ended without an error. Once.
  Completion take_answer() { return std::move(answer_); }

  const std::string& provider() const override { return keyed_.request->provider; }
  const std::string& model() const override { return keyed_.request->model; }
  CallKind kind() const override { return CallKind::answer; }
  wire::CallSize size() const override;
  HttpRequest build(const ProviderSettings& provider, const Credentials& credentials) const override;
  std::variant<CallUsage, Failed> read(const ProviderSettings& provider, const HttpResponse& response,
                                       std::chrono::system_clock::time_point now,
                                       const Credentials& credentials) override;
  Result<void> take_entry(std::string_view entry) override;
  std::string carried(std::string_view parameter) const override;

 protected:
  KeyedRequest keyed_;
  AnswerStore& store_;
  Completion answer_;
};

}  // namespace sluice
