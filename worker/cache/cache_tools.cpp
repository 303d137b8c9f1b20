#include "worker/cache/cache_tools.hpp"

#include "worker/cache/answer_cache.hpp"
#include "worker/cache/directories.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace sluice {

namespace {

namespace fs = std::filesystem;

void count(CacheFacts& facts, EntryKind kind, std::int64_t created_at_ms) {
  ++count_of(facts, kind);
  facts.oldest_ms = std::min(facts.oldest_ms.value_or(created_at_ms), created_at_ms);
  facts.newest_ms = std::max(facts.newest_ms.value_or(created_at_ms), created_at_ms);
}

Result<void> count_entries(const AnswerCache& cache, CacheFacts& facts) {
  for (const auto kind : every_entry_kind) {
    auto cursor = cache.entries(kind);
    while (true) {
      const auto more = cursor.next();
      if (!more) return fail(more.error());
      if (!*more) break;
      if (const auto rank = cache_entry::rank(kind, cursor.key(), cursor.bytes())) {
        count(facts, kind, rank->created_at_ms);
      } else {
        ++facts.damaged;
      }
    }
  }
  return {};
}

CacheFacts facts_of(const fs::path& dir) {
  CacheFacts facts;
  facts.directory = dir;
  facts.bytes = bytes_in(dir);
  const auto cache = AnswerCache::open_read_only(dir);
  if (!cache) {
    facts.in_use = cache.error().reason == Reason::cache_in_use;
    if (!facts.in_use) facts.problem = cache.error();
    return facts;
  }
  if (auto counted = count_entries(*cache, facts); !counted) {
    CacheFacts broken;
    broken.directory = dir;
    broken.bytes = facts.bytes;
    broken.problem = counted.error();
    return broken;
  }
  return facts;
}

/// Whether an answer or a non-answer is the newest entry of the key that verifies.
Result<std::optional<EntryKind>> newest_kind(const std::vector<AnswerCache>& caches, const Digest& key) {
  std::optional<EntryKind> kind;
  cache_entry::Rank newest;
  for (const AnswerCache& cache : caches) {
    for (const EntryKind one : {EntryKind::answer, EntryKind::outcome}) {
      const auto entry = cache.get_entry(one, key);
      if (!entry) return fail(entry.error());
      if (!*entry) continue;
      const auto rank = cache_entry::rank(one, key, **entry);
      if (!rank || (kind && *rank < newest)) continue;
      kind = one;
      newest = *rank;
    }
  }
  return kind;
}

}  // namespace

std::uint64_t bytes_in(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code none;
    const auto size = entry->is_regular_file(none) ? entry->file_size(none) : 0;
    if (!none) bytes += size;
  }
  return bytes;
}

Result<std::vector<std::optional<Completion>>> read_answers(const fs::path& home,
                                                            std::span<const UsedAnswer> wanted) {
  std::vector<std::optional<Completion>> answers(wanted.size());
  const auto caches = open_others_read_only(home, {});
  for (const AnswerCache& cache : caches.opened) {
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (answers[i]) continue;
      for (auto found : {cache.get(wanted[i].key), cache.get_outcome(wanted[i].key)}) {
        if (!found) return fail(found.error());
        if (*found && answer_digest(**found) == wanted[i].answer) answers[i] = std::move(*found);
      }
    }
  }
  return answers;
}

Result<std::vector<CacheFacts>> cache_stats(const fs::path& home) {
  const auto directories = list_caches(home);
  if (!directories) return fail(directories.error());
  std::vector<CacheFacts> all;
  for (const auto& dir : *directories) all.push_back(facts_of(dir));
  return all;
}

Result<HeldAnswers> find_answers(const FindAnswers& wanted) {
  HeldAnswers found;
  found.held.resize(wanted.keys.size());
  auto caches = open_others_read_only(wanted.home, {});
  if (!caches.problems.empty()) return fail(std::move(caches.problems.front()));
  found.in_use = std::move(caches.in_use);
  for (std::size_t i = 0; i < wanted.keys.size(); ++i) {
    const auto newest = newest_kind(caches.opened, wanted.keys[i]);
    if (!newest) return fail(newest.error());
    found.held[i] = *newest == EntryKind::answer || (*newest == EntryKind::outcome && wanted.with_outcomes);
  }
  return found;
}

}  // namespace sluice
