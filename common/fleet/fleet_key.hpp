#pragma once

#include "common/error.hpp"

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// Who may take part in a fleet: the key files of coordinator and workers, and the list of those that are
/// admitted (docs/security.md).
namespace sluice {

/// Characters of a public or secret CURVE key in Z85 (32 bytes).
inline constexpr std::size_t fleet_key_chars = 40;
/// Characters of a fleet key's name.
inline constexpr std::size_t max_fleet_name_chars = 64;

/// One side's CURVE keys, in Z85.
struct FleetKey {
  std::string name;  ///< In the allow-list, and what a worker is called.
  std::string public_key;
  std::string secret_key;
  /// A worker's: the public keys of the coordinators that it joins; more than one while a coordinator's key
  /// is being replaced. Empty in a coordinator's own.
  std::vector<std::string> coordinator_keys;
  friend bool operator==(const FleetKey&, const FleetKey&) = default;
};

/// Whether this is a key in Z85: 40 characters of its alphabet.
bool is_fleet_key(std::string_view text);
/// Letters, digits, `.`, `_` and `-`, at most max_fleet_name_chars of them, and no `-` or `.` at its
/// beginning: a name is a file's name as well.
bool is_fleet_name(std::string_view text);

/// What a worker is called that came in by a key: the key's name, and behind a slash its own where that is
/// another.
std::string fleet_worker_name(const std::string& key_name, const std::string& own_name);

/// The content of a key file.
std::string to_toml(const FleetKey& key);
/// Errors: settings_invalid, naming the file, the line and what is wrong; no message quotes a key.
Result<FleetKey> parse_fleet_key(std::string_view text, const std::string& file);
/// Errors: as read_file, and settings_invalid for a file that others than its owner can read (the group
/// may, where the file is root's: so secrets are handed to containers).
Result<FleetKey> read_fleet_key(const std::filesystem::path& file);

}  // namespace sluice
