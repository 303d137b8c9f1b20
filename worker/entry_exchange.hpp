#pragma once

#include "common/entry_key.hpp"
#include "common/run_settings.hpp"
#include "common/wire/messages.hpp"

#include <set>
#include <string>
#include <vector>

namespace sluice {

/// A worker's side of single flight over the fleet (docs/protocol.md, "Entries of other caches"): what it
/// seeks in other caches before it pays, and which embeddings it was left to pay for. Pure; not thread-safe.
class EntryExchange {
 public:
  /// Entries are sought in live runs that read and write the cache, by a worker that has one.
  EntryExchange(const RunSettings& settings, bool has_cache);
  bool seeks() const { return seeks_; }

  /// Asks for the entry, once, whoever waits for it: `take_verdict` is told what came of it.
  void seek(const EntryKey& key);
  /// FOUND named the key; `found`: with its bytes. False if it is not awaited here, or not any more; what was
  /// left to this worker is then given up, so that others do not wait for it.
  bool take_verdict(const EntryKey& key, bool found);

  /// An embedding is in the cache now.
  void stored(const Digest& key);
  /// It will not be paid for after all, or could not be had.
  void given_up(const Digest& key);

  /// The coordinator may have forgotten what this worker seeks: it is asked for again.
  void ask_again();
  /// What is to be said to the coordinator now: SEEK and STORED, each within the wire's limits.
  std::vector<wire::ToCoordinator> take_messages();

 private:
  std::string run_id_;
  bool seeks_ = false;
  std::set<EntryKey> awaited_;
  std::set<Digest> to_pay_;  ///< Embeddings that this worker was left to pay for.
  std::vector<EntryKey> unsaid_;
  std::vector<Digest> unsaid_stored_;
  std::vector<Digest> unsaid_given_up_;
};

class AnswerStore;

/// The answers to a LEND, out of this worker's caches: each of its keys once, in messages of bounded size.
std::vector<wire::Lent> lend_entries(const AnswerStore& store, const wire::Lend& lend);

}  // namespace sluice
