#include "worker/cache/answer_cache.hpp"

#include "common/disk.hpp"
#include "common/text/text.hpp"
#include "worker/cache/database_options.hpp"
#include "worker/cache/directory_id.hpp"
#include "worker/cache/directory_lock.hpp"
#include "worker/cache/entry.hpp"
#include "worker/cache/sync_book.hpp"
#include "worker/defaults.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <exception>
#include <system_error>
#include <utility>
#include <vector>

#include <rocksdb/db.h>

namespace sluice {

namespace {

namespace fs = std::filesystem;

/// Each kind's own column family, by its number.
struct Family {
  EntryKind kind;
  const char* name;
  bool is_in_every_version;  ///< Of the caches that any sluice ever made.
};
constexpr std::array every_family{
    Family{EntryKind::answer, "answers", true}, Family{EntryKind::outcome, "outcomes", true},
    Family{EntryKind::embedding, "embeddings", false}, Family{EntryKind::vote, "votes", false}};
static_assert(std::ranges::equal(every_family, every_entry_kind, {}, &Family::kind));

std::vector<std::string> names_of_families() {
  std::vector<std::string> names;
  for (const Family& family : every_family) names.emplace_back(family.name);
  return names;
}

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

std::vector<std::string> families_in(const rocksdb::DBOptions& options, const std::string& path) {
  std::vector<std::string> names;
  // A failure shows again, with its reason, when the database is opened.
  rocksdb::DB::ListColumnFamilies(options, path, &names).PermitUncheckedError();
  return names;
}

rocksdb::Slice slice(const Digest& key) {
  return {reinterpret_cast<const char*>(key.data()), key.size()};
}

/// Has RocksDB make a database that can be opened of the files that it can read.
void repair_files(const std::string& path) {
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors{
      {rocksdb::kDefaultColumnFamilyName, family_options()}};
  for (const Family& family : every_family) descriptors.push_back({family.name, family_options()});
  // A failure shows again, with its reason, when the database is opened.
  rocksdb::RepairDB(path, database_options(), descriptors, family_options()).PermitUncheckedError();
}

Error failed(const fs::path& dir, std::string_view what, const rocksdb::Status& status) {
  return {Reason::cache_failed, "cannot " + std::string(what) + " the cache " + dir.string() + ": " +
                                    to_valid_utf8(status.ToString())};
}

/// Of a cache whose damage is looked for. A table that is missing is damage; nobody has locked one that is
/// locked by its directory.
Error failed_or_damaged(const fs::path& dir, std::string_view what, const rocksdb::Status& status) {
  Error error = failed(dir, what, status);
  const bool is_missing = status.IsPathNotFound();
  if ((status.IsIOError() && !is_missing) || status.IsNoSpace() || status.IsMemoryLimit() ||
      status.IsBusy() || status.IsTimedOut())
    error.reason = Reason::file_unreadable;
  return error;
}

}  // namespace

struct AnswerCache::State {
  fs::path dir;
  std::string id;
  Access access = Access::write;
  bool read_only = false;  ///< All but write.
  DirectoryLock lock;      ///< Let go of last.
  std::unique_ptr<rocksdb::DB> database;
  std::array<rocksdb::ColumnFamilyHandle*, every_family.size()> by_kind{};
  std::vector<rocksdb::ColumnFamilyHandle*> families;  ///< Those that are there, and RocksDB's default one.

  SyncBook syncs;

  State(fs::path directory, DirectoryLock held) : dir(std::move(directory)), lock(std::move(held)) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (!read_only) shorten_replay();
    for (auto* family : families) database->DestroyColumnFamilyHandle(family);
  }

  Result<void> open_database();
  rocksdb::Status make_database(const rocksdb::DBOptions& options, const std::string& path);
  /// Null for what an older cache that is only read does not have.
  rocksdb::ColumnFamilyHandle* family(EntryKind kind) const {
    return by_kind[static_cast<std::size_t>(kind) - 1];
  }
  Result<std::optional<rocksdb::PinnableSlice>> read_bytes(EntryKind kind, const Digest& key) const;
  void shorten_replay();
  /// Makes a change. `what` as in "write to".
  Result<void> change(rocksdb::WriteBatch& batch, std::string_view what);
  Result<void> sync_earlier_files() const;
  Result<void> sync_log() const;
  Result<std::optional<Completion>> read(EntryKind kind, const Digest& key) const;
  /// The error with the directory before it.
  tl::unexpected<Error> in_here(Error error) const {
    return fail(error.reason, dir.string() + ": " + error.message);
  }
};

