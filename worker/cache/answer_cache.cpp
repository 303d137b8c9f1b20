#include "worker/cache/answer_cache.hpp"

#include "common/disk.hpp"
#include "common/text/text.hpp"
#include "worker/cache/database_options.hpp"
#include "worker/cache/directory_id.hpp"
#include "worker/cache/directory_lock.hpp"
#include "worker/cache/entry.hpp"
#include "worker/cache/entry_database.hpp"
#include "worker/cache/lost_tables.hpp"
#include "worker/cache/sync_book.hpp"
#include "worker/defaults.hpp"

#include <cstring>
#include <exception>
#include <system_error>
#include <utility>
#include <vector>

#include <rocksdb/sst_file_reader.h>

namespace sluice {

namespace {

namespace fs = std::filesystem;

/// Whoever opens a pipe waits for the other end. cache_failed names the first.
Result<void> check_kinds_of_files(const fs::path& dir) {
  for (const fs::path& folder : {dir, dir / "db"}) {
    std::error_code error;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
      std::error_code unknown;
      const auto status = entry->status(unknown);
      if (!fs::is_other(status)) continue;
      return fail(Reason::cache_failed, "cannot open the cache " + dir.string() + ": " +
                                            entry->path().string() + " is a pipe or a device: move it away");
    }
  }
  return {};
}

/// A table that is missing is damage, too.
bool is_damage(const rocksdb::Status& status) {
  return status.IsCorruption() || status.IsPathNotFound();
}

/// Nobody has locked a table that is locked by its directory.
bool is_of_machine(const rocksdb::Status& status) {
  return (status.IsIOError() && !status.IsPathNotFound()) || status.IsNoSpace() || status.IsMemoryLimit() ||
         status.IsBusy() || status.IsTimedOut();
}

/// RocksDB's, with its files by their names in the cache's folder.
std::string words_of(const fs::path& dir, const rocksdb::Status& status) {
  std::string words = to_valid_utf8(status.ToString());
  const std::string folder = dir.string() + "/";
  for (auto at = words.find(folder); at != std::string::npos; at = words.find(folder, at))
    words.erase(at, folder.size());
  return words;
}

/// `what` as in "write to". Whoever looks for damage has named the directory, and knows what to do.
Error problem_of(const fs::path& dir, CacheAccess access, const std::string& what,
                 const rocksdb::Status& status) {
  const std::string words = words_of(dir, status);
  if (access == CacheAccess::check || access == CacheAccess::salvage) {
    return {is_of_machine(status) ? Reason::file_unreadable : Reason::cache_failed,
            "cannot " + what + " it: " + words};
  }
  return {Reason::cache_failed,
          "cannot " + what + " the cache " + dir.string() + ": " + words +
              (is_damage(status) ? "; `sluice doctor --repair` rebuilds it of what verifies" : "")};
}

}  // namespace

struct AnswerCache::State {
  fs::path dir;
  std::string id;
  CacheAccess access = CacheAccess::write;
  bool read_only = false;      ///< All but write.
  bool lost_database = false;  ///< It had an id, and no database.
  DirectoryLock lock;          ///< Let go of last.
  EntryDatabase database;

  SyncBook syncs;

  State(fs::path directory, DirectoryLock held) : dir(std::move(directory)), lock(std::move(held)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (!read_only) shorten_replay();
  }

  Result<void> open_database();
  Result<std::optional<rocksdb::PinnableSlice>> read_bytes(EntryKind kind, const Digest& key) const;
  void shorten_replay();
  /// Makes a change. `what` as in "write to".
  Result<void> change(rocksdb::WriteBatch& batch, const std::string& what);
  Result<void> sync_earlier_files() const;
  Result<void> sync_log() const;
  Result<std::optional<Completion>> read(EntryKind kind, const Digest& key) const;
  Error problem(const std::string& what, const rocksdb::Status& status) const {
    return problem_of(dir, access, what, status);
  }
  /// The error with the directory before it.
  tl::unexpected<Error> in_here(Error error) const {
    return fail(error.reason, dir.string() + ": " + error.message);
  }
};

/// Where an owner changes the files meanwhile, what was read of them may not belong together, and entries be
/// missing that it has moved from the log to a table.
Result<void> AnswerCache::State::open_database() {
  const fs::path path = dir / "db";
  const bool has_owner = access == CacheAccess::beside;
  for (int tries = 0; tries < defaults::tries_beside_owner; ++tries) {
    const std::string before = has_owner ? manifest_state(path) : "";
    const auto status = database.open(path.string(), access);
    if (has_owner && manifest_state(path) != before) {
      database.close();
      continue;
    }
    if (!status.ok()) return fail(problem("open", status));
    return {};
  }
  return fail(Reason::cache_in_use, "the cache " + dir.string() +
                                        " is in use by another process, which changes it too fast for it to "
                                        "be read; run again when that one has ended");
}

