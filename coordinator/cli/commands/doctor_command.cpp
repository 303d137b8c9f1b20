#include "common/clock.hpp"
#include "common/text/joined.hpp"
#include "common/text/printable.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/home/home_check.hpp"
#include "coordinator/cli/home/home_repair.hpp"
#include "coordinator/cli/past_runs/named_runs.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/session/resume_run.hpp"
#include "coordinator/session/run_record.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace sluice {
namespace {

constexpr const char* doctor_examples =
    "Reads and verifies everything under the home: run ledger, observations, caches,\n"
    "fleet keys, and the named cassettes. It changes nothing without --repair.\n"
    "Replaced files are kept in HOME/set-aside.\n"
    "Examples:\n"
    "  sluice doctor\n"
    "  sluice doctor answers.cassette --json\n"
    "  sluice doctor --home /var/lib/sluice --repair\n"
    "Exit code 0: everything is sound or was repaired; 1: something is damaged; 2:\n"
    "the check was not possible, because a run or a worker uses the home, or because\n"
    "of its permissions.";

std::string line_of(const HomeFinding& finding) {
  return printable(finding.file.string() + ": " + finding.what + ": " + finding.remedy) + "\n";
}

/// Of a run that was reopened.
std::string command_to_go_on(const Settings& settings, const std::string& run_id) {
  const auto past = find_past_run(settings, run_id);
  return resume_command(run_id, past && *past && runs_commands((*past)->run));
}

std::string text_of(const RepairedFile& done, const Settings& settings) {
  std::string line = done.file.string() + ": " + done.what;
  if (!done.left_out.empty()) line += "; left out: " + joined(done.left_out, "; ");
  line += "; the old one is " + done.aside.string();
  std::string text = printable(line) + "\n";
  for (const std::string& run : done.unfinished)
    text += printable("run " + short_id(run) + " lacks results now: `" + command_to_go_on(settings, run) +
                      "` asks for them again") +
            "\n";
  return text;
}

/// No damage: workers of other machines hold them.
std::string line_of_pins(const std::string& home, const HomeCheck& check) {
  return printable(home) + ": " +
         wording::counted_of(check.pins_elsewhere, check.pins.value_or(0), "pinned answer") +
         (check.pins_elsewhere == 1 ? " is" : " are") +
         " in caches that are not in this home (of workers elsewhere, or removed): `--mode cached` finds "
         "them "
         "only with these caches, and `--mode live` asks for them again\n";
}

/// No damage: somebody may have removed them.
std::string line_of_lost_pins(const std::string& home, const HomeCheck& check) {
  return printable(home) + ": " +
         wording::counted_of(check.pins_lost, check.pins.value_or(0), "pinned answer") +
         (check.pins_lost == 1 ? " is" : " are") +
         " not in the cache that the ledger names, nor in another one here (removed by `sluice cache prune "
         "--pinned`, or lost): `--mode cached` misses them, and `--mode live` asks for them again\n";
}

/// No damage: people share homes on purpose.
std::string line_of_open_home(const std::string& home) {
  return printable(home) +
         ": other accounts can enter it, read what its runs asked and were answered, and hold its runs up; "
         "`chmod 700` it, unless they are meant to\n";
}

/// What stands in damaged files need be no text.
std::vector<std::string> printable_all(std::vector<std::string> clauses) {
  for (std::string& clause : clauses) clause = printable(clause);
  return clauses;
}

nlohmann::ordered_json json_of(const std::string& home, const HomeCheck& check,
                               const std::vector<RepairedFile>& repaired) {
  using Document = nlohmann::ordered_json;
  auto findings = Document::array();
  for (const HomeFinding& one : check.findings)
    findings.push_back({{"file", without_controls(one.file.string())},
                        {"what", without_controls(one.what)},
                        {"remedy", without_controls(one.remedy)},
                        {"repairable", one.repair != Repair::none}});
  auto repairs = Document::array();
  for (const RepairedFile& one : repaired)
    repairs.push_back({{"file", without_controls(one.file.string())},
                       {"what", without_controls(one.what)},
                       {"left_out", printable_all(one.left_out)},
                       {"old", without_controls(one.aside.string())},
                       {"unfinished_runs", printable_all(one.unfinished)}});
  nlohmann::ordered_json made{{"home", without_controls(home)},
                              {"files", check.files},
                              {"cache_entries", check.entries},
                              {"pins", nullptr},
                              {"pins_elsewhere", nullptr},
                              {"pins_lost", nullptr},
                              {"findings", std::move(findings)},
                              {"repaired", std::move(repairs)},
                              {"others_may_enter", check.others_may_enter}};
  if (!check.pins) return made;
  made["pins"] = *check.pins;
  made["pins_elsewhere"] = check.pins_elsewhere;
  made["pins_lost"] = check.pins_lost;
  return made;
}

struct Doctor {
  SettingFlags settings;
  std::vector<std::string> cassettes;
  bool repairs = false;
  bool as_json = false;

  int run(const CacheTools& caches) const {
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    const auto check = check_home(*effective, caches, cassettes);
    if (!check) return report_error(check.error());
    const auto is_repairable = [](const HomeFinding& one) { return one.repair != Repair::none; };
    const bool any = std::ranges::any_of(check->findings, is_repairable);
    HomeRepair repair;
    if (repairs && any) repair = repair_home(effective->home.value, check->findings, caches, unix_now_ms());
    print(*effective, *check, repair.done);
    if (repair.problem) return report_error(*repair.problem);
    for (const std::string& file : check->missing_cassettes)
      report_error("there is no cassette " + file + "; check its name");
    if (!check->missing_cassettes.empty()) return exit_error;
    const bool all_sound =
        check->findings.empty() || (repairs && std::ranges::all_of(check->findings, is_repairable));
    return all_sound ? exit_ok : exit_failed;
  }

 private:
  void print(const Settings& effective, const HomeCheck& check,
             const std::vector<RepairedFile>& repaired) const {
    const std::string& home = effective.home.value;
    if (as_json) {
      std::cout << json_of(home, check, repaired).dump(2) << "\n";
      return;
    }
    for (const HomeFinding& finding : check.findings) std::cout << line_of(finding);
    for (const RepairedFile& done : repaired) std::cout << text_of(done, effective);
    if (check.findings.empty())
      std::cout << printable(home) << ": all is sound (" << wording::counted(check.files, "file") << ", "
                << wording::grouped(check.entries) << " cached entries)\n";
    if (check.pins_elsewhere > 0) std::cout << line_of_pins(home, check);
    if (check.pins_lost > 0) std::cout << line_of_lost_pins(home, check);
    if (check.others_may_enter) std::cout << line_of_open_home(home);
  }
};

}  // namespace

Command add_doctor_command(CLI::App& program, const CacheTools& caches) {
  const auto doctor = std::make_shared<Doctor>();
  CLI::App* app =
      program.add_subcommand("doctor", "Find damaged files under the home, and repair them if possible");
  app->add_option("CASSETTE", doctor->cassettes, "Cassettes to check as well")->type_name("");
  app->add_flag("--repair", doctor->repairs, "Restore ledger and observations, rebuild caches");
  app->add_flag("--json", doctor->as_json, "Print JSON");
  doctor->settings.add_to(*app, {"home", "database_path"});
  app->footer(doctor_examples);
  return {app, [doctor, caches] { return doctor->run(caches); }};
}

}  // namespace sluice
