#include "worker/cache/import_cassette.hpp"

#include "worker/cache/cache_tools.hpp"
#include "worker/cache/directories.hpp"
#include "worker/defaults.hpp"

#include <algorithm>
#include <utility>

namespace sluice {

namespace {

using cache_entry::Rank;
using cache_entry::Version;

class Import {
 public:
  Import(const CassetteImport& options, AnswerCache& cache, const std::vector<AnswerCache>& others)
      : options_(options), cache_(cache), others_(others) {}

  Result<ImportedCassette> run(CassetteReader& cassette) {
    report_.cache = cache_.directory();
    auto visited = cassette.visit([this](const CassetteEntry& entry) { return take(entry); });
    if (!visited) return fail(visited.error());
    if (auto pinned = pin_batch(); !pinned) return fail(pinned.error());
    return report_;
  }

 private:
  Result<void> take(const CassetteEntry& entry) {
    ++report_.entries;
    const auto stored = cache_.get_entry(entry.kind, entry.key);
    if (!stored) return fail(stored.error());
    if (is_to_be_stored(entry, *stored)) {
      if (auto put = cache_.put_entry(entry.kind, entry.key, entry.bytes); !put) return put;
    }
    if (is_leased(entry.kind)) return {};  // It is never pinned.
    batch_.push_back(entry.key);
    return batch_.size() < defaults::pins_per_batch ? Result<void>() : pin_batch();
  }

  bool is_to_be_stored(const CassetteEntry& entry, const std::optional<std::string>& stored) {
    if (!stored) {
      ++report_.added;
      return true;
    }
    const auto rank = cache_entry::rank(entry.kind, entry.key, *stored);
    if (!rank) {
      ++report_.mended;
      return true;
    }
    const bool wins = Version{*rank, *stored} < Version{entry.rank, std::string(entry.bytes)};
    ++(rank->digest == entry.rank.digest ? report_.already_there : wins ? report_.replaced : report_.kept);
    return wins;
  }

  /// Pins the greatest of what this cache now holds under each key, unless the pinned one, in another cache
  /// of the home, is greater still.
  Result<void> pin_batch() {
    const auto present = options_.pins(batch_);
    if (!present) return fail(present.error());
    std::vector<CachePin> moved;
    for (std::size_t i = 0; i < batch_.size(); ++i) {
      const auto& key = batch_[i];
      const auto here = greatest(cache_, key, std::nullopt);
      if (!here) continue;  // Damaged: it cannot be handed out, and is found again when it is read.
      if (const auto& pin = (*present)[i]) {
        if (pin->answer == here->digest && pin->holder == cache_.id()) continue;
        if (is_greater_elsewhere(*pin, *here)) continue;
      }
      moved.push_back({key, here->digest, cache_.id()});
    }
    batch_.clear();
    return moved.empty() ? Result<void>() : options_.move_pins(moved);
  }

  bool is_greater_elsewhere(const CachePin& pin, const Rank& here) const {
    return std::ranges::any_of(others_, [&](const AnswerCache& other) {
      const auto pinned = greatest(other, pin.key, pin.answer);
      return pinned && here < *pinned;
    });
  }

  /// Of the answer and the outcome under the key, or the one with that digest.
  static std::optional<Rank> greatest(const AnswerCache& cache, const Digest& key,
                                      const std::optional<Digest>& digest) {
    std::optional<Rank> best;
    for (const auto kind : {EntryKind::answer, EntryKind::outcome}) {
      const auto bytes = cache.get_entry(kind, key);
      if (!bytes || !*bytes) continue;
      const auto rank = cache_entry::rank(kind, key, **bytes);
      if (rank && (!digest || rank->digest == *digest) && (!best || *best < *rank)) best = *rank;
    }
    return best;
  }

  const CassetteImport& options_;
  AnswerCache& cache_;
  const std::vector<AnswerCache>& others_;
  ImportedCassette report_;
  std::vector<Digest> batch_;
};

/// The other caches of the home. Errors: cache_in_use, and what else keeps one from being opened, since a
/// later answer of such a cache could not be seen, and the imported one would be pinned in its place.
Result<std::vector<AnswerCache>> open_all_others(const std::filesystem::path& home,
                                                 const std::filesystem::path& own) {
  auto others = open_others_read_only(home, own);
  if (!others.in_use.empty()) {
    return fail(Reason::cache_in_use, "the cache " + others.in_use.front().string() +
                                          " is in use by another process; wait for its end, or end it, and "
                                          "import then");
  }
  if (others.problems.empty()) return std::move(others.opened);
  const Error& first = others.problems.front();
  return fail(first.reason,
              first.message +
                  "; nothing was imported, since it may hold later answers: `sluice doctor` says "
                  "what can be repaired; or move its folder out of the home, and import then");
}

}  // namespace

Result<ImportedCassette> merge_cassette(CassetteReader& cassette, AnswerCache& cache,
                                        const std::vector<AnswerCache>& others,
                                        const CassetteImport& options) {
  return Import(options, cache, others).run(cassette);
}

Result<ImportedCassette> import_cassette(const CassetteImport& options) {
  auto cassette = CassetteReader::open(options.file);
  if (!cassette) return fail(cassette.error());
  if (auto sound = cassette->verify(); !sound) return fail(sound.error());
  // A ledger that does not work is reported before anything is written.
  if (auto works = options.pins({}); !works) return fail(works.error());
  // So is a cache in use: else the next free one would be made already.
  if (auto free = open_all_others(options.home, {}); !free) return fail(free.error());
  auto cache = open_worker_cache(options.home, std::nullopt);
  if (!cache) return fail(cache.error());
  const auto others = open_all_others(options.home, cache->directory());
  if (!others) return fail(others.error());
  return merge_cassette(*cassette, *cache, *others, options);
}

}  // namespace sluice
