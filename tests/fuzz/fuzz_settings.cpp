// Files that say who may do what: settings, key files and the list of workers. They are read or named in
// sentences, and never crash; no message quotes a secret key.
#include "common/fleet/allow_list.hpp"
#include "common/fleet/fleet_key.hpp"
#include "common/settings/load_settings.hpp"
#include "tests/fuzz/fuzzed_input.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace sluice;

void check_sentence(const std::string& message) {
  SLUICE_PROMISE(!message.empty() && message.find('\n') == std::string::npos);
}

void check_settings(std::string_view text) {
  SettingSources sources;
  sources.file_name = "sluice.toml";
  sources.file_text = std::string(text);
  sources.environment = [](std::string_view) { return std::nullopt; };
  const auto settings = merge_settings(sources);
  if (settings) return;
  SLUICE_PROMISE(!settings.error().empty());
  for (const auto& finding : settings.error()) SLUICE_PROMISE(!finding.message.empty());
}

/// Of a file that was refused: unless the secret stands somewhere else in it, too.
void check_secrecy(std::string_view text, const std::string& message) {
  constexpr std::string_view before = "secret_key = \"";
  const auto found = text.find(before);
  if (found == std::string_view::npos) return;
  const auto at = found + before.size();
  const auto secret = text.substr(at, 40);
  const auto begin = secret.substr(0, 12);
  if (!is_fleet_key(secret) || text.find(begin) != at || text.rfind(begin) != at) return;
  SLUICE_PROMISE(message.find(begin) == std::string::npos);
}

void check_key(std::string_view text) {
  const auto key = parse_fleet_key(text, "a.key");
  if (!key) {
    check_secrecy(text, key.error().message);
    return check_sentence(key.error().message);
  }
  SLUICE_PROMISE(is_fleet_key(key->public_key) && is_fleet_key(key->secret_key));
  const auto again = parse_fleet_key(to_toml(*key), "a.key");
  SLUICE_PROMISE(again && *again == *key);
}

void check_list(std::string_view text) {
  const auto list = AllowList::parse(text, "allowed");
  if (!list) return check_sentence(list.error().message);
  for (const auto& entry : list->entries()) {
    SLUICE_PROMISE(is_fleet_name(entry.name) && is_fleet_key(entry.public_key));
    SLUICE_PROMISE(list->name_of(entry.public_key) == entry.name);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_settings(text);
  check_key(text);
  check_list(text);
  return 0;
}
