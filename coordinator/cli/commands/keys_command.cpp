#include "common/defaults.hpp"
#include "common/fleet/allow_list.hpp"
#include "common/fleet/fleet_key.hpp"
#include "common/fleet/fleet_security.hpp"
#include "common/fleet/private_file.hpp"
#include "common/text/text.hpp"
#include "common/transport/curve.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/session/flag_values.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr const char* keys_examples =
    "Workers on other machines join with keys. The coordinator has a list of their\n"
    "public keys, and their own key file tells them the coordinator's. Only that file\n"
    "leaves the coordinator's machine, once, for the machine of the worker.\n"
    "Examples:\n"
    "  sluice keys new gpu-7          # a worker's; the first makes the coordinator's\n"
    "  sluice run suite.yaml --listen tcp://0.0.0.0:5555\n"
    "  sluice-worker --connect tcp://10.0.0.5:5555 --fleet-key gpu-7.key\n"
    "  sluice keys allow gpu-8 'PUBLIC_KEY'          # one that was made elsewhere\n"
    "  sluice keys remove gpu-7       # also out of a run that is under way\n"
    "Exit code 0: done; 2: usage, or a file that cannot be read or written.";

constexpr std::string_view coordinator_name = "coordinator";

/// One of the commands under `sluice keys`: its flags, and what it does with them.
struct KeysSubcommand {
  CLI::App* app = nullptr;
  SettingFlags settings;
  std::string name;  ///< Of a worker; for `remove` also a public key.
  std::string public_key;
  std::optional<std::string> output;
  FleetFiles named;  ///< Empty: the home's.
  bool changes = true;
  Result<void> (*act)(const KeysSubcommand&, const std::string& home) = nullptr;

  void add_to(CLI::App& keys, const char* command, const char* what, const std::string& examples) {
    app = keys.add_subcommand(command, what);
    app->add_option("--fleet-key", named.key, "The coordinator's key (default HOME/fleet/coordinator.key)")
        ->type_name("FILE");
    app->add_option("--fleet-allow", named.allowed, "List of the workers (default HOME/fleet/allowed)")
        ->type_name("FILE");
    settings.add_to(*app, {"home"});
    app->footer("Examples:\n" + examples);
  }

  FleetFiles files(const std::string& home) const {
    FleetFiles files = fleet_files_in(home);
    if (!named.key.empty()) files.key = named.key;
    if (!named.allowed.empty()) files.allowed = named.allowed;
    return files;
  }

  int run() const {
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    // What is read, changed and written is one step for others.
    const auto lock = changes ? lock_folder(fs::path(files(effective->home.value).allowed).parent_path())
                              : Result<FileDescriptor>(FileDescriptor());
    if (!lock) return report_error(lock.error());
    const auto done = act(*this, effective->home.value);
    return done ? exit_ok : report_error(done.error());
  }
};

/// The list as it stands; an empty one where there is none yet.
Result<AllowList> present_list(const FleetFiles& files) {
  if (!fs::exists(files.allowed)) return AllowList{};
  return AllowList::read(files.allowed);
}

Result<void> write_list(const FleetFiles& files, const std::vector<AllowList::Entry>& entries) {
  std::string text = "# The workers that this coordinator admits: NAME PUBLIC_KEY\n";
  for (const auto& entry : entries) text += entry.name + " " + entry.public_key + "\n";
  if (!fs::exists(files.allowed)) return create_private_file(files.allowed, text);
  return write_whole_file("list of workers", files.allowed, text);
}

Result<void> add_to_list(const FleetFiles& files, const std::string& name, const std::string& public_key) {
  const auto list = present_list(files);
  if (!list) return fail(list.error());
  if (const auto other = list->name_of(public_key))
    return *other == name ? Result<void>{} : usage_error("this key is listed as \"" + *other + "\" already");
  auto entries = list->entries();
  entries.push_back({name, public_key, 0});
  std::ranges::stable_sort(entries, {}, &AllowList::Entry::name);
  return write_list(files, entries);
}

Result<FleetKey> coordinator_key(const FleetFiles& files) {
  if (fs::exists(files.key)) return read_fleet_key(files.key);
  const KeyPair pair = new_key_pair();
  FleetKey key{std::string(coordinator_name), pair.public_key, pair.secret_key, {}};
  if (auto created = create_private_file(files.key, to_toml(key)); !created) return fail(created.error());
  std::cout << "The coordinator's key is " << files.key << ".\n";
  return key;
}

Result<void> check_name(const std::string& name) {
  if (is_fleet_name(name) && name != coordinator_name) return {};
  return usage_error("a worker's name is of letters, digits, `.`, `_` and `-`, at most " +
                     std::to_string(max_fleet_name_chars) + " of them, and not \"coordinator\": not \"" +
                     excerpt(to_valid_utf8(name), defaults::quoted_bytes) + "\"");
}

