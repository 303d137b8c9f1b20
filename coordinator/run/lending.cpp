#include "coordinator/run/lending.hpp"

#include "common/defaults.hpp"
#include "coordinator/run/defaults.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice {

namespace {

EntryBroker::Config broker_config(const RunSettings& settings, std::chrono::milliseconds lease_time) {
  EntryBroker::Config config;
  config.heartbeat_interval = settings.heartbeat_interval;
  config.patience = defaults::lending_patience * settings.heartbeat_interval;
  const bool renews_comparisons = settings.grading && settings.grading->llm.refresh;
  config.renews_votes = !settings.read_cache || settings.judge.refresh || renews_comparisons;
  config.lease_time = lease_time;
  return config;
}

/// One peer's items as messages that hold neither too many of them nor too many bytes.
template <class Message, class Items, class BytesOf>
void append_in_parts(const Peer& peer, const std::string& run_id, Items items, BytesOf bytes_of,
                     std::vector<ToPeer>& messages) {
  Items part;
  std::size_t bytes = 0;
  for (auto& item : items) {
    bytes += bytes_of(item);
    part.push_back(std::move(item));
    if (part.size() < wire::max_entries && bytes < defaults::max_bytes_per_work) continue;
    messages.push_back({peer, Message{run_id, std::exchange(part, {})}});
    bytes = 0;
  }
  if (!part.empty()) messages.push_back({peer, Message{run_id, std::move(part)}});
}

}  // namespace

Lending::Lending(const RunSettings& settings, std::chrono::milliseconds lease_time)
    : run_id_(settings.run_id),
      lends_(settings.mode == Mode::live && settings.write_cache),
      lends_answers_(lends_ && settings.read_cache),
      broker_(broker_config(settings, lease_time)) {}

void Lending::join(WorkerId worker, const Peer& peer, const std::string& cache_id, TimePoint now) {
  if (!lends_) return;
  peers_[worker] = peer;
  broker_.join(worker, cache_id, now);
}

void Lending::leave(WorkerId worker, TimePoint now, Effects& effects) {
  if (peers_.erase(worker) == 0) return;
  EntryBroker::Actions actions;
  broker_.leave(worker, now, actions);
  append_messages(std::move(actions), effects);
}

bool Lending::held_elsewhere(WorkerId worker, const Digest& key, const std::string& cache_id) {
  const auto lender = lends_answers_ ? broker_.lender(cache_id, worker) : std::nullopt;
  if (!lender) return false;
  broker_.expect_answer(key, *lender);
  return true;
}

void Lending::on_message(WorkerId worker, const wire::Seek& seek, TimePoint now, Effects& effects) {
  EntryBroker::Actions actions;
  for (const auto& key : seek.keys) broker_.seek(worker, key, now, actions);
  append_messages(std::move(actions), effects);
}

void Lending::on_message(WorkerId worker, wire::Lent& lent, TimePoint now, Effects& effects) {
  EntryBroker::Actions actions;
  for (auto& entry : lent.entries) {
    auto bytes = entry.bytes.empty() ? nullptr : std::make_shared<const std::string>(std::move(entry.bytes));
    broker_.lent(worker, entry.key, std::move(bytes), now, actions);
  }
  append_messages(std::move(actions), effects);
}

void Lending::on_message(WorkerId worker, const wire::Stored& stored, TimePoint now, Effects& effects) {
  EntryBroker::Actions actions;
  for (const auto& key : stored.stored) {
    const auto cache_id = broker_.stored(worker, key, now, actions);
    if (!cache_id.empty()) effects.to_note.push_back({key, cache_id});
  }
  for (const auto& key : stored.given_up) broker_.given_up(worker, key, now, actions);
  append_messages(std::move(actions), effects);
}

void Lending::looked_up(const std::vector<EntryHolder>& holders, TimePoint now, Effects& effects) {
  EntryBroker::Actions actions;
  for (const auto& [key, cache_id] : holders) broker_.looked_up(key, cache_id, now, actions);
  append_messages(std::move(actions), effects);
}

void Lending::tick(TimePoint now, Effects& effects) {
  EntryBroker::Actions actions;
  broker_.tick(now, actions);
  append_messages(std::move(actions), effects);
}

void Lending::append_messages(EntryBroker::Actions actions, Effects& effects) const {
  std::map<WorkerId, std::vector<wire::LentEntry>> found;
  for (auto& [seeker, key, entry] : actions.answers)
    found[seeker].push_back({key, entry ? *entry : std::string()});
  std::map<WorkerId, std::vector<EntryKey>> wanted;
  for (const auto& [lender, key] : actions.loans) wanted[lender].push_back(key);
  for (auto& [worker, entries] : found) {
    const auto bytes_of = [](const wire::LentEntry& entry) { return entry.bytes.size(); };
    append_in_parts<wire::Found>(peers_.at(worker), run_id_, std::move(entries), bytes_of,
                                 effects.to_workers);
  }
  for (auto& [worker, keys] : wanted) {
    const auto bytes_of = [](const EntryKey& key) { return key.digest.size(); };
    append_in_parts<wire::Lend>(peers_.at(worker), run_id_, std::move(keys), bytes_of, effects.to_workers);
  }
  std::ranges::move(actions.look_ups, std::back_inserter(effects.to_look_up));
}

}  // namespace sluice
