#include "coordinator/ledger/run_lock.hpp"

#include "common/hash.hpp"
#include "common/text/printable.hpp"
#include "coordinator/ledger/defaults.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace sluice {
namespace {

/// The run's byte. It need not exist: locks may lie beyond a file's end. A hash of the id finds it, and that
/// two runs of a home share one of 2^56 does not happen.
struct flock lock_of(const std::string& run_id) {
  const Digest digest = sha256(run_id);
  off_t at = 0;
  for (std::size_t i = 0; i < 7; ++i) at = (at << 8) | digest[i];
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = at;
  lock.l_len = 1;
  return lock;
}

struct flock lock_of_all() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;  // From 0, and without an end.
  return lock;
}

std::filesystem::path file_in(const std::filesystem::path& home) {
  return home / "runs.lock";
}

Error problem_with(const std::filesystem::path& home, const char* what) {
  return {Reason::ledger_failed, std::string("cannot ") + what + " " + file_in(home).string() + ": " +
                                     std::strerror(errno) +
                                     "; check the permissions of SLUICE_HOME, or name another --home"};
}

}  // namespace

Result<RunLock> RunLock::take(const std::filesystem::path& home, const std::string& run_id,
                              const std::function<void()>& before_waiting) {
  auto opened = open(home);
  if (!opened) return opened;
  // Between the two looks a lock may go; where nobody ever holds it, the file system has no locks.
  constexpr int most_of_nobody = 20;
  int nobody = 0;
  for (bool has_waited = false;;) {
    const auto taken = opened->lock(home, lock_of(run_id));
    if (!taken) return fail(taken.error());
    if (*taken) return opened;
    const Holder holder = opened->holder_of(lock_of(run_id));
    if (holder == Holder::one || (holder == Holder::nobody && ++nobody > most_of_nobody)) break;
    const bool is_first = holder == Holder::all && !std::exchange(has_waited, true);
    if (is_first && before_waiting) before_waiting();
    std::this_thread::sleep_for(defaults::all_runs_lock_wait);
  }
  return fail(Reason::usage_invalid,
              "run " + printable(run_id.substr(0, 8)) +
                  " is under way: another process works on it; wait for that one, or end it first");
}

Result<RunLock> RunLock::take_all(const std::filesystem::path& home) {
  auto opened = open(home);
  if (!opened) return opened;
  auto holder = Holder::nobody;
  // Who held it may have left by the second look.
  for (int tries = 0; tries < 2 && holder == Holder::nobody; ++tries) {
    const auto taken = opened->lock(home, lock_of_all());
    if (!taken) return fail(taken.error());
    if (*taken) return opened;
    holder = opened->holder_of(lock_of_all());
  }
  if (holder == Holder::all)
    return fail(Reason::usage_invalid, "another process makes the ledger in " + printable(home.string()) +
                                           " smaller or repairs it; wait for it, or end it first");
  return fail(Reason::usage_invalid,
              "a run is under way in " + printable(home.string()) + "; wait for it, or end it first");
}

Result<RunLock> RunLock::open(const std::filesystem::path& home) {
  // Opening a pipe to which nobody writes would wait for ever.
  RunLock lock(::open(file_in(home).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644));
  if (lock.file_ < 0) return fail(problem_with(home, "open"));
  return lock;
}

Result<bool> RunLock::lock(const std::filesystem::path& home, struct flock wanted) const {
  // Bound to the open file, not to the process: a second one in this process is refused like any other.
  if (::fcntl(file_, F_OFD_SETLK, &wanted) == 0) return true;
  if (errno != EAGAIN && errno != EACCES) return fail(problem_with(home, "lock"));
  return false;
}

RunLock::Holder RunLock::holder_of(struct flock wanted) const {
  if (::fcntl(file_, F_OFD_GETLK, &wanted) != 0 || wanted.l_type == F_UNLCK) return Holder::nobody;
  return wanted.l_len == 0 ? Holder::all : Holder::one;  // 0: to the end, as that of lock_of_all alone.
}

RunLock::Holder RunLock::holder_in(const std::filesystem::path& home, struct flock wanted) {
  const RunLock reader(::open(file_in(home).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return reader.file_ < 0 ? Holder::nobody : reader.holder_of(wanted);
}

bool RunLock::is_held(const std::filesystem::path& home, const std::string& run_id) {
  return holder_in(home, lock_of(run_id)) == Holder::one;
}

RunLock::Holder RunLock::holder_in(const std::filesystem::path& home) {
  return holder_in(home, lock_of_all());
}

void RunLock::expect_ledger() const {
  // Whether it was written only decides if doctor misses a ledger that somebody removes.
  static_cast<void>(::pwrite(file_, "1", 1, 0));
}

bool RunLock::is_ledger_expected(const std::filesystem::path& home) {
  std::error_code error;
  return std::filesystem::file_size(file_in(home), error) > 0 && !error;
}

RunLock::~RunLock() {
  if (file_ >= 0) ::close(file_);
}

}  // namespace sluice
