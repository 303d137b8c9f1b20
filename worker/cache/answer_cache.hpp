#pragma once

#include "common/clock.hpp"
#include "common/error.hpp"
#include "common/hash.hpp"
#include "common/model/completion.hpp"
#include "worker/cache/entry.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sluice {

enum class CacheAccess : std::uint8_t;

/// Walks over the entries of one kind in the order of their keys, as they were when it was made. The cache
/// must outlive it. Not thread-safe.
class EntryCursor {
 public:
  EntryCursor(EntryCursor&&) noexcept;
  EntryCursor& operator=(EntryCursor&&) noexcept;
  ~EntryCursor();

  /// Goes to the next entry, at first to the first; false at the end. Errors: cache_failed for damage;
  /// file_unreadable if the machine is in the way.
  Result<bool> next();
  /// Has `next` go to the first entry whose key begins with these 8 bytes or greater ones.
  void seek(std::uint64_t first_bytes);
  /// Of the entry that `next` went to. The bytes are as stored, unchecked (worker/cache/entry.hpp), and valid
  /// until the next `next`.
  const Digest& key() const;
  std::string_view bytes() const;

 private:
  friend class AnswerCache;
  struct State;
  explicit EntryCursor(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// An answer and what it is stored under.
struct KeyedAnswer {
  Digest key{};
  const Completion* answer = nullptr;
};

/// Whether an error of reading an entry says that it is damaged: it can be asked for again, and others can be
/// read.
inline bool is_damaged_entry(const Error& error) {
  return error.reason == Reason::message_malformed;
}

/// What a table holds, and of which kind it is.
struct TableEntries {
  EntryKind kind{};
  EntryCursor entries;
};

/// The answers that one worker process was given, on disk (docs/delivery.md, "The cache in a fleet"). What
/// was stored survives the death of the process at once, and a loss of power from the next `sync` on. One
/// process owns a directory; any number may read one that nobody owns. Thread-safe: all but moving.
class AnswerCache {
 public:
  /// Opens the directory for reading and writing; makes it if it is not there. Errors: cache_in_use if
  /// another process (or another AnswerCache) has it, cache_failed for all else, naming the directory: also
  /// for files of a database that has lost its lists of them, which stay as they are.
  static Result<AnswerCache> open(const std::filesystem::path& dir);
  /// Opens an existing cache for reading alone; the answers are those at this moment. Errors as above.
  static Result<AnswerCache> open_read_only(const std::filesystem::path& dir);
  /// The same, although another process has it open for writing.
  static Result<AnswerCache> open_beside_owner(const std::filesystem::path& dir);
  /// Reads like open_read_only, and a log of which something in the middle is damaged is an error, where the
  /// others leave out what comes after. The directory's lock stays held. Of this one, and of one to salvage,
  /// cache_failed says that it is damaged, and file_unreadable that the machine is in the way (permissions, a
  /// full disk); neither names the directory.
  static Result<AnswerCache> open_to_check(const std::filesystem::path& dir);
  /// What RocksDB can read of a database whose directory `dir` nobody else opens: `db` may lack an ID.
  static Result<AnswerCache> open_to_salvage(const std::filesystem::path& dir);

  AnswerCache(AnswerCache&&) noexcept;
  AnswerCache& operator=(AnswerCache&&) noexcept;
  ~AnswerCache();

  /// Drawn when the directory was made, and kept: 32 hex digits. Affinity goes by it.
  const std::string& id() const;
  const std::filesystem::path& directory() const;
  /// Whether it had an id when it was opened, but no database: what it held is gone, or it never held
  /// anything because its maker died at once.
  bool has_lost_database() const;

  /// Whether anything was stored or erased that no `sync` has seen; what was found at the opening is so, too.
  bool has_unsynced() const;
  /// Returns once all that was stored until now is on the disk, together with what other threads store
  /// meanwhile. Error: cache_failed, then for good: what a disk has refused once may be gone, though it takes
  /// the rest. Of a cache that is only read, what its owners may not have synced.
  Result<void> sync() const;

  /// The answer stored under the key, if any. A damaged entry is an error that names it (is_damaged_entry),
  /// never a wrong answer. Other errors: cache_failed.
  Result<std::optional<Completion>> get(const Digest& key) const;
  /// The final non-answer (refusal, truncation, unparsable) stored under the key, if any: for cached mode,
  /// once there is no answer. Errors as `get`.
  Result<std::optional<Completion>> get_outcome(const Digest& key) const;
  /// Stores each completion as an answer or, if `non_answer` is set, as an outcome, in place of what is there
  /// of that kind: all of them, or none. Error: cache_failed (also when opened for reading alone).
  Result<void> put(std::span<const KeyedAnswer> answers);
  Result<void> put(const Digest& key, const Completion& completion);
  /// Forgets answer and outcome. No error if there are none.
  Result<void> erase(const Digest& key);

  /// The embedding stored under the key, if any. A cache that an older version made and that is opened for
  /// reading alone has none. Errors as `get`.
  Result<std::optional<Embedding>> get_embedding(const Digest& key) const;
  /// Stores an embedding in place of what is there. Error: cache_failed.
  Result<void> put_embedding(const Digest& key, std::vector<float> values,
                             std::int64_t created_at_ms = unix_now_ms());

  /// The judge's vote stored under the key, if any, as the judge gave it. A cache of an older version as with
  /// embeddings. Errors as `get`.
  Result<std::optional<Completion>> get_vote(const Digest& key) const;
  /// Stores a vote in place of what is there. Errors: cache_failed; internal_error for what is no answer.
  Result<void> put_vote(const Digest& key, const Completion& vote);

  /// For cassettes and upkeep: entries as they are stored. Errors as `get`.
  EntryCursor entries(EntryKind kind) const;
  /// Those of a file with a table that belongs to no database. Errors as of a cache to salvage.
  static Result<TableEntries> entries_of_table(const std::filesystem::path& table);
  Result<std::optional<std::string>> get_entry(EntryKind kind, const Digest& key) const;
  Result<void> put_entry(EntryKind kind, const Digest& key, std::string_view bytes);
  Result<void> erase_entry(EntryKind kind, const Digest& key);
  /// Reads all files against their checksums. Errors as EntryCursor::next.
  Result<void> verify_files() const;
  /// Gives the space of erased entries back to the file system.
  Result<void> compact();

 private:
  struct State;
  explicit AnswerCache(std::unique_ptr<State> state);
  static Result<AnswerCache> open_with(const std::filesystem::path& dir, CacheAccess access);

  std::unique_ptr<State> state_;
};

}  // namespace sluice
