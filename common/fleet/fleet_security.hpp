#pragma once

#include "common/error.hpp"
#include "common/fleet/allow_list.hpp"
#include "common/fleet/fleet_key.hpp"

#include <string>

namespace sluice {

/// The files of a coordinator's fleet.
struct FleetFiles {
  std::string key;      ///< The coordinator's own.
  std::string allowed;  ///< The list of workers.
};

/// Where they lie unless others are named. `home` is a folder.
FleetFiles fleet_files_in(const std::string& home);
/// Of a worker, where `sluice keys new` writes it.
std::string worker_key_file(const std::string& home, const std::string& name);

/// By which coordinators of a home make the numbers of leases (shared_secret).
std::string lease_secret_file(const std::string& home);

/// Whom a coordinator admits, and as whom it shows itself.
struct FleetSecurity {
  FleetKey key;
  WatchedAllowList allowed;
  std::string allow_flags{};  ///< By which `sluice keys allow` changes that list, with a blank before each.
};

/// Errors: those of read_fleet_key and AllowList::read.
Result<FleetSecurity> open_fleet(const FleetFiles& files);

}  // namespace sluice
