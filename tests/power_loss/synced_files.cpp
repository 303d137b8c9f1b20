// A disk that keeps what was synced, for programs under LD_PRELOAD; tests/support/power_loss.hpp puts it
// together again. With each fsync or fdatasync below POWER_LOSS_ROOT the file's content at that moment, or a
// folder's list of names, goes to POWER_LOSS_DISK: under its inode, since names and contents reach a disk by
// themselves. A link keeps the inode from being used again for another file.
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using Sync = int (*)(int);

Sync real(const char* name) {
  return reinterpret_cast<Sync>(::dlsym(RTLD_NEXT, name));
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "power-loss shim: cannot %s: %s\n", what, std::strerror(errno));
  std::abort();
}

struct Disk {
  std::string root = variable("POWER_LOSS_ROOT");
  std::string kept = variable("POWER_LOSS_DISK");
  std::atomic<unsigned> drafts = 0;

  bool has(std::string_view path) const {
    return !root.empty() && !kept.empty() && path.starts_with(root) &&
           (path.size() == root.size() || path[root.size()] == '/');
  }
  std::string new_draft() {
    return kept + "/draft-" + std::to_string(::getpid()) + "-" + std::to_string(++drafts);
  }
  void keep(const std::string& draft, const std::string& as) const {
    if (std::rename(draft.c_str(), (kept + as).c_str()) != 0) give_up("keep what was synced");
  }

  void keep_content(int fd, const std::string& path, const std::string& inode) {
    const std::string held = kept + "/held/" + inode;
    if (::link(path.c_str(), held.c_str()) != 0 && errno != EEXIST && errno != ENOENT)
      give_up("hold an inode");
    // SQLite's locks are lost when the process closes any descriptor of the file: its own, which reads too,
    // is read from. What only writes is opened once more.
    const bool reads = (::fcntl(fd, F_GETFL) & O_ACCMODE) != O_WRONLY;
    const int in = reads ? fd : ::open(("/proc/self/fd/" + std::to_string(fd)).c_str(), O_RDONLY | O_CLOEXEC);
    const std::string draft = new_draft();
    std::FILE* out = std::fopen(draft.c_str(), "we");
    if (in < 0 || out == nullptr) give_up("copy a synced file");
    char piece[1 << 14];
    ::ssize_t got = 0;
    for (::off_t at = 0; (got = ::pread(in, piece, sizeof piece, at)) > 0; at += got)
      if (std::fwrite(piece, 1, static_cast<std::size_t>(got), out) != static_cast<std::size_t>(got))
        give_up("write a content");
    if (got < 0) give_up("read a synced file");
    if (!reads) ::close(in);
    if (std::fclose(out) != 0) give_up("write a content");
    keep(draft, "/contents/" + inode);
  }

  void keep_names(const std::string& path, const std::string& inode) {
    const std::string draft = new_draft();
    std::FILE* list = std::fopen(draft.c_str(), "we");
    DIR* folder = ::opendir(path.c_str());
    if (list == nullptr || folder == nullptr) give_up("list a folder");
    while (const dirent* entry = ::readdir(folder)) {
      if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
        std::fprintf(list, "%lu %c %s\n", static_cast<unsigned long>(entry->d_ino),
                     entry->d_type == DT_DIR ? 'd' : 'f', entry->d_name);
    }
    ::closedir(folder);
    if (std::fclose(list) != 0) give_up("write names");
    keep(draft, "/names/" + inode);
  }

  int synced(int fd, int result) {
    const int error = errno;
    char name[4096];
    const auto length = ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), name, sizeof name);
    struct stat about {};
    if (result == 0 && length > 0 && ::fstat(fd, &about) == 0) {
      const std::string path(name, static_cast<std::size_t>(length));
      const std::string inode = std::to_string(about.st_ino);
      if (has(path) && S_ISREG(about.st_mode)) keep_content(fd, path, inode);
      if (has(path) && S_ISDIR(about.st_mode)) keep_names(path, inode);
    }
    errno = error;
    return result;
  }
};

Disk& disk() {
  static Disk* const one = new Disk;  // Threads sync while the process ends.
  return *one;
}

}  // namespace

extern "C" {

int fsync(int fd) {
  static const Sync next = real("fsync");
  return disk().synced(fd, next(fd));
}

int fdatasync(int fd) {
  static const Sync next = real("fdatasync");
  return disk().synced(fd, next(fd));
}
}
