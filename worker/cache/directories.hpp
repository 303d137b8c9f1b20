#pragma once

#include "common/error.hpp"
#include "worker/cache/answer_cache.hpp"

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

/// All caches of the home that nobody has open for writing, but for `own`, for reading, in the order of their
/// names. Caches in use are passed over, and named in `in_use`; what else cannot be opened is passed over
/// too, and named in `problems`.
std::vector<AnswerCache> open_others_read_only(const std::filesystem::path& home,
                                               const std::filesystem::path& own,
                                               std::vector<Error>* problems = nullptr,
                                               std::vector<std::filesystem::path>* in_use = nullptr);

}  // namespace sluice
