#include "worker/answer_store.hpp"

#include "common/wire/messages.hpp"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

namespace sluice {

AnswerStore::AnswerStore(std::optional<AnswerCache> own, std::vector<AnswerCache> others)
    : own_(std::move(own)), others_(std::move(others)) {}

Error AnswerStore::missing(std::string what) const {
  if (!unread_) return {Reason::cache_miss, std::move(what)};
  return {unread_->reason, std::move(what) + "; " + unread_->message};
}

tl::unexpected<Error> AnswerStore::damaged(Error error) const {
  if (hear_damage_) hear_damage_(error);
  return fail(std::move(error));
}

template <class Value>
Result<std::optional<Value>> AnswerStore::borrow(
    const AnswerCache& other, Result<std::optional<Value>> (AnswerCache::*read)(const Digest&) const,
    const Digest& key) const {
  auto found = (other.*read)(key);
  if (!found && is_damaged_entry(found.error())) return found;
  // A cache that we only borrow may go away under us: then it does not have the entry.
  if (!found || !*found || (outlives_power_loss_ && !other.sync())) return std::optional<Value>();
  return found;
}

template <class Value>
Result<std::optional<Value>> AnswerStore::find(
    Result<std::optional<Value>> (AnswerCache::*read)(const Digest&) const, const Digest& key) const {
  std::optional<Error> damage;
  if (own_) {
    auto found = ((*own_).*read)(key);
    if (found ? found->has_value() : !is_damaged_entry(found.error())) return found;
    if (!found) damage = std::move(found.error());
  }
  for (const auto& other : others_) {
    auto borrowed = borrow(other, read, key);
    if (borrowed && *borrowed) return borrowed;
    if (!borrowed) damage = std::move(borrowed.error());
  }
  if (damage) return damaged(std::move(*damage));
  return std::optional<Value>();
}

Result<std::optional<Completion>> AnswerStore::find_answer(const Digest& key) const {
  auto found = find(&AnswerCache::get, key);
  if (!found && is_damaged_entry(found.error())) return std::nullopt;
  return found;
}

Result<std::optional<Completion>> AnswerStore::find_replay(const Digest& key, const Digest& pinned) const {
  std::optional<Completion> best;
  Digest best_digest{};
  std::optional<Error> damage;
  const auto consider = [&](Result<std::optional<Completion>> candidate) {
    if (!candidate) damage = std::move(candidate.error());
    if (!candidate || !*candidate) return;
    const auto digest = answer_digest(**candidate);
    if (!is_zero(pinned) && digest != pinned) return;
    if (best && std::tie(best->created_at_ms, best_digest) >= std::tie((*candidate)->created_at_ms, digest))
      return;
    best = std::move(*candidate);
    best_digest = digest;
  };
  for (const auto read : {&AnswerCache::get, &AnswerCache::get_outcome}) {
    if (own_) {
      auto own = ((*own_).*read)(key);
      if (!own && !is_damaged_entry(own.error())) return own;
      consider(std::move(own));
    }
    for (const auto& other : others_) consider(borrow(other, read, key));
  }
  // A refusal that is older than a damaged answer is not what was given last.
  const bool may_be_older = best && best->non_answer && is_zero(pinned);
  if (damage && (!best || may_be_older)) return damaged(std::move(*damage));
  if (best && hear_found_)
    hear_found_({best->non_answer ? EntryKind::outcome : EntryKind::answer, key}, best_digest);
  return best;
}

Result<std::optional<Completion>> AnswerStore::find_answer_or(const TakenNonAnswers& taken,
                                                              const Digest& key) const {
  if (!taken.refusals && !taken.empty_answers) return find_answer(key);
  auto newest = find_replay(key, {});
  if (!newest && is_damaged_entry(newest.error())) return find_answer(key);
  const bool is_answer = !newest || !*newest || !(*newest)->non_answer || taken.has(**newest);
  return is_answer ? std::move(newest) : find_answer(key);
}

template <class Value>
Result<std::optional<Value>> AnswerStore::heard(EntryKind kind, const Digest& key,
                                                Result<std::optional<Value>> found) const {
  if (hear_found_ && found && *found) hear_found_({kind, key}, {});
  return found;
}

Result<void> AnswerStore::store(std::span<const KeyedAnswer> answers) {
  return own_ ? own_->put(answers) : Result<void>();
}

Result<bool> AnswerStore::store_if_none(const KeyedAnswer& one) {
  if (own_) {
    const auto there = one.answer->non_answer ? own_->get_outcome(one.key) : own_->get(one.key);
    if (!there && !is_damaged_entry(there.error())) return fail(there.error());
    if (there && *there) return false;
  }
  if (const auto stored = store({&one, 1}); !stored) return fail(stored.error());
  return true;
}

bool AnswerStore::holds_any(const Digest& key) const {
  const auto has = [&key](const AnswerCache& cache) {
    return std::ranges::any_of(std::array{EntryKind::answer, EntryKind::outcome}, [&](EntryKind kind) {
      const auto entry = cache.get_entry(kind, key);
      return entry && *entry;
    });
  };
  return (own_ && has(*own_)) || std::ranges::any_of(others_, has);
}

Result<std::optional<std::vector<float>>> AnswerStore::find_embedding(const Digest& key) const {
  return heard(EntryKind::embedding, key, find(&AnswerCache::get_embedding, key));
}

Result<void> AnswerStore::store_embedding(const Digest& key, const std::vector<float>& values) {
  return own_ ? own_->put_embedding(key, values) : Result<void>();
}

Result<std::optional<Completion>> AnswerStore::find_vote(const Digest& key) const {
  return heard(EntryKind::vote, key, find(&AnswerCache::get_vote, key));
}

Result<void> AnswerStore::store_vote(const Digest& key, const Completion& vote) {
  return own_ ? own_->put_vote(key, vote) : Result<void>();
}

std::string AnswerStore::lend(const EntryKey& key) const {
  const auto sound_entry = [&](const AnswerCache& cache) {
    auto entry = cache.get_entry(key.kind, key.digest);
    const bool fits = entry && *entry && (*entry)->size() <= wire::max_entry_bytes &&
                      cache_entry::rank(key.kind, key.digest, **entry);
    return fits ? std::move(**entry) : std::string();
  };
  std::string found = own_ ? sound_entry(*own_) : std::string();
  for (auto other = others_.begin(); found.empty() && other != others_.end(); ++other)
    found = sound_entry(*other);
  return found;
}

Result<Completion> AnswerStore::take(const EntryKey& key, const Digest& pinned, std::string_view entry) {
  auto answer = cache_entry::decode(key.digest, entry);
  if (!answer) return answer;
  if (answer->non_answer) {
    return fail(Reason::cache_failed, "the entry " + to_hex(key.digest) + " of another cache is no answer");
  }
  if (!is_zero(pinned) && answer_digest(*answer) != pinned) {
    return fail(Reason::cache_failed,
                "the entry " + to_hex(key.digest) +
                    " of another cache is another answer than the one that the ledger pins");
  }
  if (const auto stored = store_entry(key, entry); !stored) return fail(stored.error());
  return answer;
}

Result<Completion> AnswerStore::take_answer(const Digest& key, const Digest& pinned, std::string_view entry) {
  return take({EntryKind::answer, key}, pinned, entry);
}

Result<Completion> AnswerStore::take_vote(const Digest& key, std::string_view entry) {
  return take({EntryKind::vote, key}, {}, entry);
}

Result<std::vector<float>> AnswerStore::take_embedding(const Digest& key, std::string_view entry) {
  auto embedding = cache_entry::decode_embedding(key, entry);
  if (!embedding) return fail(std::move(embedding.error()));
  if (const auto stored = store_entry({EntryKind::embedding, key}, entry); !stored)
    return fail(stored.error());
  return std::move(embedding->values);
}

Result<void> AnswerStore::store_entry(const EntryKey& key, std::string_view entry) {
  return own_ ? own_->put_entry(key.kind, key.digest, entry) : Result<void>();
}

Result<void> AnswerStore::forget_unless(const Digest& key, const Digest& winner) {
  if (!own_) return {};
  for (const auto read : {&AnswerCache::get, &AnswerCache::get_outcome}) {
    const auto stored = ((*own_).*read)(key);
    if (stored && *stored && answer_digest(**stored) == winner) return {};
  }
  return own_->erase(key);
}

}  // namespace sluice
