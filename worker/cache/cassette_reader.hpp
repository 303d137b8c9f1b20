#pragma once

#include "common/error.hpp"
#include "common/hash.hpp"
#include "worker/cache/entry.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

namespace sluice {

/// An entry of a cassette that passed all checks.
struct CassetteEntry {
  EntryKind kind = EntryKind::answer;
  Digest key{};
  std::string_view bytes;  ///< As stored (worker/cache/entry.hpp); valid during the visit alone.
  cache_entry::Rank rank;
};

/// Reads a cassette file, which may come from anywhere: nothing in it is believed before it was checked, and
/// memory does not grow with its length. Not thread-safe. Errors: file_unreadable, one sentence with the
/// file, what is wrong and what to do.
class CassetteReader {
 public:
  /// Opens the file and looks at its first bytes.
  static Result<CassetteReader> open(const std::filesystem::path& file);
  CassetteReader(CassetteReader&&) noexcept;
  CassetteReader& operator=(CassetteReader&&) noexcept;
  ~CassetteReader();

  /// Reads all of it: the checksum over the file, and then every entry, its place and its own checksum.
  Result<void> verify();
  /// Calls `visit` for each entry in order of (kind, key), with every check but the one over the whole file;
  /// its first error ends the reading and is returned. May be called again.
  Result<void> visit(const std::function<Result<void>(const CassetteEntry&)>& visit);

 private:
  struct State;
  explicit CassetteReader(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace sluice
