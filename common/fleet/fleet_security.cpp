#include "common/fleet/fleet_security.hpp"

#include <utility>

namespace sluice {
namespace {

constexpr const char* folder = "/fleet/";

}  // namespace

FleetFiles fleet_files_in(const std::string& home) {
  return {home + folder + "coordinator.key", home + folder + "allowed"};
}

std::string worker_key_file(const std::string& home, const std::string& name) {
  return home + folder + name + ".key";
}

std::string lease_secret_file(const std::string& home) {
  return home + folder + "lease.secret";
}

Result<FleetSecurity> open_fleet(const FleetFiles& files) {
  auto key = read_fleet_key(files.key);
  if (!key) return fail(std::move(key.error()));
  auto allowed = WatchedAllowList::open(files.allowed);
  if (!allowed) return fail(std::move(allowed.error()));
  return FleetSecurity{std::move(*key), std::move(*allowed), {}};
}

}  // namespace sluice
