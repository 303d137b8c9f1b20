#pragma once

#include "common/error.hpp"
#include "common/hash.hpp"
#include "worker/cache/entry.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

namespace sluice {

/// Writes a cassette entry by entry (worker/cache/cassette_format.hpp). The same entries give the same bytes;
/// memory does not grow with their number. Not thread-safe.
class CassetteWriter {
 public:
  /// `write` takes the file's bytes in order. `version` of the file, as cassette::version_for has it.
  CassetteWriter(std::function<void(std::string_view)> write, std::uint8_t version);
  ~CassetteWriter();
  CassetteWriter(const CassetteWriter&) = delete;
  CassetteWriter& operator=(const CassetteWriter&) = delete;

  /// REQUIRES: entries come in ascending order of (kind, key), each once, and the version has the kind.
  /// Error: output_failed if the compression fails (no memory), cache_failed for an entry that is longer than
  /// any answer.
  Result<void> add(EntryKind kind, const Digest& key, std::string_view bytes);
  /// Ends the cassette; the file's length in bytes. Errors as `add`. Call once.
  Result<std::uint64_t> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sluice