void AnswerCache::State::shorten_replay() {
  if (!database.is_open()) return;
  std::uint64_t pending = 0;
  database->GetAggregatedIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &pending);
  rocksdb::VectorLogPtr logs;
  const auto listed = database->GetSortedWalFiles(logs);
  if (pending <= defaults::max_replayed_bytes && (!listed.ok() || logs.size() <= defaults::max_replayed_logs))
    return;
  // Should this fail, nothing is lost: the logs stay and are replayed.
  database->Flush(rocksdb::FlushOptions(), database.families()).PermitUncheckedError();
}

Result<std::optional<rocksdb::PinnableSlice>> AnswerCache::State::read_bytes(EntryKind kind,
                                                                             const Digest& key) const {
  auto* family = database.family(kind);
  if (family == nullptr) return std::nullopt;
  rocksdb::PinnableSlice value;
  const auto status = database->Get(rocksdb::ReadOptions(), family, bytes_of(key), &value);
  if (status.IsNotFound()) return std::nullopt;
  if (status.ok()) return std::optional(std::move(value));
  Error error = problem("read entry " + to_hex(key) + " of", status);
  if (is_damage(status)) error.reason = Reason::message_malformed;
  return fail(std::move(error));
}

Result<std::optional<Completion>> AnswerCache::State::read(EntryKind kind, const Digest& key) const {
  const auto bytes = read_bytes(kind, key);
  if (!bytes) return fail(bytes.error());
  if (!*bytes) return std::nullopt;
  auto completion = cache_entry::decode(key, (*bytes)->ToStringView());
  if (!completion) return in_here(std::move(completion.error()));
  return std::optional(std::move(*completion));
}

Result<void> AnswerCache::State::change(rocksdb::WriteBatch& batch, const std::string& what) {
  syncs.write_begins();
  const auto status = database->Write(rocksdb::WriteOptions(), &batch);
  syncs.write_ended();
  if (!status.ok()) return fail(problem(what, status));
  return {};
}

/// The folder's id, the logs of processes that did not sync them, and the folders that hold it all: RocksDB
/// syncs what it makes itself.
Result<void> AnswerCache::State::sync_earlier_files() const {
  bool synced_all = sync_to_disk(dir / "ID") && sync_folders(dir / "db");
  std::error_code error;
  for (fs::directory_iterator file(dir / "db", error), end; !error && file != end; file.increment(error)) {
    if (file->path().extension() == ".log")
      synced_all = (sync_to_disk(file->path()) || !fs::exists(file->path(), error)) && synced_all;
  }
  if (synced_all && !error) return {};
  return fail(Reason::cache_failed, "cannot write the cache " + dir.string() + " to the disk");
}

Result<void> AnswerCache::State::sync_log() const {
  if (read_only) return {};  // RocksDB has no log of its own then.
  const auto status = database->SyncWAL();
  if (!status.ok()) return fail(problem("sync", status));
  return {};
}

Result<AnswerCache> AnswerCache::open_with(const fs::path& dir, CacheAccess access) {
  const bool read_only = access != CacheAccess::write;
  try {
    if (!read_only) {
      std::error_code error;
      fs::create_directories(dir, error);
      if (error) {
        return fail(Reason::cache_failed, "cannot make the cache " + dir.string() + ": " + error.message());
      }
    }
    if (auto files = check_kinds_of_files(dir); !files) return fail(std::move(files.error()));
    const bool shares = access == CacheAccess::read || access == CacheAccess::check;
    auto lock =
        access == CacheAccess::beside
            ? DirectoryLock::none()
            : DirectoryLock::take(dir, shares ? DirectoryLock::Kind::shared : DirectoryLock::Kind::exclusive);
    if (!lock) return fail(std::move(lock.error()));
    auto state = std::make_unique<State>(dir, std::move(*lock));
    state->access = access;
    state->read_only = read_only;
    std::error_code unknown;
    state->lost_database = fs::exists(dir / "ID", unknown) && !fs::exists(dir / "db" / "CURRENT", unknown);
    auto id = directory_id(dir, read_only);
    if (!id && access != CacheAccess::salvage) {
      if (access == CacheAccess::read) id.error().message += "; `sluice doctor --repair` makes one";
      return fail(std::move(id.error()));
    }
    if (id) state->id = std::move(*id);
    if (auto opened = state->open_database(); !opened) return fail(std::move(opened.error()));
    // The lock kept owners out while the files were being opened; from here on a reader is in nobody's way.
    if (access == CacheAccess::read) state->lock.release();
    return AnswerCache(std::move(state));
  } catch (const std::exception& error) {  // The standard library's and RocksDB's.
    return fail(Reason::cache_failed, "cannot open the cache " + dir.string() + ": " + error.what());
  }
}

