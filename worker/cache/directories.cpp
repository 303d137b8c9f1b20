#include "worker/cache/directories.hpp"

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

/// The directories in home/cache, by name.
std::vector<fs::path> cache_directories(const fs::path& home) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(home / "cache", error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code none;
    if (entry->is_directory(none)) found.push_back(entry->path());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

Result<AnswerCache> open_worker_cache(const fs::path& home, const std::optional<std::string>& name) {
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
  std::error_code error;
  const auto folder = home / "cache";
  if (const fs::directory_iterator readable(folder, error);
      error && error != std::errc::no_such_file_or_directory) {
    return fail(Reason::cache_failed, "cannot read the folder " + folder.string() + ": " + error.message());
  }
  auto found = cache_directories(home);
  // The id is written before the first entry: without one there was never anything to keep.
  std::erase_if(found, [](const fs::path& dir) {
    std::error_code none;
    return !fs::exists(dir / "ID", none);
  });
  return found;
}

std::vector<AnswerCache> open_others_read_only(const fs::path& home, const fs::path& own,
                                               std::vector<Error>* problems, std::vector<fs::path>* in_use) {
  std::vector<AnswerCache> caches;
  for (const auto& dir : cache_directories(home)) {
    std::error_code none;
    if (dir == own || fs::equivalent(dir, own, none)) continue;
    auto cache = AnswerCache::open_read_only(dir);
    if (cache) {
      caches.push_back(std::move(*cache));
    } else if (cache.error().reason == Reason::cache_in_use) {
      if (in_use) in_use->push_back(dir);
    } else if (problems) {
      problems->push_back(std::move(cache.error()));
    }
  }
  return caches;
}

}  // namespace sluice
