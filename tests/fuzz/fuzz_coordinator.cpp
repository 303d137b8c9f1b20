// Several workers that speak the protocol in any order, with any values: what of the coordinator is pure, put
// together as its actors do it. Checked after each step: nothing crashes, a result is taken from a holder of
// its unit alone, no unit gets out again once it has its result, and what is kept and sent is bounded by what
// came.
#include "coordinator/governor/governor.hpp"
#include "coordinator/run/run_controller.hpp"
#include "tests/fuzz/fuzzed_input.hpp"
#include "tests/fuzz/fuzzed_messages.hpp"
#include "tests/fuzz/fuzzed_run.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace sluice::fuzz {
namespace {

using namespace std::chrono_literals;

constexpr std::uint32_t peers = 5;
constexpr std::uint32_t instances = 4;  // Workers that there can be.
constexpr std::size_t max_steps = 300;

/// The coordinator, and the books that are kept of it.
class Session {
 public:
  explicit Session(FuzzedInput input)
      : input_(input),
        plan_(the_plan()),
        controller_(plan_, config_of(input_), now()),
        governor_(governor_config(input_), boot()),
        leases_(sha256("secret"), the_run) {}

  void play() {
    for (std::size_t step = 0; step < max_steps && !input_.empty(); ++step) {
      act();
      if (step % 16 == 0) check_books();
    }
    settle();
    check_books();
  }

 private:
  // --- what may happen ---

  void act() {
    switch (input_.below(16)) {
      case 0:
        return hello();
      case 1:
      case 2:
        return say(messages_.ready());
      case 3:
      case 4:
        return say(messages_.heartbeat());
      case 5:
      case 6:
      case 7:
        return say(messages_.report());
      case 8:
        if (input_.flag()) return say(wire::Goodbye{"bye"});
        return say(wire::Goodbye{"it cannot be read", Reason::message_malformed});
      case 9:
        return say(messages_.seek());
      case 10:
        return say(messages_.lent());
      case 11:
        return say(messages_.stored());
      case 12:
        return pass();
      case 13:
        return commit(1 + input_.below(4));
      case 14:
        return look_up();
      default:
        return rarely();
    }
  }

  void rarely() {
    Effects effects;
    switch (input_.below(8)) {
      case 0:
        controller_.stop({Reason::interrupted, "a signal"}, now(), effects);
        break;
      case 1:
        controller_.on_local_worker_failed({Reason::cache_failed, "disk full"}, now(), effects);
        break;
      case 2:
        controller_.check_deadline(now(), effects);
        break;
      default:
        turn();
    }
    follow(effects, 0);
  }

  void hello() {
    const auto peer = peer_of();
    const std::uint64_t instance = 1 + input_.below(instances);
    say_at(peer, wire::Hello{instance, "worker-" + std::to_string(instance),
                             input_.flag() ? "cache-" + std::to_string(instance) : "", "0", input_.number32(),
                             input_.flag()});
    // Most are honest and go on.
    if (input_.below(4) > 0) say_at(peer, wire::Ready{the_run, {}, 1 + input_.below(16), {}});
  }

  void pass() {
    now_ += input_.time();
    Effects effects;
    controller_.on_tick(now(), effects);
    follow(effects, 0);
    turn();
  }

  /// The recorder: results come into the ledger in their order, the first of a unit counts.
  void commit(std::size_t count) {
    ResultsRecorded recorded;
    for (; count > 0 && !unrecorded_.empty(); --count) {
      const auto& [worker, item] = unrecorded_.front();
      const auto& result = item.result;
      const auto [winner, first] = committed_.try_emplace(result.unit, result.answer);
      recorded.items.push_back({worker,
                                result.unit,
                                result.key,
                                {first, winner->second},
                                result.error.has_value(),
                                !is_zero(result.answer),
                                {},
                                result.spend});
      unrecorded_.erase(unrecorded_.begin());
    }
    Effects effects;
    const auto items = recorded.items.size();
    controller_.on_recorded(recorded, now(), effects);
    follow(effects, items);
  }

