#include "coordinator/dispatch/entry_broker.hpp"

#include "coordinator/dispatch/defaults.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

EntryBroker::EntryBroker(Config config)
    : config_(config), known_(config.max_known), payers_(config.max_known) {}

// --- who is there ---

void EntryBroker::join(WorkerId worker, const std::string& cache_id, TimePoint now) {
  if (const auto before = cache_ids_.find(worker); before != cache_ids_.end()) remove(before->second, worker);
  cache_ids_[worker] = cache_id;
  if (!cache_id.empty()) members_[cache_id].insert(worker);
  // That it gave one up may have been lost with its connection.
  for (auto& [key, open] : open_) {
    if (open.stage == Stage::leased && open.with == worker) open.sought_anew_by = now + config_.patience;
  }
}

void EntryBroker::leave(WorkerId worker, TimePoint now, Actions& actions) {
  const auto left = cache_ids_.find(worker);
  if (left == cache_ids_.end()) return;
  remove(left->second, worker);
  cache_ids_.erase(left);
  for (auto key = open_.begin(); key != open_.end();) {
    const auto current = key++;  // It may end here.
    auto& open = current->second;
    std::erase(open.waiting, worker);
    const bool is_with_it = open.stage != Stage::looking_up && open.with == worker;
    const bool is_wanted = !open.waiting.empty() || open.stage == Stage::leased;
    if (is_with_it || !is_wanted) next_pays(current, now, actions);
  }
}

void EntryBroker::remove(const std::string& cache_id, WorkerId worker) {
  const auto found = members_.find(cache_id);
  if (found == members_.end()) return;
  found->second.erase(worker);
  if (found->second.empty()) members_.erase(found);
}

bool EntryBroker::others_have_caches(WorkerId than) const {
  const auto& own = cache_ids_.at(than);
  return members_.size() > (members_.contains(own) ? 1u : 0u);
}

// --- answers ---

std::optional<WorkerId> EntryBroker::lender(const std::string& cache_id, WorkerId for_worker) const {
  const auto found = members_.find(cache_id);
  if (found == members_.end()) return std::nullopt;
  // What its own cache lacks, nobody who shares it has.
  return found->second.contains(for_worker) ? std::nullopt : std::optional(*found->second.begin());
}

void EntryBroker::expect_answer(const Digest& key, WorkerId holder) {
  known_.put({EntryKind::answer, key}, holder);
}

void EntryBroker::forget_answer(const Digest& key) {
  known_.erase({EntryKind::answer, key});
}

// --- messages of workers and the ledger ---

void EntryBroker::seek(WorkerId seeker, const EntryKey& key, TimePoint now, Actions& actions) {
  if (!cache_ids_.contains(seeker)) return;
  const auto found = open_.find(key);
  if (found == open_.end()) return open(seeker, key, now, actions);
  auto& open = found->second;
  if (open.stage == Stage::leased && open.with == seeker) {
    open.sought_anew_by.reset();
    leave_to_pay(seeker, key, actions);  // The answer has not reached it yet.
  } else if (std::ranges::find(open.waiting, seeker) == open.waiting.end()) {
    open.waiting.push_back(seeker);
  }
}

void EntryBroker::open(WorkerId seeker, const EntryKey& key, TimePoint now, Actions& actions) {
  auto holder = known_.find(key);
  if (holder == seeker) known_.erase(key);  // It has lost it.
  if (holder && (holder == seeker || !cache_ids_.contains(*holder))) holder.reset();
  const bool must_pay = !holder && !is_leased(key.kind);
  if (must_pay || open_.size() >= config_.max_open) {
    leave_to_pay(seeker, key, actions);
    return;
  }
  const auto opened = open_.emplace(key, Open{Stage::looking_up, 0, now + config_.patience, {seeker}}).first;
  if (holder) return borrow(opened, *holder, now, actions);
  // Whose cache could the ledger name, if there is no other?
  const bool is_renewed = config_.renews_votes && key.kind == EntryKind::vote;
  if (is_renewed || !others_have_caches(seeker)) return next_pays(opened, now, actions);
  actions.look_ups.push_back(key);
}

void EntryBroker::borrow(OpenKeys::iterator key, WorkerId lender, TimePoint now, Actions& actions) {
  auto& open = key->second;
  open.stage = Stage::borrowing;
  open.with = lender;
  open.sought_anew_by.reset();
  open.deadline = now + config_.patience;
  actions.loans.push_back({lender, key->first});
}

