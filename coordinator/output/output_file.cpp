#include "coordinator/output/output_file.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

std::string words_for(int code) {
  switch (code) {
    case ENOSPC:
      return "no space is left on the device";
    case EDQUOT:
      return "the disk quota is used up";
    case EFBIG:
      return "the file would exceed the limit on file sizes (see ulimit -f)";
    case ENOENT:
      return "the folder does not exist";
    case EACCES:
    case EPERM:
      return "permission is denied";
    case EROFS:
      return "the file system is read-only";
    case EISDIR:
      return "it is a folder";
    case EPIPE:
      return "the reader closed the pipe";
    default:
      return std::system_category().message(code);
  }
}

/// What is written, and where to, for messages.
struct Target {
  std::string_view content;
  std::string place;
};

Error cannot_write(const Target& target, const std::string& why) {
  return {Reason::output_failed,
          "the " + std::string(target.content) + " cannot be written to " + target.place + ": " + why};
}

Error cannot_write(const Target& target, int code) {
  std::string_view advice;
  if (code == ENOENT) advice = "; create it or name another file";
  if (code == ENOSPC || code == EDQUOT) advice = "; free some or write to another place";
  if (code == EACCES || code == EPERM || code == EROFS || code == EISDIR || code == ENAMETOOLONG)
    advice = "; name another file";
  return cannot_write(target, words_for(code) + std::string(advice));
}

// A write beyond RLIMIT_FSIZE or to a closed pipe raises a signal that would end the program before it can
// say what is wrong; while a file is written the call fails with EFBIG or EPIPE instead.
class SignalsIgnored {
 public:
  SignalsIgnored() {
    struct sigaction ignore {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGXFSZ, &ignore, &file_size_);
    sigaction(SIGPIPE, &ignore, &pipe_);
  }
  ~SignalsIgnored() {
    sigaction(SIGXFSZ, &file_size_, nullptr);
    sigaction(SIGPIPE, &pipe_, nullptr);
  }
  SignalsIgnored(const SignalsIgnored&) = delete;
  SignalsIgnored& operator=(const SignalsIgnored&) = delete;

 private:
  struct sigaction file_size_ {};
  struct sigaction pipe_ {};
};

// The half-written file, for a signal's handler and, behind the lock, for a thread that takes signals.
std::atomic<const char*> unfinished_file = nullptr;
std::mutex changes_unfinished_file;
static_assert(std::atomic<const char*>::is_always_lock_free);

extern "C" void remove_unfinished_file(int signal) {
  if (const char* file = unfinished_file.load()) ::unlink(file);
  ::raise(signal);  // Comes once the handler has returned, and ends the program as it would have.
}

// While it lives, a signal that would end the program removes the file first. Signals that somebody else
// handles are left to them.
class RemovedBySignals {
 public:
  explicit RemovedBySignals(const std::string& file) {
    name_unfinished(file.c_str());
    struct sigaction remove {};
    remove.sa_handler = remove_unfinished_file;
    remove.sa_flags = SA_RESETHAND;
    for (std::size_t i = 0; i < ending.size(); ++i) {
      sigaction(ending[i], nullptr, &before_[i]);
      if (is_default(before_[i])) sigaction(ending[i], &remove, nullptr);
    }
  }
  ~RemovedBySignals() {
    for (std::size_t i = 0; i < ending.size(); ++i) {
      if (is_default(before_[i])) sigaction(ending[i], &before_[i], nullptr);
    }
    name_unfinished(nullptr);
  }
  RemovedBySignals(const RemovedBySignals&) = delete;
  RemovedBySignals& operator=(const RemovedBySignals&) = delete;

 private:
  static constexpr std::array ending{SIGINT, SIGTERM, SIGHUP};

  static void name_unfinished(const char* file) {
    const std::lock_guard lock(changes_unfinished_file);
    unfinished_file = file;
  }
  static bool is_default(const struct sigaction& action) {
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
  }

  std::array<struct sigaction, ending.size()> before_{};
};

class DescriptorSink final : public Sink {
 public:
  explicit DescriptorSink(int descriptor) : descriptor_(descriptor) {}

  void write(std::string_view bytes) override {
    while (!bytes.empty() && error_ == 0) {
      const ssize_t written = ::write(descriptor_, bytes.data(), bytes.size());
      if (written >= 0) {
        bytes.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno == EAGAIN) {
        wait_until_writable();
      } else if (errno != EINTR) {
        error_ = errno;
      }
    }
  }
  /// The errno of the first write that failed, or 0.
  int error() const { return error_; }

 private:
  // Whoever shares the descriptor (a terminal, a pipe) may have made it non-blocking.
  void wait_until_writable() const {
    pollfd waiting{.fd = descriptor_, .events = POLLOUT, .revents = 0};
    ::poll(&waiting, 1, -1);
  }

  int descriptor_;
  int error_ = 0;
};

