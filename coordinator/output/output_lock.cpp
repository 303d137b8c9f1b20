#include "coordinator/output/output_lock.hpp"

#include "coordinator/defaults.hpp"
#include "coordinator/output/output_file.hpp"

#include <cerrno>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

/// So many in a row are none: the file system has no numbers of files that last.
constexpr int most_removals = 20;

bool is_still_named(const FileDescriptor& file, const std::string& name) {
  struct stat held {};
  struct stat named {};
  return ::fstat(file.number(), &held) == 0 && ::stat(name.c_str(), &named) == 0 &&
         held.st_dev == named.st_dev && held.st_ino == named.st_ino;
}

}  // namespace

bool OutputLock::try_take() {
  for (int tries = 0; tries < most_removals; ++tries) {
    constexpr int flags = O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    // NFS locks what is open for writing alone; another account's file is open for reading.
    FileDescriptor file(::open(name_.c_str(), O_RDWR | flags, 0644));
    if (!file.is_open()) file = FileDescriptor(::open(name_.c_str(), O_RDONLY | flags, 0644));
    if (!file.is_open()) return true;
    if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
      if (errno == EWOULDBLOCK) return false;
      ::unlink(name_.c_str());  // Nobody can lock it.
      return true;
    }
    if (!is_still_named(file, name_)) continue;  // Whoever had it has removed it meanwhile.
    file_ = std::move(file);
    break;
  }
  return true;
}

Result<OutputLock> OutputLock::take(const std::string& path, std::chrono::milliseconds patience,
                                    const std::function<void()>& before_waiting) {
  const std::filesystem::path end = end_of_links(path);
  OutputLock lock((end.parent_path() / ("." + end.filename().string() + ".lock")).string());
  const auto last = std::chrono::steady_clock::now() + patience;
  for (bool has_waited = false; !lock.try_take();) {
    if (!std::exchange(has_waited, true) && before_waiting) before_waiting();
    if (std::chrono::steady_clock::now() >= last) {
      return fail(Reason::output_failed, "another process adds to " + path + ", and has held the lock " +
                                             lock.name_ + " for too long: end it, or wait for its end");
    }
    std::this_thread::sleep_for(defaults::output_lock_wait);
  }
  return lock;
}

OutputLock::~OutputLock() {
  if (file_.is_open()) ::unlink(name_.c_str());  // Before the lock goes: it is nobody else's yet.
}

}  // namespace sluice
