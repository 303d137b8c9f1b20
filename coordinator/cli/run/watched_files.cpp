#include "coordinator/cli/run/watched_files.hpp"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include <sys/stat.h>

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// No suite names a log, and what a run prints often goes into one. Drafts of reports begin with a dot.
bool is_left_out(const std::string& name) {
  return name.empty() || name.front() == '.' || name.back() == '~' || name.ends_with(".log");
}

/// Whether the path is the folder or lies below it.
bool is_within(const fs::path& path, const fs::path& folder) {
  return std::ranges::mismatch(folder, path).in1 == folder.end();
}

}  // namespace

/// Absolute and without links, also of one that is not there; without a slash at its end.
fs::path WatchedFiles::whole(const fs::path& path) {
  std::error_code none;
  const auto found = fs::weakly_canonical(fs::absolute(path, none), none);
  return found.has_filename() ? found : found.parent_path();
}

void WatchedFiles::ignore_open(int descriptor) {
  struct stat found {};
  if (::fstat(descriptor, &found) == 0) ignored_open_.emplace_back(found.st_dev, found.st_ino);
}

bool WatchedFiles::ignores_a_root() const {
  return std::ranges::any_of(roots_, [this](const fs::path& root) { return !counts(root); });
}

bool WatchedFiles::counts(const fs::path& path) const {
  return std::ranges::none_of(ignored_, [&](const fs::path& ignored) { return is_within(path, ignored); });
}

void WatchedFiles::look_at(const fs::path& file, State& state) const {
  struct stat found {};
  if (!counts(file) || ::stat(file.c_str(), &found) != 0 || S_ISDIR(found.st_mode)) return;
  const std::pair<std::uint64_t, std::uint64_t> identity(found.st_dev, found.st_ino);
  if (std::ranges::find(ignored_open_, identity) != ignored_open_.end()) return;
  state[file] = {found.st_dev, found.st_ino, found.st_size, found.st_mtim.tv_sec, found.st_mtim.tv_nsec};
}

WatchedFiles::State WatchedFiles::look() const {
  State state;
  for (const fs::path& root : roots_) {
    std::error_code error;
    if (!fs::is_directory(root, error)) {
      look_at(root, state);
      continue;
    }
    constexpr auto what_can_be_read = fs::directory_options::skip_permission_denied;
    for (fs::recursive_directory_iterator at(root, what_can_be_read, error), end; !error && at != end;
         at.increment(error)) {
      std::error_code none;
      const bool is_folder = at->is_directory(none);
      const bool passed_over = is_left_out(at->path().filename().native()) || !counts(at->path());
      if (is_folder && passed_over) at.disable_recursion_pending();
      if (!is_folder && !passed_over) look_at(at->path(), state);
    }
  }
  return state;
}

std::vector<fs::path> WatchedFiles::take_changes() {
  auto state = look();
  const auto before = std::exchange(known_, std::move(state));
  if (!before) return {};
  State differing;  // Of a file that changed both stamps differ, and its name stands here once.
  std::ranges::set_symmetric_difference(*before, *known_, std::inserter(differing, differing.end()));
  std::vector<fs::path> changed;
  for (const auto& [file, stamp] : differing) changed.push_back(file);
  return changed;
}

}  // namespace sluice
