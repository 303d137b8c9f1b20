#include "coordinator/shared_budget/key_file.hpp"

#include "coordinator/governor/defaults.hpp"
#include "coordinator/shared_budget/defaults.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstddef>
#include <ctime>
#include <limits>
#include <numeric>
#include <optional>
#include <system_error>
#include <type_traits>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::array<char, 8> file_mark{'s', 'l', 'u', 'i', 'k', 'e', 'y', '1'};

/// A run that is, or was, there.
struct Entry {
  std::uint64_t run = 0;  ///< 0: never used.
  KeyPlaces places;
  std::int64_t time_us = 0;  ///< Of its last turn.
};

struct Head {
  std::array<char, 8> mark = file_mark;
  std::uint64_t newest = 0;    ///< Records that were ever written.
  std::uint64_t next_run = 1;  ///< Runs are numbered in the order in which they came.
  std::array<Entry, defaults::max_runs_of_key> entries{};
  /// By entry: its run's number, where that run's calls end with its process. Else 0, or an earlier run's
  /// number: whoever does not know of this leaves it as it was.
  std::array<std::uint64_t, defaults::max_runs_of_key> ending_runs{};
};

/// Whoever does not know a kind leaves its records out.
enum class Kind : std::uint32_t { slot = 1, settled, delay, calls, rate };

struct Record {
  std::uint64_t number = 0;  ///< From 1: tells a record from what was there before it.
  std::uint64_t run = 0;
  std::uint64_t charge = 0;
  std::int64_t time_us = 0;
  std::uint32_t input_tokens = 0;
  std::uint32_t output_tokens = 0;
  Kind kind{};
  std::uint32_t check = 0;  ///< Of all else.
};

/// FNV-1a: what is torn or overwritten must not pause anybody.
std::uint32_t check_of(const Record& record) {
  std::uint32_t hash = 2'166'136'261u;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&record);
  for (std::size_t i = 0; i < offsetof(Record, check); ++i) hash = (hash ^ bytes[i]) * 16'777'619u;
  return hash;
}

// Both lie in the file as they lie in memory: it never leaves the machine.
static_assert(std::is_trivially_copyable_v<Head> && std::is_trivially_copyable_v<Record>);

constexpr std::uint64_t first_record = 4096;
static_assert(sizeof(Head) <= first_record);
constexpr std::uint64_t file_size = first_record + defaults::key_records * sizeof(Record);

// Bytes beyond the file that are locked: one while a run reads and writes, one by each run as long as it
// lives.
constexpr off_t turn_lock = off_t{1} << 40;
constexpr off_t first_entry_lock = turn_lock + 1;

std::uint64_t place_of(std::uint64_t number) {
  return first_record + (number - 1) % defaults::key_records * sizeof(Record);
}

struct flock byte_lock(short type, off_t at) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = at;
  lock.l_len = 1;
  return lock;
}

constexpr std::uint64_t refused_bits = 29;
constexpr std::uint64_t most_refused = (std::uint64_t{1} << refused_bits) - 1;
constexpr bool CallsSeen::*flags_of_calls[] = {&CallsSeen::delay_named, &CallsSeen::is_closed,
                                               &CallsSeen::was_answered, &CallsSeen::are_waiting,
                                               &CallsSeen::searches};

std::uint64_t packed(const CallsSeen& seen) {
  std::uint64_t bits = std::min<std::uint64_t>(seen.refused, most_refused) |
                       std::min<std::uint64_t>(seen.refused_late, most_refused) << refused_bits;
  auto bit = std::uint64_t{1} << 2 * refused_bits;
  for (const auto flag : flags_of_calls) {
    if (seen.*flag) bits |= bit;
    bit <<= 1;
  }
  return bits;
}

CallsSeen calls_in(const Record& record) {
  CallsSeen seen;
  seen.started = record.input_tokens;
  seen.refused = static_cast<std::uint32_t>(record.charge & most_refused);
  seen.refused_late = static_cast<std::uint32_t>(record.charge >> refused_bits & most_refused);
  auto bit = std::uint64_t{1} << 2 * refused_bits;
  for (const auto flag : flags_of_calls) {
    seen.*flag = (record.charge & bit) != 0;
    bit <<= 1;
  }
  seen.at = BootTime(record.time_us);
  seen.since = seen.at - BootTime(record.output_tokens);
  return seen;
}

