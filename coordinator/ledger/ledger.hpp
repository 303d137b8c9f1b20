#pragma once

#include "common/cache_tools.hpp"
#include "common/error.hpp"
#include "common/model/result.hpp"
#include "coordinator/facts/asked_case.hpp"
#include "coordinator/facts/cache_holders.hpp"
#include "coordinator/facts/case_outcome.hpp"
#include "coordinator/facts/committed_results.hpp"
#include "coordinator/facts/judge_calibration.hpp"
#include "coordinator/facts/quality.hpp"
#include "coordinator/facts/remembered_limits.hpp"
#include "coordinator/facts/retrieval_event.hpp"
#include "coordinator/facts/run_record.hpp"
#include "coordinator/facts/suite_copy.hpp"
#include "coordinator/ledger/defaults.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace sluice {

/// A file of an earlier version that was brought up to date; nothing in it was lost.
struct LedgerUpgrade {
  int from = 0;
  int to = 0;
  std::uint64_t runs = 0;  ///< In the file.
  std::uint64_t pins = 0;
};

/// What `Ledger::prune` removes: whatever fits all of what is given.
struct RunPrune {
  std::optional<std::int64_t> begun_before_ms;  ///< Unix time.
  std::optional<std::uint64_t> keep;            ///< The newest so many stay.
  /// A run that has not ended stays unless it began before this: somebody may go on with it. One that a
  /// process works on stays in any case.
  std::int64_t unfinished_before_ms = 0;
  bool dry_run = false;
  /// A transaction removes so many rows; after each but a run's last, others have so much time to write.
  std::uint64_t rows_at_once = defaults::rows_pruned_at_once;
  std::function<void(std::chrono::nanoseconds)> leave_to_others = [](std::chrono::nanoseconds time) {
    std::this_thread::sleep_for(time);
  };
};

struct PrunedRuns {
  std::uint64_t runs = 0;     ///< Removed, or in a dry run: to be removed.
  std::uint64_t results = 0;  ///< Theirs.
  std::uint64_t left = 0;     ///< Runs that stay.
  /// Of these, runs that fit but stay: not ended, and those that `update-baseline` has its scores from or
  /// would have.
  std::uint64_t unfinished = 0;
  std::uint64_t needed = 0;
  std::uint64_t bytes_before = 0;  ///< Of the ledger's files.
  std::uint64_t bytes_after = 0;
  bool compacted = false;  ///< False also if another process was at work: later runs use the room then.
};

/// What everything that was committed outlives (docs/durability.md, "Power loss").
enum class Outlives : std::uint8_t {
  process,  ///< The death of this process.
  power,    ///< A loss of power, too: a commit returns once it is on the disk, and what others do to the file
            ///< from then on takes nothing of it.
};

/// The run ledger: SQLite at `$SLUICE_HOME/ledger.db`. Not thread-safe; each thread opens its own. Errors:
/// ledger_failed.
class Ledger {
 public:
  /// Makes the file if there is none, and brings one of an earlier version up to date (`upgrade`).
  static Result<Ledger> open(const std::filesystem::path& file, Outlives outlives = Outlives::process);
  /// Opens an existing file for reading alone, where nothing can be written beside it either; what would
  /// change it fails. A file of an earlier version is brought up to date in a temporary copy, which goes with
  /// this.
  static Result<Ledger> open_read_only(const std::filesystem::path& file);
  /// Opens an existing file for reading alone beside runs that write to it, and keeps none of them waiting.
  /// As open_read_only; but pins of runs under way are not settled, and reading pins then fails.
  static Result<Ledger> open_beside_runs(const std::filesystem::path& file);
  ~Ledger();
  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;

  /// What its commits outlive; notes that save requests alone (spends, leases, holders) outlive a loss of
  /// power from the next commit of something else on.
  Outlives outlives() const;
  /// What opening the file brought up to date, for whoever watches.
  const std::optional<LedgerUpgrade>& upgrade() const;

  /// How long each call waits for the transaction of another process from now on.
  void wait_for_others(std::chrono::milliseconds most);
  /// Whether the latest call failed because another process had the file locked for longer than that: a later
  /// one may succeed.
  bool was_locked_out() const;

