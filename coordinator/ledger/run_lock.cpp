#include "coordinator/ledger/run_lock.hpp"

#include "common/hash.hpp"
#include "common/text/printable.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

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

Result<RunLock> RunLock::take(const std::filesystem::path& home, const std::string& run_id) {
  return take(home, lock_of(run_id),
              "run " + printable(run_id.substr(0, 8)) +
                  " is under way: another process works on it; wait for that one, or end it first");
}

Result<RunLock> RunLock::take_all(const std::filesystem::path& home) {
  return take(home, lock_of_all(),
              "a run is under way in " + printable(home.string()) + "; wait for it, or end it first");
}

Result<RunLock> RunLock::take(const std::filesystem::path& home, struct flock wanted,
                              const std::string& refusal) {
  // Opening a pipe to which nobody writes would wait for ever.
  RunLock lock(::open(file_in(home).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644));
  if (lock.file_ < 0) return fail(problem_with(home, "open"));
  // Bound to the open file, not to the process: a second one in this process is refused like any other.
  if (::fcntl(lock.file_, F_OFD_SETLK, &wanted) == 0) return lock;
  if (errno != EAGAIN && errno != EACCES) return fail(problem_with(home, "lock"));
  return fail(Reason::usage_invalid, refusal);
}

bool RunLock::is_held(const std::filesystem::path& home, const std::string& run_id) {
  return is_held(home, lock_of(run_id));
}

bool RunLock::is_any_held(const std::filesystem::path& home) {
  return is_held(home, lock_of_all());
}

bool RunLock::is_held(const std::filesystem::path& home, struct flock wanted) {
  const RunLock reader(::open(file_in(home).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (reader.file_ < 0) return false;  // Nobody has ever locked anything there.
  return ::fcntl(reader.file_, F_OFD_GETLK, &wanted) == 0 && wanted.l_type != F_UNLCK;
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
