#include "worker/answer_store.hpp"

#include "common/defaults.hpp"
#include "common/model/embedding.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace sluice {

namespace {

Digest digest_of(const Completion& completion) {
  return answer_digest(completion);
}
Digest digest_of(const Embedding& embedding) {
  return sha256(pack_embedding(embedding.values));
}

/// Of what caches hold of a key that with the greatest (created_at, digest), and what of it is damaged.
template <class Value>
struct Newest {
  std::optional<Value> value;
  std::optional<Error> damage;

  void offer(Result<std::optional<Value>> found) {
    if (!found) damage = std::move(found.error());
    if (found && *found && (!value || is_beaten_by(**found))) value = std::move(*found);
  }
  bool is_beaten_by(const Value& other) const {
    if (other.created_at_ms != value->created_at_ms) return other.created_at_ms > value->created_at_ms;
    return digest_of(other) > digest_of(*value);
  }
};

}  // namespace

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
Result<std::optional<Value>> AnswerStore::borrow(const AnswerCache& other, Read<Value> read,
                                                 const Digest& key) const {
  auto found = (other.*read)(key);
  if (!found && is_damaged_entry(found.error())) return found;
  // A cache that we only borrow may go away under us: then it does not have the entry.
  if (!found || !*found || (outlives_power_loss_ && !other.sync())) return std::optional<Value>();
  return found;
}

template <class Value, class Offer>
Result<void> AnswerStore::visit(Read<Value> read, const Digest& key, const Offer& offer) const {
  if (own_) {
    auto own = ((*own_).*read)(key);
    if (!own && !is_damaged_entry(own.error())) return fail(std::move(own.error()));
    if (offer(std::move(own))) return {};
  }
  for (const auto& other : others_) {
    if (offer(borrow(other, read, key))) break;
  }
  return {};
}

template <class Value>
Result<std::optional<Value>> AnswerStore::find_newest(EntryKind kind, Read<Value> read,
                                                      const Digest& key) const {
  Newest<Value> best;
  const auto offer = [&best](Result<std::optional<Value>> found) {
    best.offer(std::move(found));
    return false;
  };
  if (auto visited = visit(read, key, offer); !visited) return fail(std::move(visited.error()));
  if (best.damage && !best.value) return damaged(std::move(*best.damage));
  if (best.value && hear_found_) hear_found_({kind, key}, {});
  return std::move(best.value);
}

Result<std::optional<Completion>> AnswerStore::find_stored(const Digest& key, const Digest& pinned) const {
  const bool any = is_zero(pinned);
  Newest<Completion> best;
  const auto offer = [&](Result<std::optional<Completion>> found) {
    if (!any && found && *found && answer_digest(**found) != pinned) return false;
    best.offer(std::move(found));
    return !any && best.value;
  };
  for (const auto read : {&AnswerCache::get, &AnswerCache::get_outcome}) {
    if (auto visited = visit(read, key, offer); !visited) return fail(std::move(visited.error()));
    if (!any && best.value) return std::move(best.value);
  }
  // A refusal that is older than a damaged answer is not what was given last.
  if (best.damage && (!best.value || best.value->non_answer)) return damaged(std::move(*best.damage));
  return std::move(best.value);
}

Result<std::optional<Completion>> AnswerStore::find_answer(const Digest& key,
                                                           const WantedAnswer& wanted) const {
  const auto is_taken = [&](const Completion& one) { return !one.non_answer || wanted.taken.has(one); };
  const bool may_be_elsewhere = wanted.held_elsewhere || unread_;
  auto found = find_stored(key, wanted.pinned);
  if (found && !is_zero(wanted.pinned) && (*found ? !is_taken(**found) : !may_be_elsewhere))
    found = find_stored(key, {});
  if (!found && is_damaged_entry(found.error())) return std::nullopt;
  if (found && *found && !is_taken(**found)) return std::nullopt;
  return found;
}

Result<std::optional<Completion>> AnswerStore::find_replay(const Digest& key, const Digest& pinned) const {
  auto found = find_stored(key, pinned);
  if (found && *found && hear_found_) {
    const auto kind = (*found)->non_answer ? EntryKind::outcome : EntryKind::answer;
    hear_found_({kind, key}, answer_digest(**found));
  }
  return found;
}

Result<void> AnswerStore::store(std::span<const KeyedAnswer> answers) {
  return own_ ? own_->put(answers) : Result<void>();
}

/// Whether anybody takes the own cache's entry: a replay the pinned one, a live run that or the newest. What
/// is pinned is not known of every call.
bool AnswerStore::may_count(const Digest& key, const Completion& own, const Digest& pinned) const {
  if (is_zero(pinned) || answer_digest(own) == pinned) return true;
  const auto other = own.non_answer ? own_->get(key) : own_->get_outcome(key);
  return !other || !*other || (*other)->created_at_ms <= own.created_at_ms;
}

Result<bool> AnswerStore::store_if_none(const KeyedAnswer& one, const Digest& pinned) {
  if (own_) {
    const auto there = one.answer->non_answer ? own_->get_outcome(one.key) : own_->get(one.key);
    if (!there && !is_damaged_entry(there.error())) return fail(there.error());
    if (there && *there && may_count(one.key, **there, pinned)) return false;
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
  auto found = find_newest(EntryKind::embedding, &AnswerCache::get_embedding, key);
  if (!found) return fail(std::move(found.error()));
  if (!*found) return std::nullopt;
  return std::move((*found)->values);
}

Result<void> AnswerStore::store_embedding(const Digest& key, const std::vector<float>& values) {
  return own_ ? own_->put_embedding(key, values) : Result<void>();
}

Result<std::optional<Completion>> AnswerStore::find_vote(const Digest& key) const {
  return find_newest(EntryKind::vote, &AnswerCache::get_vote, key);
}

Result<void> AnswerStore::store_vote(const Digest& key, const Completion& vote) {
  return own_ ? own_->put_vote(key, vote) : Result<void>();
}

std::string AnswerStore::lend(const EntryKey& key) const {
  const auto sound_entry = [&](const AnswerCache& cache) {
    auto entry = cache.get_entry(key.kind, key.digest);
    const bool fits = entry && *entry && (*entry)->size() <= defaults::max_entry_bytes &&
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
