// Whatever dies, is lost or is sent twice: each key that a worker seeks gets one answer, at most one worker
// at a time is left to pay for an embedding or a vote, and nobody waits for ever.
#include "coordinator/dispatch/entry_broker.hpp"

#include <map>
#include <optional>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace sluice::entry_broker_property_test {

using namespace std::chrono_literals;

constexpr auto beat = 1000ms;
constexpr auto patience = 2 * beat;
constexpr auto lease_time = 10 * beat;

/// Workers of three caches, one of which two share, and one without a cache.
const std::map<WorkerId, std::string> caches{{1, "a"}, {2, "a"}, {3, "b"}, {4, "c"}, {5, ""}};

/// Keeps its own books of what the broker says, and checks each answer against them.
class Fleet {
 public:
  void act() {
    const auto worker = *rc::gen::inRange<WorkerId>(1, 6);
    const EntryKey leased{*rc::gen::element(EntryKind::embedding, EntryKind::vote), any_digest()};
    const EntryKey key = *rc::gen::inRange(0, 3) == 0 ? EntryKey{EntryKind::answer, any_digest()} : leased;
    switch (*rc::gen::weightedElement<int>(
        {{4, 0}, {8, 1}, {5, 2}, {3, 3}, {3, 4}, {2, 5}, {2, 6}, {4, 7}, {1, 8}})) {
      case 0:
        broker_.join(worker, caches.at(worker), now_);
        there_.insert(worker);
        for (auto& [leased_key, lease] : leases_) {
          if (lease.worker == worker) lease.sought_anew_by = now_ + patience;
        }
        break;
      case 1:
        seek(worker, key);
        break;
      case 2:  // Also by one that was not asked, and twice.
        broker_.lent(worker, key, *rc::gen::arbitrary<bool>() ? entry_ : nullptr, now_, actions_);
        break;
      case 3:
        broker_.stored(worker, leased, now_, actions_);
        end_lease(worker, leased);
        break;
      case 4:
        broker_.given_up(worker, leased, now_, actions_);
        end_lease(worker, leased);
        break;
      case 5:
        leave(worker);
        break;
      case 6:
        expect(worker, key.digest);
        break;
      case 7:
        broker_.looked_up(leased, *rc::gen::element<std::string>("", "a", "b", "c", "d"), now_, actions_);
        break;
      default:
        broker_.forget_answer(key.digest);
    }
    check();
  }

  void pass(std::chrono::milliseconds time) {
    for (const auto end = now_ + time; now_ < end;) {
      now_ += beat;
      std::erase_if(leases_, [&](const auto& item) {
        const Lease& lease = item.second;
        return now_ > lease.since + lease_time || (lease.sought_anew_by && now_ > *lease.sought_anew_by);
      });
      broker_.tick(now_, actions_);
      check();
    }
  }

  void nobody_waits() const { RC_ASSERT(waiting_.empty()); }
  void nothing_is_open() const { RC_ASSERT(broker_.open_count() == 0u); }

 private:
  struct Lease {
    WorkerId worker;
    TimePoint since;
    std::optional<TimePoint> sought_anew_by{};  ///< Its worker has come back.
  };

  static Digest any_digest() {
    Digest digest{};
    digest[0] = *rc::gen::inRange<std::uint8_t>(0, 3);
    return digest;
  }

  void seek(WorkerId worker, const EntryKey& key) {
    if (there_.contains(worker)) waiting_.insert({worker, key});
    const auto lease = leases_.find(key);
    if (lease != leases_.end() && lease->second.worker == worker) lease->second.sought_anew_by.reset();
    broker_.seek(worker, key, now_, actions_);
  }
  void leave(WorkerId worker) {
    there_.erase(worker);
    std::erase_if(waiting_, [&](const auto& wait) { return wait.first == worker; });
    std::erase_if(leases_, [&](const auto& lease) { return lease.second.worker == worker; });
    broker_.leave(worker, now_, actions_);
  }
  void expect(WorkerId worker, const Digest& key) {
    if (there_.contains(worker)) broker_.expect_answer(key, worker);
  }
  void end_lease(WorkerId worker, const EntryKey& key) {
    const auto lease = leases_.find(key);
    if (there_.contains(worker) && lease != leases_.end() && lease->second.worker == worker)
      leases_.erase(lease);
  }

  void check() {
    for (const auto& answer : actions_.answers) {
      RC_ASSERT(there_.contains(answer.seeker));
      RC_ASSERT(waiting_.erase({answer.seeker, answer.key}) == 1u);
      if (answer.entry || !is_leased(answer.key.kind)) continue;
      const auto [lease, is_new] = leases_.try_emplace(answer.key, Lease{answer.seeker, now_});
      RC_ASSERT(is_new || lease->second.worker == answer.seeker);
    }
    for (const auto& loan : actions_.loans) {
      RC_ASSERT(there_.contains(loan.lender));
      RC_ASSERT(!caches.at(loan.lender).empty() || loan.key.kind == EntryKind::answer);
    }
    actions_ = {};
  }

  EntryBroker broker_{{beat, patience, lease_time, 1000, 8}};
  EntryBroker::Actions actions_;
  TimePoint now_{};
  std::shared_ptr<const std::string> entry_ = std::make_shared<const std::string>("entry");
  std::set<WorkerId> there_;
  std::set<std::pair<WorkerId, EntryKey>> waiting_;
  std::map<EntryKey, Lease> leases_;
};

RC_GTEST_PROP(EntryBrokerProperty, EachSeekerGetsOneVerdictAndOneAtATimePays, ()) {
  Fleet fleet;
  const auto steps = *rc::gen::inRange(0, 120);
  for (int step = 0; step < steps; ++step) {
    fleet.act();
    if (*rc::gen::inRange(0, 4) == 0) fleet.pass(*rc::gen::inRange(1, 5) * beat);
  }
  // Each of the five may be left to pay once more, after the ledger and a lender were waited for.
  fleet.pass(2 * patience + 5 * (lease_time + beat) + 2 * beat);
  fleet.nobody_waits();
  fleet.pass(lease_time + beat);
  fleet.nothing_is_open();
}

}  // namespace sluice::entry_broker_property_test