Result<AnswerCache> AnswerCache::open(const fs::path& dir) {
  return open_with(dir, CacheAccess::write);
}
Result<AnswerCache> AnswerCache::open_read_only(const fs::path& dir) {
  return open_with(dir, CacheAccess::read);
}
Result<AnswerCache> AnswerCache::open_beside_owner(const fs::path& dir) {
  return open_with(dir, CacheAccess::beside);
}
Result<AnswerCache> AnswerCache::open_to_check(const fs::path& dir) {
  return open_with(dir, CacheAccess::check);
}
Result<AnswerCache> AnswerCache::open_to_salvage(const fs::path& dir) {
  return open_with(dir, CacheAccess::salvage);
}

AnswerCache::AnswerCache(std::unique_ptr<State> state) : state_(std::move(state)) {}
AnswerCache::AnswerCache(AnswerCache&&) noexcept = default;
AnswerCache& AnswerCache::operator=(AnswerCache&&) noexcept = default;
AnswerCache::~AnswerCache() = default;

const std::string& AnswerCache::id() const {
  return state_->id;
}
const fs::path& AnswerCache::directory() const {
  return state_->dir;
}

bool AnswerCache::has_lost_database() const {
  return state_->lost_database;
}

bool AnswerCache::has_unsynced() const {
  return state_->syncs.has_unsynced();
}

Result<void> AnswerCache::sync() const {
  return state_->syncs.sync([this] { return state_->sync_earlier_files(); },
                            [this] { return state_->sync_log(); });
}

Result<std::optional<Completion>> AnswerCache::get(const Digest& key) const {
  return state_->read(EntryKind::answer, key);
}

Result<std::optional<Completion>> AnswerCache::get_outcome(const Digest& key) const {
  return state_->read(EntryKind::outcome, key);
}

Result<void> AnswerCache::put(const Digest& key, const Completion& completion) {
  const KeyedAnswer one{key, &completion};
  return put({&one, 1});
}

Result<void> AnswerCache::put(std::span<const KeyedAnswer> answers) {
  rocksdb::WriteBatch batch;
  for (const auto& [key, answer] : answers) {
    const auto kind = answer->non_answer ? EntryKind::outcome : EntryKind::answer;
    batch.Put(state_->database.family(kind), bytes_of(key), cache_entry::encode(key, *answer));
  }
  return state_->change(batch, "write to");
}

Result<void> AnswerCache::erase(const Digest& key) {
  rocksdb::WriteBatch both;
  both.Delete(state_->database.family(EntryKind::answer), bytes_of(key));
  both.Delete(state_->database.family(EntryKind::outcome), bytes_of(key));
  return state_->change(both, "delete from");
}

Result<std::optional<Embedding>> AnswerCache::get_embedding(const Digest& key) const {
  const auto bytes = state_->read_bytes(EntryKind::embedding, key);
  if (!bytes) return fail(bytes.error());
  if (!*bytes) return std::nullopt;
  auto embedding = cache_entry::decode_embedding(key, (*bytes)->ToStringView());
  if (!embedding) return state_->in_here(std::move(embedding.error()));
  return std::optional(std::move(*embedding));
}

Result<void> AnswerCache::put_embedding(const Digest& key, std::vector<float> values,
                                        std::int64_t created_at_ms) {
  return put_entry(EntryKind::embedding, key, cache_entry::encode(key, {std::move(values), created_at_ms}));
}

Result<std::optional<Completion>> AnswerCache::get_vote(const Digest& key) const {
  return state_->read(EntryKind::vote, key);
}

Result<void> AnswerCache::put_vote(const Digest& key, const Completion& vote) {
  if (vote.non_answer) {
    return fail(Reason::internal_error, "a judge's refusal is no vote: " + vote.non_answer->message);
  }
  return put_entry(EntryKind::vote, key, cache_entry::encode(key, vote));
}

// --- entries as they are stored ---

