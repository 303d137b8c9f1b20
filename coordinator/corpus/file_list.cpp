#include "coordinator/corpus/file_list.hpp"

#include "common/command/bounded_command.hpp"
#include "common/files.hpp"
#include "coordinator/defaults.hpp"
#include "coordinator/suite/suite_folder.hpp"

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

namespace sluice {
namespace {

namespace fs = std::filesystem;

/// What a hook's environment says of another repository must not count, nor what this one's settings would
/// have git run.
Result<std::string> run_git(std::vector<std::string> arguments) {
  BoundedCommand git{std::move(arguments), defaults::listing_timeout, defaults::max_listing_bytes};
  git.hidden_variables = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"};
  return run_bounded(git, "");
}

Result<std::string> ask_git(const fs::path& folder) {
  return run_git({"git", "-C", folder.string(), "-c", "core.fsmonitor=false", "ls-files", "--cached",
                  "--others", "--exclude-standard", "-z"});
}

/// Whether git should know what it ignores in the folder: it can be started, and a repository is there.
bool should_answer(const fs::path& folder) {
  std::error_code error;
  for (fs::path above = fs::weakly_canonical(folder, error);; above = above.parent_path()) {
    if (fs::symlink_status(above / ".git", error).type() != fs::file_type::not_found)
      return run_git({"git", "--version"}).has_value();
    if (above == above.parent_path()) return false;
  }
}

std::vector<std::string> parts_at_zeros(std::string_view text) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

Error cannot_list(const fs::path& folder, const std::error_code& error) {
  return {Reason::file_unreadable,
          "the folder " + folder.generic_string() + " cannot be read: " + error.message()};
}

Result<std::vector<std::string>> walk(const fs::path& root, std::span<const std::string> excluded) {
  std::vector<std::string> paths;
  std::vector<fs::path> pending{root};
  while (!pending.empty()) {
    const fs::path folder = std::move(pending.back());
    pending.pop_back();
    std::error_code error;
    for (fs::directory_iterator entries(folder, error); !error && entries != fs::directory_iterator();
         entries.increment(error)) {
      const fs::path& path = entries->path();
      std::error_code ignored;
      const bool is_link = entries->is_symlink(ignored);
      if (!entries->is_directory(ignored)) {
        paths.push_back(path.lexically_relative(root).generic_string());
      } else if (!is_link && std::ranges::find(excluded, path.filename().string()) == excluded.end()) {
        pending.push_back(path);
      }
    }
    if (error) return fail(cannot_list(folder, error));
  }
  return paths;
}

class SuiteFolderTree final : public TreeReader {
 public:
  explicit SuiteFolderTree(std::shared_ptr<const SuiteFolder> folder) : folder_(std::move(folder)) {}

  Result<std::optional<std::string>> read(const std::string& path, std::size_t max_bytes) const override {
    const auto file = folder_->open_file(path);
    if (!file) return fail(file.error());
    auto text = read_file(*file, max_bytes);
    if (text) return std::move(*text);
    if (text.error().reason == Reason::file_too_large) return std::nullopt;
    return fail(std::move(text.error()));
  }

 private:
  std::shared_ptr<const SuiteFolder> folder_;
};

}  // namespace

Result<FileList> list_files(const fs::path& folder, std::span<const std::string> excluded_folders) {
  FileList list;
  const auto listed = ask_git(folder);
  if (listed) {
    list.paths = parts_at_zeros(*listed);
  } else if (should_answer(folder)) {
    // Files that git ignores hold secrets more often than others.
    return fail(Reason::file_unreadable,
                "git does not say which files of " + folder.generic_string() +
                    " it ignores: " + listed.error().message + "; make `git -C " + folder.generic_string() +
                    " ls-files` work first, since ignored files must not go to a provider");
  } else {
    list.without_git = listed.error().message;
    auto walked = walk(folder, excluded_folders);
    if (!walked) return fail(std::move(walked.error()));
    list.paths = std::move(*walked);
  }
  std::ranges::sort(list.paths);
  list.paths.erase(std::unique(list.paths.begin(), list.paths.end()), list.paths.end());
  return list;
}

Result<std::unique_ptr<TreeReader>> open_tree(const fs::path& folder) {
  auto opened = SuiteFolder::open(folder, {});
  if (!opened) return fail(std::move(opened.error()));
  return std::make_unique<SuiteFolderTree>(std::move(*opened));
}

}  // namespace sluice
