#include "common/fleet/fleet_key.hpp"

#include "common/documents/table_reader.hpp"
#include "common/documents/toml_document.hpp"
#include "common/fleet/private_file.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>

namespace sluice {
namespace {

constexpr std::string_view z85_digits =
    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// A key of the table; what is written there never stands in a finding.
std::string read_key(TableReader& table, std::string_view key) {
  const auto text = table.text(key, Need::required);
  if (!text) return {};
  if (!is_fleet_key(*text)) table.add_wrong(key, "be 40 characters of Z85, as `sluice keys new` writes them");
  return *text;
}

std::vector<std::string> read_coordinator_keys(TableReader& table) {
  const auto keys = table.texts("coordinator_keys");
  if (!keys) return {};
  if (!std::ranges::all_of(*keys, is_fleet_key))
    table.add_wrong("coordinator_keys", "be public keys, as `sluice keys list` prints them");
  return *keys;
}

}  // namespace

bool is_fleet_key(std::string_view text) {
  if (text.size() != fleet_key_chars) return false;
  // Five characters are four bytes (ZeroMQ RFC 32).
  constexpr std::size_t group = 5;
  for (std::size_t at = 0; at < text.size(); at += group) {
    std::uint64_t value = 0;
    for (const char c : text.substr(at, group)) {
      const auto digit = z85_digits.find(c);
      if (digit == std::string_view::npos) return false;
      value = value * z85_digits.size() + digit;
    }
    if (value > std::numeric_limits<std::uint32_t>::max()) return false;
  }
  return true;
}

bool is_fleet_name(std::string_view text) {
  const bool begins_well = !text.empty() && text.front() != '-' && text.front() != '.';
  return begins_well && text.size() <= max_fleet_name_chars && std::ranges::all_of(text, [](char c) {
           return is_letter_or_digit(c) || c == '.' || c == '_' || c == '-';
         });
}

std::string fleet_worker_name(const std::string& key_name, const std::string& own_name) {
  if (own_name.empty() || own_name == key_name) return key_name;
  // One that had to say HELLO again does not get a second.
  return own_name.starts_with(key_name + "/") ? own_name : key_name + "/" + own_name;
}

std::string to_toml(const FleetKey& key) {
  std::string text = "# A key of a sluice fleet. Whoever can read this file can take part as \"" + key.name +
                     "\": keep it to its owner.\n";
  text += "name = \"" + key.name + "\"\n";
  text += "public_key = \"" + key.public_key + "\"\n";
  text += "secret_key = \"" + key.secret_key + "\"\n";
  if (key.coordinator_keys.empty()) return text;
  text += "# Only a coordinator that has one of these is joined.\ncoordinator_keys = [";
  for (std::size_t i = 0; i < key.coordinator_keys.size(); ++i)
    text += (i > 0 ? ", \"" : "\"") + key.coordinator_keys[i] + "\"";
  return text + "]\n";
}

Result<FleetKey> parse_fleet_key(std::string_view text, const std::string& file) {
  const auto document = parse_toml(text);
  // The parser's own message may quote the line, which may hold the secret.
  if (!document)
    return fail(Reason::settings_invalid, file + ":" + std::to_string(document.error().line) +
                                              ": is no TOML: make the key file anew with `sluice keys new`");
  std::vector<Finding> findings;
  TableReader table(*document, "", file, findings);
  FleetKey key;
  if (const auto name = table.word("name", Need::required)) {
    key.name = *name;
    if (!is_fleet_name(key.name)) table.add_wrong("name", "be letters, digits, `.`, `_` and `-`, at most 64");
  }
  key.public_key = read_key(table, "public_key");
  key.secret_key = read_key(table, "secret_key");
  key.coordinator_keys = read_coordinator_keys(table);
  table.finish();
  if (!findings.empty()) return fail(Reason::settings_invalid, join_findings(findings));
  return key;
}

Result<FleetKey> read_fleet_key(const std::filesystem::path& file) {
  const auto text = read_private_file(file, Privacy::nobody_else_reads);
  if (!text) return fail(text.error());
  return parse_fleet_key(*text, file.string());
}

}  // namespace sluice
