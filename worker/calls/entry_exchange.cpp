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
  if (awaited_.insert_or_assign(key, seeker).second) unsent_.push_back(key);
}

std::optional<CallContext> EntryExchange::on_found(const EntryKey& key, bool found) {
  const auto node = awaited_.extract(key);
  const auto seeker = node ? std::optional(node.mapped()) : std::nullopt;
  if (found || !is_leased(key.kind)) return seeker;
  const bool is_new = to_pay_.insert(key).second;
  if (is_new && !seeker) given_up(key);
  return seeker;
}

void EntryExchange::stored(const EntryKey& key) {
  if (to_pay_.erase(key) > 0) unsent_stored_.push_back(key);
}

void EntryExchange::given_up(const EntryKey& key) {
  if (to_pay_.erase(key) > 0) unsent_given_up_.push_back(key);
}

void EntryExchange::ask_again() {
  unsent_.clear();
  for (const auto& [key, seeker] : awaited_) unsent_.push_back(key);
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
