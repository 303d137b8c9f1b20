#include "common/files.hpp"
#include "common/text/joined.hpp"
#include "common/text/printable.hpp"
#include "common/text/stderr_line.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/output/output_file.hpp"
#include "coordinator/report/commands/band_report.hpp"
#include "coordinator/retrieval/calibrate_bands.hpp"
#include "coordinator/session/flag_values.hpp"
#include "coordinator/suite/examples/plugin_edit.hpp"

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

constexpr const char* calibrate_bands_examples =
    "Reads what past runs retrieved under the plugin, and which of the cases passed,\n"
    "using the last result of each test. A floor holds its interval at 95 %.\n"
    "Examples:\n"
    "  sluice calibrate-bands plugins/upgrades/plugin.yaml\n"
    "  sluice calibrate-bands plugins/upgrades/plugin.yaml --write\n"
    "Exit code 0: printed, also where evidence is missing; 2: usage, a plugin file\n"
    "with findings, or a ledger that fails.";

/// plugins/NAME/plugin.yaml is the plugin NAME.
std::string name_of(const std::string& file) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path whole = fs::absolute(file, error);
  return (error ? fs::path(file) : whole).parent_path().filename().string();
}

struct CalibrateBands {
  SettingFlags settings;
  std::string file;
  std::optional<std::string> suite;
  std::optional<std::string> embedding_model;
  std::string format = "table";
  bool write = false;

  int run() const {
    const auto as = choice_of("--format", format, {"table", "json"});
    if (!as) return report_error(as.error());
    const auto text = read_file(file, defaults::max_plugin_bytes);
    if (!text) return report_error(file + ": " + text.error().message);
    const auto plugin = parse_plugin(*text, name_of(file), file);
    if (!plugin) return report_findings(plugin.error());
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    const auto ledger = open_past_runs(*effective);
    if (!ledger) return report_error(ledger.error());
    std::vector<RetrievalEvent> events;
    if (*ledger) {
      const auto embedder = embedder_of(**ledger, plugin->name);
      if (!embedder) return report_error(embedder.error());
      auto found = (*ledger)->retrievals({plugin->name, *embedder, suite});
      if (!found) return report_error(found.error());
      events = std::move(*found);
    }
    const auto calibrations = calibrate_bands(events, *plugin);
    // Written before it is shown: what fails has nothing to show.
    if (write) {
      if (const auto written = write_floors(*text, calibrations); !written)
        return report_error(written.error());
    }
    if (*as == 1) {
      std::cout << bands_json(calibrations);
    } else if (calibrations.empty()) {
      std::cout << "No case of the plugin \"" << printable(plugin->name) << "\" has been retrieved for"
                << (suite ? " in that suite" : "") << " yet; `sluice run` records it.\n";
    } else {
      std::cout << bands_text(calibrations);
    }
    return exit_ok;
  }

 private:
  /// The one that is named, or that all retrievals were made by: floors hold for one embedder.
  Result<std::string> embedder_of(const Ledger& ledger, const std::string& plugin) const {
    const auto known = ledger.retrieval_embedders(plugin);
    if (!known) return fail(known.error());
    if (embedding_model) {
      if (known->empty() || std::ranges::find(*known, *embedding_model) != known->end())
        return *embedding_model;
      return fail(Reason::usage_invalid, "no case of the plugin \"" + plugin + "\" was retrieved for by \"" +
                                             *embedding_model + "\"; there are " + joined(*known));
    }
    if (known->size() < 2) return known->empty() ? std::string() : known->front();
    return fail(Reason::usage_invalid, "cases of the plugin \"" + plugin +
                                           "\" were retrieved for by several embedders (" + joined(*known) +
                                           "), and floors hold for one: name it with --embedding-model");
  }

  Result<void> write_floors(const std::string& before,
                            const std::vector<TripleCalibration>& calibrations) const {
    std::string text = before;
    std::uint64_t changed = 0;
    for (const TripleCalibration& one : calibrations) {
      const auto* proposal = std::get_if<BandProposal>(&one.result);
      if (proposal == nullptr) continue;
      auto edited = with_floors(text, one.triple, {proposal->high.floor, proposal->degraded.floor});
      if (!edited) return fail(edited.error().reason, file + ": " + edited.error().message);
      text = std::move(*edited);
      ++changed;
    }
    if (changed > 0) {
      if (auto written = write_whole_file("plugin", file, text); !written) return written;
    }
    say((changed > 0 ? "wrote the floors of " + wording::counted(changed, "kind") + " of cases to " + file
                     : file + " stays as it is: no floor has enough cases behind it yet; `sluice run` of "
                              "suites with this plugin adds some"));
    return {};
  }
};

}  // namespace

Command add_calibrate_bands_command(CLI::App& program) {
  auto command = std::make_shared<CalibrateBands>();
  CLI::App* app =
      program.add_subcommand("calibrate-bands", "Propose floors for solved examples from past results");
  app->add_option("PLUGIN", command->file, "The plugin's file, plugins/NAME/plugin.yaml")
      ->type_name("")
      ->required();
  app->add_option("--suite", command->suite, "Only retrievals of this suite")->type_name("NAME");
  app->add_option("--embedding-model", command->embedding_model,
                  "Only retrievals by this embedder (required if there are several)")
      ->type_name("MODEL");
  app->add_option("--format", command->format, "Format of the output (default table)")
      ->type_name("table|json");
  app->add_flag("--write", command->write, "Write the proposed floors into the file, and keep its comments");
  command->settings.add_to(*app, {"home"});
  app->footer(calibrate_bands_examples);
  return {app, [command] { return command->run(); }};
}

}  // namespace sluice
