#pragma once

#include "common/hash.hpp"
#include "common/model/entry_key.hpp"
#include "common/model/trial.hpp"

#include <string>

namespace sluice {

/// The committed answer of a key, and whose cache holds it.
struct Pin {
  Digest answer{};
  std::string holder;  ///< Id of the cache directory.
};

/// A unit that was leased, and the cache of the worker that has it.
struct NotedLease {
  UnitId unit = 0;
  std::string cache;  ///< Id of the cache directory.
  friend bool operator==(const NotedLease&, const NotedLease&) = default;
};

/// Whose cache holds a leased entry (is_leased).
struct EntryHolder {
  EntryKey key;
  std::string holder;  ///< Id of the cache directory.
  friend bool operator==(const EntryHolder&, const EntryHolder&) = default;
};

}  // namespace sluice
