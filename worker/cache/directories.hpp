#pragma once

#include "common/error.hpp"
#include "worker/cache/answer_cache.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Which cache directory a worker process has: docs/delivery.md, "The cache in a fleet".
namespace sluice {

/// `home/cache/NAME` for a named worker; for an unnamed one the first of `worker-0`, `worker-1`, ... that
/// nobody has. Errors: usage_invalid for a name that is no single folder, cache_in_use for a named one in
/// use, cache_failed.
Result<AnswerCache> open_worker_cache(const std::filesystem::path& home,
                                      const std::optional<std::string>& name);

/// The cache directories in home/cache, by name; folders that were never one are left out. None if there is
/// no home. Error: cache_failed if the folder cannot be read.
Result<std::vector<std::filesystem::path>> list_caches(const std::filesystem::path& home);

/// Caches that another process has open for writing.
enum class OwnedCaches : std::uint8_t {
  left_out,
  read_too,  ///< What they hold at this moment.
};

/// The caches of a home but for one. What is not in `opened` may hold answers that nobody sees.
struct OtherCaches {
  std::vector<AnswerCache> opened;            ///< For reading, in the order of their names.
  std::vector<std::filesystem::path> in_use;  ///< Another process has them open for writing, read or not.
  std::vector<Error> problems;                ///< Of each that cannot be opened otherwise, with its folder.
};

/// Opens all caches of the home but `own`. Folders that were never a cache are passed over.
OtherCaches open_others_read_only(const std::filesystem::path& home, const std::filesystem::path& own,
                                  OwnedCaches owned = OwnedCaches::left_out);

}  // namespace sluice
