#pragma once

#include "common/cache_tools.hpp"
#include "common/error.hpp"
#include "common/result.hpp"
#include "coordinator/gate/status.hpp"
#include "coordinator/merge/result_source.hpp"
#include "coordinator/merge/scores.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

/// A run as it begins.
struct RunRecord {
  std::string run_id;
  std::string suite;
  std::string mode;
  std::string provider;
  std::string model;
  std::string prompt_version;
  std::int64_t started_at_ms = 0;
  std::uint64_t trials = 0;
  std::string prompt_hash{};  ///< `sha256:...`
  std::string suite_path{};   ///< Absolute path of the fixtures' folder or the suite file.
  bool selection = false;     ///< Only some of the suite's cases: --categories, --max-fixtures.
};

/// What a run came to, noted when it ends.
struct RunSummary {
  std::int64_t completed_at_ms = 0;
  std::string verdict;
  int exit_code = 0;
  std::string reason_code{};  ///< Why it was cut short; empty if it was not.
  Scores scores{};            ///< Over all cases without an error.
  StatusCounts statuses{};
  PaidTokens paid{};
  std::optional<double> estimated_cost{};  ///< US dollars for all committed answers.
};

/// A run of the past.
struct PastRun {
  RunRecord run;
  std::optional<RunSummary> summary;  ///< Empty: it is still going on, or its process died.
};

/// The committed answer of a key, and whose cache holds it (delivery.md, "The cache in a fleet").
struct Pin {
  Digest answer{};
  std::string holder;  ///< Id of the cache directory.
};

/// Whose cache holds the embedding of this key (common/cache_key.hpp).
struct EmbeddingHolder {
  Digest key{};
  std::string holder;  ///< Id of the cache directory.
  friend bool operator==(const EmbeddingHolder&, const EmbeddingHolder&) = default;
};

/// A result on its way into the ledger.
struct ResultToCommit {
  UnitResult result;
  std::vector<TrialId>
      trials;            ///< All trials of the unit; `result.scores` has one for each, or it is an error.
  std::string worker;    ///< Name, for people.
  std::string cache_id;  ///< Whose cache holds the answer now; empty when it was not stored.
};

/// What became of it. The first committed result of a unit is its result.
struct CommitOutcome {
  bool first = false;
  Digest winner{};          ///< The answer that is committed; zero for an error without one.
  bool said_again = false;  ///< A duplicate by the worker whose result it is: it missed our ACK.
};

/// The run ledger: SQLite at `$SLUICE_HOME/ledger.db`. "Stored" means surviving the death of this process,
/// not the loss of power. Not thread-safe; each thread opens its own. Errors: ledger_failed.
class Ledger {
 public:
  static Result<Ledger> open(const std::filesystem::path& file);
  ~Ledger();
  Ledger(Ledger&&) noexcept;
  Ledger& operator=(Ledger&&) noexcept;

  Result<void> begin_run(const RunRecord& run);
  Result<void> finish_run(const std::string& run_id, const RunSummary& summary);

  /// The latest runs, newest first.
  Result<std::vector<PastRun>> list_runs(std::size_t limit) const;
  /// The run whose id is this or begins so. usage_invalid if there is none or more than one.
  Result<PastRun> find_run(const std::string& id_or_prefix) const;
  /// The newest run of a suite that has ended, and was not in the mode `but`; nothing if there is none.
  Result<std::optional<PastRun>> latest_run(const std::string& suite_path, std::string_view but = {}) const;

  /// Commits all results in one transaction: all of a unit's trials or none, insert or ignore. One outcome
  /// for each. `move_pins`: the committed answers become the pinned ones of their keys.
  Result<std::vector<CommitOutcome>> commit(const std::string& run_id,
                                            std::span<const ResultToCommit> results, bool move_pins);

  /// One entry for each key, empty where nothing is pinned.
  Result<std::vector<std::optional<Pin>>> pins(std::span<const Digest> keys);
  /// Makes these the pins of their keys, all or none (the import of a cassette).
  Result<void> move_pins(std::span<const CachePin> pins);

  /// Notes who holds these embeddings, in place of what was noted before: all of them or none.
  Result<void> note_embeddings(std::span<const EmbeddingHolder> embeddings);
  /// One cache's id for each key, empty where none is noted.
  Result<std::vector<std::string>> embedding_holders(std::span<const Digest> keys);

  /// The committed results of a run. The ledger must outlive it.
  std::unique_ptr<ResultSource> results_of(const std::string& run_id) const;

 private:
  struct Database;
  explicit Ledger(std::unique_ptr<Database> database);
  std::unique_ptr<Database> database_;
};

}  // namespace sluice
