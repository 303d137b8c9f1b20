#include "coordinator/suite/file_glob.hpp"

#include "common/files.hpp"
#include "coordinator/defaults.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <set>
#include <span>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view any_folders = "**";

std::vector<std::string> parts_of(const fs::path& path) {
  std::vector<std::string> parts;
  for (const fs::path& part : path.lexically_normal()) parts.push_back(part.generic_string());
  return parts;
}

class Globber {
 public:
  using Parts = std::span<const std::string>;

  explicit Globber(const SuiteFolder& folder) : folder_(folder) {}

  /// Goes through what `path` holds; `name` is the same as the suite names it. Where there are several `**`,
  /// many ways lead to one folder with the same parts left.
  Result<void> walk(const fs::path& path, const fs::path& name, Parts parts) {
    if (!walked_.emplace(name.generic_string(), parts.size()).second) return {};
    const auto entries = folder_.entries(path);
    if (!entries) {
      return fail(Reason::file_unreadable,
                  "leads through the folder " + path.generic_string() + ", which " + entries.error().message);
    }
    for (const FolderEntry& entry : *entries) {
      if (auto taken = take(entry, name, parts); !taken) return taken;
    }
    return {};
  }

  std::vector<std::string> found() const { return {names_.begin(), names_.end()}; }

 private:
  Result<void> take(const FolderEntry& entry, const fs::path& name, Parts parts) {
    const std::string own = entry.path.filename().string();
    const bool is_folder = entry.kind == FolderEntry::Kind::folder;
    if (parts.front() == any_folders) {
      // No folder, or one more.
      if (auto taken = take(entry, name, parts.subspan(1)); !taken) return taken;
      if (!is_folder || own.starts_with('.')) return {};
      return walk(entry.path, name / own, parts);
    }
    if (!fits_glob_part(own, parts.front())) return {};
    if (parts.size() > 1) return is_folder ? walk(entry.path, name / own, parts.subspan(1)) : Result<void>();
    if (entry.kind != FolderEntry::Kind::file) return {};
    names_.insert((name / own).generic_string());
    if (names_.size() > defaults::max_globbed_files) {
      return fail(Reason::file_unreadable, "fits more than " + std::to_string(defaults::max_globbed_files) +
                                               " files: name folders of them");
    }
    return {};
  }

  const SuiteFolder& folder_;
  std::set<std::string> names_;
  std::set<std::pair<std::string, std::size_t>> walked_;
};

}  // namespace

bool is_file_glob(std::string_view name) {
  return name.find_first_of("*?") != std::string_view::npos;
}

bool fits_glob_part(std::string_view name, std::string_view part) {
  if (name.starts_with('.') && !part.starts_with('.')) return false;
  std::size_t at = 0;
  std::size_t in_part = 0;
  std::size_t star = std::string_view::npos;
  std::size_t after_star = 0;
  while (at < name.size()) {
    const bool fits = in_part < part.size() && (part[in_part] == '?' || part[in_part] == name[at]);
    if (in_part < part.size() && part[in_part] == '*') {
      star = in_part++;
      after_star = at;
    } else if (fits) {
      ++at;
      ++in_part;
    } else if (star != std::string_view::npos) {
      in_part = star + 1;
      at = ++after_star;
    } else {
      return false;
    }
  }
  while (in_part < part.size() && part[in_part] == '*') ++in_part;
  return in_part == part.size();
}

Result<std::vector<std::string>> find_files(const SuiteFolder& folder, const std::string& glob) {
  std::vector<std::string> parts = parts_of(glob);
  const auto is_same = [](const std::string& one, const std::string& other) {
    return one == any_folders && other == any_folders;
  };
  parts.erase(std::unique(parts.begin(), parts.end(), is_same), parts.end());
  if (!parts.empty() && parts.back() == any_folders) parts.emplace_back("*");
  if (!is_file_glob(glob)) return fail(Reason::file_unreadable, "fits no file");
  const auto first = std::ranges::find_if(parts, [](const std::string& part) { return is_file_glob(part); });
  fs::path base;
  for (auto part = parts.begin(); part != first; ++part) base /= *part;
  const auto path = folder.find_folder(base.empty() ? fs::path(".") : base);
  if (!path && path.error() == unreadable_file(ENOENT))
    return fail(Reason::file_unreadable, "fits no file: there is no folder \"" + base.generic_string() + '"');
  if (!path) return fail(path.error());
  Globber globber(folder);
  const auto walked = globber.walk(*path, base, Globber::Parts(first, parts.end()));
  if (!walked) return fail(walked.error());
  std::vector<std::string> names = globber.found();
  if (names.empty()) return fail(Reason::file_unreadable, "fits no file");
  return names;
}

}  // namespace sluice