struct EntryCursor::State {
  fs::path dir;
  CacheAccess access = CacheAccess::read;
  std::unique_ptr<rocksdb::SstFileReader> table;  ///< If it is that of no database.
  std::unique_ptr<rocksdb::Iterator> iterator;    ///< Null where the kind is not there.
  bool begun = false;
  std::optional<std::string> sought;  ///< Where the next one is looked for.
  Digest key{};
};

EntryCursor::EntryCursor(std::unique_ptr<State> state) : state_(std::move(state)) {}
EntryCursor::EntryCursor(EntryCursor&&) noexcept = default;
EntryCursor& EntryCursor::operator=(EntryCursor&&) noexcept = default;
EntryCursor::~EntryCursor() = default;

Result<bool> EntryCursor::next() {
  if (!state_->iterator) return false;
  auto& iterator = *state_->iterator;
  if (state_->sought) {
    iterator.Seek(*std::exchange(state_->sought, std::nullopt));
  } else if (state_->begun) {
    iterator.Next();
  } else {
    iterator.SeekToFirst();
  }
  state_->begun = true;
  if (!iterator.Valid()) {
    if (iterator.status().ok()) return false;
    return fail(problem_of(state_->dir, state_->access, "read", iterator.status()));
  }
  const auto key = iterator.key();
  if (key.size() != state_->key.size()) {
    const auto status = rocksdb::Status::Corruption("a key has another length");
    return fail(problem_of(state_->dir, state_->access, "read", status));
  }
  std::memcpy(state_->key.data(), key.data(), key.size());
  return true;
}

void EntryCursor::seek(std::uint64_t first_bytes) {
  state_->sought.emplace();
  for (int shift = 56; shift >= 0; shift -= 8) *state_->sought += static_cast<char>(first_bytes >> shift);
}

const Digest& EntryCursor::key() const {
  return state_->key;
}

std::string_view EntryCursor::bytes() const {
  return state_->iterator->value().ToStringView();
}

EntryCursor AnswerCache::entries(EntryKind kind) const {
  auto state = std::make_unique<EntryCursor::State>();
  state->dir = state_->dir;
  state->access = state_->access;
  if (auto* family = state_->database.family(kind)) {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    state->iterator.reset(state_->database->NewIterator(options, family));
  }
  return EntryCursor(std::move(state));
}

Result<TableEntries> AnswerCache::entries_of_table(const fs::path& table) {
  auto state = std::make_unique<EntryCursor::State>();
  state->dir = table.parent_path();
  state->access = CacheAccess::salvage;
  state->table =
      std::make_unique<rocksdb::SstFileReader>(rocksdb::Options(database_options(), family_options()));
  auto status = state->table->Open(table.string());
  const auto properties = status.ok() ? state->table->GetTableProperties() : nullptr;
  const auto kind = properties ? kind_of_family(properties->column_family_name) : std::nullopt;
  if (status.ok() && !kind) status = rocksdb::Status::Corruption("it does not say what it holds");
  if (!status.ok()) return fail(problem_of(state->dir, state->access, "open a table of", status));
  state->iterator.reset(state->table->NewIterator(rocksdb::ReadOptions()));
  return TableEntries{*kind, EntryCursor(std::move(state))};
}

Result<std::optional<std::string>> AnswerCache::get_entry(EntryKind kind, const Digest& key) const {
  const auto bytes = state_->read_bytes(kind, key);
  if (!bytes) return fail(bytes.error());
  if (!*bytes) return std::nullopt;
  return (*bytes)->ToString();
}

Result<void> AnswerCache::put_entry(EntryKind kind, const Digest& key, std::string_view bytes) {
  // Without a family for it the cache was opened for reading alone, which RocksDB refuses by itself.
  auto* family = state_->database.family(state_->database.family(kind) ? kind : EntryKind::answer);
  rocksdb::WriteBatch one;
  one.Put(family, bytes_of(key), bytes);
  return state_->change(one, "write to");
}

Result<void> AnswerCache::erase_entry(EntryKind kind, const Digest& key) {
  if (!state_->database.family(kind)) return {};
  rocksdb::WriteBatch one;
  one.Delete(state_->database.family(kind), bytes_of(key));
  return state_->change(one, "delete from");
}

Result<void> AnswerCache::verify_files() const {
  const auto status = state_->database->VerifyChecksum();
  if (!status.ok()) return fail(state_->problem("verify", status));
  return {};
}

Result<void> AnswerCache::compact() {
  for (auto* family : state_->database.families()) {
    const auto status =
        state_->database->CompactRange(rocksdb::CompactRangeOptions(), family, nullptr, nullptr);
    if (!status.ok()) return fail(state_->problem("compact", status));
  }
  return {};
}

}  // namespace sluice
