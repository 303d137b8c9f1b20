#pragma once

#include "common/model/entry_key.hpp"
#include "common/model/run_settings.hpp"
#include "common/wire/messages.hpp"
#include "worker/calls/call_request.hpp"

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sluice {

/// A worker's side of single flight over the fleet (docs/protocol.md, "Entries of other caches"): what it
/// seeks in other caches before it pays, and which leased entries (is_leased) it was left to pay for. Pure;
/// not thread-safe.
class EntryExchange {
 public:
  /// Entries are sought in live runs that write the cache, by a worker that has one: where they do not read
  /// it, votes alone, each of which one worker renews for all.
  EntryExchange(const RunSettings& settings, bool has_cache);
  bool seeks(EntryKind kind) const { return shares_ && (reads_ || kind == EntryKind::vote); }

  /// Asks for the entry, once: what came of it is for each owner who sought it, by the last of its calls.
  void seek(const EntryKey& key, const CallContext& seeker);
  /// FOUND named the key; `found`: with its bytes. Returns who sought it, by owner; nobody if it is not
  /// awaited here, or not any more: what was left to this worker is then given up, so that others do not wait
  /// for it.
  std::vector<CallContext> on_found(const EntryKey& key, bool found);

  /// A leased entry is in the cache now.
  void stored(const EntryKey& key);
  /// It will not be paid for after all, or could not be had.
  void given_up(const EntryKey& key);

  /// The coordinator may have forgotten what this worker seeks, or was left to pay for, and may not have
  /// heard what it stored lately: it is asked again for all of it. What is stored already is said to be once
  /// it is left to this worker, since nobody else's word counts.
  void ask_again();
  /// What is to be sent to the coordinator now: SEEK and STORED, each within the wire's limits.
  std::vector<wire::ToCoordinator> take_messages();

 private:
  std::string run_id_;
  bool shares_ = false;
  bool reads_ = false;
  std::map<EntryKey, std::vector<CallContext>> awaited_;  ///< With who seeks it: one call of each owner.
  std::set<EntryKey> to_pay_;         ///< Leased entries that this worker was left to pay for.
  std::deque<EntryKey> last_stored_;  ///< That it paid for: more than can be under way when a link breaks.
  std::vector<EntryKey> unsent_;
  std::vector<EntryKey> unsent_stored_;
  std::vector<EntryKey> unsent_given_up_;
};

class AnswerStore;

/// The answers to a LEND, out of this worker's caches: each of its keys once, in messages of bounded size.
std::vector<wire::Lent> lend_entries(const AnswerStore& store, const wire::Lend& lend);

}  // namespace sluice
