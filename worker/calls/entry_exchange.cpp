#include "worker/calls/entry_exchange.hpp"

#include "common/defaults.hpp"
#include "worker/answer_store.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

EntryExchange::EntryExchange(const RunSettings& settings, bool has_cache)
    : run_id_(settings.run_id),
      shares_(has_cache && settings.mode == Mode::live && settings.write_cache),
      reads_(settings.read_cache) {}

void EntryExchange::seek(const EntryKey& key, const CallContext& seeker) {
  const auto [awaited, is_new] = awaited_.try_emplace(key);
  auto& seekers = awaited->second;
  const auto same = std::ranges::find(seekers, seeker.owner, &CallContext::owner);
  if (same != seekers.end()) {
    *same = seeker;
  } else {
    seekers.insert(std::ranges::upper_bound(seekers, seeker.owner, {}, &CallContext::owner), seeker);
  }
  if (is_new) unsent_.push_back(key);
}

std::vector<CallContext> EntryExchange::on_found(const EntryKey& key, bool found) {
  auto node = awaited_.extract(key);
  std::vector<CallContext> seekers;
  if (node) seekers = std::move(node.mapped());
  if (found || !is_leased(key.kind)) return seekers;
  const bool is_new = to_pay_.insert(key).second;
  if (is_new && seekers.empty()) {
    std::ranges::find(last_stored_, key) != last_stored_.end() ? stored(key) : given_up(key);
  }
  return seekers;
}

void EntryExchange::stored(const EntryKey& key) {
  if (to_pay_.erase(key) == 0) return;
  unsent_stored_.push_back(key);
  std::erase(last_stored_, key);
  last_stored_.push_back(key);
  if (last_stored_.size() > wire::max_entries) last_stored_.pop_front();
}

void EntryExchange::given_up(const EntryKey& key) {
  if (to_pay_.erase(key) > 0) unsent_given_up_.push_back(key);
}

void EntryExchange::ask_again() {
  unsent_.clear();
  for (const auto& [key, seekers] : awaited_) unsent_.push_back(key);
  for (const auto& key : to_pay_) {
    if (!awaited_.contains(key)) unsent_.push_back(key);
  }
  for (const auto& key : last_stored_) {
    if (!awaited_.contains(key) && !to_pay_.contains(key)) unsent_.push_back(key);
  }
}

std::vector<wire::ToCoordinator> EntryExchange::take_messages() {
  std::vector<wire::ToCoordinator> messages;
  /// In parts of what one message may name.
  const auto add_messages = [&](auto& unsent, const auto& message_of) {
    for (auto rest = unsent.begin(); rest != unsent.end();) {
      const auto size = std::min<std::ptrdiff_t>(wire::max_entries, unsent.end() - rest);
      messages.emplace_back(message_of(rest, rest + size));
      rest += size;
    }
    unsent.clear();
  };
  using Keys = std::vector<EntryKey>;
  add_messages(unsent_stored_, [&](auto from, auto to) { return wire::Stored{run_id_, Keys(from, to), {}}; });
  add_messages(unsent_given_up_, [&](auto from, auto to) {
    return wire::Stored{run_id_, {}, Keys(from, to)};
  });
  add_messages(unsent_, [&](auto from, auto to) { return wire::Seek{run_id_, Keys(from, to)}; });
  return messages;
}

std::vector<wire::Lent> lend_entries(const AnswerStore& store, const wire::Lend& lend) {
  std::vector<wire::Lent> messages(1, {lend.run_id, {}});
  std::size_t bytes = 0;
  for (const auto& key : lend.keys) {
    if (bytes >= defaults::max_bytes_per_work) {
      messages.push_back({lend.run_id, {}});
      bytes = 0;
    }
    auto& entries = messages.back().entries;
    entries.push_back({key, store.lend(key)});
    bytes += entries.back().bytes.size();
  }
  return messages;
}

}  // namespace sluice