std::uint32_t float_bits(double number) {
  return std::bit_cast<std::uint32_t>(static_cast<float>(number));
}

std::optional<double> number_from(std::uint64_t bits, double least) {
  const double number = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
  if (number >= least && number <= defaults::rate_search::highest_rate) return number;
  return std::nullopt;
}

std::optional<KeyUse> rate_in(const Record& record) {
  constexpr double least = std::numeric_limits<float>::min();
  const auto rate = number_from(record.charge, least);
  if (!rate) return std::nullopt;
  // No bucket owes more than what is granted ahead.
  const auto level = number_from(record.output_tokens, -2 * *rate - 10);
  if (!level) return std::nullopt;
  return RateFound{*rate, number_from(record.charge >> 32, least), number_from(record.input_tokens, 1),
                   *level, BootTime(record.time_us)};
}

Record record_of(const KeyUse& use, std::uint64_t run, std::uint64_t number) {
  Record record;
  record.number = number;
  record.run = run;
  if (const auto* slot = std::get_if<SlotTaken>(&use)) {
    record.kind = Kind::slot;
    record.charge = slot->charge;
    record.time_us = slot->opens.count();
    record.input_tokens = slot->size.input_tokens;
    record.output_tokens = slot->size.output_tokens;
  } else if (const auto* settled = std::get_if<ChargeSettled>(&use)) {
    record.kind = Kind::settled;
    record.charge = settled->charge;
    record.input_tokens = settled->used.input_tokens;
    record.output_tokens = settled->used.output_tokens;
  } else if (const auto* delay = std::get_if<DelayNamed>(&use)) {
    record.kind = Kind::delay;
    record.time_us = delay->until.count();
  } else if (const auto* seen = std::get_if<CallsSeen>(&use)) {
    record.kind = Kind::calls;
    record.charge = packed(*seen);
    record.time_us = seen->at.count();
    record.input_tokens = seen->started;
    record.output_tokens = static_cast<std::uint32_t>(
        std::clamp<BootTime::rep>((seen->at - seen->since).count(), 0, 0xffffffff));
  } else {
    const auto& found = std::get<RateFound>(use);
    record.kind = Kind::rate;
    record.charge = float_bits(found.rate) | std::uint64_t{float_bits(found.accepted.value_or(0))} << 32;
    record.time_us = found.at.count();
    record.input_tokens = float_bits(found.burst.value_or(0));
    record.output_tokens = float_bits(found.level);
  }
  record.check = check_of(record);
  return record;
}

/// Nothing for a record that no run can have written.
std::optional<KeyUse> use_in(const Record& record, BootTime now) {
  const BootTime time(record.time_us);
  const wire::CallSize size{record.input_tokens, record.output_tokens};
  if (time < BootTime::zero() || record.check != check_of(record)) return std::nullopt;
  switch (record.kind) {
    case Kind::slot:
      if (time > now + defaults::longest_slot_ahead) return std::nullopt;
      return SlotTaken{record.charge, time, size};
    case Kind::settled:
      return ChargeSettled{record.charge, size};
    case Kind::delay:
      if (time > now + defaults::longest_shared_delay) return std::nullopt;
      return DelayNamed{time};
    case Kind::calls:
      if (time > now + defaults::longest_slot_ahead) return std::nullopt;
      return calls_in(record);
    case Kind::rate:
      if (time > now + defaults::longest_slot_ahead) return std::nullopt;
      return rate_in(record);
  }
  return std::nullopt;
}

}  // namespace

tl::unexpected<Error> KeyFile::unusable(const std::string& why) const {
  return fail(Reason::output_failed, path_.generic_string() + " " + why);
}

