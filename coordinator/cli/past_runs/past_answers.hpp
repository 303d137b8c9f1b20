#pragma once

#include "common/cache_tools.hpp"
#include "common/checks/redactor.hpp"
#include "common/settings/settings.hpp"
#include "coordinator/cli/past_runs/judged_cases.hpp"
#include "coordinator/facts/observation.hpp"
#include "coordinator/facts/retrieval_event.hpp"
#include "coordinator/facts/run_record.hpp"
#include "coordinator/facts/suite_copy.hpp"
#include "coordinator/suite/selection.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace CLI {
class App;
}

namespace sluice {

/// What the ledger kept of the run's suite; null where nothing was kept, or it cannot be read.
std::shared_ptr<const SuiteCopy> copy_of_suite(const Settings& settings, const PastRun& past);

/// Which cases of a past run are wanted: all, those of an id, and of these those that fit.
struct WantedCases {
  std::string case_id{};  ///< Without its arm it stands for the test under every arm; empty: all.
  std::vector<CaseFilter> filters{};
  std::vector<std::string> allowed_paths{};  ///< As of --allow-path, for a filter that needs the suite.
  bool with_judging = false;                 ///< PastTrials::judged is wanted.
};

/// A run's trials.
struct PastTrials {
  std::vector<Observation> observations{};     ///< In plan order.
  std::set<std::uint64_t> lost_answers{};      ///< Trials whose answer no cache of the home holds any more.
  std::optional<std::uint64_t> saved_alone{};  ///< So many of the run's trials are saved, and not all.
  Redactor redactor{};                         ///< Of what the run redacts, and what the command does.
  std::map<std::string, RetrievalEvent> retrievals{};  ///< By case: which solved example it found.
  /// What the run asked is not known any more: the trials have no prompts.
  bool prompts_are_lost = false;
  /// What judged the cases, where it was asked for; nothing where it is not known any more.
  std::optional<std::vector<JudgedCase>> judged{};
  std::vector<std::string> known_cases{};  ///< Where nothing fits: what could have been meant.
};

/// Where trials are read from.
enum class TrialSource : std::uint8_t {
  any,    ///< The observations, if they hold what is wanted; else, or if they cannot be read, ledger and
          ///< caches.
  saved,  ///< The observations alone, whatever they hold.
};

/// The wanted trials of a run, redacted as the settings ask. What is not among the observations is made of
/// what the ledger and the caches hold. Where the suite or whatever else decides what is asked is not as it
/// was, prompts are not known; where the cases are not either, nothing is. The run's own flags say it again,
/// and those given to the command go before them. Error: the exit code, after what is wrong was reported.
tl::expected<PastTrials, int> trials_of(const PastRun& past, const WantedCases& wanted, TrialSource source,
                                        const CLI::App& command, const Settings& settings,
                                        const CacheTools& tools);

/// Reports that nothing of what is wanted is there; returns the exit code. `who_has`: `run 1b4e28ba has`.
int report_no_result(const std::string& who_has, const WantedCases& wanted,
                     const std::vector<std::string>& known_cases = {});

/// What the gate made of the run's cases that did not simply pass, by id; nothing where that is not noted.
Result<std::optional<std::map<std::string, std::string>>> noted_statuses(const Settings& settings,
                                                                         const PastRun& past);

}  // namespace sluice
