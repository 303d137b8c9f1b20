#pragma once

#include "common/cache_tools.hpp"
#include "common/error.hpp"
#include "common/settings/settings.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// What can bring a damaged file back.
enum class Repair : std::uint8_t { none, ledger, observations, cache };

/// Something in a home that is not as it should be.
struct HomeFinding {
  std::filesystem::path file;  ///< Or a folder.
  std::string what;            ///< A clause.
  std::string remedy;          ///< What to do, a clause.
  Repair repair = Repair::none;
};

struct HomeCheck {
  std::vector<HomeFinding> findings;
  std::vector<std::string> missing_cassettes;  ///< By the names that were given.
  std::uint64_t files = 0;                     ///< That were looked at, a cache being one.
  std::uint64_t entries = 0;                   ///< Of the caches, that verify.
  /// Pinned answers that the ledger knows, and those in caches that are not in the home: of workers
  /// elsewhere, or removed. Not counted where there is a finding: a damaged ledger or cache knows too few.
  std::optional<std::uint64_t> pins{};
  std::uint64_t pins_elsewhere = 0;
  std::uint64_t pins_lost = 0;  ///< Pinned answers of caches that are there, but have no answer of the key.
  /// The home, by its permissions. No finding: people share homes on purpose.
  bool others_may_enter = false;
};

/// The folder of a home in which `sluice doctor --repair` keeps what it has replaced.
inline constexpr const char* set_aside_folder = "set-aside";

/// Reads whatever sluice keeps under the settings' home, and these cassettes; changes nothing. Errors:
/// usage_invalid if there is no such home, or a run is under way in it; cache_in_use; what else keeps it from
/// being looked at.
Result<HomeCheck> check_home(const Settings& settings, const CacheTools& caches,
                             const std::vector<std::string>& cassettes);

}  // namespace sluice
