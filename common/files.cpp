#include "common/files.hpp"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace sluice {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

tl::unexpected<Error> unreadable(int error) {
  return fail(Reason::file_unreadable, std::string("cannot be read: ") + std::strerror(error));
}

tl::unexpected<Error> too_large(std::size_t max_bytes) {
  return fail(Reason::file_unreadable,
              "is too large: at most " + std::to_string(max_bytes) + " bytes are read");
}

}  // namespace

Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  // Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return unreadable(errno);
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return unreadable(errno);
  if (S_ISDIR(facts.st_mode)) return unreadable(EISDIR);
  if (!S_ISREG(facts.st_mode)) return fail(Reason::file_unreadable, "cannot be read: not a regular file");
  const auto size = static_cast<std::size_t>(facts.st_size);
  if (size > max_bytes) return too_large(max_bytes);

  // One byte more than the size shows the end of the file without a second round, unless the file has grown.
  std::string text(size + 1, '\0');
  std::size_t filled = 0;
  while (true) {
    const ssize_t got = ::read(file.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(errno);
    filled += static_cast<std::size_t>(got);
    if (filled > max_bytes) return too_large(max_bytes);
    // A regular file gives less than was asked for only at its end.
    if (got == 0 || filled < text.size()) break;
    text.resize(text.size() * 2);
  }
  text.resize(filled);
  return text;
}

}  // namespace sluice
