#include "worker/units/embeddings.hpp"

#include "common/model/cache_key.hpp"
#include "common/model/token_bound.hpp"
#include "common/text/lexical_embedder.hpp"
#include "common/text/text.hpp"

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

/// Names which of the unit's calls it was that failed.
Error of_embedding(const Error& error) {
  return Error{error.reason, "the answer's embedding did not come: " + error.message};
}

void append(std::vector<EmbeddingOutcome> from, std::vector<Enriched>& to) {
  for (auto& outcome : from) {
    auto& enriched = to.emplace_back();
    enriched.unit = outcome.waiter;
    enriched.spend = outcome.spend;
    if (auto* error = std::get_if<Error>(&outcome.result)) {
      enriched.result = std::move(*error);
    } else {
      enriched.result = Evidence{std::get<EmbeddedTexts>(std::move(outcome.result))};
    }
  }
}

}  // namespace

// --- The call ---

wire::CallSize EmbeddingCall::size() const {
  std::uint64_t tokens = 0;
  for (const auto& text : batch_.texts) tokens += token_bound(text) + 1;
  return call_size(tokens, 0);
}

HttpRequest EmbeddingCall::build(const ProviderSettings& provider, const Credentials& credentials) const {
  const std::vector<std::string_view> texts(batch_.texts.begin(), batch_.texts.end());
  return build_embedding_request(provider, credentials, model_, texts);
}

std::variant<CallUsage, Failed> EmbeddingCall::read(const ProviderSettings& provider,
                                                    const HttpResponse& response,
                                                    std::chrono::system_clock::time_point now,
                                                    const Credentials& credentials) {
  auto outcome = read_embedding_response(provider, response, batch_.texts.size(), now, credentials);
  if (auto* failed = std::get_if<Failed>(&outcome)) return std::move(*failed);
  auto& embedded = std::get<Embedded>(outcome);
  vectors_ = std::move(embedded.vectors);
  return CallUsage{embedded.usage};
}

// --- The stage ---

Embeddings::Embeddings(const RunSettings& settings, std::shared_ptr<AnswerStore> store, CallEngine& engine,
                       std::uint32_t owner)
    : settings_(settings),
      embedding_(settings.embedding),
      computed_(settings.mode == Mode::mock || settings.embedding.model == lexical_embedding_model),
      store_(std::move(store)),
      engine_(engine),
      owner_(owner) {
  const auto found = std::ranges::find(settings.providers, embedding_.provider, &ProviderSettings::name);
  if (!computed_ && found != settings.providers.end()) provider_ = &*found;
}

std::optional<std::variant<Evidence, Error>> Embeddings::begin(std::uint64_t unit, const WorkUnit& work,
                                                               std::string_view answer, TimePoint deadline,
                                                               const Moment& moment) {
  auto texts = texts_to_embed(answer, work);
  if (settings_.returns_embeddings && texts.empty()) texts.emplace_back(answer);
  if (texts.empty()) return Evidence{};
  if (computed_) return Evidence{computed(texts)};
  if (embedding_.model.empty() || !provider_) {
    return Error{Reason::internal_error,
                 "the run has no embedding model, but answers are to be compared by one"};
  }
  if (const auto able = can_embed(*provider_); !able) return able.error();
  EmbeddedTexts found;
  std::vector<std::string> missing;
  for (const auto& text : texts) {
    auto vector = find(text);
    if (!vector) return vector.error();
    if (*vector) {
      found.emplace(text, std::move(*vector));
    } else if (settings_.mode == Mode::cached) {
      std::string quoted;
      append_json_string(quoted, excerpt(engine_.redactor().redacted(text).value_or(text), 60));
      return store_->missing("the cache does not hold the embedding of " + quoted + " by " +
                             embedding_.model);
    } else {
      missing.push_back(text);
    }
  }
  if (missing.empty()) return Evidence{std::move(found)};
  extend(moment.now);
  auto& entries = engine_.entries();
  if (!entries.seeks(EntryKind::embedding)) {
    queue_.add(unit, std::move(found), missing, deadline);
    return std::nullopt;
  }
  for (auto& text : queue_.add_held(unit, std::move(found), missing, deadline)) {
    const auto key = key_of(text);
    entries.seek({EntryKind::embedding, key}, {owner_, 0});
    sought_.insert_or_assign(key, std::move(text));
  }
  return std::nullopt;
}

