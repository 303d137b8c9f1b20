#include "coordinator/cli/watched_files.hpp"

#include "common/text/printable.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace sluice {
namespace {

constexpr std::uint32_t watched_changes =
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_CREATE | IN_DELETE | IN_ONLYDIR;

Error cannot_watch(const std::filesystem::path& path, int number) {
  std::string message =
      "cannot watch " + printable(path.string()) + ": " + std::generic_category().message(number);
  // What inotify calls "no space left on device".
  if (number == ENOSPC || number == EMFILE)
    message += "; raise fs.inotify.max_user_watches, or name a suite in a smaller folder";
  return {Reason::file_unreadable, std::move(message)};
}

/// Also of one that is not there, of which weakly_canonical leaves a relative path.
std::filesystem::path whole_path(const std::filesystem::path& path) {
  std::error_code none;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(path, none), none);
}

bool is_hidden(const std::string& name) {
  return name.empty() || name.front() == '.' || name.back() == '~';
}

}  // namespace

Result<WatchedFiles> WatchedFiles::open() {
  const int descriptor = ::inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
  if (descriptor < 0) return fail(cannot_watch("files", errno));
  return WatchedFiles(descriptor);
}

WatchedFiles::WatchedFiles(WatchedFiles&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      folders_(std::move(other.folders_)),
      ignored_(std::move(other.ignored_)) {}

WatchedFiles::~WatchedFiles() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Result<int> WatchedFiles::watch(const std::filesystem::path& folder) {
  const int number = ::inotify_add_watch(descriptor_, folder.c_str(), watched_changes);
  if (number < 0) return fail(cannot_watch(folder, errno));
  folders_[number].path = folder;
  return number;
}

Result<void> WatchedFiles::add(const std::filesystem::path& path) {
  const auto whole = whole_path(path);
  std::error_code none;
  if (std::filesystem::is_directory(whole, none)) return add_folders(whole);
  const auto number = watch(whole.parent_path());
  if (!number) return fail(number.error());
  folders_[*number].files.push_back(whole.filename().string());
  return {};
}

Result<void> WatchedFiles::add_folders(const std::filesystem::path& root) {
  const auto number = watch(root);
  if (!number) return fail(number.error());
  folders_[*number].is_whole = true;
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator at(root, error), end; !error && at != end;
       at.increment(error)) {
    std::error_code none;
    if (!at->is_directory(none) || at->is_symlink(none)) continue;
    if (is_hidden(at->path().filename().string())) {
      at.disable_recursion_pending();
      continue;
    }
    const auto below = watch(at->path());
    if (!below) return fail(below.error());
    folders_[*below].is_whole = true;
  }
  if (error) return fail(cannot_watch(root, error.value()));
  return {};
}

void WatchedFiles::ignore(const std::filesystem::path& path) {
  ignored_.push_back(whole_path(path).string());
}

bool WatchedFiles::counts(const Folder& folder, const std::string& name) const {
  if (is_hidden(name)) return false;
  if (!folder.is_whole && std::ranges::find(folder.files, name) == folder.files.end()) return false;
  const auto path = (folder.path / name).string();
  return std::ranges::none_of(ignored_, [&](const std::string& ignored) {
    // Behind its name: nothing, what is below it, or the letters of a draft.
    return path.starts_with(ignored) &&
           (path.size() == ignored.size() || path[ignored.size()] == '/' || path[ignored.size()] == '.');
  });
}

/// The first of the changes that have come and count.
std::optional<std::filesystem::path> WatchedFiles::read_changes() {
  std::optional<std::filesystem::path> first;
  alignas(inotify_event) std::array<char, 16 << 10> bytes{};
  for (;;) {
    const auto size = ::read(descriptor_, bytes.data(), bytes.size());
    if (size <= 0) return first;
    for (std::size_t at = 0; at < static_cast<std::size_t>(size);) {
      inotify_event event{};
      std::memcpy(&event, &bytes[at], sizeof event);
      const std::string name = event.len > 0 ? &bytes[at + sizeof event] : "";
      at += sizeof event + event.len;
      const auto folder = folders_.find(event.wd);
      if (folder == folders_.end()) continue;
      const auto path = folder->second.path / name;
      if (!counts(folder->second, name)) continue;
      const bool is_folder = (event.mask & IN_ISDIR) != 0;
      if (is_folder && folder->second.is_whole && (event.mask & (IN_CREATE | IN_MOVED_TO)) != 0) {
        // One that is gone again, or cannot be watched, has nothing that a run could read.
        static_cast<void>(add_folders(path));
      }
      // A new file counts once it is written; a new folder may have some in it already.
      if (!is_folder && (event.mask & IN_CREATE) != 0) continue;
      if (!first) first = path;
    }
  }
}

Result<std::optional<std::filesystem::path>> WatchedFiles::wait(int until,
                                                                std::chrono::milliseconds settled) {
  std::optional<std::filesystem::path> changed;
  for (;;) {
    std::array<pollfd, 2> sources{pollfd{until, POLLIN, 0}, pollfd{descriptor_, POLLIN, 0}};
    const int ready =
        ::poll(sources.data(), sources.size(), changed ? static_cast<int>(settled.count()) : -1);
    if (ready < 0 && errno != EINTR) return fail(cannot_watch("files", errno));
    if (ready == 0) return changed;
    if (sources[0].revents != 0) return std::nullopt;
    if (sources[1].revents == 0) continue;
    if (auto more = read_changes(); more && !changed) changed = std::move(more);
  }
}

}  // namespace sluice