/// All families at once: opening with those that are missing would write the file of options, and sync it,
/// for each of them.
rocksdb::Status AnswerCache::State::make_database(const rocksdb::DBOptions& options,
                                                  const std::string& path) {
  const std::vector<rocksdb::ColumnFamilyDescriptor> only_default{
      {rocksdb::kDefaultColumnFamilyName, family_options()}};
  rocksdb::DB* made = nullptr;
  auto status = rocksdb::DB::Open(options, path, only_default, &families, &made);
  if (!status.ok()) return status;
  database.reset(made);
  std::vector<rocksdb::ColumnFamilyHandle*> added;
  status = made->CreateColumnFamilies(family_options(), names_of_families(), &added);
  families.insert(families.end(), added.begin(), added.end());
  for (std::size_t i = 0; i < added.size(); ++i) by_kind[i] = added[i];
  return status;
}

Result<void> AnswerCache::State::open_database() {
  const auto path = (dir / "db").string();
  std::error_code unknown;
  if (access == Access::write && !fs::exists(dir / "db" / "CURRENT", unknown)) {
    const auto status = make_database(database_options(), path);
    if (!status.ok()) return fail(failed(dir, "make", status));
    return {};
  }
  if (access == Access::salvage) repair_files(path);
  const bool tells_damage = access == Access::check || access == Access::salvage;
  std::vector<rocksdb::ColumnFamilyDescriptor> descriptors{
      {rocksdb::kDefaultColumnFamilyName, family_options()}};
  std::vector<EntryKind> kinds;
  rocksdb::DB* opened = nullptr;
  auto options = database_options();
  const auto there = read_only ? families_in(options, path) : std::vector<std::string>();
  for (const Family& family : every_family) {
    // A reader may not add what caches of earlier versions lack; a repaired one lacks what nothing is left
    // of.
    const bool may_lack = access == Access::salvage || !family.is_in_every_version;
    const bool is_lacking = read_only && may_lack && std::ranges::find(there, family.name) == there.end();
    if (is_lacking) continue;
    descriptors.push_back({family.name, family_options()});
    kinds.push_back(family.kind);
  }
  // A reader opens all tables now: their files stay readable when an owner that comes later removes them.
  if (read_only) options.max_open_files = -1;
  if (access == Access::check) {
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
    options.skip_checking_sst_file_sizes_on_db_open = false;
  } else if (access == Access::salvage) {
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
  }
  const auto status = read_only ? rocksdb::DB::OpenForReadOnly(options, path, descriptors, &families, &opened)
                                : rocksdb::DB::Open(options, path, descriptors, &families, &opened);
  if (!status.ok()) return fail((tells_damage ? failed_or_damaged : failed)(dir, "open", status));
  database.reset(opened);
  for (std::size_t i = 0; i < kinds.size(); ++i)
    by_kind[static_cast<std::size_t>(kinds[i]) - 1] = families[i + 1];
  return {};
}

void AnswerCache::State::shorten_replay() {
  if (!database) return;
  std::uint64_t pending = 0;
  database->GetAggregatedIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &pending);
  rocksdb::VectorLogPtr logs;
  const auto listed = database->GetSortedWalFiles(logs);
  if (pending <= defaults::max_replayed_bytes && (!listed.ok() || logs.size() <= defaults::max_replayed_logs))
    return;
  // Should this fail, nothing is lost: the logs stay and are replayed.
  database->Flush(rocksdb::FlushOptions(), families).PermitUncheckedError();
}

Result<std::optional<rocksdb::PinnableSlice>> AnswerCache::State::read_bytes(EntryKind kind,
                                                                             const Digest& key) const {
  if (!family(kind)) return std::nullopt;
  rocksdb::PinnableSlice value;
  const auto status = database->Get(rocksdb::ReadOptions(), family(kind), slice(key), &value);
  if (status.IsNotFound()) return std::nullopt;
  if (!status.ok()) return fail(failed(dir, "read entry " + to_hex(key) + " of", status));
  return std::optional(std::move(value));
}

Result<std::optional<Completion>> AnswerCache::State::read(EntryKind kind, const Digest& key) const {
  const auto bytes = read_bytes(kind, key);
  if (!bytes) return fail(bytes.error());
  if (!*bytes) return std::nullopt;
  auto completion = cache_entry::decode(key, (*bytes)->ToStringView());
  if (!completion) return in_here(std::move(completion.error()));
  return std::optional(std::move(*completion));
}

Result<void> AnswerCache::State::change(rocksdb::WriteBatch& batch, std::string_view what) {
  syncs.write_begins();
  const auto status = database->Write(rocksdb::WriteOptions(), &batch);
  syncs.write_ended();
  if (!status.ok()) return fail(failed(dir, what, status));
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
  if (!status.ok()) return fail(failed(dir, "sync", status));
  return {};
}

