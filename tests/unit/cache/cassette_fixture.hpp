#pragma once

#include "tests/support/temporary_folder.hpp"
#include "worker/cache/answer_cache.hpp"
#include "worker/cache/cache_tools.hpp"
#include "worker/cache/directories.hpp"

#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <tuple>

namespace sluice {

inline Digest test_key(int number) {
  return sha256("key " + std::to_string(number));
}

inline Completion test_answer(std::string text, std::int64_t created_at_ms = 1'700'000'000'000) {
  return {std::move(text), "stop", "model", {10, 20}, created_at_ms, {}};
}

inline Completion test_refusal(std::string words, std::int64_t created_at_ms = 1'700'000'000'000) {
  auto refusal = test_answer("", created_at_ms);
  refusal.non_answer = Error{Reason::refusal, std::move(words)};
  return refusal;
}

/// The ledger's pins, in memory.
class Pins {
 public:
  std::map<Digest, CachePin> pins;

  FindPins find() {
    return [this](std::span<const Digest> keys) {
      std::vector<std::optional<CachePin>> found;
      for (const auto& key : keys) {
        found.push_back(pins.contains(key) ? std::optional(pins.at(key)) : std::nullopt);
      }
      return found;
    };
  }
  MovePins move() {
    return [this](std::span<const CachePin> moved) {
      for (const auto& pin : moved) pins[pin.key] = pin;
      return Result<void>();
    };
  }
};

/// A home with caches, and what is done to it.
struct CassetteHome {
  support::TemporaryFolder folder;
  Pins ledger;

  AnswerCache cache(const std::string& name = "worker-0") const {
    auto opened = AnswerCache::open(folder.path() / "cache" / name);
    if (!opened) throw std::runtime_error(opened.error().message);
    return std::move(*opened);
  }

  Result<ExportedCassette> try_export(std::string& bytes, std::optional<UsedEntries> used = {}) {
    bytes.clear();
    return export_cassette({.home = folder.path(),
                            .pins = ledger.find(),
                            .used = std::move(used),
                            .write = [&](std::string_view piece) { bytes += piece; }});
  }

  /// The cassette's bytes.
  std::string exported(std::optional<UsedEntries> used = {}) {
    std::string bytes;
    const auto done = try_export(bytes, std::move(used));
    if (!done) throw std::runtime_error(done.error().message);
    if (done->bytes != bytes.size()) throw std::runtime_error("the length is not what was reported");
    return bytes;
  }

  Result<ImportedCassette> import(const std::string& bytes) {
    const auto file = folder.path() / "import.cassette";
    std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
    return import_cassette(
        {.home = folder.path(), .file = file, .pins = ledger.find(), .move_pins = ledger.move()});
  }

  /// All entries of one cache.
  std::map<std::tuple<EntryKind, Digest>, std::string> content(const std::string& name = "worker-0") const {
    std::map<std::tuple<EntryKind, Digest>, std::string> found;
    const auto opened = cache(name);
    for (const auto kind : every_entry_kind) {
      auto cursor = opened.entries(kind);
      while (cursor.next().value()) found[{kind, cursor.key()}] = cursor.bytes();
    }
    return found;
  }
};

}  // namespace sluice
