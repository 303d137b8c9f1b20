#include "coordinator/run/worker_roster.hpp"

#include "coordinator/run/defaults.hpp"

#include <algorithm>

namespace sluice {
namespace {

constexpr const char* two_folders =
    "the folder of one is a copy of the other's, both count as one cache, and answers that one holds are "
    "paid for again; end one, remove the file ID in its cache folder, and start it again";

}  // namespace

bool WorkerRoster::has_room_for(const wire::Hello& hello) const {
  return known_.contains(hello.instance) || known_.size() < defaults::max_workers;
}

bool WorkerRoster::admit(const Peer& peer, const wire::Hello& hello, TimePoint now) {
  auto& worker = connected_[hello.instance];
  const bool again = !worker.peer.empty();
  if (again && worker.peer != peer) by_peer_.erase(worker.peer);
  by_peer_[peer] = hello.instance;
  if (again) forget_cache(hello.instance, worker.hello.cache_id);
  if (!hello.cache_id.empty()) by_cache_.try_emplace(hello.cache_id, CacheOwner{hello.instance});
  worker.peer = peer;
  worker.hello = hello;
  set_ready(worker, false);
  worker.problem.reset();  // Its READY says what is still wrong.
  worker.last_message_at = now;
  auto& known = known_[hello.instance];
  known.facts.name = hello.name;
  known.facts.lost = false;
  known.cache_id = hello.cache_id;
  return again;
}

std::optional<LogNote> WorkerRoster::take_copied_cache(const wire::Hello& hello, TimePoint now) {
  const auto found = by_cache_.find(hello.cache_id);
  if (found == by_cache_.end() || found->second.worker == hello.instance || found->second.is_told) return {};
  const wire::Hello& other = connected_.at(found->second.worker).hello;
  // The workers of one process share its folder.
  if (hello.from_this_process && other.from_this_process) return {};
  if (hello.name == other.name) {  // Started anew, or on a machine that is a copy.
    namesakes_.try_emplace(found->second.worker, now);
    return {};
  }
  found->second.is_told = true;
  return about_worker(hello.name, "has the same cache id as worker " + other.name +
                                      ": unless that one has just ended, " + two_folders);
}

void WorkerRoster::forget_cache(WorkerId worker, const std::string& cache_id) {
  const auto found = by_cache_.find(cache_id);
  if (found != by_cache_.end() && found->second.worker == worker) by_cache_.erase(found);
}

LogNote WorkerRoster::take_farewell(WorkerId worker, const std::string& why) {
  const std::string& name = name_of(worker);
  last_farewell_ = name + " left last: " + why;
  return about_worker(name, "left: " + why);
}

std::size_t WorkerRoster::missing_caches(std::set<std::string> caches) const {
  for (const auto& [id, worker] : connected_) {
    if (worker.ready) caches.erase(worker.hello.cache_id);
  }
  return caches.size();
}

std::vector<WorkerId> WorkerRoster::silent_since(TimePoint then) const {
  std::vector<WorkerId> silent;
  for (const auto& [id, worker] : connected_) {
    if (worker.last_message_at < then) silent.push_back(id);
  }
  return silent;
}

void WorkerRoster::remove(WorkerId worker) {
  const auto found = connected_.find(worker);
  if (found == connected_.end()) return;
  forget_cache(worker, found->second.hello.cache_id);
  namesakes_.erase(worker);
  by_peer_.erase(found->second.peer);
  set_ready(found->second, false);
  connected_.erase(found);
  if (const auto known = known_.find(worker); known->second.leases == 0) known_.erase(known);
}

void WorkerRoster::mark_leased(WorkerId worker, std::size_t units) {
  auto& known = known_.at(worker);
  known.leases = std::min(known.leases + units, units_);
}

bool WorkerRoster::may_note(WorkerId worker) {
  auto& known = known_.at(worker);
  if (known.notes >= std::min(known.leases * defaults::notes_per_lease, defaults::max_worker_notes))
    return false;
  ++known.notes;
  return true;
}

void WorkerRoster::set_ready(WorkerId worker) {
  if (const auto found = connected_.find(worker); found != connected_.end()) set_ready(found->second, true);
}

void WorkerRoster::set_ready(Worker& worker, bool ready) {
  if (worker.ready == ready) return;
  worker.ready = ready;
  ready ? ++ready_ : --ready_;
}

void WorkerRoster::set_problem(WorkerId worker, const Error& problem) {
  if (const auto found = connected_.find(worker); found != connected_.end()) found->second.problem = problem;
}

std::optional<LogNote> WorkerRoster::on_message(WorkerId worker, TimePoint now) {
  const auto found = connected_.find(worker);
  if (found == connected_.end()) return {};
  found->second.last_message_at = now;
  // What one that has ended had sent comes before that.
  const auto namesake = namesakes_.find(worker);
  if (namesake == namesakes_.end() || now - namesake->second < defaults::namesake_wait) return {};
  namesakes_.erase(namesake);
  const wire::Hello& hello = found->second.hello;
  const auto owner = by_cache_.find(hello.cache_id);
  if (owner == by_cache_.end() || owner->second.worker != worker || owner->second.is_told) return {};
  owner->second.is_told = true;
  return about_worker(hello.name, "is there twice with the same cache id: " + std::string(two_folders));
}

std::optional<WorkerId> WorkerRoster::at(const Peer& peer) const {
  const auto found = by_peer_.find(peer);
  return found == by_peer_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<Error> WorkerRoster::problem() const {
  for (const auto& [id, worker] : connected_) {
    if (!worker.problem) continue;
    return Error{worker.problem->reason, "worker " + worker.hello.name + ": " + worker.problem->message};
  }
  return std::nullopt;
}

std::vector<GovernedPeer> WorkerRoster::peers(const std::vector<WorkerId>& workers) const {
  std::vector<GovernedPeer> peers;
  for (const WorkerId id : std::set(workers.begin(), workers.end())) {
    const auto found = connected_.find(id);
    if (found == connected_.end()) continue;
    const auto& [peer, hello, problem, last_message_at, ready] = found->second;
    peers.push_back(
        {peer, id, problem ? 0 : hello.max_concurrent, hello.max_concurrent_named, !hello.from_this_process});
  }
  return peers;
}

std::vector<WorkerFacts> WorkerRoster::facts() const {
  std::vector<WorkerFacts> facts;
  for (const auto& [id, known] : known_) {
    // Who has said no more than HELLO has no part in the run.
    const auto here = connected_.find(id);
    if (known.leases > 0 || (here != connected_.end() && here->second.ready)) facts.push_back(known.facts);
  }
  std::ranges::stable_sort(facts, {}, &WorkerFacts::name);
  return facts;
}

}  // namespace sluice