  /// Waits for another process longer than other calls do, as finish_run and reopen_run.
  Result<void> begin_run(const RunRecord& run);
  /// `part_time`: of the part that ends, as RunFacts has it.
  Result<void> finish_run(const std::string& run_id, const RunSummary& summary,
                          std::chrono::milliseconds part_time = {});

  // --- going on with a run (coordinator/session/resume_run.hpp) ---
  /// The run has no end any more, and another part of it begins: what was noted of the end, and its cases,
  /// go. Its results stay.
  Result<void> reopen_run(const std::string& run_id);
  /// Calls `visit` for each committed trial of the run in plan order, with the name of the worker whose
  /// result it is. Errors as results_of.
  Result<void> visit_committed(const std::string& run_id,
                               const std::function<void(const CommittedTrial&, const std::string&)>& visit);
  /// Notes what a run spent that is in no result of it.
  Result<void> note_spends(const std::string& run_id, std::span<const UnitSpend> spends);
  Result<std::vector<UnitSpend>> spends_of(const std::string& run_id) const;
  /// Removes results of a run that goes on, and notes what they took.
  Result<void> give_up_results(const std::string& run_id, std::span<const TrialId> trials,
                               std::span<const UnitSpend> spends);
  /// Notes whose caches may get the answers of these units; the latest lease of a unit counts.
  Result<void> note_leases(const std::string& run_id, std::span<const NotedLease> leases);
  /// By unit.
  Result<std::vector<NotedLease>> leases_of(const std::string& run_id) const;
  /// Notes the flags of the run's last part, in place of those of the part before. As RunRecord has them.
  Result<void> note_flags(const std::string& run_id, const std::string& flags);
  /// Notes where workers can join the run.
  Result<void> note_endpoint(const std::string& run_id, const std::string& endpoint);

  /// Notes the cases of a run that has begun, in plan order: all of them or none.
  Result<void> note_asked(const std::string& run_id, std::span<const AskedCase> cases);
  /// What was noted, in plan order; empty where nothing was.
  Result<std::vector<AskedCase>> asked_by(const std::string& run_id) const;
  /// Keeps the files of a suite of which a run has begun; those of runs of one and the same are kept once. Of
  /// more than `max_bytes`, packed, the oldest copies go.
  Result<void> note_suite(const std::string& run_id, const SuiteCopy& suite,
                          std::int64_t max_bytes = defaults::max_suite_copies_bytes);
  /// What was kept; null where nothing was.
  Result<std::shared_ptr<const SuiteCopy>> suite_of(const std::string& run_id) const;
  /// How long the parts of the run took together (RunFacts::duration_seconds). Of one whose process died it
  /// is known when it was begun and, to a second, its latest commit. `now_ms`: of a run that is under way,
  /// until then. Nothing for a run from before version 11 of the ledger.
  Result<std::optional<std::chrono::milliseconds>> time_of(const std::string& run_id,
                                                           std::optional<std::int64_t> now_ms = {}) const;

  /// Adds cases of a run that did not simply pass to those that are noted: all of them or none.
  Result<void> note_cases(const std::string& run_id, std::span<const CaseOutcome> cases);
  /// What was noted, in plan order.
  Result<std::vector<CaseOutcome>> cases_of(const std::string& run_id) const;

  /// The latest runs, newest first.
  Result<std::vector<PastRun>> list_runs(std::size_t limit) const;
  /// The run that the words name: its id, the first digits of one, `last` for the newest run, or `last~N` for
  /// the Nth before that. usage_invalid if there is none or more than one.
  Result<PastRun> find_run(const std::string& words) const;
  /// The newest run of a suite that has ended, and that `fits`; nothing if there is none.
  Result<std::optional<PastRun>> latest_run(const std::string& suite_path,
                                            const std::function<bool(const PastRun&)>& fits) const;

  /// A manifest's [baseline] was made from the run: it is pruned only when another one of its suite took its
  /// place.
  Result<void> note_baseline(const std::string& run_id, std::int64_t now_ms);
  /// The runs of a suite that its manifest's [baseline] was ever made from, the latest first.
  Result<std::vector<PastRun>> baseline_runs(const std::string& suite_path) const;
  /// Removes old runs and their results, and gives the room back to the disk. Nobody finds a run any more
  /// from the first of its rows on that goes; where this is killed in between, the next call removes the
  /// rest. Pins stay as they are: they need no run.
  Result<PrunedRuns> prune(const RunPrune& which);
  /// Removes one run with all that is kept of it. Nothing happens if there is none.
  Result<void> remove_run(const std::string& run_id);

