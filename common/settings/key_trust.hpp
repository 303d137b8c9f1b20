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

/// Whose worker withholds a secret, for the words: every source of its own run's settings but the suite is
/// the worker's own.
enum class RunOf : std::uint8_t { this_process, elsewhere };

/// key_withheld: a secret, by what it is called, is not sent to the provider's host, and what to do.
Error withheld(const std::string& what, const ProviderSettings& provider, RunOf run);

/// What a worker in the process of a live run says of a secret of the run's provider that it will not send,
/// because the suite alone names the host; nothing if it sends all. Asks no environment.
std::optional<Error> withheld_of_suite(const Settings& settings);

}  // namespace sluice
