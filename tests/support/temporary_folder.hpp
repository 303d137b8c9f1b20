#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace sluice::support {

/// A folder of its own for one test, gone with it. Throws std::runtime_error if none can be made.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::filesystem::path& in = std::filesystem::temp_directory_path());
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// What others than its owner may do with a file or folder that `make` makes, under the umask of most
/// systems.
std::filesystem::perms left_to_others(const std::filesystem::path& path, const std::function<void()>& make);

/// The whole content of a file; empty if there is none, or if it is a device.
std::string read_text(const std::filesystem::path& file);
/// Writes a file and the folders above it.
void write_text(const std::filesystem::path& file, std::string_view text);

}  // namespace sluice::support
