#pragma once

#include "common/clock.hpp"
#include "common/model/entry_key.hpp"
#include "coordinator/dispatch/defaults.hpp"
#include "coordinator/dispatch/known_holders.hpp"

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace sluice {

/// Single flight over the fleet (docs/protocol.md, "Entries of other caches"): what one worker's cache holds
/// is lent to the others, and of those who lack a leased entry (is_leased: an embedding, a vote) one at a
/// time is left to pay for it. Takes time as an argument; knows neither sockets nor the ledger, and no
/// entry's content. Not thread-safe.
///
/// Every key that a worker seeks gets one answer. It waits for at most one of three at a time: the ledger's
/// word on who holds it, a lender, or (leased entries alone) the worker that pays for it; each of these has a
/// deadline, after which the next worker in line pays.
class EntryBroker {
 public:
  struct Config {
    std::chrono::milliseconds heartbeat_interval{};
    std::chrono::milliseconds patience{};    ///< With a lender, the ledger, and a payer that came back.
    std::chrono::milliseconds lease_time{};  ///< How long a live worker may take to pay for a leased entry.
    /// Keys that are waited for or paid for; beyond it workers pay without a lease.
    std::size_t max_open = defaults::max_open_keys;
    std::size_t max_known =
        defaults::max_known_holders;  ///< Holders that are remembered; the oldest are forgotten.
    /// Votes are renewed: none that was there before the run is lent.
    bool renews_votes = false;
  };

  /// The answer to a worker that sought a key.
  struct Answer {
    WorkerId seeker = 0;
    EntryKey key;
    std::shared_ptr<const std::string> entry;  ///< Null: pay for it yourself.
  };
  /// A worker that gets a request for an entry.
  struct Loan {
    WorkerId lender = 0;
    EntryKey key;
  };
  /// What is to be sent now; appended to.
  struct Actions {
    std::vector<Answer> answers;
    std::vector<Loan> loans;
    std::vector<EntryKey>
        look_ups;                ///< Leased entries that the ledger may know a holder of, for `looked_up`.
    std::size_t lent_bytes = 0;  ///< Of the entries among the answers, each as often as it is there.
  };

  explicit EntryBroker(Config config);

  // --- who is there ---
  /// The worker can lend and seek (READY), again or for the first time. An empty cache id: it has no cache.
  /// Again: what it was left to pay for goes to others, unless it soon seeks it anew.
  void join(WorkerId worker, const std::string& cache_id, TimePoint now);
  /// It is lost or has left: its leases and loans go to others, and it waits for nothing any more.
  void leave(WorkerId worker, TimePoint now, Actions& actions);

  // --- answers ---
  /// Another worker than this one whose cache has this id, to lend from.
  std::optional<WorkerId> lender(const std::string& cache_id, WorkerId for_worker) const;
  /// A unit with this key was leased to a worker that will seek its answer, which this one's cache holds.
  void expect_answer(const Digest& key, WorkerId holder);
  /// The unit is settled: its holder is forgotten. Who waits still gets an answer.
  void forget_answer(const Digest& key);

  // --- messages of workers and the ledger; from and about strangers it is ignored ---
  void seek(WorkerId seeker, const EntryKey& key, TimePoint now, Actions& actions);
  /// The ledger's answer to a look-up: the id of the cache that holds it; empty: nobody's.
  void looked_up(const EntryKey& key, const std::string& cache_id, TimePoint now, Actions& actions);
  /// A lender's entry; null: it has none.
  void lent(WorkerId lender, const EntryKey& key, std::shared_ptr<const std::string> entry, TimePoint now,
            Actions& actions);
  /// The leased entry is in the worker's cache now. The id of that cache, for the ledger; empty if there is
  /// none, or if this worker was not the last that was left to pay for it: what others hold is not its to
  /// say. REQUIRES, here and below: is_leased.
  std::string stored(WorkerId worker, const EntryKey& key, TimePoint now, Actions& actions);
  /// The worker will not pay for the leased entry after all.
  void given_up(WorkerId worker, const EntryKey& key, TimePoint now, Actions& actions);

  // --- time ---
  /// Once a heartbeat interval. One that comes late moves all deadlines: the coordinator itself was away.
  void tick(TimePoint now, Actions& actions);

  std::size_t open_count() const { return open_.size(); }
  std::size_t known_count() const { return known_.size(); }

 private:
  enum class Stage : std::uint8_t { looking_up, borrowing, leased };
  struct Open {
    Stage stage = Stage::leased;
    WorkerId with = 0;  ///< The lender, or the one that pays.
    TimePoint deadline;
    std::vector<WorkerId> waiting;  ///< In the order of their requests.
    /// Who pays has come back, and seeks it anew by then if it still pays.
    std::optional<TimePoint> sought_anew_by{};
  };
  using OpenKeys = std::map<EntryKey, Open>;

  void remove(const std::string& cache_id, WorkerId worker);
  /// REQUIRES: this one is there.
  bool others_have_caches(WorkerId than) const;
  void open(WorkerId seeker, const EntryKey& key, TimePoint now, Actions& actions);
  void borrow(OpenKeys::iterator key, WorkerId lender, TimePoint now, Actions& actions);
  void next_pays(OpenKeys::iterator key, TimePoint now, Actions& actions);
  void leave_to_pay(WorkerId seeker, const EntryKey& key, Actions& actions);
  OpenKeys::iterator leased_by(WorkerId worker, const EntryKey& key);

  Config config_;
  std::unordered_map<WorkerId, std::string> cache_ids_;          ///< Of those that are there.
  std::unordered_map<std::string, std::set<WorkerId>> members_;  ///< Of each cache: who shares it.
  OpenKeys open_;
  KnownHolders known_;
  KnownHolders payers_;  ///< Who was last left to pay for a leased entry, and has not said that it is stored.
  std::optional<TimePoint> last_tick_;
};

}  // namespace sluice
