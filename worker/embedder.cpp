#include "worker/embedder.hpp"

#include "common/cache_key.hpp"
#include "common/text.hpp"
#include "worker/scoring/lexical_embedder.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

EmbeddedTexts computed(const std::vector<std::string>& texts) {
  EmbeddedTexts embedded;
  for (const auto& text : texts) {
    embedded.emplace(text, std::make_shared<const std::vector<float>>(lexical_embedding(text)));
  }
  return embedded;
}

/// Says which of the unit's calls it was that failed.
Error of_embedding(const Error& error) {
  return Error{error.reason, "the answer's embedding did not come: " + error.message};
}

}  // namespace

Embedder::Embedder(const RunSettings& settings, std::shared_ptr<AnswerStore> store, EntryExchange& exchange,
                   KeyMask keys)
    : settings_(settings.embedding),
      computed_(settings.mode == Mode::mock || settings.embedding.model == lexical_embedding_model),
      replay_(settings.mode == Mode::cached),
      read_cache_(settings.read_cache),
      write_cache_(settings.write_cache),
      store_(std::move(store)),
      exchange_(exchange),
      keys_(std::move(keys)) {
  const auto found = std::ranges::find(settings.providers, settings_.provider, &ProviderSettings::name);
  if (!computed_ && found != settings.providers.end()) from_ = *found;
}

std::optional<std::variant<EmbeddedTexts, Error>> Embedder::embed(std::uint64_t waiter, const WorkUnit& unit,
                                                                  std::string_view answer,
                                                                  TimePoint deadline) {
  const auto masked = keys_.masked(answer);
  const auto texts = texts_to_embed(masked ? *masked : answer, unit);
  if (texts.empty()) return EmbeddedTexts();
  if (computed_) return computed(texts);
  if (settings_.model.empty() || !from_) {
    return Error{Reason::internal_error,
                 "the run has no embedding model, but answers are to be compared by one"};
  }
  if (const auto able = can_embed(*from_); !able) return able.error();
  EmbeddedTexts found;
  std::vector<std::string> missing;
  for (const auto& text : texts) {
    auto vector = find(text);
    if (!vector) return vector.error();
    if (*vector) {
      found.emplace(text, std::move(*vector));
    } else if (replay_) {
      std::string quoted;
      append_json_string(quoted, excerpt(text, 60));
      return Error{Reason::cache_miss,
                   "the cache does not hold the embedding of " + quoted + " by " + settings_.model};
    } else {
      missing.push_back(text);
    }
  }
  if (missing.empty()) return found;
  if (!exchange_.seeks()) {
    queue_.add(waiter, std::move(found), missing, deadline);
    return std::nullopt;
  }
  for (auto& text : queue_.add_held(waiter, std::move(found), missing, deadline)) {
    const auto key = key_of(text);
    exchange_.seek({EntryKind::embedding, key});
    sought_.insert_or_assign(key, std::move(text));
  }
  return std::nullopt;
}

Digest Embedder::key_of(const std::string& text) const {
  return embedding_key(*from_, settings_.model, text);
}

std::vector<EmbeddingOutcome> Embedder::found(const Digest& key, std::string_view entry,
                                              std::string& problem) {
  const auto node = sought_.extract(key);
  if (node.empty()) return {};
  const auto& text = node.mapped();
  if (!entry.empty()) {
    auto vector = store_->take_embedding(key, entry);
    if (vector) return queue_.arrived(text, std::make_shared<const std::vector<float>>(std::move(*vector)));
    problem = vector.error().message;
  }
  queue_.release(text);
  give_up_dropped();
  return {};
}

std::optional<EmbeddingBatch> Embedder::next() {
  auto batch = queue_.next();
  give_up_dropped();
  return batch;
}

/// Others may wait for what was left to this worker to pay for.
void Embedder::give_up_dropped() {
  for (const auto& text : queue_.take_dropped()) exchange_.given_up(key_of(text));
}

/// From memory or from the cache; null if it is in neither.
Result<SharedVector> Embedder::find(const std::string& text) {
  if (auto known = queue_.known(text)) return known;
  if (!replay_ && !read_cache_) return nullptr;
  auto stored = store_->find_embedding(key_of(text));
  if (!stored) return fail(stored.error());
  if (!*stored) return nullptr;
  auto vector = std::make_shared<const std::vector<float>>(std::move(**stored));
  queue_.remember(text, vector);
  return vector;
}

HttpRequest Embedder::request(const EmbeddingBatch& batch, std::string_view api_key) const {
  const std::vector<std::string_view> texts(batch.texts.begin(), batch.texts.end());
  return build_embedding_request(*from_, api_key, settings_.model, texts);
}

std::vector<EmbeddingOutcome> Embedder::served(const EmbeddingBatch& batch, Embedded embedded,
                                               const Spend& spend) {
  for (std::size_t i = 0; write_cache_ && i < batch.texts.size(); ++i) {
    const auto key = key_of(batch.texts[i]);
    if (const auto stored = store_->store_embedding(key, embedded.vectors[i]); !stored) {
      auto outcomes = queue_.failed(batch, stored.error(), spend);
      give_up_dropped();
      return outcomes;
    }
    exchange_.stored(key);
  }
  return queue_.served(batch, std::move(embedded.vectors), spend);
}

std::vector<EmbeddingOutcome> Embedder::failed(const EmbeddingBatch& batch, const Error& error,
                                               const Spend& spend) {
  auto outcomes = queue_.failed(batch, of_embedding(error), spend);
  give_up_dropped();
  return outcomes;
}

std::vector<EmbeddingOutcome> Embedder::expired(const EmbeddingBatch& batch, const Error& error,
                                                const Spend& spend) {
  auto outcomes = queue_.expired(batch, of_embedding(error), spend);
  give_up_dropped();
  return outcomes;
}

}  // namespace sluice
