#include "common/files.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace sluice {
namespace {

tl::unexpected<Error> too_large(std::size_t max_bytes) {
  return fail(Reason::file_too_large,
              "is too large: at most " + std::to_string(max_bytes) + " bytes are read");
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (is_open()) ::close(number_);
}

Error unreadable_file(int error_number) {
  return {Reason::file_unreadable, "cannot be read: " + std::generic_category().message(error_number)};
}

Result<struct stat> check_regular(const FileDescriptor& file) {
  struct stat facts {};
  if (::fstat(file.number(), &facts) != 0) return fail(unreadable_file(errno));
  if (S_ISDIR(facts.st_mode)) return fail(unreadable_file(EISDIR));
  if (!S_ISREG(facts.st_mode)) return fail(Reason::file_unreadable, "cannot be read: not a regular file");
  return facts;
}

bool is_read_only_folder(const std::filesystem::path& folder) {
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK, AT_EACCESS) == 0) return false;
  return errno == EACCES || errno == EROFS || errno == EPERM;
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  // Without O_NONBLOCK, opening a pipe that nobody writes to would wait for ever.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return fail(unreadable_file(errno));
  return read_file(file, max_bytes);
}

Result<std::string> read_file(const FileDescriptor& file, std::size_t max_bytes) {
  const auto facts = check_regular(file);
  if (!facts) return fail(facts.error());
  return read_file(file, *facts, max_bytes);
}

Result<std::string> read_file(const FileDescriptor& file, const struct stat& facts, std::size_t max_bytes) {
  const auto size = static_cast<std::size_t>(facts.st_size);
  if (size > max_bytes) return too_large(max_bytes);

  // One byte more than the size shows the end of the file without a second round, unless the file has grown.
  std::string text(size + 1, '\0');
  std::size_t filled = 0;
  while (true) {
    const ssize_t got = ::read(file.number(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail(unreadable_file(errno));
    filled += static_cast<std::size_t>(got);
    if (filled > max_bytes) return too_large(max_bytes);
    // A regular file gives less than was asked for only at its end.
    if (got == 0 || filled < text.size()) break;
    text.resize(text.size() * 2);
  }
  text.resize(filled);
  return text;
}

std::error_code make_private_folder(std::filesystem::path folder) {
  // What stands before a slash or a dot at the end is the folder itself, and none above it.
  while (folder.has_relative_path() && (!folder.has_filename() || folder.filename() == "."))
    folder = folder.parent_path();
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return {};
  error.clear();
  if (folder.has_parent_path()) std::filesystem::create_directories(folder.parent_path(), error);
  if (error || ::mkdir(folder.c_str(), S_IRWXU) == 0) return error;
  const std::error_code problem(errno, std::generic_category());
  return std::filesystem::is_directory(folder, error) ? std::error_code() : problem;
}

std::vector<std::filesystem::path> paths_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    found.push_back(entry->path());
  std::ranges::sort(found);
  return found;
}

}  // namespace sluice
