#pragma once

#include "common/model/entry_key.hpp"
#include "coordinator/facts/worker_id.hpp"

#include <cstddef>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

namespace sluice {

/// Which worker's cache holds which entry, for at most so many entries: a full half of them that has not been
/// used for longest is forgotten at once. Pure; not thread-safe.
class KnownHolders {
 public:
  explicit KnownHolders(std::size_t max_entries) : half_(max_entries / 2) {}

  void put(const EntryKey& key, WorkerId holder) {
    old_.erase(key);
    young_.insert_or_assign(key, holder);
    if (young_.size() >= half_) old_ = std::exchange(young_, {});
  }
  std::optional<WorkerId> find(const EntryKey& key) {
    if (const auto found = young_.find(key); found != young_.end()) return found->second;
    const auto found = old_.find(key);
    if (found == old_.end()) return std::nullopt;
    const auto holder = found->second;
    put(key, holder);
    return holder;
  }
  void erase(const EntryKey& key) {
    young_.erase(key);
    old_.erase(key);
  }
  std::size_t size() const { return young_.size() + old_.size(); }

 private:
  struct HashOfKey {
    /// Keys are SHA-256: any of their bytes will do.
    std::size_t operator()(const EntryKey& key) const {
      std::size_t hash = 0;
      std::memcpy(&hash, key.digest.data(), sizeof hash);
      return hash;
    }
  };
  using Holders = std::unordered_map<EntryKey, WorkerId, HashOfKey>;

  std::size_t half_;
  Holders young_;
  Holders old_;
};

}  // namespace sluice