  void look_up() {
    if (looked_up_.empty()) return;
    const char* caches[] = {"", "cache-1", "cache-2", "cache-9"};
    std::vector<EntryHolder> holders;
    holders.push_back({looked_up_.back(), caches[input_.below(4)]});
    looked_up_.pop_back();
    Effects effects;
    controller_.on_looked_up(holders, now(), effects);
    follow(effects, 1);
  }

  Peer peer_of() { return "peer-" + std::to_string(input_.below(peers)); }

  // --- what is said, and what follows ---

  template <class Message>
  void say(Message message) {
    say_at(next_peer_, std::move(message));
    next_peer_ = peer_of();
    messages_.speak_as(instances_.contains(next_peer_) ? instances_[next_peer_] : 0);
  }

  void say_at(const Peer& peer, wire::ToCoordinator message) {
    if (const auto* hello = std::get_if<wire::Hello>(&message)) instances_[peer] = hello->instance;
    next_peer_ = peer;
    messages_.speak_as(instances_.contains(peer) ? instances_[peer] : 0);
    const auto weight = weight_of(message);
    const auto spent_said =
        std::holds_alternative<wire::Report>(message) ? std::get<wire::Report>(message).spent.size() : 0;
    FromWorkers messages;
    messages.items.push_back({peer, std::move(message)});
    Effects effects;
    controller_.on_messages(messages, now(), effects);
    SLUICE_PROMISE(effects.spent.size() <= spent_said + weight);
    follow(effects, weight);
  }

  /// What a message may cause: so many others.
  std::size_t weight_of(const wire::ToCoordinator& message) const {
    if (std::holds_alternative<wire::Goodbye>(message)) return plan_.unit_count();
    if (const auto* report = std::get_if<wire::Report>(&message)) return 1 + report->results.size();
    if (const auto* seek = std::get_if<wire::Seek>(&message)) return 1 + seek->keys.size();
    if (const auto* lent = std::get_if<wire::Lent>(&message)) return 1 + lent->entries.size();
    if (const auto* stored = std::get_if<wire::Stored>(&message))
      return 1 + stored->stored.size() + stored->given_up.size();
    return 1;
  }

  void follow(Effects& effects, std::size_t weight) {
    check_sent(effects, weight);
    for (auto& record : effects.to_record) {
      const auto& result = record.item.result;
      SLUICE_PROMISE(handed_out_.leases.contains({record.worker, result.unit}));
      SLUICE_PROMISE(result.unit < plan_.unit_count() && result.lease == 0);
      SLUICE_PROMISE(result.key == plan_.key(result.unit));
      unrecorded_.emplace_back(record.worker, std::move(record.item));
    }
    SLUICE_PROMISE(effects.to_record.size() <= weight);
    SLUICE_PROMISE(effects.to_note.size() <= weight);
    std::ranges::copy(effects.to_look_up, std::back_inserter(looked_up_));
    const bool peers_changed = !effects.changed_peers.empty() || !effects.gone.empty();
    if (peers_changed) take_peers(effects);
    for (const auto& [peer, heartbeat] : effects.demands) {
      for (const auto& demand : heartbeat.demands)
        SLUICE_PROMISE(demand.provider == "openai" || demand.provider == "gemini");
      if (const auto worker = governed_.find(peer); worker != governed_.end())
        governor_.on_heartbeat(worker->second, heartbeat, boot());
    }
    if (peers_changed || !effects.demands.empty()) turn();
    SLUICE_PROMISE(known_.size() <= peers);
  }

  void check_sent(const Effects& effects, std::size_t weight) {
    std::size_t work = 0;
    for (const auto& [peer, message, in_hand] : effects.to_workers) {
      SLUICE_PROMISE(peer.starts_with("peer-"));
      const auto* leased = std::get_if<wire::Work>(&message);
      if (leased == nullptr) continue;
      ++work;
      const auto worker = instances_.at(peer);
      for (const auto& unit : leased->units) {
        SLUICE_PROMISE(!committed_.contains(unit.unit));
        SLUICE_PROMISE(std::ranges::none_of(
            unrecorded_, [&](const auto& one) { return one.second.result.unit == unit.unit; }));
        SLUICE_PROMISE(leases_.is_held(worker, unit.unit, unit.lease));
        handed_out_.leases[{worker, unit.unit}] = unit.lease;
      }
    }
    SLUICE_PROMISE(work <= plan_.unit_count());
    // To each worker once for what concerns all, and for what was said one each.
    SLUICE_PROMISE(effects.to_workers.size() <= 4 * peers + work + 2 * weight + looked_up_.size() + 64);
  }

