#include "worker/cache/directories.hpp"

#include "common/files.hpp"
#include "worker/defaults.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

namespace sluice {

namespace {

namespace fs = std::filesystem;

bool is_folder_name(const std::string& name) {
  const bool plain = name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
  return plain && !name.empty() && name.size() <= 255 && name != "." && name != "..";
}

/// The directories in home/cache, by name; none if there is no home. Error: cache_failed.
Result<std::vector<fs::path>> cache_directories(const fs::path& home) {
  std::vector<fs::path> found;
  std::error_code error;
  const auto folder = home / "cache";
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    std::error_code none;
    if (entry->is_directory(none)) found.push_back(entry->path());
  }
  if (error && error != std::errc::no_such_file_or_directory)
    return fail(Reason::cache_failed, "cannot read the folder " + folder.string() + ": " + error.message());
  std::ranges::sort(found);
  return found;
}

/// The id is written before the first entry; a folder that lost it still has the entries.
bool was_never_a_cache(const fs::path& dir) {
  std::error_code none;
  const auto is_absent = [&](const char* name) {
    return fs::symlink_status(dir / name, none).type() == fs::file_type::not_found;
  };
  return is_absent("ID") && is_absent("db");
}

}  // namespace

Result<AnswerCache> open_worker_cache(const fs::path& home, const std::optional<std::string>& name) {
  make_private_folder(home);  // What is wrong shows when a cache is made in it.
  if (name) {
    if (!is_folder_name(*name)) {
      return fail(Reason::usage_invalid, "the worker's name \"" + *name +
                                             "\" cannot be the name of a folder; choose one without '/'");
    }
    return AnswerCache::open(home / "cache" / *name);
  }
  for (int number = 0; number < defaults::max_unnamed_caches; ++number) {
    auto cache = AnswerCache::open(home / "cache" / ("worker-" + std::to_string(number)));
    if (cache || cache.error().reason != Reason::cache_in_use) return cache;
  }
  return fail(Reason::cache_in_use, "all " + std::to_string(defaults::max_unnamed_caches) +
                                        " unnamed caches in " + (home / "cache").string() +
                                        " are in use; give this worker a --name");
}

Result<std::vector<fs::path>> list_caches(const fs::path& home) {
  auto found = cache_directories(home);
  if (!found) return found;
  // The id is written before the first entry: without one there was never anything to keep.
  std::erase_if(*found, [](const fs::path& dir) {
    std::error_code none;
    return !fs::exists(dir / "ID", none);
  });
  return found;
}

OtherCaches open_others_read_only(const fs::path& home, const fs::path& own, OwnedCaches owned) {
  OtherCaches others;
  auto directories = cache_directories(home);
  if (!directories) {
    others.problems.push_back(std::move(directories.error()));
    return others;
  }
  for (const auto& dir : *directories) {
    std::error_code none;
    if (dir == own || fs::equivalent(dir, own, none) || was_never_a_cache(dir)) continue;
    auto cache = AnswerCache::open_read_only(dir);
    if (!cache && cache.error().reason == Reason::cache_in_use) {
      others.in_use.push_back(dir);
      // Without CURRENT its owner is making it, and it holds nothing.
      if (owned == OwnedCaches::left_out || !fs::exists(dir / "db" / "CURRENT", none)) continue;
      cache = AnswerCache::open_beside_owner(dir);
    }
    if (cache) {
      others.opened.push_back(std::move(*cache));
    } else {
      others.problems.push_back(std::move(cache.error()));
    }
  }
  return others;
}

}  // namespace sluice
