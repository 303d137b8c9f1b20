#pragma once

#include "common/error.hpp"
#include "common/files.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sluice {

/// A file by what it is, however a path to it is written.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};
/// Empty where there is none.
std::optional<FileIdentity> identity_of(const FileDescriptor& file);
std::optional<FileIdentity> identity_of(const std::filesystem::path& path);

/// Reads a file that a suite names, by its path relative to the suite; the error's message begins after the
/// file's name ("cannot be read: ..."). `opened` as in SuiteFolder::read.
using ReadNamedFile =
    std::function<Result<std::string>(const std::string& path, std::vector<FileIdentity>* opened)>;

/// The files that a suite may name: those below its own folder, and below further ones that the user allowed
/// (--allow-path). A suite is data that comes from anywhere, and what its files hold is sent to a provider
/// that it may name itself: each file that is read because a suite says so is opened here. A path may neither
/// climb out nor lead out through links, also where somebody changes the folder meanwhile. Immutable;
/// thread-safe.
class SuiteFolder {
 public:
  /// By one call of the kernel, or (where that is missing or forbidden) a folder at a time.
  enum class Opening { by_kernel, by_steps };

  /// `folder` as the user named it ("" is the current one). file_unreadable if it or an allowed one is no
  /// folder that can be opened; the message names it.
  static Result<std::shared_ptr<const SuiteFolder>> open(const std::filesystem::path& folder,
                                                         const std::vector<std::string>& allowed,
                                                         Opening opening = Opening::by_kernel);

  const std::filesystem::path& path() const { return folder_; }

  /// Opens a regular file for reading. `name` is relative to the folder, or absolute below an allowed one.
  /// file_unreadable otherwise; the message begins after the file's name ("cannot be read: ...").
  Result<FileDescriptor> open_file(const std::filesystem::path& name) const;
  /// The whole content; `opened`, if there is one, gets the file that it is of.
  Result<std::string> read(const std::filesystem::path& name, std::size_t max_bytes,
                           std::vector<FileIdentity>* opened = nullptr) const;
  /// Where a folder that the suite names lies, to be listed; its files are opened by open_file. Errors as
  /// there.
  Result<std::filesystem::path> find_folder(const std::filesystem::path& name) const;
  /// What open_file takes for a path below a folder that was found; one from elsewhere stands for itself.
  std::filesystem::path name_of(const std::filesystem::path& path) const;

 private:
  struct Root {
    std::filesystem::path path;  ///< Absolute, without links.
    FileDescriptor folder;
  };

  SuiteFolder(std::filesystem::path folder, Opening opening)
      : folder_(std::move(folder)), opening_(opening) {}

  Result<FileDescriptor> open_resolved(const std::filesystem::path& name) const;
  /// Where the name leads, without links; an error if that is outside of all roots.
  struct Place {
    const Root* root = nullptr;
    std::filesystem::path below;  ///< Relative to the root.
  };
  Result<Place> resolve(const std::filesystem::path& name) const;
  const Root* root_of(const std::filesystem::path& whole, bool only_allowed) const;

  std::filesystem::path folder_;
  Opening opening_;
  std::vector<Root> roots_;  ///< The suite's own first.
};

}  // namespace sluice
