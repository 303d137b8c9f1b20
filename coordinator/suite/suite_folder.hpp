#pragma once

#include "common/error.hpp"
#include "common/files.hpp"
#include "coordinator/facts/suite_copy.hpp"
#include "coordinator/suite/suite_copier.hpp"

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

/// Absolute and without dots, as copies of suites have it; without a slash at its end.
std::filesystem::path whole_path(const std::filesystem::path& path);

/// The text of a file; file_unreadable if it begins as UTF-16 does, in which editors and spreadsheets save
/// some texts.
Result<std::string> refuse_utf16(Result<std::string> text);

/// Reads a file that a suite names, by its path relative to the suite; the error's message begins after the
/// file's name ("cannot be read: ..."). `opened` as in SuiteFolder::read.
using ReadNamedFile =
    std::function<Result<std::string>(const std::string& path, std::vector<FileIdentity>* opened)>;

/// What stands in a folder.
struct FolderEntry {
  using Kind = CopiedEntry::Kind;
  std::filesystem::path path;  ///< Below the folder as it was named.
  Kind kind = Kind::other;
};

/// The files that a suite may name: those below its own folder, and below further ones that the user allowed
/// (--allow-path). A suite is data that comes from anywhere, and what its files hold is sent to a provider
/// that it may name itself: each file that is read because a suite says so is opened here. A path may neither
/// climb out nor lead out through links, also where somebody changes the folder meanwhile. Or the files of a
/// copy of the suite, whatever lies on the disk. Immutable; thread-safe.
class SuiteFolder {
 public:
  /// By one call of the kernel, or (where that is missing or forbidden) a folder at a time.
  enum class Opening { by_kernel, by_steps };

  /// `folder` as the user named it ("" is the current one). file_unreadable if it or an allowed one is no
  /// folder that can be opened; the message names it. `copier`, if there is one, gets what is read.
  static Result<std::shared_ptr<const SuiteFolder>> open(const std::filesystem::path& folder,
                                                         const std::vector<std::string>& allowed,
                                                         Opening opening = Opening::by_kernel,
                                                         std::shared_ptr<SuiteCopier> copier = nullptr);
  /// That of a suite as its copy has it.
  static std::shared_ptr<const SuiteFolder> of(std::shared_ptr<const SuiteCopy> copy,
                                               const std::filesystem::path& folder);

  virtual ~SuiteFolder() = default;
  SuiteFolder(const SuiteFolder&) = delete;
  SuiteFolder& operator=(const SuiteFolder&) = delete;

  const std::filesystem::path& path() const { return folder_; }

  /// Opens a regular file for reading. `name` is relative to the folder, or absolute below an allowed one.
  /// file_unreadable otherwise; the message begins after the file's name ("cannot be read: ...").
  Result<FileDescriptor> open_file(const std::filesystem::path& name) const;
  /// The whole content; `opened`, if there is one, gets the file that it is of. file_too_large if it is
  /// longer than `max_bytes`.
  Result<std::string> read(const std::filesystem::path& name, std::size_t max_bytes,
                           std::vector<FileIdentity>* opened = nullptr) const;
  /// Where a folder that the suite names lies, to be listed; its files are opened by open_file. Errors as
  /// there.
  virtual Result<std::filesystem::path> find_folder(const std::filesystem::path& name) const = 0;
  /// What stands in a folder that was found, or below one, in no order. Errors as of open_file.
  Result<std::vector<FolderEntry>> entries(const std::filesystem::path& folder) const;
  /// What open_file takes for a path below a folder that was found; one from elsewhere stands for itself.
  std::filesystem::path name_of(const std::filesystem::path& path) const;

 protected:
  /// With what check_regular says of it: asking the system again for each file costs as much as reading it.
  struct RegularFile {
    FileDescriptor file;
    struct stat facts {};
  };

  SuiteFolder(const std::filesystem::path& folder, std::shared_ptr<SuiteCopier> copier);
  /// Where the name lies as it is written, whatever links say: what copies have it by.
  std::filesystem::path place_of(const std::filesystem::path& name) const;
  virtual Result<RegularFile> open_regular(const std::filesystem::path& name) const = 0;
  virtual Result<std::vector<CopiedEntry>> list(const std::filesystem::path& folder) const = 0;

 private:
  std::filesystem::path folder_;
  std::filesystem::path whole_folder_;  ///< Absolute, without dots.
  std::shared_ptr<SuiteCopier> copier_;
};

}  // namespace sluice
