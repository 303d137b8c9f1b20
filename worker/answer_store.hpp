#pragma once

#include "common/error.hpp"
#include "common/model/completion.hpp"
#include "common/model/trial.hpp"
#include "worker/cache/answer_cache.hpp"

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// Which answer to a request a live run takes from the caches (docs/delivery.md).
struct WantedAnswer {
  Digest pinned{};              ///< The digest of the one that the ledger pins; zero: none.
  bool held_elsewhere = false;  ///< Another worker's cache holds that one.
  TakenNonAnswers taken{};      ///< Non-answers that are answers to it.
};

/// A worker process's view of stored answers: its own cache, and those of the same home that nobody uses,
/// which it only reads. Thread-safe.
class AnswerStore {
 public:
  /// Without an own cache nothing is found and nothing stored (--no-cache, mock).
  AnswerStore(std::optional<AnswerCache> own, std::vector<AnswerCache> others);

  /// The own cache's id; empty without one.
  std::string id() const { return own_ ? own_->id() : std::string(); }

  // An entry that is damaged (is_damaged_entry) is an error, unless another cache has it, or it is looked for
  // by a function for `live`: to these it is not there, and is asked for again.

  /// `live`: the pinned answer, else the newest. Nothing where the run is to ask again: none is here, the
  /// newest is a non-answer that is not taken, or the pinned one may be in a cache that is not read.
  Result<std::optional<Completion>> find_answer(const Digest& key, const WantedAnswer& wanted = {}) const;
  /// `cached`: why what no cache holds is an error; `what` says that in words. The reason of
  /// lacks_caches where caches are not read that may hold it, else cache_miss.
  Error missing(std::string what) const;
  /// From now on caches count as not read, for this reason. What the ledger pins may be in them.
  void lacks_caches(Error why) { unread_ = std::move(why); }
  /// `cached`: what is to be replayed, refusals and truncations included: the entry with the pinned digest,
  /// or without a pin the greatest (created_at, digest) (docs/delivery.md).
  Result<std::optional<Completion>> find_replay(const Digest& key, const Digest& pinned) const;
  /// Stores answers and final non-answers in the own cache: all of them, or none.
  Result<void> store(std::span<const KeyedAnswer> answers);
  /// Stores one unless the own cache has an entry of its kind under the key that may still count: then false.
  /// One that does not is older than the entry of the other kind, and the ledger pins another: `pinned` as in
  /// WantedAnswer.
  Result<bool> store_if_none(const KeyedAnswer& one, const Digest& pinned);
  /// Whether any cache has an answer or a non-answer of the key, whatever it says.
  bool holds_any(const Digest& key) const;
  /// The newest embedding of the key (common/model/cache_key.hpp).
  Result<std::optional<std::vector<float>>> find_embedding(const Digest& key) const;
  /// Stores an embedding in the own cache.
  Result<void> store_embedding(const Digest& key, const std::vector<float>& values);
  /// The judge's newest vote of the key, as it was given. Never a refusal.
  Result<std::optional<Completion>> find_vote(const Digest& key) const;
  /// Stores a vote in the own cache. Errors: cache_failed; internal_error for what is no answer.
  Result<void> store_vote(const Digest& key, const Completion& vote);
  /// What this process's caches hold of the key, as it is stored and sound, for another worker's cache; empty
  /// if that is nothing, or too large to be lent.
  std::string lend(const EntryKey& key) const;
  /// Takes an answer that another worker's cache has lent into the own one, once it has been checked whole:
  /// bytes that come from elsewhere may be anything. `pinned` is the digest that it must have; zero: any.
  /// Error: cache_failed.
  Result<Completion> take_answer(const Digest& key, const Digest& pinned, std::string_view entry);
  /// The same with an embedding.
  Result<std::vector<float>> take_embedding(const Digest& key, std::string_view entry);
  /// The same with a vote.
  Result<Completion> take_vote(const Digest& key, std::string_view entry);
  /// Hears of all that is found from now on; `answer`: the digest of an answer or a non-answer, else zero.
  using HearFound = std::function<void(const EntryKey& key, const Digest& answer)>;
  void watch(HearFound hear) { hear_found_ = std::move(hear); }
  /// Hears of each damaged entry that no other cache has. Any thread may call it.
  using HearDamage = std::function<void(const Error&)>;
  void watch_damage(HearDamage hear) { hear_damage_ = std::move(hear); }
  /// From now on nothing is found in the caches of others that a loss of power could take.
  void outlive_power_loss() { outlives_power_loss_ = true; }
  /// Whether the own cache holds what a loss of power could take, and having all of it written to the disk
  /// (AnswerCache::sync).
  bool has_unsynced() const { return own_ && own_->has_unsynced(); }
  Result<void> sync() { return own_ ? own_->sync() : Result<void>(); }
  /// `winner` was committed for this key: an own answer that differs must not be handed out any more. One
  /// that is the winner stays (workers of one process share the store, and may both have answered).
  Result<void> forget_unless(const Digest& key, const Digest& winner);

 private:
  template <class Value>
  using Read = Result<std::optional<Value>> (AnswerCache::*)(const Digest&) const;
  /// Offers what `read` finds in each cache, the own one first, until the offer is enough.
  template <class Value, class Offer>
  Result<void> visit(Read<Value> read, const Digest& key, const Offer& offer) const;
  /// The entry with the pinned digest; of digest zero the newest.
  Result<std::optional<Completion>> find_stored(const Digest& key, const Digest& pinned) const;
  template <class Value>
  Result<std::optional<Value>> find_newest(EntryKind kind, Read<Value> read, const Digest& key) const;
  /// The error of a damaged entry, once it was told.
  tl::unexpected<Error> damaged(Error error) const;
  /// What `read` finds in one of the others. Only damage is an error.
  template <class Value>
  Result<std::optional<Value>> borrow(const AnswerCache& other, Read<Value> read, const Digest& key) const;
  bool may_count(const Digest& key, const Completion& own, const Digest& pinned) const;
  Result<Completion> take(const EntryKey& key, const Digest& pinned, std::string_view entry);
  Result<void> store_entry(const EntryKey& key, std::string_view entry);

  std::optional<AnswerCache> own_;
  std::vector<AnswerCache> others_;
  std::atomic<bool> outlives_power_loss_ = false;
  HearFound hear_found_;
  HearDamage hear_damage_;
  std::optional<Error> unread_;  ///< Why caches are not read; nothing: all are.
};

}  // namespace sluice
