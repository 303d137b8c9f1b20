#include "coordinator/cli/command.hpp"
#include "coordinator/cli/defaults.hpp"
#include "coordinator/cli/past_runs/asked_again.hpp"
#include "coordinator/cli/past_runs/named_runs.hpp"
#include "coordinator/cli/past_runs/past_answers.hpp"
#include "coordinator/cli/past_runs/past_details.hpp"
#include "coordinator/cli/past_runs/past_runs.hpp"
#include "coordinator/cli/run_flags.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/display/numbers.hpp"
#include "coordinator/display/terminal.hpp"
#include "coordinator/observations/answer_grid.hpp"
#include "coordinator/observations/observation_page.hpp"
#include "coordinator/observations/observation_text.hpp"

#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <unistd.h>

namespace sluice {
namespace {

class ShowCases {
 public:
  SettingFlags settings;
  RunFlags flags;
  std::string run_id;
  std::string case_id;
  bool as_json = false;
  bool as_grid = false;

  int run(const CacheTools& tools, const CLI::App& app) const {
    if (as_grid && as_json)
      return report_error(
          "--grid is a table for people, and --json a line for each trial: leave out one of them");
    auto filters = filters_of(flags.filters);
    if (!filters) return report_error(filters.error());
    const auto effective = settings.load();
    if (!effective) return report_findings(effective.error());
    auto past = find_past_run(*effective, run_id);
    const bool names_cases = !are_all_wanted() || as_grid;
    // Of a case alone, which stands where a run should, that is what is wrong.
    if (!past && (past.error().reason != Reason::usage_invalid || !names_cases))
      return report_error(past.error());
    if (!names_cases)
      return report_error(
          "which cases? Name a CASE, or some with --filter; --filter '*' shows all, and --grid a table of "
          "their answers");
    // Observations outlive a run that was pruned.
    std::optional<Error> unknown;
    if (!past) {
      unknown = past.error();
      past = std::optional<PastRun>();
    }
    if (*past && are_all_wanted() && (*past)->run.trials > defaults::max_diffed_trials)
      return report_error(too_many((*past)->run));
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
  bool are_all_wanted() const { return case_id.empty() && flags.filters.empty(); }

  static std::string too_many(const RunRecord& run) {
    return "run " + short_id(run.run_id) + " has " + wording::counted(run.trials, "trial") +
           ", more than the " + wording::grouped(defaults::max_diffed_trials) +
           " that are read for a grid: name some with --filter";
  }

  int print(PastTrials& trials, const PastRun& past, const Settings& effective) const {
    const auto missed = missed_by_cases(effective, past, trials.redactor);
    if (!missed) return report_error(missed.error());
    const auto pairs = pairs_of(effective, past, trials.redactor);
    if (!pairs) return report_error(pairs.error());
    if (as_grid) return print_grid(trials, past, effective, *pairs, *missed);
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

  using Pairs = std::map<TrialId, GradedPair>;
  using Missed = std::map<std::string, std::vector<std::string>>;

  int print_grid(PastTrials& trials, const PastRun& past, const Settings& effective, const Pairs& pairs,
                 const Missed& missed) const {
    auto statuses = noted_statuses(effective, past);
    if (!statuses) return report_error(statuses.error());
    AnswerGrid grid{
        {{}, std::move(*statuses), std::move(trials.lost_answers)}, missed, arm_names(past.run), run_id};
    if (are_all_wanted()) grid.most_rows = defaults::max_listed_cases;
    for (Observation& one : trials.observations) {
      const auto pair = pairs.find(static_cast<TrialId>(one.trial));
      if (pair != pairs.end()) {
        grid.run.observations.push_back(baseline_of(pair->second, one));
        grid.run.lost_answers.erase(one.trial);  // The ledger has a graded answer whole.
      }
      grid.run.observations.push_back(std::move(one));
    }
    std::cout << answer_grid(grid, output_columns(), detect_terminal(STDOUT_FILENO).colour);
    return exit_ok;
  }

  /// A pair is recorded as its candidate's, and passes nothing: makes an observation of the other answer.
  static Observation baseline_of(const GradedPair& pair, Observation& candidate) {
    candidate.status.clear();
    candidate.raw_response = pair.result.candidate.text;
    Observation baseline = candidate;
    baseline.case_id.resize(baseline.case_id.size() - candidate.arm.size());
    baseline.case_id += pair.baseline_arm;
    baseline.arm = pair.baseline_arm;
    baseline.raw_response = pair.result.baseline.text;
    return baseline;
  }
};

}  // namespace

Command add_show_command(CLI::App& program, const CacheTools& tools) {
  auto command = std::make_shared<ShowCases>();
  CLI::App* app =
      program.add_subcommand("show", "Show all about cases of a run: prompt, answer, claims, metrics, costs");
  app->add_option("RUN", command->run_id, run_or_suite_words)->required()->type_name("");
  app->add_option("CASE", command->case_id, "The case's id; TEST stands for TEST@ARM under every arm")
      ->type_name("");
  app->add_flag("--json", command->as_json, "A line of JSON for each trial");
  app->add_flag("--grid", command->as_grid,
                "The answers as a table: a row for each test, a column for each arm");
  app->add_option("SUITE", command->flags.suite,
                  "A YAML suite or a folder of fixtures, in place of the run's")
      ->type_name("");
  add_filter(*app, command->flags.filters);
  add_allow_path(*app, command->flags.allowed_paths);
  add_answer_flags(*app, command->flags);
  add_asked_settings(*app, command->settings);
  app->footer(
      "Reads the observations, if they hold the cases (--save-observations); else the\n"
      "ledger with its copy of the run's suite, and the caches with the answers. The\n"
      "run's flags apply; a suite and flags given here override them. --filter selects\n"
      "cases; without it and CASE, --grid shows the first 50 tests.\n"
      "Examples:\n"
      "  sluice show last tls-001\n"
      "  sluice show 1b4e28ba tls-001 --json\n"
      "  sluice show last~1 --filter 'tls-*' --filter tag!=slow\n"
      "  sluice show last --grid\n"
      "  sluice show last tls-001 suite.yaml --arm mini=openai:gpt-5-mini");
  return {app, [command, tools, app] { return command->run(tools, *app); }};
}

}  // namespace sluice
