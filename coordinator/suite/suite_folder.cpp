#include "coordinator/suite/suite_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// A pipe that nobody writes to would block without O_NONBLOCK, and a terminal become ours without O_NOCTTY.
constexpr int read_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

/// What opening came to; `error` is an errno.
struct Opened {
  FileDescriptor file;
  int error = 0;
};

Opened opened(long number) {
  if (number < 0) return {FileDescriptor(), errno};
  return {FileDescriptor(static_cast<int>(number)), 0};
}

Opened open_by_kernel(const FileDescriptor& folder, const fs::path& below) {
  struct open_how how {};
  how.flags = static_cast<decltype(how.flags)>(read_flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return opened(::syscall(SYS_openat2, folder.number(), below.c_str(), &how, sizeof how));
}

/// Follows no links. REQUIRES: `below` has neither links nor dots, unless they came meanwhile.
Opened open_by_steps(const FileDescriptor& folder, const fs::path& below) {
  constexpr int step_flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  FileDescriptor reached;
  for (const fs::path& part : below.parent_path()) {
    const int from = reached.is_open() ? reached.number() : folder.number();
    Opened step = opened(::openat(from, part.c_str(), step_flags));
    if (step.error != 0) return step;
    reached = std::move(step.file);
  }
  const int from = reached.is_open() ? reached.number() : folder.number();
  return opened(::openat(from, below.filename().c_str(), read_flags | O_NOFOLLOW));
}

/// The kernel has no openat2 (before 5.6), or a sandbox forbids what it does not know.
bool is_missing(int error) {
  return error == ENOSYS || error == EPERM;
}

tl::unexpected<Error> unreadable(int error) {
  return fail(unreadable_file(error));
}

tl::unexpected<Error> outside(const fs::path& name) {
  if (name.is_absolute()) {
    return fail(Reason::file_unreadable, "must be a path relative to the suite's folder");
  }
  return fail(Reason::file_unreadable,
              "lies outside of the suite's folder: move it there, or allow its folder with --allow-path DIR");
}

/// What /proc and /sys show as regular files is the state of processes and of the machine.
Result<FileDescriptor> checked(FileDescriptor file) {
  if (const auto regular = check_regular(file); !regular) return fail(regular.error());
  struct statfs system {};
  if (::fstatfs(file.number(), &system) != 0) return unreadable(errno);
  if (system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC) {
    return fail(Reason::file_unreadable, "cannot be read: not a regular file");
  }
  return file;
}

bool is_below(const fs::path& root, const fs::path& whole) {
  return std::mismatch(root.begin(), root.end(), whole.begin(), whole.end()).first == root.end();
}

std::optional<FileIdentity> identity(int result, const struct stat& status) {
  if (result != 0) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

}  // namespace

std::optional<FileIdentity> identity_of(const FileDescriptor& file) {
  struct stat status {};
  const int result = ::fstat(file.number(), &status);
  return identity(result, status);
}

std::optional<FileIdentity> identity_of(const fs::path& path) {
  struct stat status {};
  const int result = ::stat(path.c_str(), &status);
  return identity(result, status);
}

Result<std::shared_ptr<const SuiteFolder>> SuiteFolder::open(const fs::path& folder,
                                                             const std::vector<std::string>& allowed,
                                                             Opening opening) {
  std::shared_ptr<SuiteFolder> made(new SuiteFolder(folder, opening));
  const auto add = [&](const fs::path& path, const std::string& shown) -> Result<void> {
    std::error_code error;
    fs::path whole = fs::canonical(path, error);
    Opened root = error ? Opened{FileDescriptor(), error.value()}
                        : opened(::open(whole.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (root.error != 0) {
      return fail(Reason::file_unreadable, shown + " " + unreadable_file(root.error).message);
    }
    made->roots_.push_back({std::move(whole), std::move(root.file)});
    return {};
  };
  const fs::path own = folder.empty() ? fs::path(".") : folder;
  if (auto added = add(own, "the suite's folder " + own.generic_string()); !added) return fail(added.error());
  for (const std::string& path : allowed) {
    if (auto added = add(path, "--allow-path names \"" + path + "\", which"); !added) {
      return fail(added.error());
    }
  }
  return made;
}

const SuiteFolder::Root* SuiteFolder::root_of(const fs::path& whole, bool only_allowed) const {
  const auto first = roots_.begin() + (only_allowed ? 1 : 0);
  const auto found =
      std::find_if(first, roots_.end(), [&](const Root& root) { return is_below(root.path, whole); });
  return found != roots_.end() ? &*found : nullptr;
}

Result<SuiteFolder::Place> SuiteFolder::resolve(const fs::path& name) const {
  std::error_code error;
  const fs::path named = roots_.front().path / name;
  const fs::path whole = fs::canonical(named, error);
  if (error) {
    std::error_code unknown;
    const fs::path as_far_as_it_exists = fs::weakly_canonical(named, unknown);
    if (!unknown && root_of(as_far_as_it_exists, name.is_absolute()) == nullptr) return outside(name);
    return unreadable(error.value());
  }
  const Root* root = root_of(whole, name.is_absolute());
  if (root == nullptr) return outside(name);
  return Place{root, whole.lexically_relative(root->path)};
}

Result<FileDescriptor> SuiteFolder::open_resolved(const fs::path& name) const {
  const auto place = resolve(name);
  if (!place) return fail(place.error());
  Opened file;
  if (opening_ == Opening::by_kernel) file = open_by_kernel(place->root->folder, place->below);
  if (opening_ == Opening::by_steps || is_missing(file.error)) {
    file = open_by_steps(place->root->folder, place->below);
  }
  if (file.error == EXDEV) return outside(name);
  if (file.error != 0) return unreadable(file.error);
  return checked(std::move(file.file));
}

Result<FileDescriptor> SuiteFolder::open_file(const fs::path& name) const {
  if (name.empty()) return unreadable(ENOENT);
  if (opening_ == Opening::by_kernel && name.is_relative()) {
    Opened file = open_by_kernel(roots_.front().folder, name);
    if (file.error == 0) return checked(std::move(file.file));
    // Out of the folder, a link that needs another look, or a kernel that does not support it.
    const bool is_undecided =
        file.error == EXDEV || file.error == ELOOP || file.error == EAGAIN || is_missing(file.error);
    if (!is_undecided) return unreadable(file.error);
  }
  return open_resolved(name);
}

Result<std::string> SuiteFolder::read(const fs::path& name, std::size_t max_bytes,
                                      std::vector<FileIdentity>* opened) const {
  const auto file = open_file(name);
  if (!file) return fail(file.error());
  if (const auto identity = identity_of(*file); identity && opened != nullptr) opened->push_back(*identity);
  return read_file(*file, max_bytes);
}

Result<fs::path> SuiteFolder::find_folder(const fs::path& name) const {
  const auto place = resolve(name);
  if (!place) return fail(place.error());
  fs::path path = (folder_ / name).lexically_normal();
  std::error_code error;
  if (!fs::is_directory(path, error)) return fail(Reason::file_unreadable, "is no folder");
  return path;
}

fs::path SuiteFolder::name_of(const fs::path& path) const {
  fs::path name = path.lexically_normal().lexically_relative(folder_.lexically_normal());
  return name.empty() ? path : name;
}

}  // namespace sluice
