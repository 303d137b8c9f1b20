#include "common/disk.hpp"

#include "common/files.hpp"

#include <cstdio>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace sluice {

bool sync_to_disk(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return file.is_open() && ::fsync(file.number()) == 0;
}

bool sync_folders(const std::filesystem::path& folder) {
  std::error_code error;
  auto path = std::filesystem::absolute(folder, error);
  for (; !error && path != path.parent_path(); path = path.parent_path()) {
    if (!sync_to_disk(path) && ::access(path.c_str(), R_OK) == 0) return false;
  }
  return !error;
}

bool make_folders_on_disk(const std::filesystem::path& folder) {
  std::error_code error;
  if (folder.empty() || std::filesystem::is_directory(folder, error)) return true;
  const auto parent = folder.has_parent_path() ? folder.parent_path() : std::filesystem::path(".");
  if (!make_folders_on_disk(parent)) return false;
  std::filesystem::create_directory(folder, error);
  return !error && sync_to_disk(folder) && sync_to_disk(parent);
}

bool exchange_paths(const std::filesystem::path& one, const std::filesystem::path& other) {
  return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
}

}  // namespace sluice
