#include "worker/cache/answer_cache.hpp"
#include "worker/cache/cache_tools.hpp"
#include "worker/cache/cassette_format.hpp"
#include "worker/cache/cassette_writer.hpp"
#include "worker/cache/directories.hpp"

#include <algorithm>
#include <optional>
#include <utility>

namespace sluice {

namespace {

namespace fs = std::filesystem;
using cache_entry::Version;

/// Reads an entry of a cache whole. Error: cache_failed, naming directory and key.
Result<Version> checked(EntryKind kind, const AnswerCache& cache, const Digest& key, std::string_view bytes) {
  const auto rank = cache_entry::rank(kind, key, bytes);
  if (rank) return Version{*rank, std::string(bytes)};
  return fail(rank.error().reason, cache.directory().string() + ": " + rank.error().message +
                                       ", or remove it with `sluice cache prune`");
}

/// Walks over the keys of one kind in all caches at once.
class Merge {
 public:
  Merge(const std::vector<AnswerCache>& caches, EntryKind kind) : kind_(kind) {
    for (const auto& cache : caches) sources_.push_back({&cache, cache.entries(kind), true});
  }

  /// Goes to the next key of all; false at the end.
  Result<bool> next() {
    for (auto& source : sources_) {
      if (!source.stands || (key_ && source.cursor.key() != *key_)) continue;
      auto more = source.cursor.next();
      if (!more) return more;
      source.stands = *more;
    }
    key_.reset();
    for (const auto& source : sources_) {
      if (source.stands && (!key_ || source.cursor.key() < *key_)) key_ = source.cursor.key();
    }
    return key_.has_value();
  }
  const Digest& key() const { return *key_; }

  /// What the caches hold under the key.
  Result<std::vector<Version>> versions() const {
    std::vector<Version> found;
    for (const auto& source : sources_) {
      if (!source.stands || source.cursor.key() != *key_) continue;
      auto version = checked(kind_, *source.cache, *key_, source.cursor.bytes());
      if (!version) return fail(version.error());
      found.push_back(std::move(*version));
    }
    return found;
  }

 private:
  struct Source {
    const AnswerCache* cache;
    EntryCursor cursor;
    bool stands;  ///< At an entry; before the first `next` it only means that the end was not met.
  };
  EntryKind kind_;
  std::vector<Source> sources_;
  std::optional<Digest> key_;
};

bool differ(const std::vector<Version>& versions) {
  return std::ranges::any_of(
      versions, [&](const Version& version) { return version.rank.digest != versions.front().rank.digest; });
}

const Version* find(const std::vector<Version>& versions, const Digest& digest) {
  const Version* best = nullptr;
  for (const auto& version : versions) {
    if (version.rank.digest == digest && (!best || *best < version)) best = &version;
  }
  return best;
}

class Export {
 public:
  Export(const CassetteExport& options, const std::vector<AnswerCache>& caches)
      : options_(options), caches_(caches) {
    if (!options.used) return;
    found_.resize(options.used->answers.size());
    found_leased_.resize(options.used->leased.size());
  }

  Result<ExportedCassette> run() {
    report_.caches = caches_.size();
    const auto votes = any_votes();
    if (!votes) return fail(votes.error());
    writer_.emplace(options_.write, cassette::version_for(*votes));
    for (const auto kind : every_entry_kind) {
      if (auto done = export_kind(kind); !done) return fail(done.error());
    }
    if (auto complete = check_complete(); !complete) return fail(complete.error());
    const auto bytes = writer_->finish();
    if (!bytes) return fail(bytes.error());
    report_.bytes = *bytes;
    return report_;
  }

 private:
  Result<bool> any_votes() const {
    if (options_.used) {
      return std::ranges::any_of(options_.used->leased,
                                 [](const EntryKey& key) { return key.kind == EntryKind::vote; });
    }
    for (const auto& cache : caches_) {
      const auto first = cache.entries(EntryKind::vote).next();
      if (!first || *first) return first;
    }
    return false;
  }

  Result<void> export_kind(EntryKind kind) {
    Merge merge(caches_, kind);
    while (true) {
      const auto more = merge.next();
      if (!more) return fail(more.error());
      if (!*more) return {};
      if (is_leased(kind) && !take_leased({kind, merge.key()})) continue;
      const bool by_use = !is_leased(kind) && options_.used;
      const auto use = by_use ? find_use(merge.key()) : std::nullopt;
      if (by_use && !use) continue;
      const auto versions = merge.versions();
      if (!versions) return fail(versions.error());
      const auto chosen =
          use ? Result<const Version*>(take_used(*use, *versions)) : choose(kind, merge.key(), *versions);
      if (!chosen) return fail(chosen.error());
      const bool conflict = differ(*versions) || !*chosen;
      report_.conflicts += conflict ? 1 : 0;
      if (!*chosen) continue;
      if (auto added = writer_->add(kind, merge.key(), (*chosen)->bytes); !added) return added;
      ++count_of(report_, kind);
    }
  }

