#include "common/disk.hpp"
#include "common/leading_bits.hpp"
#include "common/next_readable.hpp"
#include "worker/cache/answer_cache.hpp"
#include "worker/cache/cache_tools.hpp"
#include "worker/cache/directory_lock.hpp"

#include <limits>
#include <system_error>

namespace sluice {

namespace {

namespace fs = std::filesystem;

Error cannot_rebuild(const fs::path& dir, const std::string& why) {
  return {Reason::cache_failed, "cannot rebuild the cache " + dir.string() + ": " + why +
                                    "; it stays as it is. Check the space and the permissions of its folder"};
}

/// A copy of the database for RocksDB to repair: tables never change, and are linked. Throws what keeps a
/// file from being copied: without it entries would be lost that are not damaged.
void copy_database(const fs::path& from, const fs::path& to) {
  fs::create_directories(to);
  if (!fs::exists(from)) return;
  for (const auto& entry : fs::directory_iterator(from)) {
    if (!entry.is_regular_file()) continue;
    const auto target = to / entry.path().filename();
    std::error_code linked;
    if (entry.path().extension() == ".sst") fs::create_hard_link(entry.path(), target, linked);
    if (entry.path().extension() != ".sst" || linked) fs::copy_file(entry.path(), target);
  }
}

/// Of the errors of what is opened to be salvaged.
bool is_damage(const Error& error) {
  return error.reason == Reason::cache_failed;
}

/// Puts an entry that verifies into the other cache, unless a later one is there.
Result<void> copy_entry(EntryKind kind, const EntryCursor& from, AnswerCache& to, RebuiltCache& done) {
  const auto rank = cache_entry::rank(kind, from.key(), from.bytes());
  if (!rank) {
    ++done.left_out;
    return {};
  }
  const auto there = to.get_entry(kind, from.key());
  if (!there) return fail(there.error());
  if (*there) {
    const auto present = cache_entry::rank(kind, from.key(), **there);
    if (present && *present >= *rank) return {};
  } else {
    ++done.kept;
  }
  return to.put_entry(kind, from.key(), from.bytes());
}

/// Copies all entries that can be read, past the places where they cannot.
Result<void> copy_entries(EntryKind kind, EntryCursor& cursor, AnswerCache& to, RebuiltCache& done) {
  constexpr auto last = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t next = 0;
  while (true) {
    auto more = cursor.next();
    if (!more) {
      ++done.places;
      Error met = more.error();
      const auto readable = [&](std::uint64_t place) {
        if (!is_damage(met)) return false;
        cursor.seek(place);
        const auto there = cursor.next();
        if (!there) met = there.error();
        return there.has_value();
      };
      const auto place = next_readable(next, last, readable);
      if (!is_damage(met)) return fail(met);
      if (!place) return {};
      cursor.seek(next = *place);
      continue;
    }
    if (!*more) return {};
    next = leading_bits(cursor.key());
    if (next < last) ++next;
    if (auto copied = copy_entry(kind, cursor, to, done); !copied) return copied;
  }
}

/// RocksDB gives up a whole table for a block that is damaged, and puts it here.
Result<void> copy_given_up(const fs::path& folder, AnswerCache& to, RebuiltCache& done) {
  std::error_code error;
  for (fs::directory_iterator file(folder, error), end; !error && file != end; file.increment(error)) {
    if (file->path().extension() != ".sst") continue;
    auto table = AnswerCache::entries_of_table(file->path());
    if (!table) {
      if (!is_damage(table.error())) return fail(table.error());
      ++done.places;
    } else if (auto copied = copy_entries(table->kind, table->entries, to, done); !copied) {
      return copied;
    }
  }
  return {};
}

/// Makes the cache in `draft` of what can be read of `dir`.
Result<RebuiltCache> fill(const fs::path& dir, const fs::path& draft, const fs::path& copy) {
  fs::create_directories(draft);
  // Whoever knows where an answer is knows it by this.
  if (fs::exists(dir / "ID")) fs::copy_file(dir / "ID", draft / "ID");
  auto to = AnswerCache::open(draft);
  if (!to) return fail(to.error());
  RebuiltCache done;
  fs::create_directories(copy);
  copy_database(dir / "db", copy / "db");
  const auto from = AnswerCache::open_to_salvage(copy);
  if (!from && !is_damage(from.error())) return fail(cannot_rebuild(dir, from.error().message));
  if (!from) ++done.places;
  for (const auto kind : every_entry_kind) {
    if (!from) break;
    auto entries = from->entries(kind);
    if (auto copied = copy_entries(kind, entries, *to, done); !copied)
      return fail(cannot_rebuild(dir, copied.error().message));
  }
  if (auto copied = copy_given_up(copy / "db" / "lost", *to, done); !copied)
    return fail(cannot_rebuild(dir, copied.error().message));
  if (auto compacted = to->compact(); !compacted) return fail(compacted.error());
  return done;
}

bool sync_all(const fs::path& folder) {
  bool synced = sync_to_disk(folder);
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    synced = sync_to_disk(entry->path()) && synced;
  return synced && !error;
}

/// `draft` takes the place of `dir`, which is then at `aside`.
bool put_in_place(const fs::path& dir, const fs::path& draft, const fs::path& aside) {
  std::error_code error;
  if (exchange_paths(draft, dir)) {
    fs::rename(draft, aside, error);
    return true;  // Under whichever name, the old one is kept.
  }
  fs::rename(dir, aside, error);
  if (error) return false;
  fs::rename(draft, dir, error);
  if (!error) return true;
  fs::rename(aside, dir, error);
  return false;
}

}  // namespace

Result<RebuiltCache> rebuild_cache(const CacheRebuild& options) {
  const auto& [dir, aside] = options;
  const fs::path draft = aside.string() + ".draft";
  const fs::path copy = aside.string() + ".copy";
  try {
    const auto lock = DirectoryLock::take(dir, DirectoryLock::Kind::exclusive);
    if (!lock) return fail(lock.error());
    fs::remove_all(draft);
    fs::remove_all(copy);
    auto done = fill(dir, draft, copy);
    std::error_code none;
    fs::remove_all(copy, none);
    if (done && !sync_all(draft))
      done = fail(cannot_rebuild(dir, "the new one cannot be written to the disk"));
    if (done && !put_in_place(dir, draft, aside))
      done = fail(cannot_rebuild(dir, "the new one cannot take its place"));
    if (!done) fs::remove_all(draft, none);
    sync_to_disk(dir.parent_path());
    sync_to_disk(aside.parent_path());
    return done;
  } catch (const std::exception& error) {
    return fail(cannot_rebuild(dir, error.what()));
  }
}

}  // namespace sluice