  void take_peers(const Effects& effects) {
    for (const auto& gone : effects.gone) {
      const auto known = known_.find(gone.worker);
      if (known == known_.end()) continue;
      if (gone.again) {
        known->second.clear();
      } else {
        governor_.leave(gone.worker, gone.lost, boot());
        known_.erase(known);
      }
      std::erase_if(governed_, [&](const auto& one) { return one.second == gone.worker; });
    }
    for (const auto& peer : controller_.peers(effects.changed_peers)) {
      if (known_[peer.worker] == peer.peer) continue;
      std::erase_if(governed_, [&](const auto& one) { return one.second == peer.worker; });
      known_[peer.worker] = peer.peer;
      governed_[peer.peer] = peer.worker;
      governor_.join(peer.worker, {peer.max_concurrent, peer.max_concurrent_named}, boot());
    }
  }

  void turn() {
    const auto answers = governor_.turn(boot());
    SLUICE_PROMISE(answers.size() <= instances);
    for (const auto& [worker, grants] : answers) {
      SLUICE_PROMISE(known_.contains(worker) && grants.grants.size() == 2);
      for (const auto& grant : grants.grants) {
        SLUICE_PROMISE(grant.permits.size() <= 4096);
        for (const auto& permit : grant.permits) {
          SLUICE_PROMISE(permit.id > 0 &&
                         std::ranges::find(handed_out_.permits, permit.id) == handed_out_.permits.end());
          SLUICE_PROMISE(permit.opens_us <= permit.closes_us);
          handed_out_.permits.push_back(permit.id);
        }
      }
    }
    if (handed_out_.permits.size() > 64)
      handed_out_.permits.erase(handed_out_.permits.begin(), handed_out_.permits.end() - 64);
    static_cast<void>(governor_.take_notices());
    if (const auto wake = governor_.next_wake(boot())) SLUICE_PROMISE(*wake > boot());
  }

  void check_books() {
    SLUICE_PROMISE(known_.size() <= peers);
    SLUICE_PROMISE(controller_.facts().workers.size() <= instances);
    std::uint64_t done = 0;
    for (const auto& [unit, answer] : committed_) done += plan_.trials_of(unit).size();
    SLUICE_PROMISE(controller_.counts().done() == done);
    SLUICE_PROMISE(controller_.begun_units().size() <= plan_.unit_count());
    SLUICE_PROMISE(governor_.facts(boot()).size() == 2);
  }

  /// Everybody goes silent: the run ends.
  void settle() {
    commit(unrecorded_.size());
    for (int beats = 0; beats < 20; ++beats) {
      now_ += 1000ms;
      Effects effects;
      controller_.on_tick(now(), effects);
      follow(effects, 0);
    }
    SLUICE_PROMISE(controller_.over() && controller_.all_gone());
  }

  TimePoint now() const { return TimePoint() + 1h + now_; }
  BootTime boot() const { return std::chrono::duration_cast<BootTime>(now().time_since_epoch()); }

  FuzzedInput input_;
  std::chrono::milliseconds now_{};
  const Plan& plan_;
  RunController controller_;
  Governor governor_;
  LeaseNumbers leases_;
  HandedOut handed_out_;
  FuzzedMessages messages_{input_, plan_, handed_out_};

  std::map<Peer, WorkerId> instances_;  ///< Who said HELLO there last.
  Peer next_peer_ = "peer-0";
  std::vector<std::pair<WorkerId, ResultToCommit>> unrecorded_;
  std::map<UnitId, Digest> committed_;
  std::vector<EntryKey> looked_up_;
  std::map<WorkerId, Peer> known_;  ///< Of the governor.
  std::map<Peer, WorkerId> governed_;
};

}  // namespace
}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  sluice::fuzz::Session(sluice::fuzz::FuzzedInput(data, size)).play();
  return 0;
}
