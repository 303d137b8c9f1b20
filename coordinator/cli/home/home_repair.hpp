#pragma once

#include "common/cache_tools.hpp"
#include "common/error.hpp"
#include "coordinator/cli/home/home_check.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sluice {

/// What was brought back.
struct RepairedFile {
  std::filesystem::path file;
  std::filesystem::path aside;          ///< The damaged one.
  std::string what;                     ///< What of it is there again, a clause.
  std::vector<std::string> left_out;    ///< A clause each.
  std::vector<std::string> unfinished;  ///< Ids of runs that have no result for some of their trials now.
};

struct HomeRepair {
  std::vector<RepairedFile> done;
  std::optional<Error> problem;  ///< What kept the next file from being repaired, which stays as it was.
};

/// Repairs each file that findings say can be: a new one is made beside it, of what verifies, and takes its
/// place when it is on the disk; the old one is kept in the home's `set-aside`. No run can begin meanwhile.
/// `now_ms`: Unix time, for the names of what is kept. Stops at the first problem: usage_invalid if a run is
/// under way.
HomeRepair repair_home(const std::filesystem::path& home, std::span<const HomeFinding> findings,
                       const CacheTools& caches, std::int64_t now_ms);

}  // namespace sluice
