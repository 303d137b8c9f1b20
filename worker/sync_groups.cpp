#include "worker/sync_groups.hpp"

#include "common/defaults.hpp"
#include "worker/defaults.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace sluice {

namespace {

template <class T>
void move_to_end(std::vector<T>& to, std::vector<T>& from) {
  if (to.empty()) return to.swap(from);
  std::ranges::move(from, std::back_inserter(to));
}

void take_back(StoredNews& news, const Error& error) {
  for (auto& unit : news.completed) {
    if (std::holds_alternative<Completion>(unit.outcome)) unit.outcome = error;
  }
  for (auto& message : news.entries) {
    auto* stored = std::get_if<wire::Stored>(&message);
    if (stored == nullptr) continue;
    move_to_end(stored->given_up, stored->stored);
    stored->stored.clear();
  }
}

}  // namespace

bool StoredNews::empty() const {
  return completed.empty() && returned.empty() && spent.empty() && entries.empty();
}

void StoredNews::append(StoredNews more) {
  move_to_end(completed, more.completed);
  move_to_end(returned, more.returned);
  move_to_end(spent, more.spent);
  move_to_end(entries, more.entries);
}

void SyncGroups::add(StoredNews news, bool unsynced, TimePoint now) {
  if (news.empty() && refused_) return;  // It stays unsynced.
  if (!unsynced && !closes_ && !syncing_) return ready_.append(std::move(news));
  open_.append(std::move(news));
  if (!closes_) closes_ = now + defaults::sync_group_time;
}

bool SyncGroups::begin_sync(TimePoint now) {
  if (syncing_ || !closes_) return false;
  if (now < *closes_ && open_.completed.size() < defaults::sync_group_units) return false;
  syncing_news_ = std::exchange(open_, {});
  closes_.reset();
  syncing_ = true;
  return true;
}

void SyncGroups::on_synced(const Result<void>& synced) {
  refused_ = !synced;
  if (!synced) take_back(syncing_news_, synced.error());
  ready_.append(std::exchange(syncing_news_, {}));
  syncing_ = false;
}

void SyncGroups::clear() {
  ready_ = {};
  syncing_news_ = {};
  open_ = {};
}

}  // namespace sluice
