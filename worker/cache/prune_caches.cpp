#include "worker/cache/answer_cache.hpp"
#include "worker/cache/cache_tools.hpp"
#include "worker/cache/slots.hpp"

#include <array>
#include <utility>

namespace sluice {

namespace {

namespace fs = std::filesystem;

/// Pins are looked up for so many entries at once.
constexpr std::size_t entries_per_batch = 512;

class Prune {
 public:
  explicit Prune(const CachePrune& wish) : wish_(wish) {}

  Result<PrunedCaches> run() {
    const auto directories = list_caches(wish_.home);
    if (!directories) return fail(directories.error());
    if (auto opened = open(*directories); !opened) return fail(opened.error());
    for (const auto& dir : *directories) report_.bytes_before += bytes_in(dir);
    report_.caches = caches_.size();
    for (auto& cache : caches_) {
      if (auto done = prune(cache); !done) return fail(done.error());
    }
    caches_.clear();  // Closing them removes the files that are no longer needed.
    for (const auto& dir : *directories) report_.bytes_after += bytes_in(dir);
    return report_;
  }

 private:
  struct Old {
    Digest key{};
    Digest digest{};
  };

  /// All or none: what is in use is told before anything is removed.
  Result<void> open(const std::vector<fs::path>& directories) {
    for (const auto& dir : directories) {
      auto cache = wish_.dry_run ? AnswerCache::open_read_only(dir) : AnswerCache::open(dir);
      if (cache) {
        caches_.push_back(std::move(*cache));
      } else if (cache.error().reason == Reason::cache_in_use) {
        return fail(Reason::cache_in_use, "the cache " + dir.string() +
                                              " is in use by another process; wait for its end, or end it, "
                                              "and prune then");
      } else {
        return fail(cache.error());
      }
    }
    return {};
  }

  Result<void> prune(AnswerCache& cache) {
    const auto before = removed_;
    for (const auto& [kind, count] :
         {std::pair{EntryKind::answer, &report_.answers}, std::pair{EntryKind::outcome, &report_.outcomes},
          std::pair{EntryKind::embedding, &report_.embeddings}}) {
      if (auto done = prune_kind(cache, kind, *count); !done) return done;
    }
    return wish_.dry_run || removed_ == before ? Result<void>() : cache.compact();
  }

  Result<void> prune_kind(AnswerCache& cache, EntryKind kind, std::uint64_t& count) {
    auto cursor = cache.entries(kind);
    std::vector<Old> batch;
    while (true) {
      const auto more = cursor.next();
      if (!more) return fail(more.error());
      if (!*more) return remove_batch(cache, kind, batch, count);
      const auto rank = cache_entry::rank(kind, cursor.key(), cursor.bytes());
      if (!rank) {
        if (auto done = remove(cache, kind, cursor.key(), report_.damaged); !done) return done;
      } else if (rank->created_at_ms < wish_.created_before_ms) {
        batch.push_back({cursor.key(), rank->digest});
      }
      if (batch.size() < entries_per_batch) continue;
      if (auto done = remove_batch(cache, kind, batch, count); !done) return done;
    }
  }

  Result<void> remove_batch(AnswerCache& cache, EntryKind kind, std::vector<Old>& batch,
                            std::uint64_t& count) {
    std::vector<Digest> keys;
    for (const auto& old : batch) keys.push_back(old.key);
    Result<std::vector<std::optional<CachePin>>> pins(std::vector<std::optional<CachePin>>(keys.size()));
    if (kind != EntryKind::embedding && !wish_.pinned_too) pins = wish_.pins(keys);
    if (!pins) return fail(pins.error());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if ((*pins)[i] && (*pins)[i]->answer == batch[i].digest) {
        ++report_.spared;
      } else if (auto done = remove(cache, kind, batch[i].key, count); !done) {
        return done;
      }
    }
    batch.clear();
    return {};
  }

  Result<void> remove(AnswerCache& cache, EntryKind kind, const Digest& key, std::uint64_t& count) {
    ++count;
    ++removed_;
    return wish_.dry_run ? Result<void>() : cache.erase_entry(kind, key);
  }

  const CachePrune& wish_;
  std::vector<AnswerCache> caches_;
  PrunedCaches report_;
  std::uint64_t removed_ = 0;
};

}  // namespace

Result<PrunedCaches> prune_caches(const CachePrune& wish) {
  return Prune(wish).run();
}

}  // namespace sluice