  /// Commits all results in one transaction: all of a unit's trials or none, insert or ignore. One outcome
  /// for each. `move_pins`: the committed answers become the pinned ones of their keys.
  Result<std::vector<CommitOutcome>> commit(const std::string& run_id,
                                            std::span<const ResultToCommit> results, bool move_pins);

  /// One entry for each key, empty where nothing is pinned.
  Result<std::vector<std::optional<Pin>>> pins(std::span<const Digest> keys);
  /// How many keys have their pinned answer in which cache, by its id. REQUIRES: open_read_only.
  Result<std::map<std::string, std::uint64_t>> pins_by_cache() const;
  /// The keys whose pinned answer is in the cache with this id. REQUIRES: open_read_only.
  Result<std::vector<Digest>> keys_pinned_in(const std::string& cache) const;
  /// Adds what another ledger knows of caches: its pins and its holders of entries, all or none.
  Result<void> copy_pins_from(const Ledger& other);
  /// Makes these the pins of their keys, all or none (the import of a cassette).
  Result<void> move_pins(std::span<const CachePin> pins);

  /// Notes who holds these leased entries, in place of what was noted before: all of them or none.
  Result<void> note_holders(std::span<const EntryHolder> holders);
  /// One cache's id for each key, empty where none is noted.
  Result<std::vector<std::string>> holders(std::span<const EntryKey> keys);

  /// Keeps what a run learnt of a provider's key in place of what an earlier one did.
  Result<void> note_limits(const RememberedLimits& learned);
  /// By provider.
  Result<std::vector<RememberedLimits>> limits() const;
  /// Of this key, or of all; how many there were.
  Result<std::uint64_t> forget_limits(const std::optional<std::string>& key);
  /// Keeps these calibrations in place of earlier ones with the same keys: all of them or none.
  Result<void> note_calibrations(std::span<const JudgeCalibration> calibrations);
  /// The latest calibration of each key of this suite.
  Result<std::vector<JudgeCalibration>> calibrations_of(const std::string& suite) const;

  /// Adds grades of a run that has begun to the quality table, in place of what it has of their trials: all
  /// of them or none.
  Result<void> note_grades(const std::string& run_id, const QualityGroup& group,
                           std::span<const QualityRecord> grades);
  /// The grades that fit, summed by test: ordered by group, category and test.
  Result<std::vector<QualityOfTest>> quality(const QualityFilter& filter) const;

  /// Adds retrievals of a run that has begun, in place of what it has of their cases: all of them or none.
  Result<void> note_retrievals(const std::string& run_id, std::span<const RetrievalEvent> events);
  /// The latest retrieval of each test of each suite that fits and has a case with a status other than
  /// `error`: by triple, suite and test. None of mock runs.
  Result<std::vector<RetrievalEvent>> retrievals(const RetrievalFilter& filter) const;
  /// The embedders that a plugin's retrievals were made by, outside mock runs: by name.
  Result<std::vector<std::string>> retrieval_embedders(const std::string& plugin) const;
  /// Those of one run, by case.
  Result<std::vector<RetrievalEvent>> retrievals_of(const std::string& run_id) const;

  /// The answers that a run's results show, also those of a run that an earlier version recorded; a key may
  /// come more than once.
  Result<std::vector<UsedAnswer>> answers_of(const std::string& run_id) const;
  /// The committed results of a run. The ledger must outlive it. Those of a run that another version recorded
  /// cannot be read.
  std::unique_ptr<ResultSource> results_of(const std::string& run_id) const;
  /// Visits them from `first` on up to the first trial that has none yet, and returns that one. Errors as
  /// results_of.
  Result<TrialId> visit_consecutive(const std::string& run_id, TrialId first, const VisitTrial& visit) const;

  /// How far the run has come.
  Result<RunProgress> progress_of(const std::string& run_id) const;

 private:
  struct Database;
  enum class Pins : std::uint8_t { settled, as_they_are };
  static Result<Ledger> open_as(const std::filesystem::path& file, Pins pins);
  explicit Ledger(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace sluice
