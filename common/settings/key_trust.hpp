#pragma once

#include "common/error.hpp"
#include "common/settings/settings.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Which hosts get the secrets of a provider (docs/security.md).
namespace sluice {

/// The hosts that may get a provider's key, in the form of may_receive_key (base_url.hpp): the standard host
/// of its kind, its key_hosts, and the hosts of base URLs that these settings name themselves (not
/// those that a suite names: suites are data that come from anywhere).
std::vector<std::string> trusted_key_hosts(const Settings& settings, const ProviderSettings& provider);

/// Where a worker's coordinator is, as far as it says whom it may have called.
enum class CoordinatorPlace : std::uint8_t {
  this_process,  ///< Its settings are the worker's own.
  this_machine,  ///< Servers on loopback are the user's.
  elsewhere,     ///< What is on this machine's loopback is no business of its.
};

/// key_withheld: a secret, by what it is called, is not sent to the provider's host, and what to do. In the
/// run's own process every source of the settings but the suite is the worker's own.
Error withheld(const std::string& what, const ProviderSettings& provider, CoordinatorPlace coordinator);

/// What a worker in the process of a live run says of a secret of the run's provider that it will not send,
/// because the suite alone names the host; nothing if it sends all. Asks no environment.
std::optional<Error> withheld_of_suite(const Settings& settings);

}  // namespace sluice