void EntryBroker::leave_to_pay(WorkerId seeker, const EntryKey& key, Actions& actions) {
  if (is_leased(key.kind)) payers_.put(key, seeker);
  actions.answers.push_back({seeker, key, nullptr});
}

/// There is no entry to be had. An answer's units are leased already: whoever seeks it is to pay. For a
/// leased entry the first in line is, and the others wait for it.
void EntryBroker::next_pays(OpenKeys::iterator key, TimePoint now, Actions& actions) {
  auto& open = key->second;
  if (is_leased(key->first.kind) && !open.waiting.empty()) {
    open.stage = Stage::leased;
    open.with = open.waiting.front();
    open.sought_anew_by.reset();
    open.deadline = now + config_.lease_time;
    open.waiting.erase(open.waiting.begin());
    leave_to_pay(open.with, key->first, actions);
    return;
  }
  for (const auto seeker : open.waiting) leave_to_pay(seeker, key->first, actions);
  open_.erase(key);
}

void EntryBroker::looked_up(const EntryKey& key, const std::string& cache_id, TimePoint now,
                            Actions& actions) {
  const auto found = open_.find(key);
  if (found == open_.end() || found->second.stage != Stage::looking_up) return;
  const auto holder = lender(cache_id, found->second.waiting.front());
  if (!holder) return next_pays(found, now, actions);
  known_.put(found->first, *holder);
  borrow(found, *holder, now, actions);
}

void EntryBroker::lent(WorkerId lender, const EntryKey& key, std::shared_ptr<const std::string> entry,
                       TimePoint now, Actions& actions) {
  const auto found = open_.find(key);
  if (found == open_.end()) return;
  auto& open = found->second;
  if (open.stage != Stage::borrowing || open.with != lender) return;
  if (!entry) {
    known_.erase(key);
    return next_pays(found, now, actions);
  }
  // A lender could have the coordinator send a thousand times what it sends itself.
  const auto room = defaults::max_lent_bytes - std::min(defaults::max_lent_bytes, actions.lent_bytes);
  const auto served = std::min(std::max<std::size_t>(room / entry->size(), actions.lent_bytes == 0 ? 1 : 0),
                               open.waiting.size());
  for (std::size_t i = 0; i < served; ++i) actions.answers.push_back({open.waiting[i], key, entry});
  actions.lent_bytes += served * entry->size();
  open.waiting.erase(open.waiting.begin(), open.waiting.begin() + static_cast<std::ptrdiff_t>(served));
  open.waiting.empty() ? static_cast<void>(open_.erase(found)) : borrow(found, lender, now, actions);
}

EntryBroker::OpenKeys::iterator EntryBroker::leased_by(WorkerId worker, const EntryKey& key) {
  const auto found = open_.find(key);
  const bool is_its =
      found != open_.end() && found->second.stage == Stage::leased && found->second.with == worker;
  return is_its ? found : open_.end();
}

std::string EntryBroker::stored(WorkerId worker, const EntryKey& key, TimePoint now, Actions& actions) {
  const auto cache_id = cache_ids_.find(worker);
  if (cache_id == cache_ids_.end() || payers_.find(key) != worker) return {};
  payers_.erase(key);
  if (cache_id->second.empty()) {
    given_up(worker, key, now, actions);  // Nobody can have it from there.
    return {};
  }
  known_.put(key, worker);
  const auto found = leased_by(worker, key);
  if (found == open_.end()) return cache_id->second;
  if (found->second.waiting.empty()) {
    open_.erase(found);
  } else {
    borrow(found, worker, now, actions);
  }
  return cache_id->second;
}

void EntryBroker::given_up(WorkerId worker, const EntryKey& key, TimePoint now, Actions& actions) {
  const auto found = leased_by(worker, key);
  if (found != open_.end()) next_pays(found, now, actions);
}

// --- time ---

void EntryBroker::tick(TimePoint now, Actions& actions) {
  const auto previous = std::exchange(last_tick_, now);
  const bool was_away = previous && now - *previous > 2 * config_.heartbeat_interval;
  for (auto key = open_.begin(); key != open_.end();) {
    const auto current = key++;
    auto& open = current->second;
    if (was_away) {
      open.deadline += now - *previous;
      if (open.sought_anew_by) *open.sought_anew_by += now - *previous;
    } else if (now > open.sought_anew_by.value_or(open.deadline) || now > open.deadline) {
      // A lender that does not answer gets no second request for this.
      if (open.stage == Stage::borrowing) known_.erase(current->first);
      next_pays(current, now, actions);
    }
  }
}

}  // namespace sluice
