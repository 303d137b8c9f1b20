#pragma once

#include "common/error.hpp"
#include "common/hash.hpp"
#include "common/model/completion.hpp"
#include "common/model/entry_key.hpp"
#include "common/model/trial.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What the command line may ask of the caches in a home (docs/delivery.md, "The cache in a fleet"). The
/// caches live on the worker's side and the ledger on the coordinator's: the composition root hands these
/// functions to the command line, and the ledger's part goes in as functions.
namespace sluice {

struct RunSettings;
struct Settings;

/// The committed answer of a key, and the id of the cache that holds it.
struct CachePin {
  Digest key{};
  Digest answer{};
  std::string holder;
};

/// The pins of these keys, one entry for each, empty where nothing is pinned.
using FindPins = std::function<Result<std::vector<std::optional<CachePin>>>(std::span<const Digest> keys)>;
/// Makes these the pins of their keys.
using MovePins = std::function<Result<void>(std::span<const CachePin> pins)>;

/// An answer or final non-answer that a run's results show.
struct UsedAnswer {
  Digest key{};
  Digest answer{};
  friend auto operator<=>(const UsedAnswer&, const UsedAnswer&) = default;
};

/// What the caches hold of a run: all that it takes to replay it.
struct UsedEntries {
  std::vector<UsedAnswer> answers{};  ///< Ascending, each key once.
  std::vector<EntryKey> leased{};     ///< Embeddings and votes; ascending, each once.
};

/// Units of a past run whose answers are there, and the settings that they were answered under.
struct ReplayedUnits {
  const std::filesystem::path& home;
  const RunSettings& settings;
  /// The next one, with the answer that it had pinned; nothing: there are no more.
  std::function<Result<std::optional<WorkUnit>>()> next;
};

/// `sluice cache export`.
struct CassetteExport {
  std::filesystem::path home;
  FindPins pins;
  /// Only these, and every one of them must be there: a later answer to the same request is another one.
  /// Nothing: all.
  std::optional<UsedEntries> used;
  std::function<void(std::string_view bytes)> write;  ///< Takes the file's bytes in order.
};

struct ExportedCassette {
  std::uint64_t caches = 0;
  std::uint64_t answers = 0;
  std::uint64_t outcomes = 0;  ///< Refusals, truncations and answers that were not parsable.
  std::uint64_t embeddings = 0;
  std::uint64_t votes = 0;
  std::uint64_t conflicts = 0;  ///< Entries of which the caches held different versions.
  std::uint64_t bytes = 0;      ///< Of the file.
};

/// `sluice cache import`.
struct CassetteImport {
  std::filesystem::path home;
  std::filesystem::path file;
  FindPins pins;
  MovePins move_pins;
};

struct ImportedCassette {
  std::filesystem::path cache;  ///< The directory that took the entries.
  std::uint64_t entries = 0;    ///< In the cassette; the sum of the next five.
  std::uint64_t added = 0;
  std::uint64_t already_there = 0;  ///< The same answer.
  std::uint64_t replaced = 0;       ///< Conflicts in which the cassette's was the greater.
  std::uint64_t kept = 0;           ///< Conflicts in which the cache's was the greater.
  std::uint64_t mended = 0;         ///< The cache's was damaged.
};

/// One cache directory, for `sluice cache stats`.
struct CacheFacts {
  std::filesystem::path directory;
  bool in_use = false;           ///< Another process has it: nothing but `bytes` is known.
  std::optional<Error> problem;  ///< Why it cannot be read: nothing but `bytes` is known.
  std::uint64_t answers = 0;
  std::uint64_t outcomes = 0;
  std::uint64_t embeddings = 0;
  std::uint64_t votes = 0;
  std::uint64_t damaged = 0;  ///< Entries that are none of the above.
  std::uint64_t bytes = 0;    ///< Of its files.
  std::optional<std::int64_t> oldest_ms;
  std::optional<std::int64_t> newest_ms;
};

/// `sluice cache prune`.
struct CachePrune {
  std::filesystem::path home;
  std::int64_t created_before_ms = 0;  ///< Unix time; entries of this very time stay.
  bool dry_run = false;                ///< Counts, and removes nothing.
  bool pinned_too = false;
  FindPins pins;
};

struct PrunedCaches {
  std::uint64_t caches = 0;
  std::uint64_t answers = 0;  ///< Removed, or in a dry run: to be removed.
  std::uint64_t outcomes = 0;
  std::uint64_t embeddings = 0;
  std::uint64_t votes = 0;
  std::uint64_t damaged = 0;  ///< Removed whatever their age: they stand in an export's way.
  std::uint64_t spared = 0;   ///< Old enough, but pinned; embeddings and votes, if anything is.
  std::uint64_t bytes_before = 0;
  std::uint64_t bytes_after = 0;
};

/// What a check of all caches found, for `sluice doctor`.
struct CheckedCaches {
  struct Damage {
    std::filesystem::path directory;
    std::string what;         ///< A clause.
    bool is_foreign = false;  ///< No cache: to be moved away by whoever put it there.
  };
  std::vector<Damage> damage;
  std::vector<std::filesystem::path> in_use;  ///< By other processes: not looked at.
  std::vector<std::string> ids;               ///< Of the caches that could be opened.
  std::uint64_t caches = 0;
  std::uint64_t entries = 0;  ///< That verify.
};

/// A cache that is to be made anew of what verifies in it.
struct CacheRebuild {
  std::filesystem::path directory;
  std::filesystem::path aside;  ///< Where the old directory is kept; nothing is there yet.
};

struct RebuiltCache {
  std::uint64_t kept = 0;
  std::uint64_t left_out = 0;  ///< Entries that do not verify.
  std::uint64_t places = 0;    ///< That could not be read at all.
};

/// Which answers are asked for.
struct FindAnswers {
  std::filesystem::path home;
  std::span<const Digest> keys;
  /// A final non-answer counts too, as it does in cached mode; else not even an older answer beside it.
  bool with_outcomes = false;
};

struct HeldAnswers {
  std::vector<bool> held;                     ///< By key.
  std::vector<std::filesystem::path> in_use;  ///< Caches of other processes, which were not looked into.
};

/// Errors: file_unreadable (a cassette that is damaged or none), cache_in_use, cache_failed, cache_miss, and
/// what the functions they were given return. A failed import or prune wrote nothing unless the disk itself
/// failed.
struct CacheTools {
  std::function<Result<ExportedCassette>(const CassetteExport&)> export_cassette;
  std::function<Result<ImportedCassette>(const CassetteImport&)> import_cassette;
  std::function<Result<std::vector<CacheFacts>>(const std::filesystem::path& home)> stats;
  std::function<Result<PrunedCaches>(const CachePrune&)> prune;
  std::function<Result<HeldAnswers>(const FindAnswers&)> find;
  /// Reads everything that the caches of a home hold, and verifies it; changes nothing.
  std::function<Result<CheckedCaches>(const std::filesystem::path& home)> check;
  /// Puts a cache of what verifies in the place of a damaged one: at one instant, or not at all.
  std::function<Result<RebuiltCache>(const CacheRebuild&)> rebuild;
  /// Reads a whole cassette; its errors say what is wrong with it.
  std::function<Result<void>(const std::filesystem::path& file)> check_cassette;
  /// What such units read in the caches of the home to be scored: the answers but for recorded ones,
  /// embeddings, votes, and what graded answers are compared with. cache_miss if they are not all there.
  std::function<Result<UsedEntries>(const ReplayedUnits&)> find_used;
  /// The answers, or final non-answers, of keys that have these digests, one entry for each; nothing where no
  /// cache of the settings' home that can be read now holds it. The API keys that the settings name are
  /// masked in them.
  std::function<Result<std::vector<std::optional<Completion>>>(const Settings& settings,
                                                               std::span<const UsedAnswer> wanted)>
      read_answers;
};

}  // namespace sluice