Result<AnswerCache> AnswerCache::open_with(const fs::path& dir, Access access) {
  const bool read_only = access != Access::write;
  try {
    if (!read_only) {
      std::error_code error;
      fs::create_directories(dir, error);
      if (error) {
        return fail(Reason::cache_failed, "cannot make the cache " + dir.string() + ": " + error.message());
      }
    }
    if (auto files = check_kinds_of_files(dir); !files) return fail(std::move(files.error()));
    const bool shares = access == Access::read || access == Access::check;
    auto lock =
        DirectoryLock::take(dir, shares ? DirectoryLock::Kind::shared : DirectoryLock::Kind::exclusive);
    if (!lock) return fail(std::move(lock.error()));
    auto state = std::make_unique<State>(dir, std::move(*lock));
    state->access = access;
    state->read_only = read_only;
    auto id = directory_id(dir, read_only);
    if (!id && access != Access::salvage) return fail(std::move(id.error()));
    if (id) state->id = std::move(*id);
    if (auto opened = state->open_database(); !opened) return fail(std::move(opened.error()));
    // The lock kept owners out while the files were being opened; from here on a reader is in nobody's way.
    if (access == Access::read) state->lock.release();
    return AnswerCache(std::move(state));
  } catch (const std::exception& error) {  // The standard library's and RocksDB's.
    return fail(Reason::cache_failed, "cannot open the cache " + dir.string() + ": " + error.what());
  }
}

Result<AnswerCache> AnswerCache::open(const fs::path& dir) {
  return open_with(dir, Access::write);
}
Result<AnswerCache> AnswerCache::open_read_only(const fs::path& dir) {
  return open_with(dir, Access::read);
}
Result<AnswerCache> AnswerCache::open_to_check(const fs::path& dir) {
  return open_with(dir, Access::check);
}
Result<AnswerCache> AnswerCache::open_to_salvage(const fs::path& dir) {
  return open_with(dir, Access::salvage);
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
    batch.Put(state_->family(kind), slice(key), cache_entry::encode(key, *answer));
  }
  return state_->change(batch, "write to");
}

Result<void> AnswerCache::erase(const Digest& key) {
  rocksdb::WriteBatch both;
  both.Delete(state_->family(EntryKind::answer), slice(key));
  both.Delete(state_->family(EntryKind::outcome), slice(key));
  return state_->change(both, "delete from");
}

Result<std::optional<std::vector<float>>> AnswerCache::get_embedding(const Digest& key) const {
  const auto bytes = state_->read_bytes(EntryKind::embedding, key);
  if (!bytes) return fail(bytes.error());
  if (!*bytes) return std::nullopt;
  auto embedding = cache_entry::decode_embedding(key, (*bytes)->ToStringView());
  if (!embedding) return state_->in_here(std::move(embedding.error()));
  return std::optional(std::move(embedding->values));
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
  std::unique_ptr<rocksdb::Iterator> iterator;  ///< Null where the kind is not there.
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
    if (!iterator.status().ok()) return fail(failed_or_damaged(state_->dir, "read", iterator.status()));
    return false;
  }
  const auto key = iterator.key();
  if (key.size() != state_->key.size()) {
    return fail(Reason::cache_failed, "the cache " + state_->dir.string() +
                                          " is damaged: it has a key of another length; remove this folder");
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
  if (auto* family = state_->family(kind)) {
    rocksdb::ReadOptions options;
    options.fill_cache = false;
    state->iterator.reset(state_->database->NewIterator(options, family));
  }
  return EntryCursor(std::move(state));
}

Result<std::optional<std::string>> AnswerCache::get_entry(EntryKind kind, const Digest& key) const {
  const auto bytes = state_->read_bytes(kind, key);
  if (!bytes) return fail(bytes.error());
  if (!*bytes) return std::nullopt;
  return (*bytes)->ToString();
}

Result<void> AnswerCache::put_entry(EntryKind kind, const Digest& key, std::string_view bytes) {
  // Without a family for it the cache was opened for reading alone, which RocksDB refuses by itself.
  auto* family = state_->family(state_->family(kind) ? kind : EntryKind::answer);
  rocksdb::WriteBatch one;
  one.Put(family, slice(key), bytes);
  return state_->change(one, "write to");
}

Result<void> AnswerCache::erase_entry(EntryKind kind, const Digest& key) {
  if (!state_->family(kind)) return {};
  rocksdb::WriteBatch one;
  one.Delete(state_->family(kind), slice(key));
  return state_->change(one, "delete from");
}

Result<void> AnswerCache::verify_files() const {
  const auto status = state_->database->VerifyChecksum();
  if (!status.ok()) return fail(failed_or_damaged(state_->dir, "verify", status));
  return {};
}

Result<void> AnswerCache::compact() {
  for (auto* family : state_->families) {
    const auto status =
        state_->database->CompactRange(rocksdb::CompactRangeOptions(), family, nullptr, nullptr);
    if (!status.ok()) return fail(failed(state_->dir, "compact", status));
  }
  return {};
}

}  // namespace sluice