Result<void> make_new(const KeysSubcommand& keys, const std::string& home) {
  if (auto checked = check_name(keys.name); !checked) return checked;
  const FleetFiles files = keys.files(home);
  const std::string file = keys.output.value_or(worker_key_file(home, keys.name));
  if (fs::exists(file))
    return usage_error(
        file + " is there already: `sluice keys remove " + keys.name +
        "` and remove the file to begin anew, or name another with --output to add a second key");
  const auto coordinator = coordinator_key(files);
  if (!coordinator) return fail(coordinator.error());
  const KeyPair pair = new_key_pair();
  const FleetKey key{keys.name, pair.public_key, pair.secret_key, {coordinator->public_key}};
  if (auto created = create_private_file(file, to_toml(key)); !created) return created;
  if (auto added = add_to_list(files, key.name, key.public_key); !added) {
    // One that nobody admits would be in the way of the next `keys new`.
    std::error_code left_behind;
    fs::remove(file, left_behind);
    return added;
  }
  std::cout << "Worker \"" << key.name << "\" is admitted. Take " << file
            << " to its machine, and start it with\n"
            << "  sluice-worker --connect tcp://HOST:PORT --fleet-key " << fs::path(file).filename().string()
            << "\n";
  return {};
}

Result<void> allow(const KeysSubcommand& keys, const std::string& home) {
  if (auto checked = check_name(keys.name); !checked) return checked;
  if (!is_fleet_key(keys.public_key))
    return usage_error(
        "a public key has 40 characters of Z85, as in the worker's key file; quote it for the shell");
  if (auto added = add_to_list(keys.files(home), keys.name, keys.public_key); !added) return added;
  std::cout << "Worker \"" << keys.name << "\" is admitted.\n";
  return {};
}

Result<void> remove(const KeysSubcommand& keys, const std::string& home) {
  const FleetFiles files = keys.files(home);
  const auto list = present_list(files);
  if (!list) return fail(list.error());
  auto entries = list->entries();
  const auto count = std::erase_if(entries, [&](const AllowList::Entry& entry) {
    return entry.name == keys.name || entry.public_key == keys.name;
  });
  if (count == 0)
    return usage_error("no key of \"" + excerpt(to_valid_utf8(keys.name), defaults::quoted_bytes) +
                       "\" is listed; `sluice keys list` shows those that are");
  if (auto written = write_list(files, entries); !written) return written;
  std::cout << wording::counted(count, "key") << " removed. A run that is under way lets "
            << (count == 1 ? "its worker" : "their workers") << " go within a heartbeat.\n";
  return {};
}

Result<void> show(const KeysSubcommand& keys, const std::string& home) {
  const FleetFiles files = keys.files(home);
  if (!fs::exists(files.key) && !fs::exists(files.allowed)) {
    std::cout << "There are no keys yet; `sluice keys new NAME` makes a worker's.\n";
    return {};
  }
  const auto own = fs::exists(files.key) ? read_fleet_key(files.key) : Result<FleetKey>(FleetKey{});
  if (!own) return fail(own.error());
  const auto list = present_list(files);
  if (!list) return fail(list.error());
  std::size_t width = coordinator_name.size();
  for (const auto& entry : list->entries()) width = std::max(width, entry.name.size());
  const auto line = [&](std::string name, const std::string& key) {
    name.resize(width, ' ');
    std::cout << name << "  " << key << "\n";
  };
  if (!own->public_key.empty()) line(std::string(coordinator_name), own->public_key);
  auto entries = list->entries();
  std::ranges::stable_sort(entries, {}, &AllowList::Entry::name);
  for (const auto& entry : entries) line(entry.name, entry.public_key);
  return {};
}

}  // namespace

Command add_keys_command(CLI::App& program) {
  CLI::App* app = program.add_subcommand("keys", "Manage the keys of workers on other machines");
  auto commands = std::make_shared<std::array<KeysSubcommand, 4>>();
  auto& [made, listed, allowed, removed] = *commands;
  made.add_to(*app, "new", "Make a worker's key, and admit it",
              "  sluice keys new gpu-7\n"
              "  sluice keys new gpu-7 --output /run/secrets/gpu-7.key\n"
              "The first worker's key also makes the coordinator's key. The file holds what the\n"
              "worker needs to join: copy it to its machine, readable only by its owner.");
  made.app->add_option("NAME", made.name, "The worker's name")->required()->type_name("");
  made.app->add_option("--output", made.output, "Where its key is written (default HOME/fleet/NAME.key)")
      ->type_name("FILE");
  made.act = make_new;
  listed.add_to(*app, "list", "Print the public keys of the coordinator and of the workers that it admits",
                "  sluice keys list");
  listed.act = show;
  listed.changes = false;
  allowed.add_to(*app, "allow", "Admit a key that was made elsewhere",
                 "  sluice keys allow gpu-8 'PUBLIC_KEY'    # in quotes: shells read some of it");
  allowed.app->add_option("NAME", allowed.name, "The worker's name")->required()->type_name("");
  allowed.app->add_option("KEY", allowed.public_key, "Its public key")->required()->type_name("");
  allowed.act = allow;
  removed.add_to(*app, "remove", "Remove a worker, or one of its keys",
                 "  sluice keys remove gpu-7\n"
                 "A current run drops the worker within a heartbeat.");
  removed.app->add_option("NAME", removed.name, "The worker, or a public key")->required()->type_name("");
  removed.act = remove;
  app->require_subcommand(0, 1);
  app->footer(keys_examples);
  return {app, [commands] {
            for (const KeysSubcommand& one : *commands) {
              if (one.app->parsed()) return one.run();
            }
            return report_error(
                "`sluice keys` needs a command: new, list, allow or remove (see `sluice keys --help`)");
          }};
}

}  // namespace sluice
