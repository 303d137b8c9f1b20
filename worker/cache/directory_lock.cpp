#include "worker/cache/directory_lock.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/file.h>

namespace sluice {

Result<DirectoryLock> DirectoryLock::take(const std::filesystem::path& dir, Kind kind) {
  const auto path = dir / "LOCK.sluice";
  const int flags = O_CLOEXEC | O_NONBLOCK | (kind == Kind::exclusive ? O_RDWR | O_CREAT : O_RDONLY);
  DirectoryLock lock(FileDescriptor(::open(path.c_str(), flags, 0644)));
  if (!lock.file_.is_open()) {
    if (errno == ENOENT && kind == Kind::shared) return lock;
    return fail(Reason::cache_failed, "cannot open " + path.string() + ": " + std::strerror(errno));
  }
  const int mode = kind == Kind::exclusive ? LOCK_EX : LOCK_SH;
  int result = -1;
  do {
    result = ::flock(lock.file_.number(), mode | LOCK_NB);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return lock;
  if (errno == EWOULDBLOCK) {
    return fail(Reason::cache_in_use, "the cache " + dir.string() +
                                          " is in use by another process; end that one, or give this worker "
                                          "another --name");
  }
  return fail(Reason::cache_failed, "cannot lock " + path.string() + ": " + std::strerror(errno));
}

}  // namespace sluice
