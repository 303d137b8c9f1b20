#pragma once

#include "common/error.hpp"
#include "common/settings/settings.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

enum class ReportFormat : std::uint8_t { table, json, markdown };
enum class LogLevel : std::uint8_t { error, warn, info, debug, trace };

std::string_view to_string(LogLevel level);

/// The flags of `sluice run` that are no settings, as given.
struct RunFlags {
  std::optional<std::string> listen;
  std::optional<std::string> workers;
  std::vector<std::string> categories;
  std::optional<std::string> max_fixtures;
  bool refresh = false;
  bool no_cache = false;
  bool insecure = false;
  std::string format = "table";
  std::optional<std::string> output;
  bool quiet = false;
  bool verbose = false;
  std::optional<std::string> log_level;
};

/// Everything that a run is told.
struct RunOptions {
  Settings settings;
  ResolvedProvider provider;            ///< The chosen provider and its model.
  std::optional<std::string> listen;    ///< tcp://HOST:PORT; nothing: in this process alone.
  std::uint32_t workers = 1;            ///< Workers inside this process; not 0 without `listen`.
  std::vector<std::string> categories;  ///< Empty: all.
  std::optional<std::size_t> max_fixtures;
  bool refresh = false;   ///< Renew what the cache holds.
  bool no_cache = false;  ///< Neither read nor write the cache.
  bool insecure = false;  ///< Listen beyond loopback without encryption.
  ReportFormat format = ReportFormat::table;
  std::optional<std::string> output;  ///< File of the report; nothing: stdout.
  bool progress = true;               ///< False under --quiet.
  LogLevel log_level = LogLevel::info;
};

/// tcp://HOST:PORT, HOST being an IPv4 address, [IPv6], a name or `*`, PORT from 0 (any free one) to 65535.
/// usage_invalid for anything else, insecure_refused for a host beyond loopback without `insecure`.
Result<std::string> check_listen(std::string_view endpoint, bool insecure);

/// Checks the flags and their combinations. usage_invalid names the flag; settings_invalid if there is no
/// such provider, or no model.
Result<RunOptions> make_run_options(const RunFlags& flags, Settings settings);

}  // namespace sluice