  /// Whether it goes in.
  bool take_leased(const EntryKey& key) {
    if (!options_.used) return true;
    const auto& leased = options_.used->leased;
    const auto position = std::ranges::lower_bound(leased, key);
    if (position == leased.end() || *position != key) return false;
    found_leased_[static_cast<std::size_t>(position - leased.begin())] = true;
    return true;
  }

  /// Where the options name the key; nothing if they do not.
  std::optional<std::size_t> find_use(const Digest& key) const {
    const auto& used = options_.used->answers;
    const auto position = std::ranges::lower_bound(used, key, {}, &UsedAnswer::key);
    if (position == used.end() || position->key != key) return std::nullopt;
    return static_cast<std::size_t>(position - used.begin());
  }

  /// The very answer that was used; null if it is not among these.
  const Version* take_used(std::size_t use, const std::vector<Version>& versions) {
    const auto* used = find(versions, options_.used->answers[use].answer);
    if (used) found_[use] = true;
    return used;
  }

  /// The version that goes in; null if none does.
  Result<const Version*> choose(EntryKind kind, const Digest& key, const std::vector<Version>& versions) {
    const Version* greatest = &*std::ranges::max_element(versions);
    if (is_leased(kind)) return greatest;  // It is never pinned.
    const auto others =
        versions_elsewhere(kind == EntryKind::answer ? EntryKind::outcome : EntryKind::answer, key);
    if (!others) return fail(others.error());
    if (others->empty() && !differ(versions)) return greatest;
    const auto pins = options_.pins({&key, 1});
    if (!pins) return fail(pins.error());
    if (!pins->front()) return greatest;
    if (const auto* pinned = find(versions, pins->front()->answer)) return pinned;
    const auto* pinned = find(*others, pins->front()->answer);
    if (!pinned) return greatest;
    // The pinned one is of the other kind: a greater one of this kind would take its place at the import.
    greatest = nullptr;
    for (const auto& version : versions) {
      if (version < *pinned && (!greatest || *greatest < version)) greatest = &version;
    }
    return greatest;
  }

  Result<std::vector<Version>> versions_elsewhere(EntryKind kind, const Digest& key) const {
    std::vector<Version> found;
    for (const auto& cache : caches_) {
      const auto bytes = cache.get_entry(kind, key);
      if (!bytes) return fail(bytes.error());
      if (!*bytes) continue;
      auto version = checked(kind, cache, key, **bytes);
      if (!version) return fail(version.error());
      found.push_back(std::move(*version));
    }
    return found;
  }

  Result<void> check_complete() const {
    if (const auto first = std::ranges::find(found_, false); first != found_.end()) {
      const auto& missing = options_.used->answers[static_cast<std::size_t>(first - found_.begin())];
      return fail(missing_entries(found_, "answers", missing.key));
    }
    if (const auto first = std::ranges::find(found_leased_, false); first != found_leased_.end()) {
      const auto& missing = options_.used->leased[static_cast<std::size_t>(first - found_leased_.begin())];
      return fail(missing_entries(found_leased_, "embeddings and votes", missing.digest));
    }
    return {};
  }

  Error missing_entries(const std::vector<bool>& found, std::string_view what, const Digest& first) const {
    return {Reason::cache_miss,
            std::to_string(std::ranges::count(found, false)) + " of the " + std::to_string(found.size()) +
                " " + std::string(what) + " that the run used are in no cache of " +
                (options_.home / "cache").string() + " (the first has the key " + to_hex(first) +
                "): they were replaced by later ones, made up (mock), or are on another machine; "
                "name a later run, or export where they are"};
  }

  const CassetteExport& options_;
  const std::vector<AnswerCache>& caches_;
  std::optional<CassetteWriter> writer_;
  ExportedCassette report_;
  std::vector<bool> found_;         ///< For each answer that was used...
  std::vector<bool> found_leased_;  ///< ...and for each embedding and vote.
};

}  // namespace

Result<std::vector<AnswerCache>> open_to_export(const fs::path& home) {
  const auto directories = list_caches(home);
  if (!directories) return fail(directories.error());
  std::vector<AnswerCache> caches;
  for (const auto& dir : *directories) {
    auto cache = AnswerCache::open_read_only(dir);
    if (cache) {
      caches.push_back(std::move(*cache));
    } else if (cache.error().reason == Reason::cache_in_use) {
      return fail(Reason::cache_in_use, "the cache " + dir.string() +
                                            " is in use by another process; wait for its end, or end it, and "
                                            "export then");
    } else {
      return fail(cache.error());
    }
  }
  if (caches.empty()) {
    return fail(Reason::cache_failed, "there is no cache in " + (home / "cache").string() +
                                          " to export; fill one with `sluice run --mode live`");
  }
  return caches;
}

Result<ExportedCassette> export_cassette(const CassetteExport& options) {
  const auto caches = open_to_export(options.home);
  if (!caches) return fail(caches.error());
  return Export(options, *caches).run();
}

}  // namespace sluice
