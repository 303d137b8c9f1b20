#include "common/defaults.hpp"
#include "common/text/text.hpp"
#include "coordinator/cli/command.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/setting_flags.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/display/terminal.hpp"
#include "coordinator/report/commands/limits_report.hpp"
#include "coordinator/session/flag_values.hpp"

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

constexpr const char* limits_examples =
    "If the settings have no limit for a provider, a run starts with what an earlier\n"
    "run learnt. It is stored under the provider's name and server and its key's\n"
    "variable; the key itself is stored nowhere.\n"
    "Examples:\n"
    "  sluice limits\n"
    "  sluice limits --format json\n"
    "  sluice limits --forget-limits openai\n"
    "  sluice limits --forget-limits        # of every provider\n"
    "Exit code 0: printed or forgotten; 2: usage, an unknown provider, or a ledger\n"
    "that fails.";

struct Limits {
  SettingFlags settings;
  std::string format = "table";
  bool forgets = false;
  std::optional<std::string> forgotten;  ///< The provider; nothing: all of them.

  int run() const {
    const auto as = choice_of("--format", format, {"table", "json"});
    if (!as) return report_error(as.error());
    if (forgets && *as == 1)
      return report_error(
          "--format json prints the limits, and --forget-limits forgets them: use one of them");
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    auto ledger = open_past_runs(*effective);
    if (!ledger) return report_error(ledger.error());
    std::vector<RememberedLimits> limits;
    if (*ledger) {
      auto found = (*ledger)->limits();
      if (!found) return report_error(found.error());
      limits = std::move(*found);
      for (RememberedLimits& one : limits) {
        // Of a run that was pruned meanwhile it is not known.
        if (const auto time = (*ledger)->time_of(one.run_id)) one.run_time = *time;
      }
    }
    if (forgets) return forget(*ledger, limits);
    if (*as == 1) {
      std::cout << limits_json(limits);
    } else if (limits.empty()) {
      std::cout
          << "Nothing is learnt of any provider yet; a run learns limits that the settings do not name.\n";
    } else {
      std::cout << limits_text(limits, output_columns());
    }
    return exit_ok;
  }

 private:
  int forget(std::optional<Ledger>& ledger, const std::vector<RememberedLimits>& limits) const {
    std::uint64_t count = 0;
    for (const RememberedLimits& one : limits) {
      if (forgotten && one.provider != *forgotten) continue;
      const auto removed = ledger->forget_limits(one.key);
      if (!removed) return report_error(removed.error());
      count += *removed;
    }
    if (count == 0 && forgotten)
      return report_error("nothing is learnt of a provider \"" + excerpt(*forgotten, defaults::quoted_bytes) +
                          "\"; `sluice limits` shows those that are");
    std::cout << "Forgotten: the limits of " << wording::counted(count, "provider") << ".\n";
    return exit_ok;
  }
};

}  // namespace

Command add_limits_command(CLI::App& program) {
  auto command = std::make_shared<Limits>();
  CLI::App* app = program.add_subcommand("limits", "Show what runs learnt about the providers' limits");
  app->add_option_function<std::vector<std::string>>(
         "--forget-limits",
         [command](const std::vector<std::string>& provider) {
           command->forgets = true;
           if (!provider.empty() && !provider.front().empty()) command->forgotten = provider.front();
         },
         "Forget them, for this provider or for all")
      ->expected(0, 1)
      ->type_name("PROVIDER");
  app->add_option("--format", command->format, "Format of the output (default table)")
      ->type_name("table|json");
  command->settings.add_to(*app, {"home"});
  app->footer(limits_examples);
  return {app, [command] { return command->run(); }};
}

}  // namespace sluice
