#include "worker/cache/answer_cache.hpp"
#include "worker/cache/cache_tools.hpp"
#include "worker/cache/directories.hpp"
#include "worker/defaults.hpp"

#include <utility>

namespace sluice {

namespace {

namespace fs = std::filesystem;

class Prune {
 public:
  explicit Prune(const CachePrune& options) : options_(options) {}

  Result<PrunedCaches> run() {
    const auto directories = list_caches(options_.home);
    if (!directories) return fail(directories.error());
    if (auto opened = open(*directories); !opened) return fail(opened.error());
    for (const auto& dir : *directories) report_.bytes_before += bytes_in(dir);
    report_.caches = caches_.size();
    // What is pinned is known before those are met that stay for it.
    for (const auto kind : every_entry_kind) {
      for (auto& cache : caches_) {
        if (auto done = prune_kind(cache, kind); !done) return fail(done.error());
      }
    }
    if (auto done = compact(); !done) return fail(done.error());
    caches_.clear();  // Closing them removes the files that are no longer needed.
    for (const auto& dir : *directories) report_.bytes_after += bytes_in(dir);
    return report_;
  }

 private:
  struct Candidate {
    Digest key{};
    Digest digest{};
    bool is_old = false;
  };

  /// All or none: what is in use, or cannot be read to its end, is reported before anything is removed.
  Result<void> open(const std::vector<fs::path>& directories) {
    for (const auto& dir : directories) {
      auto cache = options_.dry_run ? AnswerCache::open_read_only(dir) : AnswerCache::open(dir);
      if (cache) {
        if (auto sound = cache->verify_files(); !sound) return sound;
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

  Result<void> compact() {
    const auto removed =
        report_.answers + report_.outcomes + report_.embeddings + report_.votes + report_.damaged;
    if (options_.dry_run || removed == 0) return {};
    for (auto& cache : caches_) {
      if (auto done = cache.compact(); !done) return done;
    }
    return {};
  }

  Result<void> prune_kind(AnswerCache& cache, EntryKind kind) {
    auto cursor = cache.entries(kind);
    std::vector<Candidate> batch;
    while (true) {
      const auto more = cursor.next();
      if (!more) return fail(more.error());
      if (!*more) return remove_old(cache, kind, batch);
      const auto rank = cache_entry::rank(kind, cursor.key(), cursor.bytes());
      if (!rank) {
        if (auto done = remove(cache, kind, cursor.key(), report_.damaged); !done) return done;
      } else if (const bool is_old = rank->created_at_ms < options_.created_before_ms;
                 is_old || !any_pinned_) {
        batch.push_back({cursor.key(), rank->digest, is_old});
      }
      if (batch.size() < defaults::pins_per_batch) continue;
      if (auto done = remove_old(cache, kind, batch); !done) return done;
    }
  }

  Result<void> remove_old(AnswerCache& cache, EntryKind kind, std::vector<Candidate>& batch) {
    const auto pinned = which_are_pinned(kind, batch);
    if (!pinned) return fail(pinned.error());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      any_pinned_ = any_pinned_ || (*pinned)[i];
      if (!batch[i].is_old) continue;
      if ((*pinned)[i]) {
        ++report_.spared;
      } else if (auto done = remove(cache, kind, batch[i].key, count_of(report_, kind)); !done) {
        return done;
      }
    }
    batch.clear();
    return {};
  }

  Result<std::vector<bool>> which_are_pinned(EntryKind kind, const std::vector<Candidate>& batch) const {
    std::vector<bool> pinned(batch.size(), false);
    if (options_.pinned_too) return pinned;
    // Which embeddings the pinned answers are compared by, and which votes were given on them, is not
    // recorded.
    if (is_leased(kind)) return std::vector<bool>(batch.size(), any_pinned_);
    std::vector<Digest> keys;
    for (const auto& candidate : batch) keys.push_back(candidate.key);
    const auto pins = options_.pins(keys);
    if (!pins) return fail(pins.error());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      pinned[i] = (*pins)[i] && (*pins)[i]->answer == batch[i].digest;
    }
    return pinned;
  }

  Result<void> remove(AnswerCache& cache, EntryKind kind, const Digest& key, std::uint64_t& count) {
    ++count;
    return options_.dry_run ? Result<void>() : cache.erase_entry(kind, key);
  }

  const CachePrune& options_;
  std::vector<AnswerCache> caches_;
  PrunedCaches report_;
  bool any_pinned_ = false;  ///< Of the answers and outcomes: one that the ledger pins.
};

}  // namespace

Result<PrunedCaches> prune_caches(const CachePrune& options) {
  return Prune(options).run();
}

}  // namespace sluice
