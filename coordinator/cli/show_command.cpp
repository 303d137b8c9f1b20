#include "coordinator/cli/command.hpp"
#include "coordinator/cli/past_answers.hpp"
#include "coordinator/cli/past_details.hpp"
#include "coordinator/cli/past_runs.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/observations/observation_page.hpp"
#include "coordinator/observations/observation_text.hpp"

#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

namespace sluice {
namespace {

class ShowCases {
 public:
  SettingFlags settings;
  RunFlags flags;
  std::string run_id;
  std::string case_id;
  bool as_json = false;

  int run(const CacheTools& tools, const CLI::App& app) const {
    if (case_id.empty() && flags.filters.empty())
      return report_error("which cases? Name a CASE, or some with --filter; --filter '*' shows all");
    auto filters = filters_of(flags.filters);
    if (!filters) return report_error(filters.error());
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    auto past = find_past_run(*effective, run_id);
    if (!past && past.error().reason != Reason::usage_invalid) return report_error(past.error());
    // Observations outlive a run that was pruned.
    std::optional<Error> unknown;
    if (!past) {
      unknown = past.error();
      past = std::optional<PastRun>();
    }
    const WantedCases wanted{case_id, std::move(*filters), flags.allowed_paths};
    // Without a ledger the observations are all there is.
    PastRun saved_alone;
    saved_alone.run.run_id = run_id;
    auto trials = trials_of(*past ? **past : saved_alone, wanted,
                            *past ? TrialSource::any : TrialSource::saved, app, *effective, tools);
    if (!trials) return trials.error();
    if (trials->observations.empty() && unknown) return report_error(*unknown);
    if (trials->observations.empty() && !*past) return report_error(no_run_yet);
    if (trials->observations.empty())
      return report_no_result("run " + short_id((*past)->run.run_id) + " has", wanted, trials->known_cases);
    return print(*trials, *past ? **past : saved_alone, *effective);
  }

 private:
  int print(PastTrials& trials, const PastRun& past, const Settings& effective) const {
    const auto missed = missed_scores_of(effective, past);
    if (!missed) return report_error(missed.error());
    const auto pairs = pairs_of(effective, past, trials.redactor);
    if (!pairs) return report_error(pairs.error());
    const auto in = [](const auto& map, const auto& key) {
      const auto found = map.find(key);
      return found == map.end() ? nullptr : &found->second;
    };
    for (Observation& one : trials.observations) {
      if (&one != trials.observations.data() && !as_json) std::cout << "\n";
      ShownBeside beside{in(trials.retrievals, one.case_id), in(*pairs, static_cast<TrialId>(one.trial)),
                         in(*missed, one.case_id), trials.prompts_are_lost,
                         trials.lost_answers.contains(one.trial)};
      // The ledger has a graded answer whole.
      if (beside.pair != nullptr && one.raw_response.empty()) {
        one.raw_response = beside.pair->result.candidate.text;
        beside.answer_is_lost = false;
      }
      std::cout << (as_json ? observation_as_json(one, beside) : observation_page(one, beside));
    }
    return exit_ok;
  }
};

}  // namespace

Command add_show_command(CLI::App& program, const CacheTools& tools) {
  auto command = std::make_shared<ShowCases>();
  CLI::App* app =
      program.add_subcommand("show", "Show cases of a run whole: prompt, answer, claims, metrics, costs");
  app->add_option("RUN", command->run_id, run_or_suite_words)->required()->type_name("");
  app->add_option("CASE", command->case_id, "The case's id; TEST stands for TEST@ARM under every arm")
      ->type_name("");
  app->add_flag("--json", command->as_json, "A line of JSON for each trial");
  add_suite_argument(*app, command->flags);
  add_suite_flags(*app, command->flags);
  add_answer_flags(*app, command->flags);
  command->settings.add_to(*app);
  app->footer(
      "From the observations, if they hold what is asked for (--save-observations);\n"
      "else from the ledger with its copy of the run's suite, and from the caches that\n"
      "hold the answers. The run's flags hold; a suite and flags given here go before\n"
      "them. --filter says which cases are shown.\n"
      "Examples:\n"
      "  sluice show last tls-001\n"
      "  sluice show 1b4e28ba tls-001 --json\n"
      "  sluice show last~1 --filter 'tls-*' --filter tag!=slow\n"
      "  sluice show last tls-001 suite.yaml --arm mini=openai:gpt-5-mini");
  return {app, [command, tools, app] { return command->run(tools, *app); }};
}

}  // namespace sluice
