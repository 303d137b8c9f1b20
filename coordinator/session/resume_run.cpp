#include "coordinator/session/resume_run.hpp"

#include "common/documents/json_depth.hpp"
#include "common/text/joined.hpp"
#include "common/text/printable.hpp"
#include "common/text/text.hpp"
#include "common/wire/messages.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/session/run_record.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>

#include <nlohmann/json.hpp>

namespace sluice {
namespace {

std::string short_form(const std::string& run_id) {
  return printable(run_id.substr(0, 8));
}

/// `judge.model` for `/judge/model`.
std::string dotted(std::string pointer) {
  pointer.erase(0, 1);
  std::ranges::replace(pointer, '/', '.');
  return pointer;
}

/// As dotted, with the provider's name in place of its number: `providers.openai.kind` for
/// `/providers/0/kind`.
std::string name_of(const nlohmann::json& members, const std::string& pointer) {
  constexpr std::string_view list = "/providers/";
  if (!pointer.starts_with(list)) return dotted(pointer);
  const auto end = pointer.find('/', list.size());
  const auto name = members.find(pointer.substr(0, end) + "/name");
  if (end == std::string::npos || name == members.end() || !name->is_string()) return dotted(pointer);
  const std::string member = pointer.substr(end + 1);
  const std::string text =
      "providers." + excerpt(name->get<std::string>(), defaults::quoted_flag_bytes) + "." + member;
  return member == "cache_identity" ? text + " (unset, it is base_url)" : text;
}

std::string shown(const nlohmann::json& members, const std::string& pointer) {
  const auto found = members.find(pointer);
  if (found == members.end()) return "not set";
  return excerpt(found->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                 defaults::quoted_flag_bytes);
}

/// Without what an earlier sluice did not write: the fingerprint says more.
nlohmann::json compared_settings(const std::string& text) {
  auto settings = parse_tree<nlohmann::json>(text);
  if (settings.is_object()) {
    for (const char* name : {"judged_by", "runs_commands"}) settings.erase(name);
  }
  return settings;
}

/// `temperature was 0.0 and is 0.5; seed was 1 and is 2`. The digest of all trials says no more than what it
/// is made of.
std::string differences(const std::string& past, const std::string& now) {
  const auto read = [](const std::string& text) {
    const auto json = compared_settings(text);
    return json.is_object() ? json.flatten() : nlohmann::json::object();
  };
  const nlohmann::json before = read(past);
  const nlohmann::json after = read(now);
  std::set<std::string> names;
  for (const auto* members : {&before, &after}) {
    for (const auto& [name, value] : members->items()) names.insert(name);
  }
  names.erase("/trials");
  std::string text;
  std::size_t more = 0;
  std::size_t named = 0;
  for (const std::string& name : names) {
    const std::string was = shown(before, name);
    const std::string is = shown(after, name);
    if (was == is) continue;
    if (named == defaults::named_trials) {
      ++more;
      continue;
    }
    text += (named++ > 0 ? "; " : "") + name_of(after, name) + " was " + was + " and is " + is;
  }
  if (more > 0) text += "; and " + std::to_string(more) + " more";
  return text;
}

/// Of the first line in which they differ, from 1.
std::size_t differing_line(std::string_view past, std::string_view now) {
  const auto [end, unused] = std::ranges::mismatch(past, now);
  return 1 + static_cast<std::size_t>(std::ranges::count(past.begin(), end, '\n'));
}

}  // namespace

Result<void> check_unfinished(const PastRun& past) {
  const auto refuse = [&](const std::string& why) {
    return fail(Reason::usage_invalid,
                "run " + short_form(past.run.run_id) + " cannot be gone on with: " + why);
  };
  if (past.under_way) return refuse("another process works on it right now");
  const std::string command = command_of(past.run);
  if (command == embed_command) {
    return refuse(
        "it only found solved examples for a run that had not begun; run that anew, and what was embedded "
        "comes out of the caches");
  }
  if (command != run_command) {
    return refuse("it was made by `sluice " + printable(command) +
                  "`; give that command anew, and what was answered comes out of the caches");
  }
  if (past.summary && has_come_to_its_end(*past.summary))
    return refuse("it came to its end; `sluice rerun` runs those of its cases again that did not pass");
  if (past.summary && past.summary->reason_code == to_string(Reason::cache_miss)) {
    return refuse(
        "it asked for answers that no cache held; start a new run with `--mode live`, which asks for them");
  }
  if (past.run.settings.empty() || past.run.result_layout == 0)
    return refuse("an earlier version of sluice began it; start a new run");
  if (past.run.result_layout != wire::result_version)
    return refuse("its results are those of another version of sluice, which alone reads them");
  return {};
}

std::string changed_files(const SuiteCopy& past, const SuiteCopy& now) {
  std::vector<std::string> changes;
  const auto add = [&, folder = std::filesystem::path(now.suite).parent_path()](const std::string& file,
                                                                                const std::string& change) {
    changes.push_back(printable(std::filesystem::path(file).lexically_proximate(folder).string()) + change);
  };
  for (const auto& [file, text] : past.files) {
    const auto found = now.files.find(file);
    if (found == now.files.end()) {
      add(file, " is gone");
    } else if (found->second != text) {
      add(file, " from line " + std::to_string(differing_line(text, found->second)));
    }
  }
  for (const auto& [file, text] : now.files) {
    if (!past.files.contains(file)) add(file, " is new");
  }
  std::string words = joined(std::span(changes).first(std::min(defaults::named_trials, changes.size())));
  if (changes.size() > defaults::named_trials)
    words += " and " + std::to_string(changes.size() - defaults::named_trials) + " more";
  return words;
}

Result<void> check_same_run(const RunRecord& past, const RunRecord& now,
                            const std::function<std::string()>& files) {
  const auto refuse = [&](const std::string& what) {
    return fail(
        Reason::usage_invalid,
        "run " + short_form(past.run_id) + " cannot be gone on with: " + what +
            "; go back to what it was, or start a new run, which finds in the caches what was answered");
  };
  const auto where = [&] {
    const std::string changed = files();
    return changed.empty() ? "" : " (" + changed + ")";
  };
  const auto differing = differences(past.settings, now.settings);
  if (past.settings != now.settings && !differing.empty()) return refuse(differing);
  if (past.trials != now.trials) {
    return refuse("it had " + wording::counted(past.trials, "trial") + ", and would have " +
                  wording::grouped(now.trials) + " now: the suite has changed, or what is selected of it" +
                  where());
  }
  if (past.config_fingerprint != now.config_fingerprint)
    return refuse("the suite, its expectations, the prompt or the ontology has changed since" + where());
  const bool differ = compared_settings(past.settings) != compared_settings(now.settings);
  if (differ || past.plan_identity != now.plan_identity)
    return refuse("its cases, or what they ask, have changed since" + where());
  return {};
}

bool would_end_again(std::string_view reason) {
  return reason == to_string(Reason::model_unknown) || reason == to_string(Reason::parameter_refused) ||
         reason == to_string(Reason::provider_changed) || reason == to_string(Reason::cache_miss);
}

std::string resume_command(const std::string& run_id, bool runs_commands) {
  return "sluice run --resume " + short_form(run_id) + (runs_commands ? " --allow-commands" : "");
}

std::string resume_command(const RunRecord& run) {
  return resume_command(run.run_id, runs_commands(run));
}

void add_noted_leases(std::span<const NotedLease> leases, RunController::Config& config) {
  for (const NotedLease& one : leases) {
    config.earlier_caches.insert(one.cache);
    if (one.unit >= config.affinities.size() || config.affinities[one.unit].holder > 0) continue;
    auto known = std::ranges::find(config.holders, one.cache);
    if (known == config.holders.end()) known = config.holders.insert(config.holders.end(), one.cache);
    config.affinities[one.unit].holder = static_cast<std::uint32_t>(known - config.holders.begin()) + 1;
  }
}

}  // namespace sluice