// Writes, makes sure that the bytes have arrived, and closes. Some file systems report a full disk only at
// the end.
Result<void> write_and_close(int descriptor, const Target& target, const ContentWriter& writer) {
  DescriptorSink sink(descriptor);
  const auto outcome = writer(sink);
  int error = sink.error();
  // Pipes and terminals cannot be synchronised: EINVAL (or ENOTSUP, EROFS) says so and is no failure.
  if (error == 0 && ::fsync(descriptor) != 0 && (errno == ENOSPC || errno == EIO || errno == EDQUOT))
    error = errno;
  if (::close(descriptor) != 0 && error == 0 && errno != EINTR) error = errno;
  if (error != 0) return fail(cannot_write(target, error));
  return outcome;
}

Result<void> write_directly(const std::string& path, const Target& target, const ContentWriter& writer) {
  const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(cannot_write(target, errno));
  return write_and_close(descriptor, target, writer);
}

// The kernel's word for it: umask() only tells the mask as it sets another, and whatever other threads make
// at that moment is open to all.
mode_t current_umask() {
  constexpr std::string_view name = "Umask:";
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name))
      return static_cast<mode_t>(std::strtoul(line.c_str() + name.size(), nullptr, 8));
  }
  const mode_t mask = ::umask(077);  // Without /proc.
  ::umask(mask);
  return mask;
}

// What mkstemp would have given a new file had it applied the umask.
mode_t default_mode() {
  return 0666 & ~current_umask();
}

Result<void> replace(const std::string& path, const Target& target, mode_t mode,
                     const ContentWriter& writer) {
  // No longer than any file's name may be, however long this one's is.
  std::string temporary = (std::filesystem::path(path).parent_path() / ".sluice.XXXXXX").string();
  const int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return fail(cannot_write(target, errno));
  const RemovedBySignals signals(temporary);
  const auto abandon = [&](Error error) -> Result<void> {
    ::unlink(temporary.c_str());
    return fail(std::move(error));
  };
  if (::fchmod(descriptor, mode) != 0) {
    const int error = errno;
    ::close(descriptor);
    return abandon(cannot_write(target, error));
  }
  if (auto written = write_and_close(descriptor, target, writer); !written) return abandon(written.error());
  if (::rename(temporary.c_str(), path.c_str()) != 0) return abandon(cannot_write(target, errno));
  return {};
}

}  // namespace

void remove_unfinished_output() {
  const std::lock_guard lock(changes_unfinished_file);
  if (const char* file = unfinished_file.load()) ::unlink(file);
}

std::string end_of_links(const std::string& path) {
  namespace fs = std::filesystem;
  constexpr int most_links = 40;  // As Linux follows.
  fs::path end = path;
  for (int links = 0; links < most_links; ++links) {
    std::error_code error;
    const fs::path next = fs::read_symlink(end, error);
    if (error) break;  // No link any more.
    end = end.parent_path() / next;
  }
  return end.string();
}

Result<void> write_whole_file(std::string_view content, const std::string& path,
                              const ContentWriter& writer) {
  const SignalsIgnored signals;
  const Target target{content, "\"" + path + "\""};
  struct stat found {};
  if (::stat(path.c_str(), &found) != 0) {
    if (errno != ENOENT) return fail(cannot_write(target, errno));
    return replace(end_of_links(path), target, default_mode(), writer);
  }
  if (S_ISDIR(found.st_mode)) return fail(cannot_write(target, EISDIR));
  if (!S_ISREG(found.st_mode)) return write_directly(path, target, writer);
  // A write-protected file is not replaced behind its owner's back, although the folder would allow it.
  if (::access(path.c_str(), W_OK) != 0) return fail(cannot_write(target, errno));
  std::error_code error;
  const auto file = std::filesystem::canonical(path, error);
  if (error) return fail(cannot_write(target, error.value()));
  return replace(file.string(), target, found.st_mode & 07777, writer);
}

Result<void> write_whole_file(std::string_view content, const std::string& path, std::string_view text) {
  return write_whole_file(content, path, [&](Sink& sink) -> Result<void> {
    sink.write(text);
    return {};
  });
}

Result<void> check_output_path(std::string_view content, const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code none;
  const auto refuse = [&](const auto& why) { return fail(cannot_write({content, "\"" + path + "\""}, why)); };
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) {
    if (S_ISDIR(found.st_mode)) return refuse(EISDIR);
    if (!S_ISREG(found.st_mode)) return {};
    if (::access(path.c_str(), W_OK) != 0) return refuse("the file is not writable; name another file");
  } else if (errno == ENAMETOOLONG) {
    return refuse(ENAMETOOLONG);
  }
  const fs::path end = end_of_links(path);
  const auto folder = end.has_parent_path() ? end.parent_path() : fs::path(".");
  if (!fs::is_directory(folder, none)) return refuse(ENOENT);
  if (::access(folder.c_str(), W_OK) != 0) return refuse("the folder is not writable; name another file");
  return {};
}

Result<void> write_stdout(std::string_view content, const ContentWriter& writer) {
  const SignalsIgnored signals;
  const Target target{content, "standard output"};
  if (std::fflush(stdout) != 0) return fail(cannot_write(target, errno));
  // The duplicate can be closed, and with it comes the error that a network file system keeps until then.
  const int descriptor = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (descriptor < 0) return fail(cannot_write(target, errno));
  return write_and_close(descriptor, target, writer);
}

}  // namespace sluice
