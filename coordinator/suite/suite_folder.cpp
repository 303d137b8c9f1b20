#include "coordinator/suite/suite_folder.hpp"

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/mman.h>
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

/// What /proc and /sys show as regular files is the state of processes and of the machine; an errno if nobody
/// knows.
tl::expected<bool, int> shows_the_system(const FileDescriptor& file) {
  struct statfs system {};
  if (::fstatfs(file.number(), &system) != 0) return tl::unexpected(errno);
  return system.f_type == PROC_SUPER_MAGIC || system.f_type == SYSFS_MAGIC;
}

bool is_below(const fs::path& root, const fs::path& whole) {
  return std::mismatch(root.begin(), root.end(), whole.begin(), whole.end()).first == root.end();
}

std::optional<FileIdentity> identity(int result, const struct stat& status) {
  if (result != 0) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

/// On the disk.
class DiskFolder final : public SuiteFolder {
 public:
  DiskFolder(const fs::path& folder, Opening opening, std::shared_ptr<SuiteCopier> copier)
      : SuiteFolder(folder, std::move(copier)), opening_(opening) {}

  /// One more root; `shown` is how a message names it.
  Result<void> add(const fs::path& path, const std::string& shown) {
    std::error_code error;
    fs::path whole = fs::canonical(path, error);
    Opened root = error ? Opened{FileDescriptor(), error.value()}
                        : opened(::open(whole.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (root.error != 0) {
      return fail(Reason::file_unreadable, shown + " " + unreadable_file(root.error).message);
    }
    const auto identity = identity_of(root.file);
    const bool is_of_data = identity && shows_the_system(root.file) == false;
    roots_.push_back({std::move(whole), std::move(root.file),
                      is_of_data ? std::optional(identity->device) : std::nullopt});
    return {};
  }

  Result<fs::path> find_folder(const fs::path& name) const override;

 private:
  struct Root {
    fs::path path;  ///< Absolute, without links.
    FileDescriptor folder;
    std::optional<std::uint64_t> data_device;  ///< Its file system's, if that is one of data (`checked`).
  };
  /// Where the name leads, without links; an error if that is outside of all roots.
  struct Place {
    const Root* root = nullptr;
    fs::path below;  ///< Relative to the root.
  };

  Result<RegularFile> open_regular(const fs::path& name) const override;
  Result<std::vector<CopiedEntry>> list(const fs::path& folder) const override;
  Result<RegularFile> open_resolved(const fs::path& name) const;
  Result<Place> resolve(const fs::path& name) const;
  const Root* root_of(const fs::path& whole, bool only_allowed) const;
  Result<RegularFile> checked(FileDescriptor file) const;

  Opening opening_;
  std::vector<Root> roots_;  ///< The suite's own first.
};

const DiskFolder::Root* DiskFolder::root_of(const fs::path& whole, bool only_allowed) const {
  const auto first = roots_.begin() + (only_allowed ? 1 : 0);
  const auto found =
      std::find_if(first, roots_.end(), [&](const Root& root) { return is_below(root.path, whole); });
  return found != roots_.end() ? &*found : nullptr;
}

Result<DiskFolder::Place> DiskFolder::resolve(const fs::path& name) const {
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

/// A regular file of data. Most lie on the file system of their root, which was asked once.
Result<DiskFolder::RegularFile> DiskFolder::checked(FileDescriptor file) const {
  const auto facts = check_regular(file);
  if (!facts) return fail(facts.error());
  const auto on_its_device = [&](const Root& root) { return root.data_device == facts->st_dev; };
  if (std::ranges::none_of(roots_, on_its_device)) {
    const auto is_state = shows_the_system(file);
    if (!is_state) return unreadable(is_state.error());
    if (*is_state) return fail(Reason::file_unreadable, "cannot be read: not a regular file");
  }
  return RegularFile{std::move(file), *facts};
}

Result<DiskFolder::RegularFile> DiskFolder::open_resolved(const fs::path& name) const {
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

Result<DiskFolder::RegularFile> DiskFolder::open_regular(const fs::path& name) const {
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

Result<fs::path> DiskFolder::find_folder(const fs::path& name) const {
  const auto place = resolve(name);
  if (!place) return fail(place.error());
  fs::path folder = (path() / name).lexically_normal();
  std::error_code error;
  if (!fs::is_directory(folder, error)) return fail(Reason::file_unreadable, "is no folder");
  return folder;
}

FolderEntry::Kind kind_of(const fs::directory_entry& entry) {
  std::error_code error;
  if (entry.is_directory(error))
    return entry.is_symlink(error) ? FolderEntry::Kind::linked_folder : FolderEntry::Kind::folder;
  return entry.is_regular_file(error) ? FolderEntry::Kind::file : FolderEntry::Kind::other;
}

Result<std::vector<CopiedEntry>> DiskFolder::list(const fs::path& folder) const {
  std::vector<CopiedEntry> all;
  std::error_code error;
  fs::directory_iterator at(folder, error);
  while (!error && at != fs::directory_iterator()) {
    all.push_back({at->path().filename().native(), kind_of(*at)});
    at.increment(error);
  }
  if (error) return unreadable(error.value());
  return all;
}

/// In a copy.
class CopiedFolder final : public SuiteFolder {
 public:
  CopiedFolder(const fs::path& folder, std::shared_ptr<const SuiteCopy> copy)
      : SuiteFolder(folder, nullptr), copy_(std::move(copy)) {}

  Result<fs::path> find_folder(const fs::path& name) const override {
    fs::path folder = (path() / name).lexically_normal();
    if (!copy_->folders.contains(place_of(name_of(folder)).native())) return unreadable(ENOENT);
    return folder;
  }

 private:
  Result<RegularFile> open_regular(const fs::path& name) const override {
    const auto file = copy_->files.find(place_of(name).native());
    if (file == copy_->files.end()) return unreadable(ENOENT);
    Opened memory = opened(::memfd_create("copy of a suite's file", MFD_CLOEXEC));
    if (memory.error != 0) return unreadable(memory.error);
    std::string_view left = file->second;
    while (!left.empty()) {
      const ssize_t written = ::write(memory.file.number(), left.data(), left.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return unreadable(errno);
      left.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::lseek(memory.file.number(), 0, SEEK_SET) != 0) return unreadable(errno);
    const auto facts = check_regular(memory.file);
    if (!facts) return fail(facts.error());
    return RegularFile{std::move(memory.file), *facts};
  }

  Result<std::vector<CopiedEntry>> list(const fs::path& folder) const override {
    const auto listed = copy_->folders.find(place_of(name_of(folder)).native());
    if (listed == copy_->folders.end()) return unreadable(ENOENT);
    return listed->second;
  }

  std::shared_ptr<const SuiteCopy> copy_;
};

}  // namespace

fs::path whole_path(const fs::path& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

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

SuiteFolder::SuiteFolder(const fs::path& folder, std::shared_ptr<SuiteCopier> copier)
    : folder_(folder), copier_(std::move(copier)) {
  whole_folder_ = whole_path(folder.empty() ? fs::path(".") : folder);
}

Result<std::shared_ptr<const SuiteFolder>> SuiteFolder::open(const fs::path& folder,
                                                             const std::vector<std::string>& allowed,
                                                             Opening opening,
                                                             std::shared_ptr<SuiteCopier> copier) {
  auto made = std::make_shared<DiskFolder>(folder, opening, std::move(copier));
  const fs::path own = folder.empty() ? fs::path(".") : folder;
  if (auto added = made->add(own, "the suite's folder " + own.generic_string()); !added)
    return fail(added.error());
  for (const std::string& path : allowed) {
    if (auto added = made->add(path, "--allow-path names \"" + path + "\", which"); !added) {
      return fail(added.error());
    }
  }
  return made;
}

std::shared_ptr<const SuiteFolder> SuiteFolder::of(std::shared_ptr<const SuiteCopy> copy,
                                                   const fs::path& folder) {
  return std::make_shared<CopiedFolder>(folder, std::move(copy));
}

Result<std::string> refuse_utf16(Result<std::string> text) {
  if (!text || !(text->starts_with("\xff\xfe") || text->starts_with("\xfe\xff"))) return text;
  return fail(
      Reason::file_unreadable,
      "cannot be read: it is in UTF-16, and texts must be in UTF-8 (`iconv -f UTF-16 -t UTF-8 OLD > NEW` "
      "converts it)");
}

Result<FileDescriptor> SuiteFolder::open_file(const fs::path& name) const {
  auto opened = open_regular(name);
  if (!opened) return fail(opened.error());
  return std::move(opened->file);
}

Result<std::string> SuiteFolder::read(const fs::path& name, std::size_t max_bytes,
                                      std::vector<FileIdentity>* opened) const {
  const auto open = open_regular(name);
  if (!open) return fail(open.error());
  if (opened != nullptr) opened->push_back({open->facts.st_dev, open->facts.st_ino});
  auto text = refuse_utf16(read_file(open->file, open->facts, max_bytes));
  if (text && copier_ != nullptr) copier_->add(place_of(name), *text);
  return text;
}

Result<std::vector<FolderEntry>> SuiteFolder::entries(const fs::path& folder) const {
  auto listed = list(folder);
  if (!listed) return fail(listed.error());
  if (copier_ != nullptr) copier_->add_folder(place_of(name_of(folder)), *listed);
  std::vector<FolderEntry> all;
  all.reserve(listed->size());
  for (const CopiedEntry& one : *listed) all.push_back({folder / one.name, one.kind});
  return all;
}

fs::path SuiteFolder::place_of(const fs::path& name) const {
  const std::string& text = name.native();
  const bool has_dots = text.starts_with('.') || text.find("/.") != std::string::npos;
  const bool is_plain = !has_dots && !text.empty() && !name.is_absolute() && !text.ends_with('/') &&
                        text.find("//") == std::string::npos;
  // Taking paths apart costs more than reading a small file.
  return is_plain ? whole_folder_ / name : whole_path(whole_folder_ / name);
}

fs::path SuiteFolder::name_of(const fs::path& path) const {
  fs::path name = path.lexically_normal().lexically_relative(folder_.lexically_normal());
  return name.empty() ? path : name;
}

}  // namespace sluice
