#include "coordinator/cli/command.hpp"
#include "coordinator/cli/past_answers.hpp"
#include "coordinator/cli/past_runs.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/ledger/observation_store.hpp"
#include "coordinator/observations/observation_page.hpp"
#include "coordinator/observations/observation_text.hpp"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

struct ShowCase {
  SettingFlags settings;
  RunFlags flags;
  std::string run_id;
  std::string case_id;
  bool as_json = false;

  int run(const CacheTools& tools, CLI::App& app) {
    auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    const auto past = find_past_run(*effective, run_id);
    if (!past) return report_error(past.error());
    const std::string id = *past ? (*past)->run.run_id : run_id;
    auto found = saved(*effective, id);
    if (!found) return report_error(found.error());
    if (found->empty() && !*past) return report_error("no run is recorded yet; `sluice run` records one");
    if (found->empty()) {
      if (!(*past)->run.flags.empty()) {
        if (const auto taken = take_flags(app, (*past)->run.flags); !taken)
          return report_error(taken.error());
      }
      auto again = observations_from_caches(settings, flags, **past, case_id, tools);
      if (!again) return again.error();
      found = std::move(*again);
    }
    for (const Observation& one : *found) {
      if (&one != found->data() && !as_json) std::cout << "\n";
      std::cout << (as_json ? observation_as_json(one) : observation_page(one));
    }
    return exit_ok;
  }

 private:
  Result<std::vector<Observation>> saved(const Settings& effective, const std::string& run) const {
    std::vector<Observation> found;
    const auto store = ObservationStore::open_read_only(observations_file(effective));
    if (!store) return fail(store.error());
    if (!*store) return found;
    ObservationFilter filter;
    filter.run = run;
    filter.case_id = case_id;
    const auto visited = (*store)->visit(filter, ObservationStore::Order::oldest_first, std::nullopt,
                                         [&](const Observation& one) { found.push_back(one); });
    if (!visited) return fail(visited.error());
    std::ranges::stable_sort(found, {}, &Observation::trial);
    return found;
  }
};

}  // namespace

Command add_show_command(CLI::App& program, const CacheTools& tools) {
  auto command = std::make_shared<ShowCase>();
  CLI::App* app =
      program.add_subcommand("show", "Show one case of a run whole: prompt, answer, claims, metrics, costs");
  app->add_option("RUN", command->run_id, "The run's id, its first digits, or last")
      ->required()
      ->type_name("");
  app->add_option("CASE", command->case_id, "The case's id; TEST stands for TEST@ARM under every arm")
      ->required()
      ->type_name("");
  app->add_flag("--json", command->as_json, "A line of JSON for each trial");
  add_suite_argument(*app, command->flags);
  add_suite_flags(*app, command->flags);
  add_answer_flags(*app, command->flags);
  command->settings.add_to(*app);
  app->footer(
      "From the observations, if the run saved any (--save-observations); else from the\n"
      "caches that hold its answers, as long as the suite and what asks for the answers\n"
      "are as they were; the run's flags hold, and those given here go before them.\n"
      "Examples:\n"
      "  sluice show last tls-001\n"
      "  sluice show 1b4e28ba tls-001 --json\n"
      "  sluice show last tls-001 suite.yaml --arm mini=openai:gpt-5-mini");
  return {app, [command, tools, app] { return command->run(tools, *app); }};
}

}  // namespace sluice
