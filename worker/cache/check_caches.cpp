#include "common/files.hpp"
#include "worker/cache/answer_cache.hpp"
#include "worker/cache/cache_tools.hpp"
#include "worker/cache/cassette_reader.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>

namespace sluice {

namespace {

namespace fs = std::filesystem;

/// What a cache's directory may hold beside the database.
bool is_ours(const fs::path& path) {
  const auto name = path.filename();
  return name == "ID" || name == "ID.new" || name == "LOCK.sluice" || name == "db";
}

Error cannot_look_at(const fs::path& path, const std::string& why) {
  return {Reason::file_unreadable,
          "cannot look at " + path.string() + ": " + why + "; check the permissions of SLUICE_HOME"};
}

/// All files can be opened: what else is wrong with them is damage.
Result<void> check_access(const fs::path& dir) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(dir, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unknown;
    const bool is_file = entry->is_regular_file(unknown);
    if (!is_file && !unknown) continue;
    const FileDescriptor opened(::open(entry->path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!opened.is_open()) return fail(cannot_look_at(entry->path(), unreadable_file(errno).message));
  }
  if (error) return fail(cannot_look_at(dir, error.message()));
  return {};
}

class CacheCheck {
 public:
  CacheCheck(fs::path dir, CheckedCaches& checked) : dir_(std::move(dir)), checked_(checked) {}

  /// Error: what keeps it from being looked at.
  Result<void> run() {
    std::error_code none;
    if (!fs::exists(dir_ / "ID", none) && !fs::exists(dir_ / "db", none)) {
      note("it is no cache", /*is_foreign=*/true);
      return {};
    }
    if (auto access = check_access(dir_); !access) return access;
    ++checked_.caches;
    for (const fs::path& path : paths_in(dir_)) {
      if (!is_ours(path)) checked_.damage.push_back({path, "it is no file of a cache", true});
    }
    auto cache = AnswerCache::open_to_check(dir_);
    if (!cache) {
      if (cache.error().reason != Reason::cache_in_use) return note_damage(cache.error());
      checked_.in_use.push_back(dir_);
      return {};
    }
    checked_.ids.push_back(cache->id());
    const auto sound = cache->verify_files();
    is_unreadable_ = !sound;
    auto looked = sound ? Result<void>() : note_damage(sound.error());
    for (const auto kind : every_entry_kind) {
      if (looked) looked = check(*cache, kind);
    }
    return looked;
  }

 private:
  void note(std::string what, bool is_foreign = false) {
    checked_.damage.push_back({dir_, std::move(what), is_foreign});
  }

  /// An error that is none of the cache's own is one of the check.
  Result<void> note_damage(const Error& error) {
    if (error.reason != Reason::cache_failed) return fail(error.reason, dir_.string() + ": " + error.message);
    note(error.message);
    return {};
  }

  Result<void> check(const AnswerCache& cache, EntryKind kind) {
    std::uint64_t damaged = 0;
    auto cursor = cache.entries(kind);
    while (true) {
      const auto more = cursor.next();
      if (!more) {
        if (is_unreadable_) break;  // That was said of its files.
        if (auto noted = note_damage(more.error()); !noted) return noted;
        break;
      }
      if (!*more) break;
      ++(cache_entry::rank(kind, cursor.key(), cursor.bytes()) ? checked_.entries : damaged);
    }
    if (damaged > 0)
      note(std::to_string(damaged) + (damaged == 1 ? " entry whose checksum or form does not fit"
                                                   : " entries whose checksums or forms do not fit"));
    return {};
  }

  fs::path dir_;
  CheckedCaches& checked_;
  bool is_unreadable_ = false;  ///< In some place.
};

}  // namespace

Result<CheckedCaches> check_caches(const fs::path& home) {
  CheckedCaches checked;
  const auto folder = home / "cache";
  std::error_code error;
  if (const fs::directory_iterator readable(folder, error);
      error && error != std::errc::no_such_file_or_directory) {
    return fail(Reason::cache_failed, "cannot read the folder " + folder.string() + ": " + error.message());
  }
  for (const fs::path& path : paths_in(folder)) {
    std::error_code none;
    if (fs::is_directory(path, none)) {
      if (auto looked = CacheCheck(path, checked).run(); !looked) return fail(looked.error());
    } else {
      checked.damage.push_back({path, "it is no cache", true});
    }
  }
  return checked;
}

Result<void> check_cassette(const fs::path& file) {
  auto cassette = CassetteReader::open(file);
  return cassette ? cassette->verify() : fail(cassette.error());
}

}  // namespace sluice