/// Outages of their provider are not counted in anybody's time.
void Embeddings::extend(TimePoint now) {
  const auto out = engine_.outages(embedding_.provider, now);
  const auto more = out - std::exchange(extended_, out);
  if (more > Duration::zero()) queue_.extend(more);
}

TimePoint Embeddings::deadline(std::uint64_t unit, TimePoint now) {
  extend(now);
  return queue_.deadline(unit).value_or(now);
}

Error Embeddings::late() const {
  return {Reason::timed_out, "the answer's embedding did not come: the time of the case was spent waiting"};
}

void Embeddings::cancel() {
  queue_ = EmbeddingQueue();
  sought_.clear();
  calls_.clear();
}

Digest Embeddings::key_of(const std::string& text) const {
  return embedding_key(*provider_, embedding_.model, text);
}

/// From memory or from the cache; null if it is in neither.
Result<SharedVector> Embeddings::find(const std::string& text) {
  if (auto known = queue_.known(text)) return known;
  if (settings_.mode != Mode::cached && !settings_.read_cache) return nullptr;
  auto stored = store_->find_embedding(key_of(text));
  if (!stored && (settings_.mode == Mode::cached || !is_damaged_entry(stored.error())))
    return fail(stored.error());
  if (!stored || !*stored) return nullptr;
  auto vector = std::make_shared<const std::vector<float>>(std::move(**stored));
  queue_.remember(text, vector);
  return vector;
}

void Embeddings::on_entry(const EntryKey& key, std::string_view entry, std::vector<Enriched>& outcomes) {
  const auto node = sought_.extract(key.digest);
  if (node.empty()) return;
  const auto& text = node.mapped();
  if (!entry.empty()) {
    auto vector = store_->take_embedding(key.digest, entry);
    if (vector) {
      auto shared = std::make_shared<const std::vector<float>>(std::move(*vector));
      return append(queue_.arrived(text, std::move(shared)), outcomes);
    }
    engine_.report_unusable_entry(vector.error());
  }
  queue_.release(text);
  give_up_dropped();
}

void Embeddings::start_calls(const Moment& moment) {
  if (!provider_) return;
  extend(moment.now);
  while (auto batch = queue_.next()) {
    const auto id = batch->id;
    const auto deadline = batch->deadline;
    auto& call = calls_.try_emplace(id, *provider_, embedding_.model, std::move(*batch)).first->second;
    engine_.submit(call, {owner_, id}, deadline, moment);
  }
  give_up_dropped();
}

/// Others may wait for what was left to this worker to pay for.
void Embeddings::give_up_dropped() {
  for (const auto& text : queue_.take_dropped())
    engine_.entries().given_up({EntryKind::embedding, key_of(text)});
}

void Embeddings::on_call_ended(const CallEnded& ended, const Moment& /*moment*/,
                               std::vector<Enriched>& outcomes) {
  auto node = calls_.extract(ended.context.id);
  if (node.empty()) return;
  auto& call = node.mapped();
  auto& batch = call.batch();
  if (!ended.error) {
    auto spend = ended.spend;
    add_answer(spend, CallKind::embedding, ended);
    append(served(call, spend), outcomes);
  } else {
    batch.deadline += ended.extended;
    const auto error = of_embedding(*ended.error);
    append(ended.out_of_time ? queue_.expired(batch, error, ended.spend)
                             : queue_.failed(batch, error, ended.spend),
           outcomes);
  }
  give_up_dropped();
}

/// Stores the vectors, and then hands them out: what was not stored is not used.
std::vector<EmbeddingOutcome> Embeddings::served(EmbeddingCall& call, const Spend& spend) {
  const auto& batch = call.batch();
  auto vectors = call.take_vectors();
  for (std::size_t i = 0; settings_.write_cache && i < batch.texts.size(); ++i) {
    const auto key = key_of(batch.texts[i]);
    if (const auto stored = store_->store_embedding(key, vectors[i]); !stored)
      return queue_.failed(batch, stored.error(), spend);
    engine_.entries().stored({EntryKind::embedding, key});
  }
  return queue_.served(batch, std::move(vectors), spend);
}

}  // namespace sluice
