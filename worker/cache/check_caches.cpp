#include "worker/cache/answer_cache.hpp"
#include "worker/cache/cache_tools.hpp"
#include "worker/cache/cassette_reader.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace sluice {

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> paths_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    found.push_back(entry->path());
  std::ranges::sort(found);
  return found;
}

/// What a cache's directory may hold beside the database.
bool is_ours(const fs::path& path) {
  const auto name = path.filename();
  return name == "ID" || name == "ID.new" || name == "LOCK.sluice" || name == "db";
}

class CacheCheck {
 public:
  CacheCheck(fs::path dir, CheckedCaches& checked) : dir_(std::move(dir)), checked_(checked) {}

  void run() {
    std::error_code none;
    if (!fs::exists(dir_ / "ID", none) && !fs::exists(dir_ / "db", none))
      return note("it is no cache", /*is_foreign=*/true);
    ++checked_.caches;
    for (const fs::path& path : paths_in(dir_)) {
      if (!is_ours(path)) checked_.damage.push_back({path, "it is no file of a cache", true});
    }
    auto cache = AnswerCache::open_to_check(dir_);
    if (!cache) {
      if (cache.error().reason == Reason::cache_in_use) return checked_.in_use.push_back(dir_);
      return note(cache.error().message);
    }
    if (auto sound = cache->verify_files(); !sound) note(sound.error().message);
    for (const auto kind : every_entry_kind) check(*cache, kind);
  }

 private:
  void note(std::string what, bool is_foreign = false) {
    checked_.damage.push_back({dir_, std::move(what), is_foreign});
  }

  void check(const AnswerCache& cache, EntryKind kind) {
    std::uint64_t damaged = 0;
    auto cursor = cache.entries(kind);
    while (true) {
      const auto more = cursor.next();
      if (!more) {
        note(more.error().message);
        break;
      }
      if (!*more) break;
      ++(cache_entry::rank(kind, cursor.key(), cursor.bytes()) ? checked_.entries : damaged);
    }
    if (damaged > 0)
      note(std::to_string(damaged) + (damaged == 1 ? " entry whose checksum or form does not fit"
                                                   : " entries whose checksums or forms do not fit"));
  }

  fs::path dir_;
  CheckedCaches& checked_;
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
      CacheCheck(path, checked).run();
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