Result<void> KeyFile::read_at(std::uint64_t offset, void* to, std::size_t bytes) const {
  auto* out = static_cast<char*>(to);
  while (bytes > 0) {
    const ssize_t got = ::pread(file_.number(), out, bytes, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unusable("cannot be read: " + std::generic_category().message(errno));
    if (got == 0) return unusable("is cut off; remove it when no run is going on");
    out += got;
    offset += static_cast<std::uint64_t>(got);
    bytes -= static_cast<std::size_t>(got);
  }
  return {};
}

Result<void> KeyFile::write_at(std::uint64_t offset, const void* from, std::size_t bytes) const {
  const auto* in = static_cast<const char*>(from);
  while (bytes > 0) {
    const ssize_t put = ::pwrite(file_.number(), in, bytes, static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return unusable("cannot be written: " + std::generic_category().message(errno));
    in += put;
    offset += static_cast<std::uint64_t>(put);
    bytes -= static_cast<std::size_t>(put);
  }
  return {};
}

/// Whether another run holds the entry.
bool KeyFile::is_held(std::size_t entry) const {
  auto lock = byte_lock(F_WRLCK, first_entry_lock + static_cast<off_t>(entry));
  return ::fcntl(file_.number(), F_OFD_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

Result<KeyFile> KeyFile::open(const std::filesystem::path& path) {
  make_private_folder(path.parent_path().parent_path());  // The home, whose folder `keys` holds the file.
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  FileDescriptor opened(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!opened.is_open()) {
    return fail(Reason::output_failed,
                path.generic_string() + " cannot be opened: " + std::generic_category().message(errno));
  }
  if (auto regular = check_regular(opened); !regular)
    return fail(Reason::output_failed, path.generic_string() + " " + regular.error().message);
  KeyFile file(path, std::move(opened));
  const auto patience = boot_clock_now() + defaults::key_lock_patience;
  for (bool is_locked = false; !is_locked;) {
    const auto locked = file.lock();
    if (!locked) return fail(locked.error());
    is_locked = *locked;
    if (!is_locked && boot_clock_now() > patience)
      return file.unusable("is locked by a process that does not go on");
  }
  if (auto joined = file.join(); !joined) return fail(joined.error());
  file.unlock();
  return file;
}

/// Makes the file if it is new, and takes an entry that no run holds.
Result<void> KeyFile::join() {
  struct stat status {};
  if (::fstat(file_.number(), &status) != 0)
    return unusable("cannot be read: " + std::generic_category().message(errno));
  if (status.st_nlink == 0) return unusable("was removed while it was opened; start again");
  Head head;
  if (status.st_size == 0) {
    // All of its room at once: a disk that fills up later changes nothing.
    if (const int code = ::posix_fallocate(file_.number(), 0, static_cast<off_t>(file_size)); code != 0)
      return unusable("cannot be made: " + std::generic_category().message(code));
  } else {
    if (auto read = read_at(0, &head, sizeof head); !read) return read;
    const bool is_fresh = head.mark == std::array<char, 8>{};  // A process died while it made the file.
    if (is_fresh) head = Head();
    if (head.mark != file_mark || static_cast<std::uint64_t>(status.st_size) != file_size)
      return unusable("is no file of sluice; remove it when no run is going on");
  }
  // One that was never used before that of a run whose calls may be under way.
  std::array<std::size_t, defaults::max_runs_of_key> order{};
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, {}, [&](std::size_t i) { return std::pair(head.entries[i].run != 0, head.entries[i].time_us); });
  const auto taken = std::ranges::find_if(order, [&](std::size_t i) {
    auto lock = byte_lock(F_WRLCK, first_entry_lock + static_cast<off_t>(i));
    return ::fcntl(file_.number(), F_OFD_SETLK, &lock) == 0;
  });
  if (taken == order.end()) return unusable("has " + std::to_string(head.entries.size()) + " runs already");
  entry_ = *taken;
  run_ = head.next_run++;
  head.entries[entry_] = {run_, {}, 0};
  // Of what lies farther back than the file reaches nothing is known: see read.
  seen_ = 0;
  return write_at(0, &head, sizeof head);
}

Result<bool> KeyFile::lock() {
  for (int tries = 0;; ++tries) {
    auto lock = byte_lock(F_WRLCK, turn_lock);
    if (::fcntl(file_.number(), F_OFD_SETLK, &lock) == 0) return true;
    if (errno != EAGAIN && errno != EACCES && errno != EINTR)
      return unusable("cannot be locked: " + std::generic_category().message(errno));
    if (tries == defaults::key_lock_tries) return false;
    constexpr std::timespec moment{0, defaults::key_lock_wait_ns};
    ::nanosleep(&moment, nullptr);
  }
}

void KeyFile::unlock() {
  auto lock = byte_lock(F_UNLCK, turn_lock);
  ::fcntl(file_.number(), F_OFD_SETLK, &lock);
}

Result<KeyFile::News> KeyFile::read(BootTime now, BootTime patience) {
  struct stat status {};
  if (::fstat(file_.number(), &status) != 0 || status.st_nlink == 0) return unusable("was removed");
  Head head;
  if (auto read = read_at(0, &head, sizeof head); !read) return fail(read.error());
  constexpr std::uint64_t most_records = std::uint64_t{1} << 62;
  if (head.mark != file_mark || head.newest < seen_ || head.newest > most_records ||
      head.entries[entry_].run != run_)
    return unusable("was changed by something else");
  News news;
  newest_ = head.newest;
  std::uint64_t next = seen_ + 1;
  if (newest_ - seen_ > defaults::key_records) {
    next = newest_ - defaults::key_records + 1;
    news.is_cut = true;
  }
  std::vector<Record> records;
  while (next <= newest_) {
    // Up to where the file begins anew.
    const std::uint64_t at = (next - 1) % defaults::key_records;
    records.resize(std::min(newest_ - next + 1, defaults::key_records - at));
    if (auto read = read_at(place_of(next), records.data(), records.size() * sizeof(Record)); !read)
      return fail(read.error());
    for (const Record& record : records) {
      const auto use = record.number == next++ ? use_in(record, now) : std::nullopt;
      if (use && record.run != run_) news.uses.push_back({record.run, *use});
    }
  }
  seen_ = newest_;
  for (std::size_t i = 0; i < head.entries.size(); ++i) {
    const Entry& one = head.entries[i];
    if (i == entry_) news.others.before = news.others.places.size();
    if (i == entry_ || one.run == 0) continue;
    const bool lives = is_held(i);
    const bool is_silent = BootTime(one.time_us) + patience < now;
    if (lives) news.others.living.push_back(one.run);
    const bool calls_ended = !lives && head.ending_runs[i] == one.run;
    if (is_silent || calls_ended) continue;
    news.others.places.push_back({one.places.taken, lives ? one.places.wanted : 0});
    if (lives || one.places.taken == 0) continue;
    news.others.left_behind += one.places.taken;
    news.others.left_until = std::max(news.others.left_until, BootTime(one.time_us) + patience);
  }
  return news;
}

KeyFile& KeyFile::operator=(KeyFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(file_, other.file_);
  std::swap(entry_, other.entry_);
  std::swap(run_, other.run_);
  std::swap(seen_, other.seen_);
  std::swap(newest_, other.newest_);
  return *this;
}

KeyFile::~KeyFile() {
  if (!file_.is_open() || run_ == 0) return;
  const Entry none{};
  // Nobody waits longer than its patience if this fails.
  [[maybe_unused]] const auto written =
      write_at(offsetof(Head, entries) + entry_ * sizeof(Entry), &none, sizeof none);
}

Result<void> KeyFile::write(std::span<const KeyUse> uses, const KeyPlaces& places, Calls calls,
                            BootTime now) {
  for (const KeyUse& use : uses) {
    const Record record = record_of(use, run_, ++newest_);
    if (auto written = write_at(place_of(newest_), &record, sizeof record); !written) return written;
  }
  const std::uint64_t ending_run = calls == Calls::end_with_process ? run_ : 0;
  const auto ending_at = offsetof(Head, ending_runs) + entry_ * sizeof ending_run;
  if (auto written = write_at(ending_at, &ending_run, sizeof ending_run); !written) return written;
  // The number of records comes last: what stands beyond it counts for nothing.
  const Entry own{run_, places, now.count()};
  const auto at = offsetof(Head, entries) + entry_ * sizeof(Entry);
  if (auto written = write_at(at, &own, sizeof own); !written) return written;
  seen_ = newest_;
  auto written = write_at(offsetof(Head, newest), &newest_, sizeof newest_);
  unlock();
  return written;
}

}  // namespace sluice
